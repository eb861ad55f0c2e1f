"""Term of the parameters of a configuration: exponential of Hamming, and Matern 5/2.

Notations as in :mod:`optuna_zaps.surrogates.terms`, and
    e_j: encoding of parameter j of m, one-hot or, for a number, its position in [0, 1].
    w_j: weight of parameter j.
    h, q: weighted squared distances over the unordered parameters and over the numbers.
"""

from __future__ import annotations

from typing import Any
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from optuna_zaps.surrogates.matern import matern
from optuna_zaps.surrogates.matern import matern_and_slope
from optuna_zaps.surrogates.protocol import FeatureLayout
from optuna_zaps.surrogates.rows import DenseRows
from optuna_zaps.surrogates.rows import Features
from optuna_zaps.surrogates.rows import FloatArray
from optuna_zaps.surrogates.rows import Rows
from optuna_zaps.surrogates.rows import SparseRows
from optuna_zaps.surrogates.terms import WIDE
from optuna_zaps.surrogates.terms import Gradient


class _Columns(NamedTuple):
    """Columns of the encoding that a distance uses.

    Attributes:
        positions: Positions in the encoding, shape (n_columns,).
        weight: Index of the weight of each, likewise.
        scale: Square root of the constant factor of their squared differences.
    """

    positions: npt.NDArray[np.intp]
    weight: npt.NDArray[np.intp]
    scale: float

    def rows(self, encoding: Features, theta: FloatArray, dtype: np.dtype[Any]) -> DenseRows:
        """Rows scaled by the roots of the weights, of which theta are the logarithms."""
        factors = self.scale * np.exp(0.5 * theta)[self.weight]
        # To select every column would copy them all.
        whole = len(self.positions) == encoding.shape[1]
        part = encoding if whole else encoding[:, self.positions]
        return DenseRows(part.astype(dtype, copy=False) * factors.astype(dtype))

    def distances(self, encoding: Features, n_weights: int) -> FloatArray:
        """Squared distances in the columns of each weight, shape (n_weights, n_rows, n_rows)."""
        from scipy.spatial.distance import cdist

        return np.array(
            [
                cdist(part, part, "sqeuclidean")
                for i in range(n_weights)
                for part in [self.scale * encoding[:, self.positions[self.weight == i]]]
            ]
        ).reshape(n_weights, len(encoding), len(encoding))


class _ParameterRows(NamedTuple):
    """Rows of :class:`ParameterTerm`, ``None`` without columns."""

    choices: Rows | None
    numbers: DenseRows | None


class _ParameterDistances(NamedTuple):
    """h and q / w for each weight, shape (n_weights, n_rows, n_rows); ``None`` without columns."""

    choices: FloatArray | None
    numbers: FloatArray | None


