"""Two Gaussian processes, one with proxies and one without, averaged.

Not in the paper, whose surrogate is an ensemble of trees. A process over structure alone needs no
proxy and cannot be misled by one; a process that also sees proxies is right sooner where they are
honest. Their mixture follows whichever knows, and where they disagree its spread grows, so that
the search looks there.

Notations:
    e, r: encoding of the parameters, and proxy ranks in [0, 1], of a configuration.
    h(a, b): ||e(a) - e(b)||^2 / (2 m) for m parameters; for one-hot codes the share of parameters
        that differ, so that exp(-w h) is the exponential of the Hamming distance.
    d(a, b): mean squared difference of the p proxy ranks.
    c(a, b): the same of the mean ranks of each one's neighbours, where the layout has them.
    Structure alone: k = s exp(-w h).
    With proxies: k = s exp(-w h) + u (12 / p) (r(a) - 1/2) . (r(b) - 1/2)
        + t exp(-d / (2 l^2)) + t' exp(-c / (2 l'^2)).
    theta: logarithms of (noise variance, s, w[, u, t, l[, t', l']]), all with log-normal priors.
    X: (n_rows, p [+ p] + n_encoding) features; y: (n_rows,) labels, larger is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import cholesky
from scipy.linalg import get_blas_funcs
from scipy.linalg import lapack
from scipy.linalg import solve_triangular
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from optuna_zaps._ladder import rungs
from optuna_zaps.surrogates._protocol import FeatureLayout


FloatArray = npt.NDArray[np.float64]
Features = npt.NDArray[np.floating[Any]]

_JITTER = 1e-6  # of the prior variance: labels of a search lie close together


@dataclass(frozen=True)
class GaussianProcessSettings:
    """Settings of the processes.

    Attributes:
        noise: Prior median of the noise variance, of labels of variance 1.
        prior_std: Standard deviation of the log-normal priors, in natural logarithms. Weak: a
            factor of 4.5 either way is one standard deviation.
        max_points: Hyper-parameters are fitted on this many of the best labels; the posterior
            uses all.
        max_iterations: Iterations of L-BFGS.
        refit_growth: Relative growth of the labels from one fit of the hyper-parameters to the
            next.
        first: Number of labels at the first of these fits.
        growth: Relative growth of the labels from one block of rows to the next. Best as the
            schedule of the search has it: then no row is taken in twice.
    """

    noise: float = 0.05
    prior_std: float = 1.5
    max_points: int = 100
    max_iterations: int = 15
    refit_growth: float = 1.0
    first: int = 14
    growth: float = 0.1

    def __post_init__(self) -> None:
        if self.refit_growth <= 0:
            raise ValueError(f"refit_growth must be positive, but got {self.refit_growth}.")

    @classmethod
    def alone(cls) -> GaussianProcessSettings:
        """For a process without proxies and without a companion.

        Structure alone explains less. A process that is told so, and asked more often, ends less
        often in a wrong basin: on NAS-Bench-201 / CIFAR-10 it has found the optimum by 200 labels
        in 54 of 60 seeds.
        """
        return cls(noise=0.2, prior_std=0.7, refit_growth=0.5)

    def n_hyper(self, n_labelled: int) -> int:
        """How many labels, oldest first, the hyper-parameters in force were fitted on.

        A function of the number alone, so that a process started anew agrees with one that went
        along.
        """
        size = n_labelled
        for rung in rungs(self.first, self.growth, n_labelled):
            if rung == self.first or rung >= size * (1 + self.refit_growth):
                size = rung
        return size

    def next_block(self, n: int) -> int:
        """The number of labels at which the block that holds label ``n`` ends."""
        return next(
            rung for rung in rungs(self.first, self.growth, 2 * max(n, self.first)) if rung > n
        )


class Kernel:
    """Covariance of labels, and its derivatives by the logarithms of its hyper-parameters.

    Args:
        layout: What the columns of ``X`` are.
        with_proxies: Whether the proxies take part.
        noise: Prior median of the noise variance, of labels of variance 1.
    """

    def __init__(self, layout: FeatureLayout, *, with_proxies: bool, noise: float = 0.05) -> None:
        self._n_proxies = layout.n_proxies
        self._n_encoding = layout.n_encoding
        self._n_parameters = layout.n_parameters
        self.with_proxies = with_proxies and layout.n_proxies > 0
        self._n_smooth = (1 + layout.has_neighbourhood) if self.with_proxies else 0
        start = [noise, 1.0, 3.0] + ([0.1] if self.with_proxies else [])
        start += [1.0 / max(self._n_smooth, 1), 0.5] * self._n_smooth
        self.prior_mean: FloatArray = np.log(start)
        # Noise below 0.1 % of the variance would make near-equal labels contradict each other.
        self.bounds = [(np.log(1e-3), np.log(3.0))] + [
            (mean - 6.0, mean + 6.0) for mean in self.prior_mean[1:]
        ]

    def parts(self, X: Features) -> tuple[Features, ...]:
        """Scaled parts of the features: structure, centred ranks, those of the neighbours.

        Their squared distances are h, d and c; all in the precision of ``X``.
        """
        encoding = X[:, X.shape[1] - self._n_encoding :]
        parts = [encoding / X.dtype.type(np.sqrt(2.0 * self._n_parameters))]
        for i in range(self._n_smooth):
            ranks = X[:, i * self._n_proxies : (i + 1) * self._n_proxies]
            parts.append((ranks - 0.5) / X.dtype.type(np.sqrt(self._n_proxies)))
        return tuple(np.ascontiguousarray(part) for part in parts)

    def between(self, theta: FloatArray, a: Rows, b: Rows) -> Features:
        """Covariance without noise, shape (n_a, n_b)."""
        value = np.exp(theta).astype(a.parts[0].dtype)
        covariance = _exponential(value[1], -value[2], a, b, 0)
        if self.with_proxies:
            covariance += (12 * value[3] * a.parts[1]) @ b.parts[1].T
        for part, (scale, length) in enumerate(value[4:].reshape(-1, 2), start=1):
            covariance += _exponential(scale, -1 / (2 * length**2), a, b, part)
        return covariance

    def variance(self, theta: FloatArray, a: Rows) -> Features:
        """Prior variance of each row, shape (n_a,)."""
        value = np.exp(theta).astype(a.parts[0].dtype)
        variance = np.full(len(a.parts[0]), value[1] + value[4::2].sum())
        if self.with_proxies:
            variance += 12 * value[3] * np.square(a.parts[1]).sum(axis=1)
        return variance

    def nugget(self, theta: FloatArray) -> float:
        """What the diagonal has more than :meth:`between`: noise, and a little for stability."""
        value = np.exp(theta)
        scales = np.concatenate([value[1:2], value[3:4], value[4::2]])
        return float(value[0] + _JITTER * scales.sum())

    def negative_log_posterior(
        self, theta: FloatArray, y: FloatArray, distances: tuple[FloatArray, ...], std: float
    ) -> tuple[float, FloatArray]:
        """-log p(y | theta) p(theta) up to a constant, and its gradient.

        Args:
            theta: Point.
            y: Labels of mean 0.
            distances: What :meth:`distances` returned.
            std: Standard deviation of the priors.
        """
        value = np.exp(theta)
        structure = value[1] * np.exp(-value[2] * distances[0])
        derivatives = [structure, -value[2] * distances[0] * structure]
        covariance = structure.copy()
        if self.with_proxies:
            linear = value[3] * distances[1]
            covariance += linear
            derivatives.append(linear)
        for distance, (scale, length) in zip(distances[2:], value[4:].reshape(-1, 2), strict=True):
            smooth = scale * np.exp(-distance / (2 * length**2))
            covariance += smooth
            derivatives += [smooth, smooth * distance / length**2]
        n = len(y)
        covariance.flat[:: n + 1] += self.nugget(theta)
        factor, failed = lapack.dpotrf(covariance, lower=1)
        if failed:
            return 1e10, np.zeros_like(theta)
        weights = lapack.dpotrs(factor, y, lower=1)[0]
        inverse = lapack.dpotri(factor, lower=1)[0]
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        residual = inverse - np.outer(weights, weights)
        deviation = (theta - self.prior_mean) / std
        loss = 0.5 * y @ weights + np.log(np.diag(factor)).sum() + 0.5 * deviation @ deviation
        gradient = np.array(
            [value[0] * np.trace(residual)] + [np.vdot(residual, d) for d in derivatives]
        )
        return float(loss), 0.5 * gradient + deviation / std

    def distances(self, X: Features) -> tuple[FloatArray, ...]:
        """What does not depend on theta: h, and with proxies the linear products, d and c."""
        parts = self.parts(X.astype(np.float64))
        distances = [cdist(part, part, "sqeuclidean") for part in parts]
        if self.with_proxies:
            distances.insert(1, 12 * parts[1] @ parts[1].T)
        return tuple(distances)


class Rows:
    """Rows prepared for covariances.

    The squared distance of two rows is one product of rows with two columns more,
    [x, |x|^2, 1] . [-2 y, 1, |y|^2], which spares three passes over a large matrix.

    Args:
        parts: What :meth:`Kernel.parts` returned.
    """

    def __init__(self, parts: tuple[Features, ...]) -> None:
        self.parts = parts

    @cached_property
    def left(self) -> tuple[Features, ...]:
        """[x, |x|^2, 1] of each part."""
        return tuple(
            np.column_stack([x, np.square(x).sum(axis=1), np.ones(len(x), x.dtype)])
            for x in self.parts
        )

    @cached_property
    def right(self) -> tuple[Features, ...]:
        """[-2 y, 1, |y|^2] of each part."""
        return tuple(
            np.column_stack([-2 * y, np.ones(len(y), y.dtype), np.square(y).sum(axis=1)])
            for y in self.parts
        )


class GaussianProcess:
    """Exact regression with the posterior of one pool of rows kept up to date.

    Rows are appended to the Cholesky factor and to what the pool needs of it, so that one label
    more costs n N operations for n labels and a pool of N rows, not n^2 N.

    Args:
        kernel: Covariance.
        settings: Settings.
    """

    def __init__(self, kernel: Kernel, settings: GaussianProcessSettings | None = None) -> None:
        self.kernel = kernel
        self.theta = kernel.prior_mean
        self._settings = settings or GaussianProcessSettings()
        self._n_hyper = 0
        self._posterior: _PoolPosterior | None = None

    def fit_hyperparameters(self, X: Features, y: FloatArray) -> None:
        """Maximum a posteriori from the mean of the prior, on the best labels."""
        best = np.argsort(-y, kind="stable")[: self._settings.max_points]
        result = minimize(
            self.kernel.negative_log_posterior,
            self.kernel.prior_mean,
            args=(
                y[best] - y[best].mean(),
                self.kernel.distances(X[best]),
                self._settings.prior_std,
            ),
            jac=True,
            method="L-BFGS-B",
            bounds=self.kernel.bounds,
            options={"maxiter": self._settings.max_iterations},
        )
        self.theta = result.x
        self._n_hyper = len(y)
        self._posterior = None

    def predict(self, X: Features, y: FloatArray, pool: Features) -> tuple[FloatArray, FloatArray]:
        """Posterior of the noiseless label, in the precision of the features.

        Args:
            X: Labelled rows; those of the last call come first, or everything is done anew.
            y: Their labels, of mean near 0.
            pool: Rows to predict; quick if it is the object of the last call.

        Returns:
            Mean and variance, each of shape (n_pool,).
        """
        if self._posterior is None or self._posterior.pool is not pool:
            self._posterior = _PoolPosterior(
                self.kernel, self.theta, pool, self._settings, self._n_hyper
            )
        return self._posterior.given(X, y)


class _PoolPosterior:
    """Posterior over a pool for fixed hyper-parameters.

    Rows enter in blocks whose borders depend on their number alone, and a last, unfinished block
    is redone the next time: sums in another order would differ in the last bits, and with them
    two workers' choices between near-equal candidates.
    """

    def __init__(
        self,
        kernel: Kernel,
        theta: FloatArray,
        pool: Features,
        settings: GaussianProcessSettings,
        n_hyper: int,
    ) -> None:
        self.pool = pool
        self._kernel, self._theta = kernel, theta
        self._settings, self._n_hyper = settings, n_hyper
        self._pool_rows = Rows(kernel.parts(pool))
        self._prior = kernel.variance(theta, self._pool_rows)
        self._noise = kernel.nugget(theta)
        self._n = 0
        self._rows: Features = np.empty((0, pool.shape[1]), dtype=pool.dtype)
        self._factor: FloatArray = np.empty((0, 0))
        self._solved: Features = np.empty((0, len(pool)), dtype=pool.dtype)
        self._explained: Features = np.zeros(len(pool), dtype=pool.dtype)

    def given(self, X: Features, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance over the pool, given labelled rows."""
        n = len(y)
        if self._n > n or not np.array_equal(self._rows[: self._n], X[: self._n]):
            self._n, self._explained = 0, np.zeros_like(self._explained)
        self._reserve(n)
        self._rows[:n] = X
        explained, start = self._explained, self._n
        while start < n:
            border = self._n_hyper if start < self._n_hyper else self._settings.next_block(start)
            stop = min(border, n)
            self._append(start, stop)
            added = self._solved[start:stop]
            explained = explained + np.einsum("ij,ij->j", added, added)
            if stop == border:
                self._n, self._explained = stop, explained
            start = stop
        weights = solve_triangular(self._factor[:n, :n], y, lower=True, check_finite=False)
        mean = weights.astype(self.pool.dtype) @ self._solved[:n]
        variance = np.maximum(self._prior - explained, 1e-10)
        return mean.astype(np.float64), variance.astype(np.float64)

    def _append(self, start: int, stop: int) -> None:
        """Extend L by rows [L21, L22] and L^-1 K(., pool) by the same rows."""
        new = Rows(self._kernel.parts(self._rows[start:stop]))
        factor = self._factor
        square = self._kernel.between(self._theta, new, new).astype(np.float64)
        square.flat[:: stop - start + 1] += self._noise
        solved = self._kernel.between(self._theta, new, self._pool_rows)
        if start:
            old = Rows(self._kernel.parts(self._rows[:start]))
            cross = self._kernel.between(self._theta, old, new).astype(np.float64)
            left = solve_triangular(factor[:start, :start], cross, lower=True, check_finite=False)
            factor[start:stop, :start] = left.T
            square -= left.T @ left
            solved -= left.T.astype(solved.dtype) @ self._solved[:start]
        corner = cholesky(square, lower=True, check_finite=False)
        factor[start:stop, start:stop] = corner
        # Transposed, rows that are next to each other in memory are columns, as BLAS wants them.
        (trsm,) = get_blas_funcs(("trsm",), (solved,))
        corner = np.asfortranarray(corner, dtype=solved.dtype)
        self._solved[start:stop] = trsm(
            1.0, corner, solved.T, side=1, lower=1, trans_a=1, overwrite_b=1
        ).T

    def _reserve(self, n: int) -> None:
        if n <= len(self._rows):
            return
        capacity = max(256, 2 * n)  # takes no memory before it is written
        self._rows = _grown(self._rows, (capacity, self._rows.shape[1]))
        self._solved = _grown(self._solved, (capacity, self._solved.shape[1]))
        self._factor = _grown(self._factor, (capacity, capacity))


