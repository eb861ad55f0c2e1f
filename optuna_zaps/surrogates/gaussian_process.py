"""Two Gaussian processes, one with proxies and one without, averaged.

Not in the paper, whose surrogate is an ensemble of trees. A process over structure alone needs no
proxy and cannot be misled by one; a process that also sees proxies is right sooner where they are
honest. Their mixture follows whichever knows, and where they disagree its spread grows, so that
the search looks there.

Notations:
    e_j: encoding of parameter j of m, one-hot or, for a number, its place in [0, 1].
    r: proxy ranks in [0, 1] of a configuration.
    h(a, b): sum over the unordered parameters of w_j ||e_j(a) - e_j(b)||^2 / (2 m); for equal
        weights w the share of parameters that differ, times w, so that exp(-h) is the exponential
        of the Hamming distance.
    q(a, b): sum over the numbers of 2 w_j (e_j(a) - e_j(b))^2 / m, and M its Matern 5/2,
        M = (1 + sqrt(5 q) + 5 q / 3) exp(-sqrt(5 q)).
    d(a, b): mean squared difference of the p proxy ranks.
    c(a, b): the same of the mean ranks of each one's neighbours, where the layout has them.
    b(a, b): sum over kinds of choices of (n(a) - n(b))^2 / (2 m), where n counts the parameters
        that have this choice, of those that offer the same choices as another.
    Structure beside proxies: k = s exp(-h) M.
    With proxies: k = s exp(-h) M + u (12 / p) (r(a) - 1/2) . (r(b) - 1/2)
        + t exp(-d / (2 l^2)) + t' exp(-c / (2 l'^2)).
    Structure where there are no proxies: k = s exp(-h) M + t exp(-b / (2 l^2)).
    theta: logarithms of (noise variance, s, weights[, u][, t, l[, t', l']]), all with log-normal
        priors. The weights are one that all parameters share, or one for each.
    X: (n_rows, p [+ p] + n_encoding) features; y: (n_rows,) labels, larger is better.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace
from functools import cached_property
from typing import Any
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import cholesky
from scipy.linalg import get_blas_funcs
from scipy.linalg import lapack
from scipy.linalg import solve_triangular
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from optuna_zaps._ladder import coarser
from optuna_zaps._ladder import rungs
from optuna_zaps.surrogates._protocol import FeatureLayout


FloatArray = npt.NDArray[np.float64]
Features = npt.NDArray[np.floating[Any]]

_WIDE = 64
"""Columns from which on it pays to multiply only those that are not 0."""

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
        and the labels say which; their priors stay weak.
        """
        settings = cls() if layout.n_proxies else cls.alone()
        if any(layout.numeric):
            return replace(settings, noise=0.1, prior_std=cls.prior_std, relevance=True)
        return settings

    def n_hyper(self, n_labelled: int) -> int:
        """How many labels, oldest first, the hyper-parameters in force were fitted on.

        A function of the number alone, so that a process started anew agrees with one that went
        along.
        """
        sizes = coarser(rungs(self.first, self.growth, n_labelled), self.refit_growth)
        return max(sizes, default=n_labelled)

    def next_block(self, n: int) -> int:
        """The number of labels at which the block that holds label ``n`` ends."""
        return next(
            rung for rung in rungs(self.first, self.growth, 2 * max(n, self.first)) if rung > n
        )


class _Distances(NamedTuple):
    """What of a covariance does not depend on theta; each weight has a layer of the first two."""

    unequal: FloatArray
    apart: FloatArray
    linear: FloatArray | None
    smooth: tuple[FloatArray, ...]


