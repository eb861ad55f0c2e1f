"""Gaussian process whose posterior over many candidates is updated, not recomputed.

Equations of Rasmussen and Williams, "Gaussian Processes for Machine Learning", MIT Press, 2006,
are cited as "RW Eq. 2.25".

Notations:
    X: (n, n_features) features of labelled rows.
    y: (n,) labels, larger is better, of mean near 0.
    K: (n, n) covariance of the labels, with noise; Q: (n, N) covariance of the labelled rows with
        a pool of N rows.
    L: Cholesky factor, K = L L^T. Where rows 2 are appended to rows 1 it is
        [[L11, 0], [L21, L22]] with L21^T = L11^-1 K12 and L22 L22^T = K22 - L21 L21^T.
    V: (n, N) matrix L^-1 Q, whose rows are appended likewise: V2 = L22^-1 (Q2 - L21 V1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs
from scipy.linalg import lapack
from scipy.optimize import minimize

from optuna_zaps.surrogates.kernel import Kernel
from optuna_zaps.surrogates.kernel import PreparedRows
from optuna_zaps.surrogates.rows import Features
from optuna_zaps.surrogates.rows import FloatArray
from optuna_zaps.surrogates.settings import GaussianProcessSettings


_MOST_ADDITIONS = 8
"""Number of attempts to make a covariance positive definite."""


def negative_log_posterior(
    theta: FloatArray,
    kernel: Kernel,
    y: FloatArray,
    distances: tuple[Any, ...],
    prior_std: float,
) -> tuple[float, FloatArray]:
    """-log p(y | theta) p(theta) up to a constant, and its gradient.

    Args:
        theta: Logarithms of the hyper-parameters.
        kernel: Covariance.
        y: Labels of mean 0, shape (n,).
        distances: Result of :meth:`Kernel.distances` for their rows.
        prior_std: Standard deviation of the normal priors of theta.

    Returns:
        The loss, 1e10 where K is not positive definite in floating point, and its derivatives.
    """
    K, gradient_of = kernel.covariance_and_gradient(theta, distances)
    # Transposed, which is no change, K is as LAPACK wants it.
    L, failed = lapack.dpotrf(K.T, lower=1, overwrite_a=1)
    if failed:
        return 1e10, np.zeros_like(theta)
    alpha = lapack.dpotrs(L, y, lower=1)[0]  # K^-1 y (RW Alg. 2.1, line 3)
    # RW Eq. 5.8, with log|K| / 2 = sum of log L_ii.
    half_log_determinant = np.log(L.diagonal()).sum()
    # Derivatives of K are symmetric: the lower triangle of its inverse counts twice.
    inverse = lapack.dpotri(L, lower=1, overwrite_c=1)[0].T
    inverse *= 2
    inverse.flat[:: len(y) + 1] /= 2
    # Log-normal priors: (theta - mean)^2 / (2 std^2), up to a constant.
    deviation = (theta - kernel.prior_mean) / prior_std
    loss = 0.5 * y @ alpha + half_log_determinant + 0.5 * deviation @ deviation
    # RW Eq. 5.9: dloss/dtheta_i = tr((K^-1 - alpha alpha^T) dK/dtheta_i) / 2.
    inverse -= np.outer(alpha, alpha)
    gradient = gradient_of(inverse)
    return float(loss), 0.5 * gradient + deviation / prior_std


class GaussianProcess:
    """Exact regression that updates the posterior of one pool of rows.

    Rows are appended to L and V, so that one more label costs n N operations for n labels and a
    pool of N rows, not n^2 N.

    Args:
        kernel: Covariance.
        settings: Settings.
    """

    def __init__(self, kernel: Kernel, settings: GaussianProcessSettings) -> None:
        self.kernel = kernel
        self.theta = kernel.prior_mean
        self._settings = settings
        self._n_hyper = 0
        self._factor: _Factor | None = None
        self._posterior: _PoolPosterior | None = None

    @property
    def noise(self) -> float:
        """Variance of the noise, of labels of variance 1."""
        return float(np.exp(self.theta[0]))

    def fit_hyperparameters(self, X: Features, y: FloatArray) -> None:
        """Fit :attr:`theta` to the best labels: maximum a posteriori, from the prior mean.

        Args:
            X: Labelled rows, shape (n, n_features).
            y: Their labels, shape (n,).
        """
        best = np.argsort(-y, kind="stable")[: self._settings.max_points]
        result = minimize(
            negative_log_posterior,
            self.kernel.prior_mean,
            args=(
                self.kernel,
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
        self.forget(len(y))

    def forget(self, n_rows: int) -> None:
        """Forget the rows, so that further ones replace them.

        Args:
            n_rows: Number of rows of the first block of these.
        """
        self._n_hyper = n_rows
        self._factor = self._posterior = None

    def predict(
        self, X: Features, y: FloatArray, pool: Features, pending: Features | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Posterior of the noiseless label.

        Args:
            X: Labelled rows; those of the last call come first, or everything is computed anew.
            y: Their labels, of mean near 0.
            pool: Rows to predict; fast if it is the object of the last call.
            pending: Rows that will be labelled, shape (n_pending, n_features), none by default.
                The variance is the one that remains then: it depends on no label (RW Eq. 2.26).

        Returns:
            Mean and variance, each of shape (n_pool,).
        """
        if self._factor is None:
            self._factor = _Factor(self.kernel, self.theta, self._settings, self._n_hyper)
        if self._posterior is None or self._posterior.pool is not pool:
            self._posterior = _PoolPosterior(self.kernel, self.theta, pool)
        rows = X if pending is None else np.vstack([X, pending])
        n_unchanged = self._factor.extend(rows, n_lasting=len(X))
        return self._posterior.given(self._factor, n_unchanged, len(rows), y)


