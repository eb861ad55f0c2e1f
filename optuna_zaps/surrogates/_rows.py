"""Rows prepared for the squared distances between them.

Notations:
    x: (n_rows, n_columns) array, the columns of one term of a covariance.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any
from typing import Protocol

import numpy as np
import numpy.typing as npt


Features = npt.NDArray[np.floating[Any]]


class Rows(Protocol):
    """Rows of one term."""

    def exponential(self, scale: Any, rate: Any, other: Any) -> Features:
        """The scale times exp(rate x squared distance) to every row of others of the same kind.

        Args:
            scale: Positive number, in the precision of the rows.
            rate: Number, likewise.
            other: The others.

        Returns:
            Array of shape (n_rows, n_others).
        """


class DenseRows:
    """Rows of a few columns.

    The squared distance of two rows is one product of rows with two columns more,
    [x, |x|^2, 1] . [-2 y, 1, |y|^2], which spares three passes over a large matrix.

    Args:
        x: Columns, scaled so that all count alike.
    """

    def __init__(self, x: Features) -> None:
        self.x = x

    @cached_property
    def transposed(self) -> Features:
        """The columns, each next to each other in memory."""
        return np.ascontiguousarray(self.x.T)

    def exponential(self, scale: Any, rate: Any, other: DenseRows) -> Features:
        """As in :class:`Rows`."""
        left = rate * self._left
        left[:, -2] += np.log(scale)  # meets a one on the other side
        exponent: Features = left @ other._right
        return np.exp(exponent, out=exponent)

    def squared(self, other: DenseRows) -> Features:
        """Squared distance to every row of others, shape (n_rows, n_others)."""
        squared: Features = self._left @ other._right
        return np.maximum(squared, 0, out=squared)

    @cached_property
    def _left(self) -> Features:
        """[x, |x|^2, 1]."""
        ones = np.ones(len(self.x), self.x.dtype)
        return np.column_stack([self.x, np.square(self.x).sum(axis=1), ones])

    @cached_property
    def _right(self) -> Features:
        """Transposed [-2 y, 1, |y|^2]."""
        ones = np.ones(len(self.x), self.x.dtype)
        return np.vstack([-2 * self.x.T, ones, np.square(self.x).sum(axis=1)])


class SparseRows:
    """Rows of many columns, few of which are not 0 in a row, as those of many choices.

    What a few rows share with many lies in the columns of the few: the others are not looked at,
    and none is scaled or copied beforehand.

    Args:
        x: Columns as they are, best with the rows of each next to each other in memory.
        weights: What the squared difference in each column counts, 0 for those of other terms.
        norms: Sum of the squares of each row, weighted so, in the precision wanted.
    """

    def __init__(self, x: Features, weights: Features, norms: Features) -> None:
        self._x, self._weights, self._norms = x, weights, norms

    def exponential(self, scale: Any, rate: Any, other: SparseRows) -> Features:
        """As in :class:`Rows`."""
        used = np.flatnonzero(self._x.any(axis=0) & (self._weights > 0))
        shared = self._x[:, used] * (-2 * rate * self._weights[used])
        own = rate * self._norms + np.log(scale)
        left = np.column_stack([shared, own, np.full_like(own, rate)])
        norms = other._norms
        exponent: Features = left @ np.vstack([other._x.T[used], np.ones_like(norms), norms])
        return np.exp(exponent, out=exponent)