class Kernel:
    """Covariance of labels, and its derivatives by the logarithms of its hyper-parameters.

    Args:
        layout: What the columns of ``X`` are.
        with_proxies: Whether the proxies take part.
        noise: Prior median of the noise variance, of labels of variance 1.
        relevance: Whether each parameter has a weight of its own.
    """

    def __init__(
        self,
        layout: FeatureLayout,
        *,
        with_proxies: bool,
        noise: float = 0.05,
        relevance: bool = False,
    ) -> None:
        self._layout = layout
        self._n_proxies = layout.n_proxies
        self.with_proxies = with_proxies and layout.n_proxies > 0
        self._n_ranks = (1 + layout.has_neighbourhood) if self.with_proxies else 0
        self.has_numbers = any(layout.numeric)
        numeric = np.repeat(np.array(layout.numeric, dtype=np.bool_), layout.widths)
        parameter = np.repeat(np.arange(layout.n_parameters), layout.widths)
        self._n_weights = layout.n_parameters if relevance else 1
        weight = parameter if relevance else np.zeros_like(parameter)
        n_parameters = max(layout.n_parameters, 1)
        # Without counts a search of NAS-Bench-201 / CIFAR-10 ends, in one seed of six and not of
        # twenty, in a basin that shares all but one choice with the right one, at other
        # parameters. Honest proxies say it better: with counts besides, a search with them lost
        # up to 4 points of P@100 at 100 labels.
        kinds = np.array(() if layout.n_proxies else layout.kinds, dtype=np.intp)
        self._n_kinds = int(kinds.max(initial=-1)) + 1
        # Columns of each parameter whose choices are counted, and what they count for.
        self._counted = [
            (columns, kinds[columns])
            for i in range(layout.n_parameters if self._n_kinds else 0)
            for columns in [np.flatnonzero(parameter == i)]
            if kinds[columns[0]] >= 0
        ]
        # Columns of the encoding, the weight of each, and what makes squared differences h and q.
        self._unordered = (np.flatnonzero(~numeric), weight[~numeric], np.sqrt(0.5 / n_parameters))
        self._numbers = (np.flatnonzero(numeric), weight[numeric], np.sqrt(2.0 / n_parameters))
        start = [noise, 1.0] + [3.0] * self._n_weights + ([0.1] if self.with_proxies else [])
        start += [1.0 / max(self._n_ranks, 1), 0.5] * self._n_ranks
        start += [1.0, 0.4] if self._n_kinds else []
        self.prior_mean: FloatArray = np.log(start)
        # Noise below 0.1 % of the variance would make near-equal labels contradict each other,
        # but a smooth function of numbers is known better than that near its optimum.
        least_noise = 1e-6 if self.has_numbers else 1e-3
        self.bounds = [(np.log(least_noise), np.log(3.0))] + [
            (mean - 6.0, mean + 6.0) for mean in self.prior_mean[1:]
        ]

    def rows(self, theta: FloatArray, X: Features) -> Rows:
        """Rows prepared for covariances under theta, in the precision of ``X``."""
        weights = np.exp(0.5 * theta[2 : 2 + self._n_weights])
        encoding = X[:, X.shape[1] - self._layout.n_encoding :]
        parts = [
            # To select every column would copy them all.
            (encoding if len(columns) == encoding.shape[1] else encoding[:, columns])
            * (scale * weights[weight]).astype(X.dtype)
            for columns, weight, scale in (self._unordered, self._numbers)
        ]
        return Rows((*parts, *self._smooth(X)))

    def between(self, theta: FloatArray, a: Rows, b: Rows) -> Features:
        """Covariance without noise, shape (n_a, n_b)."""
        value = np.exp(theta).astype(a.parts[0].dtype)
        further = value[2 + self._n_weights :]
        one = value.dtype.type(1)
        if a.parts[0].shape[1] or not a.parts[1].shape[1]:
            covariance = _exponential(value[1], -one, a, b, 0)
            if a.parts[1].shape[1]:
                covariance *= _matern(_squared_distances(a, b, 1))
        else:
            covariance = value[1] * _matern(_squared_distances(a, b, 1))
        if self.with_proxies:
            covariance += (12 * further[0] * a.parts[2]) @ b.transposed[2]
        pairs = further[self.with_proxies :].reshape(-1, 2)
        for part, (scale, length) in enumerate(pairs, start=2):
            covariance += _exponential(scale, -one / (2 * length**2), a, b, part)
        return covariance

    def variance(self, theta: FloatArray, a: Rows) -> Features:
        """Prior variance of each row, shape (n_a,)."""
        value = np.exp(theta).astype(a.parts[0].dtype)
        further = value[2 + self._n_weights :]
        variance = np.full(len(a.parts[0]), value[1] + further[self.with_proxies :: 2].sum())
        if self.with_proxies:
            variance += 12 * further[0] * np.square(a.parts[2]).sum(axis=1)
        return variance

    def nugget(self, theta: FloatArray) -> float:
        """What the diagonal has more than :meth:`between`: noise, and a little for stability."""
        value = np.exp(theta)
        further = value[2 + self._n_weights :]
        linear, smooth = further[: self.with_proxies], further[self.with_proxies :: 2]
        return float(value[0] + _JITTER * (value[1] + linear.sum() + smooth.sum()))

    def negative_log_posterior(
        self, theta: FloatArray, y: FloatArray, distances: _Distances, std: float
    ) -> tuple[float, FloatArray]:
        """-log p(y | theta) p(theta) up to a constant, and its gradient.

        Args:
            theta: Point.
            y: Labels of mean 0.
            distances: What :meth:`distances` returned.
            std: Standard deviation of the priors.
        """
        value = np.exp(theta)
        weights = value[2 : 2 + self._n_weights]
        further = value[2 + self._n_weights :]
        structure = value[1] * np.exp(-np.tensordot(weights, distances.unequal, 1))
        steepness: FloatArray | None = None
        if len(distances.apart):
            apart = np.tensordot(weights, distances.apart, 1)
            steepness = structure * _matern_slope(apart)
            structure = structure * _matern(apart)
        covariance = structure.copy()
        derivatives = []
        if distances.linear is not None:
            linear = further[0] * distances.linear
            covariance += linear
            derivatives.append(linear)
        for distance, (scale, length) in zip(
            distances.smooth, further[self.with_proxies :].reshape(-1, 2), strict=True
        ):
            smooth = scale * np.exp(-distance / (2 * length**2))
            covariance += smooth
            derivatives += [smooth, smooth * distance / length**2]
        n = len(y)
        covariance.flat[:: n + 1] += self.nugget(theta)
        factor, failed = lapack.dpotrf(covariance, lower=1)
        if failed:
            return 1e10, np.zeros_like(theta)
        solution = lapack.dpotrs(factor, y, lower=1)[0]
        inverse = lapack.dpotri(factor, lower=1)[0]
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        residual = inverse - np.outer(solution, solution)
        deviation = (theta - self.prior_mean) / std
        loss = 0.5 * y @ solution + np.log(np.diag(factor)).sum() + 0.5 * deviation @ deviation
        by_weight = -weights * np.tensordot(distances.unequal, residual * structure, 2)
        if steepness is not None:
            by_weight += weights * np.tensordot(distances.apart, residual * steepness, 2)
        gradient = np.array(
            [
                value[0] * np.trace(residual),
                np.vdot(residual, structure),
                *by_weight,
                *(np.vdot(residual, derivative) for derivative in derivatives),
            ]
        )
        return float(loss), 0.5 * gradient + deviation / std

    def distances(self, X: Features) -> _Distances:
        """What does not depend on theta: h and q per weight, linear products, d and c."""
        X = X.astype(np.float64)
        encoding = X[:, X.shape[1] - self._layout.n_encoding :]
        layers = []
        for columns, weight, scale in (self._unordered, self._numbers):
            layers.append(
                np.array(
                    [
                        cdist(part, part, "sqeuclidean")
                        for i in range(self._n_weights if len(columns) else 0)
                        for part in [scale * encoding[:, columns[weight == i]]]
                    ]
                ).reshape(-1, len(X), len(X))
            )
        if not len(layers[0]):  # numbers alone: no configuration is unequal
            layers[0] = np.zeros((self._n_weights, len(X), len(X)))
        smooth = self._smooth(X)
        return _Distances(
            layers[0],
            layers[1],
            12 * smooth[0] @ smooth[0].T if self.with_proxies else None,
            tuple(cdist(part, part, "sqeuclidean") for part in smooth),
        )

    def _smooth(self, X: Features) -> list[Features]:
        """What has d and c as squared distances, ranks and those of the neighbours, or b."""
        if self._n_kinds:
            encoding = X[:, X.shape[1] - self._layout.n_encoding :]
            counts = np.zeros((self._n_kinds, len(X)), dtype=X.dtype)
            for columns, kinds in self._counted:
                counts[kinds] += encoding.T[columns]
            counts = np.ascontiguousarray(counts.T)
            return [counts * X.dtype.type(np.sqrt(0.5 / self._layout.n_parameters))]
        return [
            np.ascontiguousarray(
                (X[:, i * self._n_proxies : (i + 1) * self._n_proxies] - 0.5)
                / X.dtype.type(np.sqrt(self._n_proxies))
            )
            for i in range(self._n_ranks)
        ]


