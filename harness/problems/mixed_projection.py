"""Rows of a table of ordered and categorical parameters that are nearest to a proposal.

Notations:
    encoding: int array of shape (n_configurations, n_parameters): the position of an ordered
        value, the index of a choice.
    distance: Gower's (1971), the mean over parameters of |a - b| / range where values are
        ordered, and of [a != b] where they are not.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


class MixedProjection:
    """Nearest rows of an encoding matrix by Gower's distance.

    Args:
        encoding: Integers of shape (n_configurations, n_parameters).
        ordered: Whether each parameter is ordered, length n_parameters.
    """

    def __init__(self, encoding: npt.NDArray[np.integer], ordered: Sequence[bool]) -> None:
        self._encoding = encoding.astype(np.float64)
        self._ordered = np.asarray(ordered)
        spans = np.ptp(self._encoding, axis=0)
        self._spans = np.where(spans > 0, spans, 1.0)

    def nearest(
        self,
        point: npt.ArrayLike,
        n: int,
        excluded: Collection[int],
        rng: np.random.Generator,
    ) -> npt.NDArray[np.intp]:
        """Rows nearest to a point, the nearest first; ties in random order.

        Args:
            point: Array of shape (n_parameters,).
            n: Number of rows.
            excluded: Rows that do not count.
            rng: Breaks ties without favour to a table's order.

        Returns:
            At most ``n`` rows; fewer where more are excluded.
        """
        apart = np.abs(self._encoding - np.asarray(point, dtype=np.float64))
        distance = np.where(self._ordered, apart / self._spans, apart > 0).mean(axis=1)
        distance[list(excluded)] = np.inf
        order = np.lexsort((rng.random(len(distance)), distance))
        return order[: min(n, len(distance) - len(set(excluded)))]
