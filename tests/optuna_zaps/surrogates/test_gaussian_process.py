from __future__ import annotations

from dataclasses import replace

from kernel_cases import Y
from kernel_cases import make_kernel
import numpy as np
import pytest

from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.profiles import PROCESSES
from optuna_zaps.surrogates import FeatureLayout
from optuna_zaps.surrogates import GaussianProcessSettings
from optuna_zaps.surrogates import ParameterTerm
from optuna_zaps.surrogates.gaussian_process import GaussianProcess
from optuna_zaps.surrogates.kernel import Kernel


@pytest.mark.parametrize(
    "case", ["neighbours", "numbers by relevance", "many choices and numbers by relevance"]
)
def test_one_pool_after_another_is_predicted_as_if_it_were_the_first(case: str) -> None:
    kernel, theta, features = make_kernel(case)
    order = np.random.default_rng(0).permutation(len(features))
    rows = features[order[:60]]
    changed = np.vstack([rows[:25], rows[30:]])

    def process() -> GaussianProcess:
        made = GaussianProcess(kernel, PROCESSES)
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


@pytest.mark.parametrize(
    ("settings", "n_labels", "n_best"),
    [(replace(PROCESSES, max_points=30), 81, 30), (PROCESSES, 160, 100)],
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
        process = GaussianProcess(Kernel([ParameterTerm.with_relevance(layout)]), settings)
        process.fit_hyperparameters(encoding[chosen], labels[chosen] + shift)
        return process.theta

    everything = np.arange(n_labels)
    np.testing.assert_allclose(fitted(everything), fitted(best), rtol=1e-6)
    # They are told apart from each other, not from the mean of all.
    np.testing.assert_allclose(fitted(everything, shift=-5.0), fitted(best), rtol=1e-3)
    worst = np.argsort(labels, kind="stable")[:n_best]
    assert np.abs(fitted(worst) - fitted(best)).max() > 0.1


def test_a_large_amplitude_in_single_precision_does_not_end_a_study() -> None:
    """As after 136 labels of a sum over six parameters without noise."""
    grid = CandidateSet.grid({f"p{i}": "abcde" for i in range(6)})
    layout = FeatureLayout(0, grid.widths, grid.numeric)
    rows = np.random.default_rng(0).permutation(len(grid))[:400]
    weights = np.random.default_rng(1).normal(size=grid.encoding.shape[1])
    labels = grid.encoding.astype(np.float64) @ weights
    labels -= labels.mean()
    predictions = []
    for dtype in (np.float32, np.float64):
        process = GaussianProcess(Kernel([ParameterTerm(layout)]), PROCESSES)
        process.theta = np.log([1e-3, 403.4, 0.00744])
        encoding = grid.encoding.astype(dtype)
        predictions.append(process.predict(encoding[rows], labels[rows], encoding))
    (mean, variance), (expected, _) = predictions
    assert np.all(np.isfinite(mean)) and np.all(variance > 0)
    assert np.corrcoef(mean, expected)[0, 1] > 0.99