class ParameterTerm:
    """Covariance of configurations by their parameters.

    k = s exp(-h) M(q), with the weights w_j of
        h = sum over the unordered parameters of w_j |e_j(a) - e_j(b)|^2 / (2 m)
        q = sum over the numbers of 2 w_j (e_j(a) - e_j(b))^2 / m
        M(q) the Matern covariance of :mod:`optuna_zaps.surrogates.matern`.

    On one-hot codes |e_j(a) - e_j(b)|^2 is 0 or 2: for equal weights h is w times the share of
    parameters that differ, and exp(-h) the exponential of the Hamming distance.

    Hyper-parameters: s, and one w for all parameters or one for each.

    Args:
        layout: Meaning of the columns of ``X``.
        relevance: Whether each parameter has a weight of its own (automatic relevance
            determination, RW Section 5.1), so that some may count for nothing.
    """

    def __init__(self, layout: FeatureLayout, *, relevance: bool = False) -> None:
        self._n_encoding = layout.n_encoding
        self._n_weights = layout.n_parameters if relevance else 1
        self.prior_medians = (1.0, *(3.0 for _ in range(self._n_weights)))
        self.least_values = tuple(0.0 for _ in self.prior_medians)
        is_number = np.array(layout.numeric, dtype=np.bool_)
        in_number = np.repeat(is_number, layout.widths)
        parameter = np.repeat(np.arange(layout.n_parameters), layout.widths)
        weight = parameter if relevance else np.zeros_like(parameter)
        self._choices, self._numbers = (
            _Columns(np.flatnonzero(these), weight[these], np.sqrt(factor))
            for these, factor in (
                (~in_number, 0.5 / max(layout.n_parameters, 1)),
                (in_number, 2.0 / max(layout.n_parameters, 1)),
            )
        )
        self._has_numbers = bool(is_number.any())
        # Without any parameter the term is the constant s, as with choices that never differ.
        self._has_choices = not is_number.all() or not self._has_numbers
        starts = np.cumsum((0, *layout.widths))[:-1]
        self._first_choices = starts[~is_number].astype(np.intp)

    @classmethod
    def with_relevance(cls, layout: FeatureLayout) -> ParameterTerm:
        """Term with a weight for each parameter, as a factory."""
        return cls(layout, relevance=True)

    def rows(self, theta: FloatArray, X: Features, dtype: np.dtype[Any]) -> _ParameterRows:
        """Implement :meth:`Term.rows`: scaled so that squared distances are h and q."""
        encoding = X[:, X.shape[1] - self._n_encoding :]
        wide = len(self._choices.positions) > WIDE
        choices = self._sparse_choices if wide else self._choices.rows
        return _ParameterRows(
            choices(encoding, theta[1:], dtype) if self._has_choices else None,
            self._numbers.rows(encoding, theta[1:], dtype) if self._has_numbers else None,
        )

    def covariance(self, values: Features, a: _ParameterRows, b: _ParameterRows) -> Features:
        """Implement :meth:`Term.covariance`: s exp(-h) M(q)."""
        amplitude: Any = values[0]
        if a.choices is not None:
            amplitude = a.choices.exponential(amplitude, -1, b.choices)
        if a.numbers is None or b.numbers is None:
            of_choices: Features = amplitude
            return of_choices
        root = a.numbers.squared(b.numbers)
        root *= 5
        covariance = matern(np.sqrt(root, out=root))
        covariance *= amplitude
        return covariance

    def variance(self, values: Features, a: _ParameterRows) -> Any:
        """Implement :meth:`Term.variance`: s, since h = q = 0."""
        del a
        return values[0]

    def distances(self, X: Features) -> _ParameterDistances:
        """Implement :meth:`Term.distances`."""
        encoding = X[:, X.shape[1] - self._n_encoding :]
        return _ParameterDistances(
            self._choices.distances(encoding, self._n_weights) if self._has_choices else None,
            self._numbers.distances(encoding, self._n_weights) if self._has_numbers else None,
        )

    def covariance_and_gradient(
        self, values: FloatArray, distances: _ParameterDistances
    ) -> tuple[FloatArray, Gradient]:
        """Implement :meth:`Term.covariance_and_gradient`."""
        weights = values[1:]
        covariance: Any = values[0]
        slope: Any = None
        if distances.choices is not None:
            # s exp(-h), with h = sum of w_j h_j
            covariance = covariance * np.exp(-_weighted(weights, distances.choices))
        if distances.numbers is not None:
            # times M(q), with q = sum of w_j q_j; and s exp(-h) dM/dq for the gradient
            q = _weighted(weights, distances.numbers)
            of_numbers, slope = matern_and_slope(np.sqrt(5 * q))
            slope *= covariance
            covariance = covariance * of_numbers

        def gradient(G: FloatArray) -> list[float]:
            # dk/dlog s = k
            by_amplitude = np.vdot(G, covariance)
            by_weight = np.zeros_like(weights)
            if distances.choices is not None:
                # dk/dlog w_j = -w_j h_j k
                by_weight = -weights * _products(distances.choices, G * covariance)
            if distances.numbers is not None:
                # dk/dlog w_j = w_j q_j s exp(-h) dM/dq
                by_weight += weights * _products(distances.numbers, G * slope)
            return [by_amplitude, *by_weight]

        return covariance, gradient

    def _sparse_choices(
        self, encoding: Features, theta: FloatArray, dtype: np.dtype[Any]
    ) -> SparseRows:
        """Rows with h as squared distance where there are many choices."""
        positions, weight, scale = self._choices
        squares = np.zeros(encoding.shape[1])
        squares[positions] = scale**2 * np.exp(theta)[weight]
        # Of each parameter one column is 1, so that all rows have the same norm.
        norm = squares[self._first_choices].sum()
        norms = np.full(len(encoding), norm, dtype=dtype)
        return SparseRows(encoding, squares.astype(dtype), norms)


def _weighted(weights: FloatArray, distances: FloatArray) -> FloatArray:
    """Sum of the distances of each weight, times it, shape (n_rows, n_rows)."""
    total: FloatArray = weights @ distances.reshape(len(weights), -1)
    return total.reshape(distances.shape[1:])


def _products(distances: FloatArray, other: FloatArray) -> FloatArray:
    """Sum over the pairs of rows of the distances of each weight, times another matrix."""
    return np.asarray(distances.reshape(len(distances), -1) @ other.ravel(), dtype=np.float64)
