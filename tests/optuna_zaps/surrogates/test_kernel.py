from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

from kernel_cases import CASES
from kernel_cases import GRID
from kernel_cases import LAYOUT
from kernel_cases import N_PARAMETERS
from kernel_cases import N_PROXIES
from kernel_cases import NOISE
from kernel_cases import ONE_WEIGHT
from kernel_cases import RELEVANCE
from kernel_cases import VALUES
from kernel_cases import Y
from kernel_cases import make_kernel
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

from optuna_zaps.search.profiles import PROCESSES
from optuna_zaps.surrogates import AdditiveTerm
from optuna_zaps.surrogates import AveragedProcesses
from optuna_zaps.surrogates import FeatureLayout
from optuna_zaps.surrogates import LinearRankTerm
from optuna_zaps.surrogates import ParameterTerm
from optuna_zaps.surrogates import SharedChoiceTerm
from optuna_zaps.surrogates import SmoothRankTerm
from optuna_zaps.surrogates.gaussian_process import GaussianProcess
from optuna_zaps.surrogates.gaussian_process import negative_log_posterior
from optuna_zaps.surrogates.kernel import Kernel


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


Theirs = Callable[[FeatureLayout, int, tuple[float, ...]], SklearnKernel]


def of_parameters(layout: FeatureLayout, start: int, values: tuple[float, ...]) -> SklearnKernel:
    kernel = ConstantKernel(1.0)
    weights = np.broadcast_to(values, N_PARAMETERS)
    numbers = np.zeros(0, dtype=int)
    for width, numeric, weight in zip(layout.widths, layout.numeric, weights, strict=True):
        columns = np.arange(start, start + width)
        start += width
        if numeric:
            numbers = np.append(numbers, columns)
        else:
            kernel *= Columns(RBF(1.0), columns, 0.0, np.sqrt(weight / N_PARAMETERS))
    if len(numbers):
        weight = weights[list(layout.numeric)]
        kernel *= Columns(Matern(1.0, nu=2.5), numbers, 0.0, np.sqrt(2 * weight / N_PARAMETERS))
    return kernel


def one_by_one(layout: FeatureLayout, start: int, values: tuple[float, ...]) -> SklearnKernel:
    kernels = []
    for width, numeric in zip(layout.widths, layout.numeric, strict=True):
        columns = np.arange(start, start + width)
        start += width
        # The product of one-hot codes is 1 for equal choices.
        kernel = Matern(*values, nu=2.5) if numeric else DotProduct(0.0)
        kernels.append(ConstantKernel(1 / N_PARAMETERS) * Columns(kernel, columns, 0.0, 1.0))
    return reduce(add, kernels)


def of_ranks(first: int) -> Theirs:
    ranks = slice(first, first + N_PROXIES)
    return lambda layout, start, values: Columns(RBF(*values), ranks, 0.5, 1 / np.sqrt(N_PROXIES))


# For each term the kernel of scikit-learn of layout, start of the encoding and values.
THEIRS: dict[Any, Theirs] = {
    ONE_WEIGHT: of_parameters,
    RELEVANCE: of_parameters,
    AdditiveTerm: one_by_one,
    LinearRankTerm: lambda layout, start, values: Columns(
        DotProduct(0.0), slice(0, N_PROXIES), 0.5, np.sqrt(12 / N_PROXIES)
    ),
    SmoothRankTerm: of_ranks(0),
    SmoothRankTerm.half_of_own: of_ranks(0),
    SmoothRankTerm.half_of_neighbours: of_ranks(N_PROXIES),
    SharedChoiceTerm: lambda layout, start, values: Counts(
        RBF(*values), slice(None), 0.0, np.sqrt(0.5 / N_PARAMETERS)
    ),
}


def sklearn_kernel(case: str) -> SklearnKernel:
    features, layout, terms = CASES[case]
    amplitudes = [VALUES[term][0] for term in terms]
    kernel = WhiteKernel(NOISE + 1e-6 * sum(amplitudes))
    for term, amplitude in zip(terms, amplitudes, strict=True):
        theirs = THEIRS[term](layout, features.shape[1] - layout.n_encoding, VALUES[term][1:])
        kernel = ConstantKernel(amplitude) * theirs + kernel
    return kernel


@pytest.mark.parametrize("case", CASES)
def test_the_posterior_is_scikit_learns(case: str) -> None:
    kernel, theta, features = make_kernel(case)
    ours = GaussianProcess(kernel, PROCESSES)
    ours.theta = theta
    labelled = np.random.default_rng(1).permutation(len(Y))[:45]
    for n in (10, 11, 30, 45):  # by appended rows
        mean, variance = ours.predict(features[labelled[:n]], Y[labelled[:n]], features)
    expected_kernel = sklearn_kernel(case)
    theirs = GaussianProcessRegressor(expected_kernel, alpha=0.0, optimizer=None)
    theirs.fit(features[labelled], Y[labelled])
    expected, std = theirs.predict(features, return_std=True)
    noise = kernel.nugget(theta)  # scikit-learn predicts a noisy label
    np.testing.assert_allclose(mean, expected, atol=1e-6)
    np.testing.assert_allclose(variance, np.square(std) - noise, atol=1e-6)