class Rows:
    """Rows prepared for covariances.

    The squared distance of two rows is one product of rows with two columns more,
    [x, |x|^2, 1] . [-2 y, 1, |y|^2], which spares three passes over a large matrix.

    Args:
        parts: Columns of each term: unordered parameters and numbers, both scaled by their
            weights, then ranks and those of the neighbours.
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
        """Transposed [-2 y, 1, |y|^2] of each part."""
        return tuple(
            np.vstack([-2 * y.T, np.ones(len(y), y.dtype), np.square(y).sum(axis=1)])
            for y in self.parts
        )

    @cached_property
    def transposed(self) -> tuple[Features, ...]:
        """Each part with its columns next to each other in memory."""
        return tuple(np.ascontiguousarray(part.T) for part in self.parts)


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

    def predict(self, X: Features, y: FloatArray, pool: Features) -> tuple[FloatArray, FloatArray]:
        """Posterior of the noiseless label, in the precision of the features.

        Args:
            X: Labelled rows; those of the last call come first, or everything is done anew.
            y: Their labels, of mean near 0.
            pool: Rows to predict; quick if it is the object of the last call.

        Returns:
            Mean and variance, each of shape (n_pool,).
        """
        if self._factor is None:
            self._factor = _Factor(self.kernel, self.theta, self._settings, self._n_hyper)
        if self._posterior is None or self._posterior.pool is not pool:
            self._posterior = _PoolPosterior(self.kernel, self.theta, pool)
        n_kept = self._factor.take(X)
        return self._posterior.given(self._factor, n_kept, X, y)


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
        self._rows: Features = np.empty((0, 0))
        self.matrix: FloatArray = np.empty((0, 0))

    def take(self, X: Features) -> int:
        """Extend :attr:`matrix` to these rows; how many rows of finished blocks have stayed."""
        n = len(X)
        if self._n > n or not np.array_equal(self._rows[: self._n], X[: self._n]):
            self._n = 0
        n_kept = self._n
        if n > len(self.matrix):
            capacity = max(256, 2 * n)  # takes no memory before it is written
            self.matrix = _grown(self.matrix, (capacity, capacity))
        for start, stop in self.blocks(n_kept, n):
            self._extend(X, start, stop)
            if stop == self.border(start):
                self._n = stop
        self._rows = X
        return n_kept

    def border(self, start: int) -> int:
        """Where a block from ``start`` ends."""
        return self._n_hyper if start < self._n_hyper else self._settings.next_block(start)

    def blocks(self, start: int, n: int) -> Iterator[tuple[int, int]]:
        """Where the blocks from ``start`` to ``n`` begin and end."""
        while start < n:
            stop = min(self.border(start), n)
            yield start, stop
            start = stop

    def _extend(self, X: Features, start: int, stop: int) -> None:
        """Extend the factor by rows [L21, L22]."""
        kernel, theta, factor = self._kernel, self._theta, self.matrix
        # Of near-equal numbers the covariance is all but singular in single precision.
        rows = X[:stop].astype(np.float64) if kernel.has_numbers else X[:stop]
        new = kernel.rows(theta, rows[start:])
        square = kernel.between(theta, new, new).astype(np.float64)
        square.flat[:: stop - start + 1] += self._noise
        if start:
            old = kernel.rows(theta, rows[:start])
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
        self._solved: Features = np.empty((0, len(pool)), dtype=pool.dtype)
        self._explained: Features = np.zeros(len(pool), dtype=pool.dtype)

    def given(
        self, factor: _Factor, n_kept: int, X: Features, y: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and variance over the pool, given labelled rows.

        Args:
            factor: Factor of the rows.
            n_kept: How many of them are those of the last call.
            X: The rows.
            y: Their labels.
        """
        n = len(y)
        if self._n > n_kept:
            self._n, self._explained = 0, np.zeros_like(self._explained)
        if n > len(self._solved):
            self._solved = _grown(self._solved, (max(256, 2 * n), self._solved.shape[1]))
        weights = solve_triangular(factor.matrix[:n, :n], y, lower=True, check_finite=False)
        weights = weights.astype(self.pool.dtype)
        explained, mean, n_counted = self._explained, np.zeros_like(self._prior), 0
        for start, stop in factor.blocks(self._n, n):
            # Of the rows before, which are many, one pass for both covariance and mean.
            known = factor.matrix[start:stop, :start].astype(self.pool.dtype)
            known = np.vstack([known, weights[:start]]) @ self._solved[:start]
            mean, n_counted = known[-1], start
            rows = self._kernel.rows(self._theta, X[start:stop])
            corner = factor.matrix[start:stop, start:stop]
            added = self._solved[start:stop]
            added[:] = self._solve(rows, corner, known[:-1])
            explained = explained + np.einsum("ij,ij->j", added, added)
            if stop == factor.border(start):
                self._n, self._explained = stop, explained
        mean = mean + weights[n_counted:] @ self._solved[n_counted:n]
        variance = np.maximum(self._prior - explained, 1e-10)
        return mean.astype(np.float64), variance.astype(np.float64)

    def _solve(self, rows: Rows, corner: FloatArray, known: Features) -> Features:
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


