"""Failures that strike anywhere, and so teach nothing.

A model of where trials fail takes a few failures by chance, close to the best, for a border, and
the search never looks beyond it again. The value of runs that collapsed, as chance accuracy, hides
what is around them likewise. But where failures have a place, a trial ends as its nearest
neighbour does. Not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class ScatterSettings:
    """Settings that tell failures that strike anywhere.

    Attributes:
        most: Largest share of them: where most trials fail, what is known of the others counts.
        excess: Excess of nearest neighbours that end alike which shows that failures have a
            place, in standard errors.
        n_latest: Number of trials, the latest, that are looked at.
    """

    most: float
    excess: float
    n_latest: int

    def strike_anywhere(
        self, points: npt.NDArray[np.floating], success: npt.NDArray[np.float64]
    ) -> bool:
        """Decide whether failures have no place.

        Args:
            points: Encodings of the trials that have ended, oldest first, (n_ended, n_columns).
            success: 1 for those that gave values and 0 for the others, shape (n_ended,).

        Returns:
            Whether nearest neighbours end alike hardly more often than two trials at random.

        Example:
            >>> settings = ScatterSettings(most=0.5, excess=0.5, n_latest=256)
            >>> points = np.array([[0.0], [0.1], [0.8], [1.0]])
            >>> settings.strike_anywhere(points, np.array([0.0, 1.0, 0.0, 1.0]))
            True
            >>> settings.strike_anywhere(points, np.array([0.0, 0.0, 1.0, 1.0]))
            False
        """
        from scipy.spatial.distance import cdist

        points, success = points[-self.n_latest :], success[-self.n_latest :]
        n = len(success)
        if n < 2 or success.min() == 1 or 1 - success.mean() > self.most:
            return False
        distance = cdist(points, points, "sqeuclidean")
        np.fill_diagonal(distance, np.inf)
        # Configurations of choices have many nearest ones, each as good as the others.
        is_nearest = distance == distance.min(axis=1, keepdims=True)
        is_alike = 1 - np.abs(success[:, np.newaxis] - success)
        of_nearest = float(((is_nearest * is_alike).sum(axis=1) / is_nearest.sum(axis=1)).mean())
        # Each of the n (n - 1) ordered pairs of two trials is as likely.
        at_random = (float(is_alike.sum()) - n) / (n * (n - 1))
        # Standard error of a share of n.
        error = np.sqrt(at_random * (1 - at_random) / n)
        return bool(of_nearest < at_random + self.excess * error)


@dataclass(frozen=True)
class CollapseSettings:
    """Settings that tell the value that failed runs have in common.

    Attributes:
        n_equal: Fewest labels that are equal.
        n_others: Fewest others.
        distinct: Least share of distinct ones among the others: many objectives have few values.
    """

    n_equal: int
    n_others: int
    distinct: float

    def collapsed(self, labels: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Mask of the labels of such runs: equal ones, below the median of the others.

        Args:
            labels: Shape (n_labelled,), larger is better.

        Example:
            >>> settings = CollapseSettings(n_equal=3, n_others=4, distinct=0.9)
            >>> settings.collapsed(-np.array([8.0, 80.0, 3.0, 80.0, 9.0, 80.0, 90.0])).tolist()
            [False, True, False, True, False, True, False]
        """
        none = np.zeros(len(labels), dtype=np.bool_)
        if len(labels) < self.n_equal + self.n_others:
            return none
        values, position, counts = np.unique(labels, return_inverse=True, return_counts=True)
        most = int(counts.argmax())
        is_equal: npt.NDArray[np.bool_] = position == most
        others = labels[~is_equal]
        is_value = (
            counts[most] >= self.n_equal
            and len(others) >= self.n_others
            and len(values) - 1 >= self.distinct * len(others)
            and values[most] < np.median(others)
        )
        return is_equal if is_value else none
