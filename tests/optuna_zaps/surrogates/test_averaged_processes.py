from __future__ import annotations

from dataclasses import replace

from kernel_cases import GRID
from kernel_cases import LAYOUT
from kernel_cases import RANKS
from kernel_cases import SHARED_LAYOUT
from kernel_cases import X
from kernel_cases import Y
import numpy as np
import pytest

from optuna_zaps.search.profiles import PROCESSES
from optuna_zaps.search.profiles import constraint_processes
from optuna_zaps.search.profiles import objective_processes
from optuna_zaps.search.profiles import pool_processes
from optuna_zaps.search.profiles import process_settings
from optuna_zaps.search.profiles import processes
from optuna_zaps.surrogates import AveragedProcesses
from optuna_zaps.surrogates import FeatureLayout
from optuna_zaps.surrogates.gaussian_process import GaussianProcess
from optuna_zaps.surrogates.kernel import Kernel


def test_single_precision_agrees_with_double() -> None:
    both = []
    for dtype in (np.float32, np.float64):
        model = processes(LAYOUT, 0)
        model.fit(X[:40].astype(dtype), Y[:40])
        both.append(model.predict(X.astype(dtype)))
    np.testing.assert_allclose(both[0], both[1], atol=2e-3)


def test_predictions_over_numbers_are_in_double_precision() -> None:
    """Near an optimum they differ by less than single precision can tell."""
    layout = FeatureLayout(0, (1, 1), (True, True))
    points = np.random.default_rng(0).random((60, 2)).astype(np.float32)
    labels = -np.square(points.astype(np.float64) - 0.4).sum(axis=1)
    model = processes(layout, 0)
    model.fit(points, labels)
    near = (0.4 + 3e-3 * np.random.default_rng(1).normal(size=(200, 2))).astype(np.float32)
    mean, _ = model.predict(near)
    expected = -np.square(near.astype(np.float64) - 0.4).sum(axis=1)  # about 1e-5
    assert np.corrcoef(mean, expected)[0, 1] > 0.8  # in single precision 0.4


def test_a_label_that_fails_badly_does_not_blur_the_rest() -> None:
    y = Y[:40].copy()
    y[np.argmin(y)] = -1e6
    model = processes(LAYOUT, 0)
    model.fit(X[:40], y)
    mean, _ = model.predict(X)
    assert np.corrcoef(mean[40:], Y[40:])[0, 1] > 0.7


def test_a_failure_counts_as_far_below_the_median_as_the_best_lies_above() -> None:
    predictions = []
    for failed in (-1e6, -1e2, -3.0, -2.5):
        # The best is 5 and the median 1, so that nothing is worse than 1 - (5 - 1) = -3.
        y = np.array([failed, 0.0, 0.5, 1.0, 1.0, 1.0, 2.0, 3.0, 5.0])
        model = processes(LAYOUT, 0)
        model.fit(X[: len(y)], y)
        predictions.append(model.predict(X))
    np.testing.assert_array_equal(predictions[0], predictions[2])
    np.testing.assert_array_equal(predictions[1], predictions[2])
    assert not np.allclose(predictions[3], predictions[2])


def test_where_most_labels_are_the_best_the_others_stay_below() -> None:
    y = 1.0 - GRID.encoding[:, 0] * GRID.encoding[:, 3]  # 0 for a ninth, else 1
    model = processes(SHARED_LAYOUT, 0)
    model.fit(GRID.encoding, y)
    mean, _ = model.predict(GRID.encoding)
    assert mean[y == 0].max() < 0.5 < mean[y == 1].min()


def test_with_proxies_the_choices_are_not_counted() -> None:
    predictions = []
    for layout in (LAYOUT, replace(LAYOUT, shared_choices=GRID.shared_choices)):
        model = processes(layout, 0)
        model.fit(X[:30], Y[:30])
        predictions.append(model.predict(X))
    np.testing.assert_array_equal(predictions[0], predictions[1])