class AveragedProcesses:
    """Equal mixture of a process with proxies and one without.

    The mixture's mean and variance, so that the spread also holds how far the two disagree.

    Args:
        layout: What the columns of ``X`` are.
        settings: Settings of both; by default those of the class, or without proxies
            :meth:`GaussianProcessSettings.alone`.
        lifts_failures: Whether labels far below the median are lifted to as far below it as the
            best lies above: what fails badly is bad, and how badly must not stretch the scale on
            which the best are told apart.
    """

    def __init__(
        self,
        layout: FeatureLayout,
        settings: GaussianProcessSettings | None = None,
        *,
        lifts_failures: bool = True,
    ) -> None:
        settings = settings or GaussianProcessSettings.for_layout(layout)
        self._settings = settings
        self._lifts = lifts_failures
        self._processes = [
            GaussianProcess(
                Kernel(
                    layout,
                    with_proxies=with_proxies,
                    noise=settings.noise,
                    relevance=settings.relevance,
                ),
                settings,
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

    @classmethod
    def for_constraint(cls, layout: FeatureLayout, seed: int) -> AveragedProcesses:
        """The same for labels of which not the best count, but those near 0."""
        del seed
        return cls(layout, lifts_failures=False)

    def fit(self, X: Features, y: FloatArray) -> None:
        """Take labelled rows; hyper-parameters are fitted where their number has grown enough."""
        n_hyper = self._settings.n_hyper(len(y))
        hyper = (X[:n_hyper].tobytes(), y[:n_hyper].tobytes())
        if hyper != self._hyper:
            labels, *_ = self._standardized(y[:n_hyper])
            for process in self._processes:
                process.fit_hyperparameters(X[:n_hyper], labels)
            self._hyper = hyper
        self._X = X
        self._labels, self._center, self._scale = self._standardized(y)

    def predict(self, X: Features) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the mixture, in the unit of the labels."""
        posteriors = [process.predict(self._X, self._labels, X) for process in self._processes]
        means, variances = zip(*posteriors, strict=True)
        mean = sum(means) / len(means)
        between = sum(np.square(each - mean) for each in means)
        std = np.sqrt((sum(variances) + between) / len(means))
        return self._center + self._scale * mean, self._scale * std

    def _standardized(self, y: FloatArray) -> tuple[FloatArray, float, float]:
        """Labels of mean 0 and standard deviation 1, with both of before."""
        y = _lifted(y) if self._lifts else y
        center, scale = float(y.mean()), float(y.std())
        if scale <= 1e-12 * max(1.0, abs(center)):
            scale = 1.0
        return (y - center) / scale, center, scale


def _lifted(y: FloatArray) -> FloatArray:
    """Labels of which none lies farther below the median than the best above."""
    best = float(y.max())
    reference = float(np.median(y))
    if reference == best and y.min() < best:  # most labels are the best: lift none up to it
        reference = float(y[y < best].max())
    return np.maximum(y, best - 2 * (best - reference))


def _exponential(scale: Any, rate: Any, a: Rows, b: Rows, part: int) -> Features:
    """The scale times exp(rate x squared distance) of every pair of rows."""
    left, right = rate * a.left[part], b.right[part]
    left[:, -2] += np.log(scale)  # meets a one on the other side
    if left.shape[1] > _WIDE:
        # Of many choices few rows have few: the others' columns add nothing.
        used = np.flatnonzero(left.any(axis=0))
        left, right = left[:, used], right[used]
    exponent: Features = left @ right
    np.exp(exponent, out=exponent)
    return exponent


def _squared_distances(a: Rows, b: Rows, part: int) -> Features:
    """Squared distance of every pair of rows, not negative."""
    squared: Features = a.left[part] @ b.right[part]
    return np.maximum(squared, 0, out=squared)


def _matern(squared: Any) -> Any:
    """Matern 5/2 of a squared distance."""
    root, decay = _decay(squared)
    value = 1 + root
    value += 5 / 3 * squared
    value *= decay
    return value


def _matern_slope(squared: Any) -> Any:
    """Its derivative by the squared distance."""
    root, decay = _decay(squared)
    return -5 / 6 * (1 + root) * decay


def _decay(squared: Any) -> tuple[Any, Any]:
    root = np.sqrt(5 * squared)
    return root, np.exp(-root)


def _grown(array: Any, shape: tuple[int, int]) -> Any:
    grown = np.empty(shape, dtype=array.dtype)
    grown[: array.shape[0], : array.shape[1]] = array
    return grown
