"""Term of the parameters one by one: a sum of functions of one parameter each.

The effects of single parameters add up to a large part of many objectives. A product of
covariances, as :class:`~optuna_zaps.surrogates.parameter_term.ParameterTerm` is one, learns such
a sum anew in each corner of the space. A sum of covariances learns each effect from all labels
(Duvenaud, Nickisch and Rasmussen, "Additive Gaussian processes", 2011).

Notations as in :mod:`optuna_zaps.surrogates.terms`, and
    e_j: encoding of parameter j of m, one-hot or, for a number, its position in [0, 1].
    root_j: sqrt(5) |e_j(a) - e_j(b)| / l, of a number.
"""

from __future__ import annotations

from typing import Any
from typing import NamedTuple

import numpy as np

from optuna_zaps.surrogates.matern import matern
from optuna_zaps.surrogates.matern import matern_and_slope
from optuna_zaps.surrogates.protocol import FeatureLayout
from optuna_zaps.surrogates.rows import Features
from optuna_zaps.surrogates.rows import FloatArray
from optuna_zaps.surrogates.terms import Gradient


_CHUNK = 2**15
"""Pairs of rows that are computed at a time."""


class _AdditiveRows(NamedTuple):
    """Rows of :class:`AdditiveTerm`.

    Attributes:
        numbers: Numbers whose differences are root_j, one after the other, (n_numbers, n_rows).
        choices: One-hot codes of all unordered parameters, (n_rows, n_columns).
    """

    numbers: Features
    choices: Features


class _AdditiveDistances(NamedTuple):
    """Differences of each number, (n_numbers, n_rows, n_rows), and number of equal choices."""

    numbers: FloatArray
    n_equal: FloatArray


class AdditiveTerm:
    """Sum of functions of one parameter each.

    k = (s / m) sum over j of k_j, with k_j the Matern covariance M(root_j) of
    :mod:`optuna_zaps.surrogates.matern` for a number, and for an unordered parameter 1 if both
    have the same choice, else 0.

    Hyper-parameters: s, l.

    Args:
        layout: Meaning of the columns of ``X``.
        length: Prior median of l, in units of a number's range.
        least_length: Lower bound of l. A sum of functions with spikes fits any labels, and then
            a value that one good configuration has seems good wherever the others are.
    """

    def __init__(
        self, layout: FeatureLayout, length: float = 0.15, least_length: float = 0.03
    ) -> None:
        self.prior_medians, self.least_values = (1.0, length), (0.0, least_length)
        self._n_encoding = layout.n_encoding
        self._n_parameters = max(layout.n_parameters, 1)
        in_number = np.repeat(np.array(layout.numeric, dtype=np.bool_), layout.widths)
        self._numbers, self._choices = np.flatnonzero(in_number), np.flatnonzero(~in_number)

    def rows(self, theta: FloatArray, X: Features, dtype: np.dtype[Any]) -> _AdditiveRows:
        """Implement :meth:`Term.rows`."""
        encoding = X[:, X.shape[1] - self._n_encoding :].astype(dtype, copy=False)
        numbers = encoding[:, self._numbers].T.copy()
        numbers *= dtype.type(np.sqrt(5) / np.exp(theta[1]))
        return _AdditiveRows(numbers, encoding[:, self._choices])

    def covariance(self, values: Features, a: _AdditiveRows, b: _AdditiveRows) -> Features:
        """Implement :meth:`Term.covariance`."""
        # Most of many choices occur in no row of a few.
        used = np.flatnonzero(a.choices.any(axis=0))
        covariance = a.choices[:, used] @ b.choices[:, used].T
        # A few rows at a time, which stay in the cache of the processor from step to step.
        step = max(_CHUNK // max(covariance.shape[1], 1), 1)
        roots = np.empty((min(step, len(covariance)), covariance.shape[1]), covariance.dtype)
        of_number = np.empty_like(roots)
        for start in range(0, len(covariance), step):
            total = covariance[start : start + step]
            root, summand = roots[: len(total)], of_number[: len(total)]
            for of_a, of_b in zip(a.numbers, b.numbers, strict=True):
                np.subtract(of_a[start : start + step, np.newaxis], of_b, out=root)
                total += matern(np.abs(root, out=root), out=summand)
        covariance *= values[0] / self._n_parameters
        return covariance

    def variance(self, values: Features, a: _AdditiveRows) -> Any:
        """Implement :meth:`Term.variance`: s, since each k_j is 1."""
        del a
        return values[0]

    def distances(self, X: Features) -> _AdditiveDistances:
        """Implement :meth:`Term.distances`."""
        encoding = X[:, X.shape[1] - self._n_encoding :]
        numbers = encoding[:, self._numbers].T
        choices = encoding[:, self._choices]
        differences = np.abs(numbers[:, :, np.newaxis] - numbers[:, np.newaxis, :])
        return _AdditiveDistances(differences, choices @ choices.T)

    def covariance_and_gradient(
        self, values: FloatArray, distances: _AdditiveDistances
    ) -> tuple[FloatArray, Gradient]:
        """Implement :meth:`Term.covariance_and_gradient`."""
        amplitude, length = values
        scale = amplitude / self._n_parameters
        root = np.sqrt(5) / length * distances.numbers
        of_numbers, slope = matern_and_slope(root)
        # q_j dM/dq_j, with q_j = root_j^2 / 5
        slope = np.einsum("jab,jab,jab->ab", slope, root, root) / 5
        covariance = scale * (distances.n_equal + of_numbers.sum(axis=0))

        def gradient(G: FloatArray) -> list[float]:
            # dk/dlog s = k, dk/dlog l = (s / m) sum of -2 q_j dM/dq_j
            by_length = -2 * scale * np.vdot(G, slope)
            return [float(np.vdot(G, covariance)), float(by_length)]

        return covariance, gradient
