from __future__ import annotations

import numpy as np
import pytest

from optuna_zaps.search.profiles import pool_processes
from optuna_zaps.surrogates import AdditiveTerm
from optuna_zaps.surrogates import FeatureLayout
from optuna_zaps.surrogates.kernel import Kernel


LAYOUT = FeatureLayout(0, (1, 3, 1), (True, False, True))
A = np.array([[0.2, 0, 1, 0, 0.9]])
B = np.array([[0.5, 0, 1, 0, 0.9], [0.2, 1, 0, 0, 0.6], [0.2, 0, 1, 0, 0.9]])


def covariance(term: AdditiveTerm, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    values = np.array([1.2, 0.3])
    rows = (term.rows(np.log(values), X, np.dtype(np.float64)) for X in (a, b))
    return term.covariance(values, *rows)


def test_each_parameter_adds_its_share() -> None:
    # A distance of one length: M = (1 + sqrt(5) + 5 / 3) exp(-sqrt(5)) = 0.52399.
    at_one_length = 0.523994
    expected = 1.2 / 3 * np.array([[at_one_length + 1 + 1, 1 + 0 + at_one_length, 3]])
    np.testing.assert_allclose(covariance(AdditiveTerm(LAYOUT), A, B), expected, rtol=1e-5)


def test_what_one_parameter_does_is_the_same_wherever_the_others_are() -> None:
    """For a sum k(ab, .) - k(a'b, .) = k(ab', .) - k(a'b', .) (Duvenaud et al., 2011)."""
    rng = np.random.default_rng(0)
    here, there, other = rng.random((3, 3))
    layout = FeatureLayout(0, (1, 1, 1), (True, True, True))

    def effect(others: np.ndarray) -> np.ndarray:
        two = np.array([[0.1, *others[1:]], [0.7, *others[1:]]])
        return np.diff(covariance(AdditiveTerm(layout), two, other[np.newaxis]), axis=0)

    np.testing.assert_allclose(effect(here), effect(there), atol=1e-12)


def test_a_kernel_of_it_alone_fills_in_the_fourth_corner() -> None:
    """From three corners of a square a sum is known at the fourth: f11 = f10 + f01 - f00."""
    layout = FeatureLayout(0, (1, 1), (True, True))
    kernel = Kernel([AdditiveTerm(layout)], noise=1e-9, least_noise=1e-12)
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    rows = kernel.rows(kernel.prior_mean, corners)
    K = kernel.between(kernel.prior_mean, rows, rows)
    weights = np.linalg.solve(K[:3, :3] + 1e-9 * np.eye(3), K[:3, 3])
    np.testing.assert_allclose(weights, [-1, 1, 1], atol=1e-6)


def test_many_pairs_of_rows_are_computed_like_few() -> None:
    rng = np.random.default_rng(0)
    layout = FeatureLayout(0, (1, 1), (True, True))
    term, few, many = AdditiveTerm(layout), rng.random((70, 2)), rng.random((1000, 2))
    together = covariance(term, few, many)
    one_by_one = [covariance(term, row[np.newaxis], many)[0] for row in few]
    np.testing.assert_allclose(together, one_by_one, rtol=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_labels_that_are_noise_are_no_sum_of_spikes(seed: int) -> None:
    """The best configuration does not make its very values good, and those next to them not."""
    rng = np.random.default_rng(seed)
    X, y = rng.random((40, 3)), rng.normal(size=40)
    model = pool_processes(FeatureLayout(0, (1, 1, 1), (True, True, True)), 0)
    model.fit(X, y)
    best, others = X[y.argmax()], rng.random((300, 2))

    def mean(value: float) -> float:
        rows = np.column_stack([np.full(300, value), others])
        return float(model.predict(rows)[0].mean())

    assert abs(mean(best[0]) - mean(best[0] + 0.01)) < 0.25


def test_its_length_has_a_bound_of_its_own() -> None:
    bounds = Kernel([AdditiveTerm(LAYOUT, least_length=0.05)], least_noise=1e-3).bounds
    # Noise, amplitude and length; medians of 1 and 0.15, and six natural logarithms either way.
    expected = np.exp([[np.log(1e-3), np.log(3)], [-6, 6], [np.log(0.05), np.log(0.15) + 6]])
    np.testing.assert_allclose(np.exp(bounds), expected)