def test_on_one_hot_codes_the_kernel_is_the_exponential_of_hamming() -> None:
    kernel, theta, features = make_kernel("parameters")
    rows = kernel.rows(theta, features)
    hamming = (GRID.codes[:, np.newaxis] != GRID.codes).mean(axis=2)
    np.testing.assert_allclose(
        kernel.between(theta, rows, rows), 1.3 * np.exp(-2.1 * hamming), atol=1e-12
    )


@pytest.mark.parametrize("case", CASES)
def test_the_gradient_is_the_derivative(case: str) -> None:
    kernel, theta, features = make_kernel(case)
    distances, y = kernel.distances(features[:25]), Y[:25] - Y[:25].mean()
    _, gradient = negative_log_posterior(theta, kernel, y, distances, 1.5)
    numeric = approx_fprime(
        theta, lambda t: negative_log_posterior(t, kernel, y, distances, 1.5)[0], 1e-6
    )
    np.testing.assert_allclose(gradient, numeric, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("case", CASES)
def test_rows_and_distances_give_one_covariance(case: str) -> None:
    kernel, theta, features = make_kernel(case)
    rows = kernel.rows(theta, features[:25])
    covariance, _ = kernel.covariance_and_gradient(theta, kernel.distances(features[:25]))
    expected = kernel.between(theta, rows, rows) + kernel.nugget(theta) * np.eye(25)
    np.testing.assert_allclose(covariance, expected, atol=1e-12)
    np.testing.assert_allclose(
        kernel.variance(theta, rows), np.diag(covariance) - kernel.nugget(theta), atol=1e-12
    )


@pytest.mark.parametrize(
    ("with_proxies", "widths"), [(True, ()), (False, ())], ids=["proxies alone", "nothing"]
)
def test_without_parameters_their_term_is_constant(with_proxies: bool, widths: Any) -> None:
    layout = FeatureLayout(N_PROXIES, widths, ())
    features = np.random.default_rng(0).random((9, N_PROXIES))
    kernel = Kernel([ParameterTerm(layout)] + [LinearRankTerm(layout)] * with_proxies)
    theta = np.log([NOISE, 1.3, 2.1] + [0.2] * with_proxies)
    rows = kernel.rows(theta, features)
    centred = (features - 0.5) * np.sqrt(12 / N_PROXIES) * with_proxies
    expected = 1.3 + 0.2 * centred @ centred.T
    np.testing.assert_allclose(kernel.between(theta, rows, rows), expected, atol=1e-12)
    covariance, gradient = kernel.covariance_and_gradient(theta, kernel.distances(features))
    np.testing.assert_allclose(covariance - kernel.nugget(theta) * np.eye(9), expected)
    assert gradient(np.ones((9, 9)))[2] == 0  # the weight of nothing


class Offset:
    """A term of one's own: an offset that all labels share."""

    prior_medians = (1.0,)
    least_values = (0.0,)

    def __init__(self, layout: FeatureLayout) -> None:
        pass

    def rows(self, theta: np.ndarray, X: np.ndarray, dtype: Any) -> int:
        return len(X)

    def covariance(self, values: np.ndarray, a: int, b: int) -> np.ndarray:
        return np.full((a, b), values[0])

    def variance(self, values: np.ndarray, a: int) -> Any:
        return values[0]

    def distances(self, X: np.ndarray) -> int:
        return len(X)

    def covariance_and_gradient(self, values: np.ndarray, distances: int) -> Any:
        covariance = np.full((distances, distances), values[0])
        return covariance, lambda G: [np.vdot(G, covariance)]


def test_a_term_is_added_by_its_class_and_its_name_in_the_sum() -> None:
    settings = replace(PROCESSES, kernels=((ParameterTerm, Offset),))
    layout, rows = LAYOUT, GRID.encoding.astype(np.float64)
    kernel = Kernel([make(layout) for make in settings.kernels[0]])
    theta = np.log([NOISE, 1.3, 2.1, 0.7])
    process = GaussianProcess(kernel, settings)
    process.theta = theta
    mean, variance = process.predict(rows[:30], Y[:30], rows)
    theirs = GaussianProcessRegressor(
        ConstantKernel(1.3) * of_parameters(layout, 0, (2.1,))
        + ConstantKernel(0.7)
        + WhiteKernel(kernel.nugget(theta)),
        alpha=0.0,
        optimizer=None,
    ).fit(rows[:30], Y[:30])
    expected, std = theirs.predict(rows, return_std=True)
    np.testing.assert_allclose(mean, expected, atol=1e-6)
    np.testing.assert_allclose(variance, np.square(std) - kernel.nugget(theta), atol=1e-6)

    model = AveragedProcesses(layout, settings)
    model.fit(rows[:30], Y[:30])
    assert np.corrcoef(model.predict(rows[:30])[0], Y[:30])[0, 1] > 0.9
