from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.gaussian_process.kernels import ConstantKernel
from sklearn.gaussian_process.kernels import DotProduct
from sklearn.gaussian_process.kernels import Kernel as SklearnKernel
from sklearn.gaussian_process.kernels import Matern
from sklearn.gaussian_process.kernels import WhiteKernel

from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.surrogates import AveragedProcesses
from optuna_zaps.surrogates import FeatureLayout
from optuna_zaps.surrogates import GaussianProcessSettings
from optuna_zaps.surrogates._kernel import Kernel
from optuna_zaps.surrogates.gaussian_process import GaussianProcess


N_PROXIES, N_PARAMETERS = 3, 4
GRID = CandidateSet.grid({f"p{i}": "abc" for i in range(N_PARAMETERS)})
RNG = np.random.default_rng(0)
RANKS = RNG.random((len(GRID), N_PROXIES))
Y = np.sin(3 * RANKS[:, 0]) + GRID.encoding[:, 0] - GRID.encoding[:, -1]
Y += 0.1 * RNG.normal(size=len(Y))
# What a process is given, its layout, and whether it looks at proxies.
ALL = np.hstack([RANKS, GRID.neighbourhood_mean(RANKS), GRID.encoding])
X = np.hstack([RANKS, GRID.encoding])
LAYOUT = FeatureLayout(N_PROXIES, GRID.widths, GRID.numeric)
WITH_NEIGHBOURS = replace(LAYOUT, has_neighbourhood=True)
MIXED = CandidateSet.grid(
    {"p0": "abc", "p1": [0, 1, 5], "p2": "abc", "p3": [1, 10, 100]},
    places={"p1": [0.0, 0.2, 1.0], "p3": [0.0, 0.5, 1.0]},
)
MIXED_X = np.hstack([RANKS, MIXED.encoding])
MIXED_LAYOUT = FeatureLayout(N_PROXIES, MIXED.widths, MIXED.numeric)
COUNTED_LAYOUT = FeatureLayout(0, GRID.widths, GRID.numeric, kinds=GRID.kinds)
# So many choices that a covariance looks only at those that rows have.
WIDE = CandidateSet(
    {f"p{i}": range(70) for i in range(N_PARAMETERS)},
    5 * np.random.default_rng(2).integers(13, size=(len(GRID), N_PARAMETERS)),
)
WIDE_LAYOUT = FeatureLayout(0, WIDE.widths, WIDE.numeric, kinds=WIDE.kinds)
WIDE_MIXED = CandidateSet(
    {"p0": "abc", "p1": [0, 1, 5], "p2": range(70), "p3": [1, 10, 100]},
    np.column_stack([MIXED.codes[:, :2], np.arange(len(GRID)) % 17 * 4, MIXED.codes[:, 3]]),
    places=MIXED.places,
)
WIDE_MIXED_X = np.hstack([RANKS, WIDE_MIXED.encoding])
WIDE_MIXED_LAYOUT = FeatureLayout(N_PROXIES, WIDE_MIXED.widths, WIDE_MIXED.numeric)
KINDS = {
    "structure": (X, LAYOUT, False, False),
    "structure and counts": (GRID.encoding.astype(np.float64), COUNTED_LAYOUT, False, False),
    "structure by relevance": (X, LAYOUT, False, True),
    "proxies": (X, LAYOUT, True, False),
    "neighbours": (ALL, WITH_NEIGHBOURS, True, False),
    "structure beside neighbours": (ALL, WITH_NEIGHBOURS, False, False),
    "numbers": (MIXED_X, MIXED_LAYOUT, False, False),
    "numbers by relevance": (MIXED_X, MIXED_LAYOUT, False, True),
    "numbers and proxies by relevance": (MIXED_X, MIXED_LAYOUT, True, True),
    "many choices and counts": (WIDE.encoding.astype(np.float64), WIDE_LAYOUT, False, False),
    "many choices by relevance": (WIDE.encoding.astype(np.float64), WIDE_LAYOUT, False, True),
    "many choices and numbers by relevance": (WIDE_MIXED_X, WIDE_MIXED_LAYOUT, True, True),
}
WEIGHTS = (2.1, 0.9, 4.0, 0.5)
ALL_VALUES = (0.2, 0.8, 0.6, 0.4, 0.3)


def make_kernel(kind: str) -> tuple[Kernel, np.ndarray, np.ndarray]:
    """A kernel, a point of its hyper-parameters, and features."""
    features, layout, with_proxies, relevance = KINDS[kind]
    kernel = Kernel(layout, with_proxies=with_proxies, relevance=relevance)
    weights = WEIGHTS if relevance else WEIGHTS[:1]
    n_proxy_values = (5 if layout.has_neighbourhood else 3) if with_proxies else 0
    further = ALL_VALUES[1:3] if layout.kinds else ALL_VALUES[:n_proxy_values]
    theta = np.log([0.07, 1.3, *weights, *further])
    assert theta.shape == kernel.prior_mean.shape
    return kernel, theta, features