def test_labels_of_a_constraint_keep_their_sign() -> None:
    """Few violations beside much slack: lifted as failures are, they would look feasible."""
    labels = 5.0 + RANKS[:, 0]
    violated = GRID.encoding[:, 0] * GRID.encoding[:, 3] == 1  # a ninth
    labels[violated] = -1.0
    rows = np.random.default_rng(1).permutation(len(GRID))[:60]
    for factory, keeps in (
        (constraint_processes, True),
        (processes, False),
    ):
        process = factory(SHARED_LAYOUT, 0)
        process.fit(GRID.encoding[rows], labels[rows])
        mean, _ = process.predict(GRID.encoding[rows])
        assert np.array_equal(mean < 0, violated[rows]) is keeps


def test_where_the_processes_disagree_the_spread_is_larger() -> None:
    # The proxies say nothing of the labels beyond structure; without labels near, both doubt.
    model = processes(LAYOUT, 0)
    model.fit(X[:20], Y[:20])
    _, std = model.predict(X)
    assert std[:20].mean() < std[20:].mean()


def test_the_spread_of_the_mixture_is_that_of_two_normals_of_equal_weight() -> None:
    """Its variance is the mean variance and the variance of the means.

    (v1 + v2) / 2 + ((m1 - m2) / 2)^2, by the law of total variance.
    """
    # Of two parameters that agree wherever labels are known nothing tells which counts.
    rows = np.flatnonzero(GRID.codes[:, 0] == GRID.codes[:, 1])
    labels = 3.0 * RANKS[rows].mean(axis=1) + GRID.codes[rows, 0]
    settings = replace(process_settings(LAYOUT), clip_failures=False, first=len(rows))
    center, scale = labels.mean(), labels.std()
    moments = []
    for terms in settings.kernels:
        process = GaussianProcess(Kernel([make(LAYOUT) for make in terms]), settings)
        process.fit_hyperparameters(X[rows], (labels - center) / scale)
        moments.append(process.predict(X[rows], (labels - center) / scale, X))
    (mean1, variance1), (mean2, variance2) = moments
    expected = (variance1 + variance2) / 2 + np.square(mean1 - mean2) / 4

    model = AveragedProcesses(LAYOUT, settings)
    model.fit(X[rows], labels)
    mean, std = model.predict(X)
    np.testing.assert_allclose(mean, center + scale * (mean1 + mean2) / 2, rtol=1e-9)
    np.testing.assert_allclose(std, scale * np.sqrt(expected), rtol=1e-9)
    # Somewhere it is mostly their disagreement.
    assert np.max(np.square(mean1 - mean2) / 4 / expected) > 0.5


def test_where_proxies_and_structure_disagree_the_mixture_doubts_more_than_structure() -> None:
    """Of the mixture's variance half of that of structure alone is less than what is left."""
    rows = np.flatnonzero(GRID.codes[:, 0] == GRID.codes[:, 1])
    labels = 3.0 * RANKS[rows].mean(axis=1) + GRID.codes[rows, 0]
    mixture = AveragedProcesses(LAYOUT, process_settings(LAYOUT))
    without = FeatureLayout(0, GRID.widths, GRID.numeric)
    alone = AveragedProcesses(without, PROCESSES)
    mixture.fit(X[rows], labels)
    alone.fit(GRID.encoding[rows], labels)
    mean, std = mixture.predict(X)
    structure, doubt = alone.predict(GRID.encoding)
    # m = (m1 + m2) / 2 and v = (v1 + v2) / 2 + (m - m2)^2, where v1 > 0.
    assert np.all(np.square(std) > np.square(doubt) / 2 + np.square(mean - structure))


NUMBER_LAYOUT = FeatureLayout(0, (1,), (True,))
POINTS = np.linspace(0, 1, 6, dtype=np.float32)[:, np.newaxis]
POOL = np.linspace(0, 1, 101, dtype=np.float32)[:, np.newaxis]


def fitted() -> AveragedProcesses:
    process = processes(NUMBER_LAYOUT, 0)
    process.fit(POINTS, np.sin(5 * POINTS[:, 0]).astype(np.float64))
    return process