class _Factor:
    """Cholesky factor L of the covariance of labelled rows, for fixed hyper-parameters.

    Rows enter in blocks whose borders depend on their number alone, and a last, unfinished block
    is recomputed the next time: sums in another order would differ in the last bits, and with
    them two workers' choices between near-equal candidates.
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
        self._nugget = kernel.nugget(theta)
        self._n = 0
        self._n_lasting = 0
        self._rows: Features = np.empty((0, 0))
        self._prepared: dict[tuple[int, int], PreparedRows] = {}
        self._weights: tuple[FloatArray, FloatArray] | None = None
        self.matrix: FloatArray = np.empty((0, 0))

    def extend(self, X: Features, n_lasting: int) -> int:
        """Extend :attr:`matrix` to further rows.

        Args:
            X: All rows, those of the last call first if they are to be reused.
            n_lasting: Number of leading rows that the next call will have too.

        Returns:
            Number of rows of finished blocks that are unchanged since the last call.
        """
        n, self._n_lasting = len(X), n_lasting
        if self._n > n or not np.array_equal(self._rows[: self._n], X[: self._n]):
            self._n = 0
        n_unchanged = self._n
        if n > len(self.matrix):
            capacity = max(256, 2 * n)  # takes no memory before it is written
            self.matrix = _grown(self.matrix, (capacity, capacity))
        if n_unchanged < n:
            self._weights = None
        self._prepared = {b: rows for b, rows in self._prepared.items() if b[1] <= n_unchanged}
        for start, stop in self.blocks(n_unchanged, n):
            self._append(X, start, stop)
            if self.is_finished(start, stop):
                self._n = stop
        self._rows = X
        return n_unchanged

    def border(self, start: int) -> int:
        """End of a block that begins at ``start``."""
        return self._n_hyper if start < self._n_hyper else self._settings.next_block(start)

    def is_finished(self, start: int, stop: int) -> bool:
        """Whether a block has all its rows, and these will stay."""
        return stop == self.border(start) and stop <= self._n_lasting

    def blocks(self, start: int, n: int) -> Iterator[tuple[int, int]]:
        """Begin and end of each block from ``start`` to ``n``."""
        while start < n:
            stop = min(self.border(start), n)
            yield start, stop
            start = stop

    def weights(self, y: FloatArray) -> FloatArray:
        """Compute L^-1 y of the labels of the first rows; fast if they are those of the last call.

        Args:
            y: Labels, an object that does not change.
        """
        if self._weights is None or self._weights[0] is not y:
            corner = self.matrix[: len(y), : len(y)]
            self._weights = y, _forward_solved(corner, y)
        return self._weights[1]

    def rows(self, start: int, stop: int) -> PreparedRows:
        """Rows of a block, prepared for covariances."""
        return self._prepared[start, stop]

    def _append(self, X: Features, start: int, stop: int) -> None:
        """Append the rows [L21, L22] of one block."""
        kernel, theta, L = self._kernel, self._theta, self.matrix
        new = self._prepared[start, stop] = kernel.rows(theta, X[start:stop])
        # K22
        square = kernel.between(theta, new, new).astype(np.float64)
        square.flat[:: stop - start + 1] += self._nugget
        if start:
            old = kernel.rows(theta, X[:start])
            # L21^T = L11^-1 K12
            cross = kernel.between(theta, old, new).astype(np.float64)
            left = _forward_solved(L[:start, :start], cross)
            L[start:stop, :start] = left.T
            square -= left.T @ left
        # L22 L22^T = K22 - L21 L21^T
        L[start:stop, start:stop] = _cholesky(square, self._nugget)


class _PoolPosterior:
    """Posterior over a pool, updated as the factor of the labelled rows grows."""

    def __init__(self, kernel: Kernel, theta: FloatArray, pool: Features) -> None:
        self.pool = pool
        self._kernel, self._theta = kernel, theta
        self._pool_rows = kernel.rows(theta, pool)
        self._prior = kernel.variance(theta, self._pool_rows)
        self._n = 0
        # V, and the sums of the squares of its columns over finished blocks.
        self._V: Features = np.empty((0, len(pool)), dtype=self._prior.dtype)
        self._explained: Features = np.zeros_like(self._prior)

    def given(
        self, factor: _Factor, n_unchanged: int, n: int, y: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and variance over the pool, given labelled rows.

        mean = Q^T K^-1 y = V^T (L^-1 y) (RW Eq. 2.25), variance = prior - diag(V^T V)
        (RW Eq. 2.26 and Alg. 2.1).

        Args:
            factor: Factor of the rows.
            n_unchanged: Number of them that are those of the last call.
            n: Number of labelled rows and pending ones.
            y: Labels of the former; only the variance uses the latter.
        """
        if self._n > n_unchanged:
            self._n, self._explained = 0, np.zeros_like(self._explained)
        if n > len(self._V):
            # A pool of one ask will not grow.
            capacity = max(256, 2 * n) if self._n else n
            self._V = _grown(self._V, (capacity, self._V.shape[1]))
        # L^-1 y; 0 for pending rows, so that they add nothing to the mean.
        weights = np.zeros(n, dtype=self._prior.dtype)
        weights[: len(y)] = factor.weights(y)
        explained, mean, n_counted = self._explained, np.zeros_like(self._prior), 0
        for start, stop in factor.blocks(self._n, n):
            right = self._kernel.between(self._theta, factor.rows(start, stop), self._pool_rows)
            if start:
                # [L21; weights] V1: of the rows before, which are many, one pass for both.
                product = factor.matrix[start:stop, :start].astype(self._prior.dtype)
                product = np.vstack([product, weights[:start]]) @ self._V[:start]
                right -= product[:-1]
                mean, n_counted = product[-1], start
            added = self._V[start:stop]
            added[:] = _solved(factor.matrix[start:stop, start:stop], right)
            explained = explained + np.einsum("ij,ij->j", added, added)
            if factor.is_finished(start, stop):
                self._n, self._explained = stop, explained
        mean = mean + weights[n_counted:] @ self._V[n_counted:n]
        variance = np.maximum(self._prior - explained, 1e-10)
        return mean.astype(np.float64, copy=False), variance.astype(np.float64, copy=False)