class Columns(SklearnKernel):
    """A kernel of scikit-learn on some of the columns, shifted and scaled."""

    def __init__(
        self, kernel: SklearnKernel, columns: Any, shift: float, scale: float | np.ndarray
    ) -> None:
        self.kernel, self.columns, self.shift, self.scale = kernel, columns, shift, scale

    def _part(self, rows: np.ndarray) -> np.ndarray:
        return (rows[:, self.columns] - self.shift) * self.scale

    def __call__(self, a: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
        return self.kernel(self._part(a), None if b is None else self._part(b))

    def diag(self, a: np.ndarray) -> np.ndarray:
        return self.kernel.diag(self._part(a))

    def is_stationary(self) -> bool:
        return False


class Counts(Columns):
    """A kernel of scikit-learn on how many parameters have each choice, all offering the same."""

    def _part(self, rows: np.ndarray) -> np.ndarray:
        return super()._part(rows.reshape(len(rows), N_PARAMETERS, -1).sum(axis=1))


def sklearn_kernel(kind: str, theta: np.ndarray) -> SklearnKernel:
    features, layout, with_proxies, relevance = KINDS[kind]
    value = np.exp(theta)
    weights = WEIGHTS if relevance else WEIGHTS[:1] * N_PARAMETERS
    kernel, scales = ConstantKernel(value[1]), [value[1]]
    numbers = np.zeros(0, dtype=int)
    start = features.shape[1] - layout.n_encoding
    for width, numeric, weight in zip(layout.widths, layout.numeric, weights, strict=True):
        columns = np.arange(start, start + width)
        start += width
        if numeric:
            numbers = np.append(numbers, columns)
        else:
            kernel *= Columns(RBF(1.0), columns, 0.0, np.sqrt(weight / N_PARAMETERS))
    if len(numbers):
        weight = np.array(weights)[list(layout.numeric)]
        kernel *= Columns(Matern(1.0, nu=2.5), numbers, 0.0, np.sqrt(2 * weight / N_PARAMETERS))
    values = ALL_VALUES[: len(value) - 2 - len(set(weights))] if with_proxies else ()
    if with_proxies:
        ranks = slice(0, N_PROXIES)
        linear = Columns(DotProduct(0.0), ranks, 0.5, np.sqrt(12 / N_PROXIES))
        kernel += ConstantKernel(values[0]) * linear
        scales.append(values[0])
    for i, (scale, length) in enumerate(np.reshape(values[1:], (-1, 2))):
        columns = slice(i * N_PROXIES, (i + 1) * N_PROXIES)
        smooth = Columns(RBF(length), columns, 0.5, 1 / np.sqrt(N_PROXIES))
        kernel += ConstantKernel(scale) * smooth
        scales.append(scale)
    if layout.kinds:
        scale, length = ALL_VALUES[1:3]
        counts = Counts(RBF(length), slice(None), 0.0, np.sqrt(0.5 / N_PARAMETERS))
        kernel += ConstantKernel(scale) * counts
        scales.append(scale)
    return kernel + WhiteKernel(value[0] + 1e-6 * sum(scales))


@pytest.mark.parametrize("kind", KINDS)
def test_the_posterior_is_scikit_learns(kind: str) -> None:
    kernel, theta, features = make_kernel(kind)
    ours = GaussianProcess(kernel)
    ours.theta = theta
    labelled = np.random.default_rng(1).permutation(len(Y))[:45]
    for n in (10, 11, 30, 45):  # by appended rows
        mean, variance = ours.predict(features[labelled[:n]], Y[labelled[:n]], features)
    expected_kernel = sklearn_kernel(kind, theta)
    theirs = GaussianProcessRegressor(expected_kernel, alpha=0.0, optimizer=None)
    theirs.fit(features[labelled], Y[labelled])
    expected, std = theirs.predict(features, return_std=True)
    noise = expected_kernel.k2.noise_level  # scikit-learn predicts a noisy label
    np.testing.assert_allclose(mean, expected, atol=1e-6)
    np.testing.assert_allclose(variance, np.square(std) - noise, atol=1e-6)


def test_on_one_hot_codes_the_kernel_is_the_exponential_of_hamming() -> None:
    kernel, theta, _ = make_kernel("structure")
    rows = kernel.rows(theta, X)
    hamming = (GRID.codes[:, np.newaxis] != GRID.codes).mean(axis=2)
    np.testing.assert_allclose(
        kernel.between(theta, rows, rows), 1.3 * np.exp(-2.1 * hamming), atol=1e-12
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_is_the_derivative(kind: str) -> None:
    kernel, theta, features = make_kernel(kind)
    distances, y = kernel.distances(features[:25]), Y[:25] - Y[:25].mean()
    _, gradient = kernel.negative_log_posterior(theta, y, distances, 1.5)
    numeric = approx_fprime(
        theta, lambda t: kernel.negative_log_posterior(t, y, distances, 1.5)[0], 1e-6
    )
    np.testing.assert_allclose(gradient, numeric, rtol=1e-3, atol=1e-4)


def test_single_precision_agrees_with_double() -> None:
    both = []
    for dtype in (np.float32, np.float64):
        model = AveragedProcesses(LAYOUT)
        model.fit(X[:40].astype(dtype), Y[:40])
        both.append(model.predict(X.astype(dtype)))
    np.testing.assert_allclose(both[0], both[1], atol=2e-3)


def test_predictions_over_numbers_are_in_double_precision() -> None:
    """Near an optimum they differ by less than single precision can tell."""
    layout = FeatureLayout(0, (1, 1), (True, True))
    points = np.random.default_rng(0).random((60, 2)).astype(np.float32)
    labels = -np.square(points.astype(np.float64) - 0.4).sum(axis=1)
    model = AveragedProcesses(layout)
    model.fit(points, labels)
    near = (0.4 + 3e-3 * np.random.default_rng(1).normal(size=(200, 2))).astype(np.float32)
    mean, _ = model.predict(near)
    expected = -np.square(near.astype(np.float64) - 0.4).sum(axis=1)  # about 1e-5
    assert np.corrcoef(mean, expected)[0, 1] > 0.8  # in single precision 0.4


@pytest.mark.parametrize(
    "kind", ["neighbours", "numbers by relevance", "many choices and numbers by relevance"]
)
def test_one_pool_after_another_is_predicted_as_if_it_were_the_first(kind: str) -> None:
    kernel, theta, features = make_kernel(kind)
    order = np.random.default_rng(0).permutation(len(features))
    rows = features[order[:60]]
    changed = np.vstack([rows[:25], rows[30:]])

    def process() -> GaussianProcess:
        made = GaussianProcess(kernel)
        made.theta = theta
        return made

    kept = process()
    pools = [features[:50].copy(), features[31:].copy(), features[:50].copy()]
    for labelled, pool in (
        (rows[:20], pools[0]),
        (rows[:47], pools[1]),
        (rows[:48], pools[1]),
        (changed, pools[1]),
        (rows, pools[2]),
        (rows[:30], pools[2]),
    ):
        y = Y[: len(labelled)] - Y[: len(labelled)].mean()
        for got, expected in zip(
            kept.predict(labelled, y, pool), process().predict(labelled, y, pool), strict=True
        ):
            np.testing.assert_array_equal(got, expected)


def test_a_label_that_fails_badly_does_not_blur_the_rest() -> None:
    y = Y[:40].copy()
    y[np.argmin(y)] = -1e6
    model = AveragedProcesses(LAYOUT)
    model.fit(X[:40], y)
    mean, _ = model.predict(X)
    assert np.corrcoef(mean[40:], Y[40:])[0, 1] > 0.7


def test_a_failure_counts_as_far_below_the_median_as_the_best_lies_above() -> None:
    predictions = []
    for failed in (-1e6, -1e2, -3.0, -2.5):
        # The best is 5 and the median 1, so that nothing is worse than 1 - (5 - 1) = -3.
        y = np.array([failed, 0.0, 0.5, 1.0, 1.0, 1.0, 2.0, 3.0, 5.0])
        model = AveragedProcesses(LAYOUT)
        model.fit(X[: len(y)], y)
        predictions.append(model.predict(X))
    np.testing.assert_array_equal(predictions[0], predictions[2])
    np.testing.assert_array_equal(predictions[1], predictions[2])
    assert not np.allclose(predictions[3], predictions[2])


def test_where_most_labels_are_the_best_the_others_stay_below() -> None:
    y = 1.0 - GRID.encoding[:, 0] * GRID.encoding[:, 3]  # 0 for a ninth, else 1
    model = AveragedProcesses(COUNTED_LAYOUT)
    model.fit(GRID.encoding, y)
    mean, _ = model.predict(GRID.encoding)
    assert mean[y == 0].max() < 0.5 < mean[y == 1].min()


def test_with_proxies_the_choices_are_not_counted() -> None:
    predictions = []
    for layout in (LAYOUT, replace(LAYOUT, kinds=GRID.kinds)):
        model = AveragedProcesses(layout)
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
        (AveragedProcesses.for_constraint, True),
        (AveragedProcesses.for_layout, False),
    ):
        process = factory(COUNTED_LAYOUT, 0)
        process.fit(GRID.encoding[rows], labels[rows])
        mean, _ = process.predict(GRID.encoding[rows])
        assert np.array_equal(mean < 0, violated[rows]) is keeps


def test_where_the_processes_disagree_the_spread_is_larger() -> None:
    # The proxies say nothing of the labels beyond structure; without labels near, both doubt.
    model = AveragedProcesses(LAYOUT)
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
    settings = GaussianProcessSettings(first=len(rows))
    center, scale = labels.mean(), labels.std()
    moments = []
    for with_proxies in (True, False):
        process = GaussianProcess(Kernel(LAYOUT, with_proxies=with_proxies), settings)
        process.fit_hyperparameters(X[rows], (labels - center) / scale)
        moments.append(process.predict(X[rows], (labels - center) / scale, X))
    (mean1, variance1), (mean2, variance2) = moments
    expected = (variance1 + variance2) / 2 + np.square(mean1 - mean2) / 4

    model = AveragedProcesses(LAYOUT, settings, lifts_failures=False)
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
    settings = GaussianProcessSettings()
    mixture = AveragedProcesses(LAYOUT, settings)
    alone = AveragedProcesses(FeatureLayout(0, GRID.widths, GRID.numeric), settings)
    mixture.fit(X[rows], labels)
    alone.fit(GRID.encoding[rows], labels)
    mean, std = mixture.predict(X)
    structure, doubt = alone.predict(GRID.encoding)
    # m = (m1 + m2) / 2 and v = (v1 + v2) / 2 + (m - m2)^2, where v1 > 0.
    assert np.all(np.square(std) > np.square(doubt) / 2 + np.square(mean - structure))


@pytest.mark.parametrize(
    ("growth", "sizes"),
    [
        (1.0, {5: 5, 14: 14, 27: 14, 28: 28, 59: 28, 60: 60}),
        (0.5, {14: 14, 21: 14, 22: 22, 32: 22, 33: 33}),
        (0.2, {16: 14, 17: 17, 21: 17, 22: 22, 27: 22, 28: 28}),
    ],
)
def test_hyper_parameters_follow_the_number_of_labels_alone(
    growth: float, sizes: dict[int, int]
) -> None:
    # Blocks end at 14 15 16 17 18 19 20 22 24 26 28 30 33 36 39 42 46 50 55 60; at least a factor
    # of 2 apart are 14, 28 and 60; of 1.5 14, 22 and 33; of 1.2 14, 17, 22 and 28.
    settings = GaussianProcessSettings(refit_growth=growth)
    assert {n: settings.n_hyper(n) for n in sizes} == sizes


@pytest.mark.parametrize(
    ("settings", "n_labels", "n_best"),
    [(GaussianProcessSettings(max_points=30), 81, 30), (GaussianProcessSettings(), 160, 100)],
    ids=["few", "default"],
)
def test_hyper_parameters_are_those_of_the_best_labels(
    settings: GaussianProcessSettings, n_labels: int, n_best: int
) -> None:
    """The others, far from where the search goes, have a shape of their own."""
    grid = CandidateSet.grid({f"p{i}": "abc" for i in range(5)})
    rows = np.random.default_rng(5).permutation(len(grid))[:n_labels]
    codes, encoding = grid.codes[rows], grid.encoding[rows].astype(np.float64)
    labels = np.where(np.arange(n_labels) % 2 == 0, codes[:, 0], 5.0 * codes[:, 1] - 20)
    labels = labels + 0.1 * codes[:, 2:].sum(axis=1)
    best = np.argsort(-labels, kind="stable")[:n_best]

    def fitted(chosen: np.ndarray, shift: float = 0.0) -> np.ndarray:
        layout = FeatureLayout(0, grid.widths, grid.numeric)
        process = GaussianProcess(Kernel(layout, with_proxies=False, relevance=True), settings)
        process.fit_hyperparameters(encoding[chosen], labels[chosen] + shift)
        return process.theta

    everything = np.arange(n_labels)
    np.testing.assert_allclose(fitted(everything), fitted(best), rtol=1e-6)
    # They are told apart from each other, not from the mean of all.
    np.testing.assert_allclose(fitted(everything, shift=-5.0), fitted(best), rtol=1e-3)
    worst = np.argsort(labels, kind="stable")[:n_best]
    assert np.abs(fitted(worst) - fitted(best)).max() > 0.1


def test_settings_are_checked_when_made() -> None:
    with pytest.raises(ValueError, match="refit_growth must be positive"):
        GaussianProcessSettings(refit_growth=0)