def test_the_spread_after_pending_rows_is_that_of_a_fit_on_their_means() -> None:
    # The variance of a process does not depend on labels (Rasmussen and Williams, Eq. 2.26); six
    # labels more than doubled would be a fit of other hyper-parameters, so one row is added.
    pending = np.array([[0.3]], dtype=np.float32)
    told = fitted()
    spread = told.std_given(POOL, pending)
    mean, std = told.predict(POOL)
    (kernel,) = (process.kernel for process in told.processes)
    (theta,) = (process.theta for process in told.processes)
    rows = kernel.rows(theta, np.vstack([POINTS, pending]))
    covariance = kernel.between(theta, rows, rows) + kernel.nugget(theta) * np.eye(7)
    cross = kernel.between(theta, rows, kernel.rows(theta, POOL))
    prior = kernel.variance(theta, kernel.rows(theta, POOL))
    variance = prior - np.einsum("ij,ij->j", cross, np.linalg.solve(covariance, cross))
    assert spread / spread.max() == pytest.approx(
        np.sqrt(np.maximum(variance, 1e-10)) / np.sqrt(variance.max()), abs=1e-4
    )
    assert np.all(spread <= std + 1e-9)
    assert spread[30] < 0.5 * std[30]
    assert told.predict(POOL)[0] == pytest.approx(mean)


def test_pending_rows_leave_no_trace() -> None:
    alone, asked = fitted(), fitted()
    for k in (1, 3, 40):
        asked.std_given(POOL, np.linspace(0.05, 0.95, k, dtype=np.float32)[:, np.newaxis])
    for one, other in zip(alone.predict(POOL), asked.predict(POOL), strict=True):
        assert one.tolist() == other.tolist()


def means(labels: np.ndarray, points: np.ndarray, noise_reach: float) -> np.ndarray:
    settings = pool_processes(NUMBER_LAYOUT, 0)._settings
    model = AveragedProcesses(NUMBER_LAYOUT, replace(settings, noise_reach=noise_reach))
    model.fit(points, labels)
    return model.predict(POOL)[0]


def test_labels_are_not_raised_to_within_the_noise_of_the_best() -> None:
    """Noise of 1 near the optimum, the best about 2 above the median; far away labels of -15.

    Raised to as far below the median as the best is above it, the far ones would be about -2.
    """
    rng = np.random.default_rng(0)
    points = rng.uniform(0.4, 0.6, 58).astype(np.float32)
    points[::7] = rng.uniform(0, 0.1, 9)
    labels = np.where(points < 0.2, -15.0, 0.0) + rng.normal(size=len(points))
    points = points[:, np.newaxis]
    raised, kept = (means(labels, points, reach)[5] for reach in (0.0, 30.0))
    assert raised > -6
    assert kept == pytest.approx(-15, abs=2)


def test_without_noise_no_label_counts_for_more() -> None:
    labels = -(np.square(7.0 * (POOL[::3, 0].astype(np.float64) - 0.3)) ** 2)
    one, other = (means(labels, POOL[::3], reach) for reach in (0.0, 30.0))
    np.testing.assert_array_equal(one, other)


def test_an_objective_that_is_flat_where_it_is_best_is_doubted_elsewhere() -> None:
    """Of 180 labels the best 100 are equal: fitted to these, the spread is 1,000 times too low."""

    def truth(points: np.ndarray) -> np.ndarray:
        x, y, z = points.astype(np.float64).T
        return -np.maximum(x - 0.67, 0.0) * (1 + 10 * (y - 0.3) ** 2 + 10 * (z - 0.6) ** 2)

    rng = np.random.default_rng(0)
    points = rng.random((180, 3)).astype(np.float32)
    elsewhere = rng.random((400, 3)).astype(np.float32)
    elsewhere[:, 0] = 0.8 + 0.2 * elsewhere[:, 0]
    model = objective_processes(FeatureLayout(0, (1,) * 3, (True,) * 3), 0)
    model.fit(points, truth(points))
    mean, std = model.predict(elsewhere)
    error = mean - truth(elsewhere)
    assert np.sqrt(np.mean(np.square(error))) < 0.05
    # Standardised errors have a root mean square of 1 where the spread is right.
    assert 0.5 < np.sqrt(np.mean(np.square(error / std))) < 2