def _solved(corner: FloatArray, right: Features) -> Features:
    """New rows V2 = L22^-1 (Q2 - L21 V1).

    Args:
        corner: L22, shape (n_new, n_new).
        right: Q2 - L21 V1, shape (n_new, n_pool), which is overwritten.
    """
    # Transposed, rows that are next to each other in memory are columns, as BLAS wants them:
    # V2^T L22^T = right^T.
    (trsm,) = get_blas_funcs(("trsm",), (right,))
    corner = np.asfortranarray(corner, dtype=right.dtype)
    added: Features = trsm(1.0, corner, right.T, side=1, lower=1, trans_a=1, overwrite_b=1).T
    return added


def _cholesky(matrix: FloatArray, nugget: float) -> FloatArray:
    """Cholesky factor of a matrix, with more on its diagonal where rounding requires it.

    A large amplitude in single precision has rounding errors larger than a small nugget, which
    can leave the difference K22 - L21 L21^T not positive definite.

    Args:
        matrix: Symmetric matrix, which is changed.
        nugget: First addition to the diagonal; each further one is ten times as large.

    Raises:
        LinAlgError: If it is not positive definite in spite of them.
    """
    for power in range(_MOST_ADDITIONS + 1):
        factor, failed = lapack.dpotrf(matrix, lower=1)
        if not failed:
            return np.asarray(factor)
        matrix.flat[:: len(matrix) + 1] += nugget * 10.0**power
    raise np.linalg.LinAlgError("The covariance of the labels is not positive definite.")


def _forward_solved(factor: FloatArray, right: FloatArray) -> FloatArray:
    """Compute L^-1 B of a lower triangular matrix L.

    SciPy's function spends longer on its arguments than the solution of a small system takes.
    """
    # L^T is upper triangular, and in the order that LAPACK wants.
    return np.asarray(lapack.dtrtrs(factor.T, right, lower=0, trans=1)[0])


def _grown(array: Any, shape: tuple[int, int]) -> Any:
    """Copy of a matrix at the top left of a larger one, the rest of which is not set."""
    grown = np.empty(shape, dtype=array.dtype)
    grown[: array.shape[0], : array.shape[1]] = array
    return grown
