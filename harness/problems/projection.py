"""Projection of a mutated configuration onto those that exist (paper, Section 4.2).

Notations:
    encoding: int array of shape (n_configurations, n_features), rows of a pool.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt


class HammingProjection:
    """Nearest rows of an encoding matrix by the number of features that differ.

    Args:
        encoding: Integers of shape (n_configurations, n_features).
    """

    def __init__(self, encoding: npt.NDArray[np.integer]) -> None:
        # Two bytes each and features first: the comparison is bound by memory.
        self._columns = np.ascontiguousarray(encoding.T, dtype=np.int16)

    def nearest(
        self,
        point: npt.ArrayLike,
        n: int,
        excluded: Collection[int],
        rng: np.random.Generator,
    ) -> npt.NDArray[np.intp]:
        """Rows nearest to a point, the nearest first; ties in random order.

        Args:
            point: Array of shape (n_features,).
            n: Number of rows.
            excluded: Rows that do not count, such as that of a mutant's parent.
            rng: Breaks ties, which are many among bits, without favour to a table's order.

        Returns:
            At most ``n`` rows; fewer where more are excluded.
        """
        differs = self._columns != np.asarray(point, dtype=np.int16)[:, np.newaxis]
        # Distances are whole numbers: a fraction below 1 only orders those that are equal.
        distance = differs.sum(axis=0, dtype=np.int16) + rng.random(self._columns.shape[1])
        distance[list(excluded)] = np.inf
        n_left = min(n, self._columns.shape[1] - len(set(excluded)))
        nearest = np.argpartition(distance, max(n_left - 1, 0))[:n_left]
        return nearest[np.argsort(distance[nearest])]
