"""Covariances of labels, over parameters and proxies.

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

from typing import Any
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack
from scipy.spatial.distance import cdist

from optuna_zaps.surrogates._protocol import FeatureLayout
from optuna_zaps.surrogates._rows import DenseRows
from optuna_zaps.surrogates._rows import Features
from optuna_zaps.surrogates._rows import Rows
from optuna_zaps.surrogates._rows import SparseRows


FloatArray = npt.NDArray[np.float64]

_WIDE = 64
"""Columns beyond which it pays to multiply only those that are not 0."""

_JITTER = 1e-6  # of the prior variance: labels of a search lie close together


class _Distances(NamedTuple):
    """What of a covariance does not depend on theta; each weight has a layer of the first two."""

    unequal: FloatArray
    apart: FloatArray
    linear: FloatArray | None
    smooth: tuple[FloatArray, ...]


class PreparedRows(NamedTuple):
    """Rows prepared for covariances: what each term looks at."""

    n_rows: int
    dtype: np.dtype[Any]
    unordered: Rows
    numbers: DenseRows
    ranks: tuple[DenseRows, ...]
    counts: tuple[Rows, ...]


class _Columns(NamedTuple):
    """Columns of the encoding that a distance is over.

    Attributes:
        columns: Their positions, shape (n_columns,).
        weight: Number of the weight of each, likewise.
        scale: What makes their squared differences h or q.
    """

    columns: npt.NDArray[np.intp]
    weight: npt.NDArray[np.intp]
    scale: float

    def scaled(self, encoding: Features, weights: FloatArray, dtype: np.dtype[Any]) -> DenseRows:
        """Rows in which a difference counts by the weight of its column."""
        factors = self.scale * np.exp(0.5 * weights)[self.weight]
        # To select every column would copy them all.
        whole = len(self.columns) == encoding.shape[1]
        part = encoding if whole else encoding[:, self.columns]
        return DenseRows(part.astype(dtype, copy=False) * factors.astype(dtype))


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
            (_sliced(columns), _sliced(kinds[columns]))
            for i in range(layout.n_parameters if self._n_kinds else 0)
            for columns in [np.flatnonzero(parameter == i)]
            if kinds[columns[0]] >= 0
        ]
        self._unordered, self._numbers = (
            _Columns(np.flatnonzero(these), weight[these], np.sqrt(share / n_parameters))
            for these, share in ((~numeric, 0.5), (numeric, 2.0))
        )
        starts = np.cumsum((0, *layout.widths))[:-1]
        self._first_choices = starts[~np.array(layout.numeric, dtype=np.bool_)].astype(np.intp)
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

    def rows(self, theta: FloatArray, X: Features) -> PreparedRows:
        """Rows prepared for covariances under theta.

        In the precision of ``X``, or where there are numbers in double: the covariance of
        near-equal numbers is all but singular, and predictions near an optimum differ in digits
        that single precision does not have.
        """
        dtype = np.dtype(np.float64) if self.has_numbers else X.dtype
        encoding = X[:, X.shape[1] - self._layout.n_encoding :]
        weights = theta[2 : 2 + self._n_weights]
        wide = len(self._unordered.columns) > _WIDE
        choices = self._choices if wide else self._unordered.scaled
        counts: tuple[Rows, ...] = ()
        if self._n_kinds > _WIDE:
            counts = (self._sparse_counts(X, dtype),)
        elif self._n_kinds:
            counts = (DenseRows(self._scaled_counts(X, dtype)),)
        return PreparedRows(
            len(X),
            dtype,
            choices(encoding, weights, dtype),
            self._numbers.scaled(encoding, weights, dtype),
            tuple(map(DenseRows, self._ranks(X, dtype))),
            counts,
        )

    def between(self, theta: FloatArray, a: PreparedRows, b: PreparedRows) -> Features:
        """Covariance without noise, shape (n_a, n_b)."""
        value = np.exp(theta).astype(a.dtype)
        further = value[2 + self._n_weights :]
        one = value.dtype.type(1)
        if len(self._unordered.columns) or not self.has_numbers:
            covariance = a.unordered.exponential(value[1], -one, b.unordered)
            if self.has_numbers:
                covariance *= _matern_between(a.numbers, b.numbers)
        else:
            covariance = value[1] * _matern_between(a.numbers, b.numbers)
        if self.with_proxies:
            covariance += (12 * further[0] * a.ranks[0].x) @ b.ranks[0].transposed
        pairs = further[self.with_proxies :].reshape(-1, 2)
        smooth = zip(pairs, (*a.ranks, *a.counts), (*b.ranks, *b.counts), strict=True)
        for (scale, length), rows, others in smooth:
            covariance += rows.exponential(scale, -one / (2 * length**2), others)
        return covariance

    def variance(self, theta: FloatArray, a: PreparedRows) -> Features:
        """Prior variance of each row, shape (n_a,)."""
        value = np.exp(theta).astype(a.dtype)
        further = value[2 + self._n_weights :]
        variance = np.full(a.n_rows, value[1] + further[self.with_proxies :: 2].sum())
        if self.with_proxies:
            variance += 12 * further[0] * np.square(a.ranks[0].x).sum(axis=1)
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
            root, decay = _decay(apart)
            steepness = structure * _matern_slope(root, decay)
            structure = structure * _matern(apart, root, decay)
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
        ranks = self._ranks(X, X.dtype)
        smooth = [*ranks, self._scaled_counts(X, X.dtype)] if self._n_kinds else ranks
        return _Distances(
            layers[0],
            layers[1],
            12 * ranks[0] @ ranks[0].T if self.with_proxies else None,
            tuple(cdist(part, part, "sqeuclidean") for part in smooth),
        )

    def _ranks(self, X: Features, dtype: np.dtype[Any]) -> list[Features]:
        """What has d and c as squared distances: ranks, and those of the neighbours."""
        n, half = self._n_proxies, dtype.type(0.5)
        return [
            np.ascontiguousarray((X[:, i * n : (i + 1) * n] - half) / dtype.type(np.sqrt(n)))
            for i in range(self._n_ranks)
        ]

    def _choices(
        self, encoding: Features, weights: FloatArray, dtype: np.dtype[Any]
    ) -> SparseRows:
        """What has h as squared distance where there are many choices."""
        columns, weight, scale = self._unordered
        squares = np.zeros(encoding.shape[1])
        squares[columns] = scale**2 * np.exp(weights)[weight]
        norm = squares[self._first_choices].sum()  # of each parameter one choice is 1
        norms = np.full(len(encoding), norm, dtype=dtype)
        return SparseRows(encoding, squares.astype(dtype), norms)

    def _sparse_counts(self, X: Features, dtype: np.dtype[Any]) -> SparseRows:
        """What has b as squared distance where there are many kinds."""
        counts = self._counts(X)
        square = dtype.type(0.5 / self._layout.n_parameters)
        norms = square * np.square(counts).sum(axis=0)
        return SparseRows(counts.T, np.full(len(counts), square), norms)

    def _scaled_counts(self, X: Features, dtype: np.dtype[Any]) -> Features:
        """The same where there are few."""
        scale = dtype.type(np.sqrt(0.5 / self._layout.n_parameters))
        scaled: Features = np.ascontiguousarray(self._counts(X).T) * scale
        return scaled

    def _counts(self, X: Features) -> Features:
        """How many parameters have each kind of choice, shape (n_kinds, n_rows)."""
        encoding = X[:, X.shape[1] - self._layout.n_encoding :]
        counts = np.zeros((self._n_kinds, len(X)), dtype=X.dtype)
        for columns, kinds in self._counted:
            counts[kinds] += encoding.T[columns]
        return counts


def _sliced(positions: npt.NDArray[np.intp]) -> slice | npt.NDArray[np.intp]:
    """Positions in a row as a slice, which does not copy."""
    if np.all(np.diff(positions) == 1):
        return slice(int(positions[0]), int(positions[-1]) + 1)
    return positions


def _matern_between(a: DenseRows, b: DenseRows) -> Features:
    """Matern 5/2 of every pair of rows."""
    squared = a.squared(b)
    value: Features = _matern(squared, *_decay(squared))
    return value


def _decay(squared: Any) -> tuple[Any, Any]:
    """What Matern 5/2 of a squared distance and its derivative have in common."""
    root = np.sqrt(5 * squared)
    return root, np.exp(-root)


def _matern(squared: Any, root: Any, decay: Any) -> Any:
    value = 1 + root
    value += 5 / 3 * squared
    value *= decay
    return value


def _matern_slope(root: Any, decay: Any) -> Any:
    """Its derivative by the squared distance."""
    return -5 / 6 * (1 + root) * decay
