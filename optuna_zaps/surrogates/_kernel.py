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

from functools import cached_property
from typing import Any
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack
from scipy.spatial.distance import cdist

from optuna_zaps.surrogates._protocol import FeatureLayout


FloatArray = npt.NDArray[np.float64]
Features = npt.NDArray[np.floating[Any]]

_WIDE = 64
"""Columns from which on it pays to multiply only those that are not 0."""

_JITTER = 1e-6  # of the prior variance: labels of a search lie close together


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

    def precise(self, X: Features) -> Features:
        """Rows in the precision that their covariance needs.

        That of near-equal numbers is all but singular, and predictions near an optimum differ in
        digits that single precision does not have.
        """
        return X.astype(np.float64) if self.has_numbers else X

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
                covariance *= _matern_between(a, b, 1)
        else:
            covariance = value[1] * _matern_between(a, b, 1)
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


def _matern_between(a: Rows, b: Rows, part: int) -> Features:
    """Matern 5/2 of every pair of rows."""
    squared: Features = a.left[part] @ b.right[part]
    np.maximum(squared, 0, out=squared)
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
