"""Squared distances between rows, by products of matrices.

Notations:
    x: (n_rows, n_columns) array, the columns that one term of a covariance uses.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any
from typing import Protocol
from typing import TypeAlias

import numpy as np
import numpy.typing as npt


Features: TypeAlias = npt.NDArray[np.floating[Any]]
"""Array in the precision of the features, single or double."""

FloatArray: TypeAlias = npt.NDArray[np.float64]
"""Array in double precision."""


class Rows(Protocol):
    """Rows of one term, prepared for squared distances."""

    def exponential(self, scale: Any, rate: Any, other: Any) -> Features:
        """Compute ``scale * exp(rate * squared distance)`` of every pair of rows.

        Args:
            scale: Positive number, in the precision of the rows.
            rate: Number, likewise.
            other: Rows of the same class.

        Returns:
            Array of shape (n_rows, n_others).
        """


class DenseRows:
    """Rows of a few columns.

    By |x - y|^2 = |x|^2 - 2 x . y + |y|^2 a squared distance is one product of rows with two
    columns more, [x, |x|^2, 1] . [-2 y, 1, |y|^2], which saves three passes over a large matrix.

    Args:
        x: Columns, scaled so that each counts as it should in the distance.
    """

    def __init__(self, x: Features) -> None:
        self.x = x

    @cached_property
    def transposed(self) -> Features:
        """The transpose of :attr:`x`, contiguous in memory, shape (n_columns, n_rows)."""
        return np.ascontiguousarray(self.x.T)

    def exponential(self, scale: Any, rate: Any, other: DenseRows) -> Features:
        """Implement :meth:`Rows.exponential`."""
        # s exp(r d) = exp(r d + log s): log s multiplies the 1 of the other side.
        left = rate * self._left
        left[:, -2] += np.log(scale)
        exponent = _product(left, other._right)
        return np.exp(exponent, out=exponent)

    def squared(self, other: DenseRows) -> Features:
        """Squared distance of every pair of rows, shape (n_rows, n_others)."""
        squared = _product(self._left, other._right)
        # Rounding can make the distance of near-equal rows negative.
        return np.maximum(squared, 0, out=squared)

    @cached_property
    def _left(self) -> Features:
        """[x, |x|^2, 1]."""
        left = np.ones((len(self.x), self.x.shape[1] + 2), self.x.dtype)
        left[:, :-2] = self.x
        left[:, -2] = self._norms
        return left

    @cached_property
    def _right(self) -> Features:
        """Transposed [-2 y, 1, |y|^2]."""
        right = np.ones((len(self.x), self.x.shape[1] + 2), self.x.dtype)
        np.multiply(-2, self.x, out=right[:, :-2])
        right[:, -1] = self._norms
        return right.T

    @property
    def _norms(self) -> Features:
        """|x|^2."""
        norms: Features = np.square(self.x).sum(axis=1)
        return norms


def _product(left: Features, right: Features) -> Features:
    # Kernels of OpenBLAS for small matrices of single precision may read beyond their ends, and
    # then warn of what they do not use; these factors are finite.
    with np.errstate(invalid="ignore"):
        product: Features = left @ right
    return product


class SparseRows:
    """Rows of many columns, most of which are 0 in a row, as in the one-hot code of many choices.

    The product of a few rows with many needs only the columns in which the few are not 0: the
    others are skipped, and no column is scaled or copied beforehand.

    Args:
        x: Columns, unscaled; fastest if each column is contiguous in memory.
        weights: Weight of the squared difference in each column, 0 for those of other terms.
        norms: Weighted sum of squares of each row, in the precision wanted.
    """

    def __init__(self, x: Features, weights: Features, norms: Features) -> None:
        self._x, self._weights, self._norms = x, weights, norms

    def exponential(self, scale: Any, rate: Any, other: SparseRows) -> Features:
        """Implement :meth:`Rows.exponential`."""
        # [-2 r w x, r |x|^2 + log s, r] . [y, 1, |y|^2] over the columns in use.
        used = np.flatnonzero(self._x.any(axis=0) & (self._weights > 0))
        shared = self._x[:, used] * (-2 * rate * self._weights[used])
        own = rate * self._norms + np.log(scale)
        left = np.column_stack([shared, own, np.full_like(own, rate)])
        norms = other._norms
        exponent: Features = left @ np.vstack([other._x.T[used], np.ones_like(norms), norms])
        return np.exp(exponent, out=exponent)
