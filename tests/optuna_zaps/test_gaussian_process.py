from __future__ import annotations

from dataclasses import replace

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
RNG = np.random.default_rng(0)
RANKS = RNG.random((len(GRID), N_PROXIES))
Y = np.sin(3 * RANKS[:, 0]) + GRID.encoding[:, 0] - GRID.encoding[:, -1]
Y += 0.1 * RNG.normal(size=len(Y))
# What a process is given, its layout, and whether it looks at proxies.
ALL = np.hstack([RANKS, GRID.neighbourhood_mean(RANKS), GRID.encoding])
X = np.hstack([RANKS, GRID.encoding])
LAYOUT = FeatureLayout(N_PROXIES, GRID.encoding.shape[1], N_PARAMETERS)
WITH_NEIGHBOURS = replace(LAYOUT, has_neighbourhood=True)
KINDS = {
    "structure": (X, LAYOUT, False),
    "proxies": (X, LAYOUT, True),
    "neighbours": (ALL, WITH_NEIGHBOURS, True),
    "structure beside neighbours": (ALL, WITH_NEIGHBOURS, False),
}
THETA = np.log([0.07, 1.3, 2.1, 0.2, 0.8, 0.6, 0.4, 0.3])
N_THETA = {"structure": 3, "proxies": 6, "neighbours": 8, "structure beside neighbours": 3}


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


def sklearn_kernel(theta: np.ndarray, n_columns: int) -> SklearnKernel:
    value = np.exp(theta)
    encoding = slice(n_columns - GRID.encoding.shape[1], None)
    structure = Columns(RBF(1.0), encoding, 0.0, np.sqrt(value[2] / N_PARAMETERS))
    kernel = ConstantKernel(value[1]) * structure
    scales = [value[1]]
    if len(value) > 3:
        ranks = slice(0, N_PROXIES)
        linear = Columns(DotProduct(0.0), ranks, 0.5, np.sqrt(12 / N_PROXIES))
        kernel += ConstantKernel(value[3]) * linear
        scales.append(value[3])
    for i, (scale, length) in enumerate(value[4:].reshape(-1, 2)):
        columns = slice(i * N_PROXIES, (i + 1) * N_PROXIES)
        smooth = Columns(RBF(length), columns, 0.5, 1 / np.sqrt(N_PROXIES))
        kernel += ConstantKernel(scale) * smooth
        scales.append(scale)
    return kernel + WhiteKernel(value[0] + 1e-6 * sum(scales))


@pytest.mark.parametrize("kind", KINDS)
def test_the_posterior_is_scikit_learns(kind: str) -> None:
    features, layout, with_proxies = KINDS[kind]
    ours = GaussianProcess(Kernel(layout, with_proxies=with_proxies))
    ours.theta = THETA[: N_THETA[kind]]
    labelled = np.random.default_rng(1).permutation(len(Y))[:45]
    for n in (10, 11, 30, 45):  # by appended rows
        mean, variance = ours.predict(features[labelled[:n]], Y[labelled[:n]], features)
    kernel = sklearn_kernel(ours.theta, features.shape[1])
    theirs = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None)
    theirs.fit(features[labelled], Y[labelled])
    expected, std = theirs.predict(features, return_std=True)
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


@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_is_the_derivative(kind: str) -> None:
    features, layout, with_proxies = KINDS[kind]
    kernel, theta = Kernel(layout, with_proxies=with_proxies), THETA[: N_THETA[kind]]
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
