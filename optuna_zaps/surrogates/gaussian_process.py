"""A Gaussian process whose posterior over many candidates is kept up to date.

Notations:
    X: features of labelled rows, as :mod:`optuna_zaps.surrogates._kernel` has them.
    y: (n_rows,) labels, larger is better.
    L: Cholesky factor of the covariance of labelled rows, [[L11, 0], [L21, L22]] where rows are
        appended.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import cholesky
from scipy.linalg import get_blas_funcs
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

from optuna_zaps._sizes import growing_sizes
from optuna_zaps._sizes import thinned_sizes
from optuna_zaps.surrogates._kernel import FloatArray
from optuna_zaps.surrogates._kernel import Kernel
from optuna_zaps.surrogates._kernel import PreparedRows
from optuna_zaps.surrogates._protocol import FeatureLayout
from optuna_zaps.surrogates._rows import Features


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
        relevance: Whether each parameter has a weight of its own, so that some may count for
            nothing.
    """

    noise: float = 0.05
    prior_std: float = 1.5
    max_points: int = 100
    max_iterations: int = 15
    refit_growth: float = 1.0
    first: int = 14
    growth: float = 0.1
    relevance: bool = False

    def __post_init__(self) -> None:
        if self.refit_growth <= 0:
            raise ValueError(f"refit_growth must be positive, but got {self.refit_growth}.")

    @classmethod
    def alone(cls) -> GaussianProcessSettings:
        """For a process without proxies and without a companion.

        Structure alone explains less, and a process that is told so is right sooner: on
        NAS-Bench-201 / CIFAR-10, over 200 seeds, P@100 at 50 / 100 labels was 15.2 / 36.5
        instead of 14.0 / 34.9 (standard error 0.6).
        """
        return cls(noise=0.2, prior_std=0.7, refit_growth=0.5)

    @classmethod
    def for_layout(cls, layout: FeatureLayout) -> GaussianProcessSettings:
        """The settings that suit features of a layout.

        Where parameters are numbers, as hyper-parameters are, some matter much more than others,
        and the labels say which; their priors stay weak. The noise is small until they show
        otherwise: taken for noise, the shape of a function sends a search to the same place
        again and again. On the problems of ``zaps-harness everyday`` a prior median of 0.1 left
        nearly twice the regret (0.31 % in the geometric mean, 0.17 % now), and it was the worse
        choice also where noise of half a typical difference was added to every value.
        """
        settings = cls() if layout.n_proxies else cls.alone()
        if any(layout.numeric):
            return replace(
                settings, noise=0.001, prior_std=cls.prior_std, refit_growth=0.2, relevance=True
            )
        return settings

    def n_hyper(self, n_labelled: int) -> int:
        """How many labels, oldest first, the hyper-parameters in force were fitted on.

        A function of the number alone, so that a process started anew agrees with one that went
        along.
        """
        sizes = thinned_sizes(
            growing_sizes(self.first, self.growth, n_labelled), self.refit_growth
        )
        return max(sizes, default=n_labelled)

    def next_block(self, n: int) -> int:
        """The number of labels at which the block that holds label ``n`` ends."""
        return next(
            rung
            for rung in growing_sizes(self.first, self.growth, 2 * max(n, self.first))
            if rung > n
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
        self._factor: _Factor | None = None
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
        self._factor = self._posterior = None

    def predict(
        self, X: Features, y: FloatArray, pool: Features, pending: Features | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Posterior of the noiseless label.

        Args:
            X: Labelled rows; those of the last call come first, or everything is done anew.
            y: Their labels, of mean near 0.
            pool: Rows to predict; quick if it is the object of the last call.
            pending: Rows that will be labelled, shape (n_pending, n_features), none by default.
                The variance is the one that remains then: it depends on no label.

        Returns:
            Mean and variance, each of shape (n_pool,).
        """
        if self._factor is None:
            self._factor = _Factor(self.kernel, self.theta, self._settings, self._n_hyper)
        if self._posterior is None or self._posterior.pool is not pool:
            self._posterior = _PoolPosterior(self.kernel, self.theta, pool)
        rows = X if pending is None else np.vstack([X, pending])
        n_kept = self._factor.take(rows, n_lasting=len(X))
        return self._posterior.given(self._factor, n_kept, rows, y)


class _Factor:
    """Cholesky factor of the covariance of labelled rows, for fixed hyper-parameters.

    Rows enter in blocks whose borders depend on their number alone, and a last, unfinished block
    is redone the next time: sums in another order would differ in the last bits, and with them
    two workers' choices between near-equal candidates.
    """

    def __init__(
        self,
        kernel: Kernel,
        theta: FloatArray,
        settings: GaussianProcessSettings,
        n_hyper: int,
    ) -> None:
        self._kernel, self._theta = kernel, theta
        self._settings, self._n_hyper = settings, n_hyper
        self._noise = kernel.nugget(theta)
        self._n = 0
        self._n_lasting = 0
        self._rows: Features = np.empty((0, 0))
        self.matrix: FloatArray = np.empty((0, 0))

    def take(self, X: Features, n_lasting: int) -> int:
        """Extend :attr:`matrix` to these rows; how many rows of finished blocks have stayed.

        Args:
            X: The rows.
            n_lasting: How many of them, the first, the next call will have too.
        """
        n, self._n_lasting = len(X), n_lasting
        if self._n > n or not np.array_equal(self._rows[: self._n], X[: self._n]):
            self._n = 0
        n_kept = self._n
        if n > len(self.matrix):
            capacity = max(256, 2 * n)  # takes no memory before it is written
            self.matrix = _grown(self.matrix, (capacity, capacity))
        for start, stop in self.blocks(n_kept, n):
            self._extend(X, start, stop)
            if self.is_finished(start, stop):
                self._n = stop
        self._rows = X
        return n_kept

    def border(self, start: int) -> int:
        """Where a block from ``start`` ends."""
        return self._n_hyper if start < self._n_hyper else self._settings.next_block(start)

    def is_finished(self, start: int, stop: int) -> bool:
        """Whether a block has all its rows, and these will stay."""
        return stop == self.border(start) and stop <= self._n_lasting

    def blocks(self, start: int, n: int) -> Iterator[tuple[int, int]]:
        """Where the blocks from ``start`` to ``n`` begin and end."""
        while start < n:
            stop = min(self.border(start), n)
            yield start, stop
            start = stop

    def _extend(self, X: Features, start: int, stop: int) -> None:
        """Extend the factor by rows [L21, L22]."""
        kernel, theta, factor = self._kernel, self._theta, self.matrix
        new = kernel.rows(theta, X[start:stop])
        square = kernel.between(theta, new, new).astype(np.float64)
        square.flat[:: stop - start + 1] += self._noise
        if start:
            old = kernel.rows(theta, X[:start])
            cross = kernel.between(theta, old, new).astype(np.float64)
            left = solve_triangular(factor[:start, :start], cross, lower=True, check_finite=False)
            factor[start:stop, :start] = left.T
            square -= left.T @ left
        factor[start:stop, start:stop] = cholesky(square, lower=True, check_finite=False)


class _PoolPosterior:
    """Posterior over a pool, kept up to date as the factor of the labelled rows grows."""

    def __init__(self, kernel: Kernel, theta: FloatArray, pool: Features) -> None:
        self.pool = pool
        self._kernel, self._theta = kernel, theta
        self._pool_rows = kernel.rows(theta, pool)
        self._prior = kernel.variance(theta, self._pool_rows)
        self._n = 0
        self._solved: Features = np.empty((0, len(pool)), dtype=self._prior.dtype)
        self._explained: Features = np.zeros_like(self._prior)

    def given(
        self, factor: _Factor, n_kept: int, X: Features, y: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and variance over the pool, given labelled rows.

        Args:
            factor: Factor of the rows.
            n_kept: How many of them are those of the last call.
            X: The rows.
            y: Labels of the first of them; only the variance counts the others.
        """
        n, n_told = len(X), len(y)
        if self._n > n_kept:
            self._n, self._explained = 0, np.zeros_like(self._explained)
        if n > len(self._solved):
            self._solved = _grown(self._solved, (max(256, 2 * n), self._solved.shape[1]))
        weights = np.zeros(n, dtype=self._prior.dtype)
        weights[:n_told] = solve_triangular(
            factor.matrix[:n_told, :n_told], y, lower=True, check_finite=False
        )
        explained, mean, n_counted = self._explained, np.zeros_like(self._prior), 0
        for start, stop in factor.blocks(self._n, n):
            # Of the rows before, which are many, one pass for both covariance and mean.
            known = factor.matrix[start:stop, :start].astype(self._prior.dtype)
            known = np.vstack([known, weights[:start]]) @ self._solved[:start]
            mean, n_counted = known[-1], start
            rows = self._kernel.rows(self._theta, X[start:stop])
            corner = factor.matrix[start:stop, start:stop]
            added = self._solved[start:stop]
            added[:] = self._solve(rows, corner, known[:-1])
            explained = explained + np.einsum("ij,ij->j", added, added)
            if factor.is_finished(start, stop):
                self._n, self._explained = stop, explained
        mean = mean + weights[n_counted:] @ self._solved[n_counted:n]
        variance = np.maximum(self._prior - explained, 1e-10)
        return mean.astype(np.float64), variance.astype(np.float64)

    def _solve(self, rows: PreparedRows, corner: FloatArray, known: Features) -> Features:
        """The new rows of L^-1 K(., pool).

        Args:
            rows: New labelled rows.
            corner: L22, shape (n_new, n_new).
            known: L21 L^-1 K(., pool), shape (n_new, n_pool).
        """
        solved = self._kernel.between(self._theta, rows, self._pool_rows)
        solved -= known
        # Transposed, rows that are next to each other in memory are columns, as BLAS wants them.
        (trsm,) = get_blas_funcs(("trsm",), (solved,))
        corner = np.asfortranarray(corner, dtype=solved.dtype)
        added: Features = trsm(1.0, corner, solved.T, side=1, lower=1, trans_a=1, overwrite_b=1).T
        return added


def _grown(array: Any, shape: tuple[int, int]) -> Any:
    grown = np.empty(shape, dtype=array.dtype)
    grown[: array.shape[0], : array.shape[1]] = array
    return grown
