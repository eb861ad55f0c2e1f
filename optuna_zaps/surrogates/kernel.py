"""Covariance of labels: a sum of terms, and noise.

Notations:
    k(a, b): sum over the terms of :mod:`optuna_zaps.surrogates.terms`.
    theta: (1 + number of the terms' hyper-parameters,) logarithms of the noise variance and of
        the hyper-parameters of each term in turn. All have log-normal priors.
    X: (n_rows, n_features) features.
    K: (n_rows, n_rows) covariance of noisy labels.
    G: (n_rows, n_rows) derivative of a loss by K.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from itertools import groupby
from typing import Any
from typing import NamedTuple
from typing import TypeVar

import numpy as np

from optuna_zaps.surrogates.rows import Features
from optuna_zaps.surrogates.rows import FloatArray
from optuna_zaps.surrogates.terms import Term


_JITTER = 1e-6
"""Share of the prior variance added to the diagonal: labels of a search lie close together."""

_HALF_RANGE = 6.0
"""Distance of the bounds of a hyper-parameter from its prior median, in natural logarithms."""

_MOST_NOISE = 3.0
"""Upper bound of the noise variance, of labels of variance 1."""

_Values = TypeVar("_Values", bound=Features)


class PreparedRows(NamedTuple):
    """Rows prepared for covariances.

    Attributes:
        n_rows: Number of rows.
        dtype: Precision of what is computed from them.
        of_terms: Rows as each term needs them.
    """

    n_rows: int
    dtype: np.dtype[Any]
    of_terms: tuple[Any, ...]


class Kernel:
    """Sum of terms, and its derivatives by the logarithms of their hyper-parameters.

    Args:
        terms: Summands, at least one.
        noise: Prior median of the noise variance, of labels of variance 1.
        least_noise: Lower bound of the noise variance.
        double_precision: Whether to compute in double precision also where ``X`` is in single.
    """

    def __init__(
        self,
        terms: Sequence[Term],
        *,
        noise: float = 0.05,
        least_noise: float = 1e-3,
        double_precision: bool = False,
    ) -> None:
        self._terms = tuple(terms)
        self._double_precision = double_precision
        medians, least = [noise], [least_noise]
        self._slices = []
        for term in terms:
            start = len(medians)
            medians += term.prior_medians
            least += term.least_values
            self._slices.append(slice(start, len(medians)))
        self.prior_mean: FloatArray = np.log(medians)
        """Mean of the normal prior of theta."""
        low, high = self.prior_mean - _HALF_RANGE, self.prior_mean + _HALF_RANGE
        low[0], high[0] = -np.inf, np.log(_MOST_NOISE)
        with np.errstate(divide="ignore"):  # the logarithm of 0
            low = np.maximum(low, np.log(least))
        self.bounds = list(zip(low, high, strict=True))
        """Lower and upper bound of each of theta."""

    def rows(self, theta: FloatArray, X: Features) -> PreparedRows:
        """Prepare rows for covariances under theta."""
        dtype = np.dtype(np.float64) if self._double_precision else X.dtype
        of_terms = (term.rows(part, X, dtype) for term, part in self._each(theta))
        return PreparedRows(len(X), dtype, tuple(of_terms))

    def between(self, theta: FloatArray, a: PreparedRows, b: PreparedRows) -> Features:
        """Covariance without noise, shape (n_a, n_b)."""
        values = np.exp(theta).astype(a.dtype)
        summands = (
            term.covariance(part, of_a, of_b)
            for (term, part), of_a, of_b in zip(
                self._each(values), a.of_terms, b.of_terms, strict=True
            )
        )
        covariance = next(summands)
        for summand in summands:
            covariance += summand
        return covariance

    def variance(self, theta: FloatArray, a: PreparedRows) -> Features:
        """Prior variance of each row without noise, shape (n_a,)."""
        values = np.exp(theta).astype(a.dtype)
        variances = [
            term.variance(part, of_a)
            for (term, part), of_a in zip(self._each(values), a.of_terms, strict=True)
        ]
        constant = self._sum(each if np.ndim(each) == 0 else 0 for each in variances)
        variance = np.full(a.n_rows, constant, dtype=a.dtype)
        for each in variances:
            if np.ndim(each) > 0:
                variance += each
        return variance

    def nugget(self, theta: FloatArray) -> float:
        """Noise variance plus jitter, added to the diagonal of the covariance of labels."""
        values = np.exp(theta)
        amplitudes = (part[0] for _, part in self._each(values))
        return float(values[0] + _JITTER * self._sum(amplitudes))

    def distances(self, X: Features) -> tuple[Any, ...]:
        """Pairwise distances for :meth:`covariance_and_gradient`, independent of theta."""
        X = X.astype(np.float64)
        return tuple(term.distances(X) for term in self._terms)

    def covariance_and_gradient(
        self, theta: FloatArray, distances: tuple[Any, ...]
    ) -> tuple[FloatArray, Callable[[FloatArray], FloatArray]]:
        """Covariance K of noisy labels, and its gradient by theta.

        Args:
            theta: Point.
            distances: Result of :meth:`distances` for the rows.

        Returns:
            Array of shape (n_rows, n_rows), and a function from G to the derivatives of the loss
            by theta, sum(G * dK/dtheta_i).
        """
        values = np.exp(theta)
        summands, gradients = zip(
            *(
                term.covariance_and_gradient(part, of_term)
                for (term, part), of_term in zip(self._each(values), distances, strict=True)
            ),
            strict=True,
        )
        covariance = summands[0].copy()
        for summand in summands[1:]:
            covariance += summand
        covariance.flat[:: len(covariance) + 1] += self.nugget(theta)

        def gradient(G: FloatArray) -> FloatArray:
            # The noise adds exp(theta_0) I to K. The jitter is too small to count.
            by_noise = values[0] * np.trace(G)
            return np.array([by_noise, *(d for each in gradients for d in each(G))])

        return covariance, gradient

    def _each(self, values: _Values) -> Iterator[tuple[Term, _Values]]:
        """Terms, each with its part of theta or of its exponentials."""
        for term, part in zip(self._terms, self._slices, strict=True):
            yield term, values[part]  # type: ignore[misc]

    def _sum(self, amounts: Iterable[Any]) -> Any:
        """Sum of one amount for each term, those of one class added up first.

        The order is fixed because it decides the last bits, and these decide between near-equal
        candidates.
        """
        pairs = zip(self._terms, amounts, strict=True)
        groups = groupby(pairs, key=lambda pair: type(pair[0]))
        return sum(sum(amount for _, amount in group) for _, group in groups)