class AveragedProcesses:
    """Equal mixture of a process with proxies and one without.

    The mixture's mean and variance, so that the spread also holds how far the two disagree.

    Args:
        layout: What the columns of ``X`` are.
        settings: Settings of both; by default those of the class, or without proxies
            :meth:`GaussianProcessSettings.alone`.
    """

    def __init__(
        self, layout: FeatureLayout, settings: GaussianProcessSettings | None = None
    ) -> None:
        if settings is None:
            proxies = layout.n_proxies > 0
            settings = GaussianProcessSettings() if proxies else GaussianProcessSettings.alone()
        self._settings = settings
        self._processes = [
            GaussianProcess(
                Kernel(layout, with_proxies=with_proxies, noise=settings.noise), settings
            )
            for with_proxies in ((True, False) if layout.n_proxies else (False,))
        ]
        self._hyper: tuple[bytes, bytes] | None = None
        self._X: Features = np.empty((0, 0))
        self._labels: FloatArray = np.empty(0)
        self._center, self._scale = 0.0, 1.0

    @classmethod
    def for_layout(cls, layout: FeatureLayout, seed: int) -> AveragedProcesses:
        """Factory of the protocol; nothing here is random."""
        del seed
        return cls(layout)

    def fit(self, X: Features, y: FloatArray) -> None:
        """Take labelled rows; hyper-parameters are fitted where their number has grown enough."""
        n_hyper = self._settings.n_hyper(len(y))
        hyper = (X[:n_hyper].tobytes(), y[:n_hyper].tobytes())
        if hyper != self._hyper:
            labels, *_ = _standardized(y[:n_hyper])
            for process in self._processes:
                process.fit_hyperparameters(X[:n_hyper], labels)
            self._hyper = hyper
        self._X = X
        self._labels, self._center, self._scale = _standardized(y)

    def predict(self, X: Features) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the mixture, in the unit of the labels."""
        posteriors = [process.predict(self._X, self._labels, X) for process in self._processes]
        means = np.stack([mean for mean, _ in posteriors])
        variances = np.stack([variance for _, variance in posteriors])
        mean = means.mean(axis=0)
        std = np.sqrt(variances.mean(axis=0) + means.var(axis=0))
        return self._center + self._scale * mean, self._scale * std


def _standardized(y: FloatArray) -> tuple[FloatArray, float, float]:
    """Labels of mean 0 and standard deviation 1, with both of before.

    Labels far below the median are lifted to as far below it as the best lies above: what fails
    badly is bad, and how badly must not stretch the scale on which the best are told apart.
    """
    best = float(y.max())
    reference = float(np.median(y))
    if reference == best and y.min() < best:  # most labels are the best: lift none up to it
        reference = float(y[y < best].max())
    lifted = np.maximum(y, best - 2 * (best - reference))
    center, scale = float(lifted.mean()), float(lifted.std())
    if scale <= 1e-12 * max(1.0, abs(center)):
        scale = 1.0
    return (lifted - center) / scale, center, scale


def _exponential(scale: Any, rate: Any, a: Rows, b: Rows, part: int) -> Features:
    """The scale times exp(rate x squared distance) of every pair of rows."""
    left = rate * a.left[part]
    left[:, -2] += np.log(scale)  # meets a one on the other side
    exponent: Features = left @ b.right[part].T
    np.exp(exponent, out=exponent)
    return exponent


def _grown(array: Any, shape: tuple[int, int]) -> Any:
    grown = np.empty(shape, dtype=array.dtype)
    grown[: array.shape[0], : array.shape[1]] = array
    return grown
