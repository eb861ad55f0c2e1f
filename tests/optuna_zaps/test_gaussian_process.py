from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.gaussian_process.kernels import ConstantKernel
from sklearn.gaussian_process.kernels import DotProduct
from sklearn.gaussian_process.kernels import Kernel as SklearnKernel
from sklearn.gaussian_process.kernels import WhiteKernel

from optuna_zaps.candidates import CandidateSet
from optuna_zaps.surrogates import AveragedProcesses
from optuna_zaps.surrogates import FeatureLayout
from optuna_zaps.surrogates import GaussianProcessSettings
from optuna_zaps.surrogates.gaussian_process import GaussianProcess
from optuna_zaps.surrogates.gaussian_process import Kernel
from optuna_zaps.surrogates.gaussian_process import Rows


N_PROXIES, N_PARAMETERS = 3, 4
GRID = CandidateSet.grid({f"p{i}": "abc" for i in range(N_PARAMETERS)})
LAYOUT = FeatureLayout(N_PROXIES, GRID.encoding.shape[1], N_PARAMETERS)
RNG = np.random.default_rng(0)
X = np.hstack([RNG.random((len(GRID), N_PROXIES)), GRID.encoding]).astype(np.float64)
Y = np.sin(3 * X[:, 0]) + X[:, N_PROXIES] - X[:, -1] + 0.1 * RNG.normal(size=len(X))
THETA = np.log([0.07, 1.3, 2.1, 0.8, 0.6, 0.2])


class Columns(SklearnKernel):
    """A kernel of scikit-learn on some of the columns, shifted and scaled."""

    def __init__(self, kernel: SklearnKernel, columns: slice, shift: float, scale: float) -> None:
        self.kernel, self.columns, self.shift, self.scale = kernel, columns, shift, scale

    def _part(self, rows: np.ndarray) -> np.ndarray:
        return (rows[:, self.columns] - self.shift) * self.scale

    def __call__(self, a: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
        return self.kernel(self._part(a), None if b is None else self._part(b))

    def diag(self, a: np.ndarray) -> np.ndarray:
        return self.kernel.diag(self._part(a))

    def is_stationary(self) -> bool:
        return False


def sklearn_kernel(*, with_proxies: bool) -> SklearnKernel:
    noise, s, w, t, length, u = np.exp(THETA)
    structure = Columns(RBF(1.0), slice(N_PROXIES, None), 0.0, np.sqrt(w / N_PARAMETERS))
    kernel = ConstantKernel(s) * structure
    if with_proxies:
        ranks = slice(0, N_PROXIES)
        kernel += ConstantKernel(t) * Columns(RBF(length), ranks, 0.5, 1 / np.sqrt(N_PROXIES))
        kernel += ConstantKernel(u) * Columns(DotProduct(0.0), ranks, 0.5, np.sqrt(12 / N_PROXIES))
    jitter = 1e-6 * np.exp(THETA[1:] if with_proxies else THETA[1:3]).sum()
    return kernel + WhiteKernel(noise + jitter)


@pytest.mark.parametrize("with_proxies", [True, False])
def test_the_posterior_is_scikit_learns(with_proxies: bool) -> None:
    ours = GaussianProcess(Kernel(LAYOUT, with_proxies=with_proxies))
    ours.theta = THETA if with_proxies else THETA[:3]
    labelled = np.random.default_rng(1).permutation(len(X))[:45]
    for n in (10, 11, 30, 45):  # by appended rows
        mean, variance = ours.predict(X[labelled[:n]], Y[labelled[:n]], X)
    kernel = sklearn_kernel(with_proxies=with_proxies)
    theirs = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None)
    theirs.fit(X[labelled], Y[labelled])
    expected, std = theirs.predict(X, return_std=True)
    noise = kernel.k2.noise_level  # scikit-learn predicts a noisy label
    np.testing.assert_allclose(mean, expected, atol=1e-6)
    np.testing.assert_allclose(variance, np.square(std) - noise, atol=1e-6)


def test_on_one_hot_codes_the_kernel_is_the_exponential_of_hamming() -> None:
    kernel = Kernel(LAYOUT, with_proxies=False)
    rows = Rows(kernel.parts(X))
    hamming = (GRID.codes[:, np.newaxis] != GRID.codes).mean(axis=2)
    np.testing.assert_allclose(
        kernel.between(THETA[:3], rows, rows), 1.3 * np.exp(-2.1 * hamming), atol=1e-12
    )


@pytest.mark.parametrize("with_proxies", [True, False])
def test_the_gradient_is_the_derivative(with_proxies: bool) -> None:
    kernel = Kernel(LAYOUT, with_proxies=with_proxies)
    theta = THETA if with_proxies else THETA[:3]
    distances, y = kernel.distances(X[:25]), Y[:25] - Y[:25].mean()
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


def test_a_label_that_fails_badly_does_not_blur_the_rest() -> None:
    y = Y[:40].copy()
    y[np.argmin(y)] = -1e6
    model = AveragedProcesses(LAYOUT)
    model.fit(X[:40], y)
    mean, _ = model.predict(X)
    assert np.corrcoef(mean[40:], Y[40:])[0, 1] > 0.7


def test_where_the_processes_disagree_the_spread_is_larger() -> None:
    # The proxies say nothing of the labels beyond structure; without labels near, both doubt.
    model = AveragedProcesses(LAYOUT)
    model.fit(X[:20], Y[:20])
    _, std = model.predict(X)
    assert std[:20].mean() < std[20:].mean()


@pytest.mark.parametrize(("n", "size"), [(5, 5), (14, 14), (27, 14), (28, 28), (59, 28), (60, 60)])
def test_hyper_parameters_follow_the_number_of_labels_alone(n: int, size: int) -> None:
    # Blocks end at 14 15 16 17 18 19 20 22 24 26 28 30 33 36 39 42 46 50 55 60; at least a factor
    # of 2 apart are 14, 28 and 60.
    assert GaussianProcessSettings().n_hyper(n) == size


def test_settings_are_checked_when_made() -> None:
    with pytest.raises(ValueError, match="refit_growth must be positive"):
        GaussianProcessSettings(refit_growth=0)
