"""Ramps: penalties that begin at 0 at the border of what is feasible, and grow steeply.

No gap tells them from other labels, as it tells the penalties of
:mod:`optuna_zaps.search.penalties`. But on a logarithmic scale of the gap to the best label they
and the others are two heaps with little between. Those of a loss that explodes lie everywhere on
this scale. The best of a search that converges are a heap, too, in a small part of the space.

Notations:
    labels: float64 array of shape (n_labelled,), finite, oldest first, larger is better.
    points: float64 array of shape (n_labelled, n_numbers), numbers in units of their ranges.
    gap: float64 array of shape (n_labelled,), distance to the best label, in increasing order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from optuna_zaps._sizes import growing_sizes


FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RampSettings:
    """Settings that tell ramps from other labels.

    Attributes:
        n_first: Number of oldest labels that are asked first.
        growth: Relative growth from this number to the next, until some tell: what they tell
            lasts, though the search converges later.
        n_last: Largest of these numbers.
        n_good: Fewest good labels: fewer look alike by chance where a loss is steep.
        share: Share of the labels that may lie between the good ones and the ramps.
        jump: Least ratio of the gaps on both sides of these.
        most_within: Largest ratio of the largest gap of a good label to their median.
        least_spread: Least standard deviation of the good points, of that of all; the mean over
            the numbers.
    """

    n_first: int
    growth: float
    n_last: int
    n_good: int
    share: float
    jump: float
    most_within: float
    least_spread: float

    def reduced(self, labels: FloatArray, points: FloatArray) -> FloatArray:
        """Labels whose ramps are next to the worst of the others, in their order.

        Example:
            >>> settings = RampSettings(
            ...     n_first=8, growth=0.2, n_last=100, n_good=4, share=1 / 8, jump=50.0,
            ...     most_within=4.0, least_spread=0.2,
            ... )
            >>> labels = -np.array([5e3, 2.0, 8e3, 1.0, 4.0, 0.0, 9e3, 5.0, 30.0])
            >>> settings.reduced(labels, np.linspace(0.0, 1.0, 9)[:, np.newaxis]).tolist()
            [-7.5, -2.0, -8.75, -1.0, -4.0, -0.0, -10.0, -5.0, -6.25]
        """
        for n in growing_sizes(self.n_first, self.growth, min(len(labels), self.n_last)):
            worst = self._worst_of_good(labels[:n], points[:n])
            if worst is not None:
                return _beneath(labels, labels < worst)
        return labels

    def _worst_of_good(self, labels: FloatArray, points: FloatArray) -> float | None:
        """Worst label that is no ramp, where some are."""
        best_first = np.argsort(-labels, kind="stable")
        gap = labels.max() - labels[best_first]
        n_between = max(1, int(self.share * len(labels)))
        n_good = np.arange(self.n_good, len(labels) - n_between)
        largest, median, ramp = gap[n_good - 1], gap[n_good // 2], gap[n_good - 1 + n_between]
        is_jump = (ramp > self.jump * largest) & (largest < self.most_within * median)
        for n in n_good[is_jump][::-1].tolist():
            ramps = gap[n - 1 + n_between :]
            quartiles = np.quantile(ramps, [0.25, 0.75])
            # On a logarithmic scale ramps range over less than half of the jump to them.
            is_heap = ramps[0] / gap[n - 1] > (quartiles[1] / quartiles[0]) ** 2
            if is_heap and _spread(points, best_first[:n]) > self.least_spread:
                return float(labels[best_first[n - 1]])
        return None


def _spread(points: FloatArray, rows: npt.NDArray[np.intp]) -> float:
    """Standard deviation of some points, of that of all; the mean over the numbers."""
    of_all = points.std(axis=0)
    differs = of_all > 0
    ratios = points[rows].std(axis=0)[differs] / of_all[differs]
    return float(ratios.mean()) if len(ratios) else 0.0


def _beneath(labels: FloatArray, is_ramp: npt.NDArray[np.bool_]) -> FloatArray:
    """Labels whose ramps lie evenly between the worst of the others and once their range below."""
    others = labels[~is_ramp]
    distinct, rank = np.unique(-labels[is_ramp], return_inverse=True)
    reduced = labels.copy()
    reduced[is_ramp] = others.min() - np.ptp(others) * (rank + 1) / len(distinct)
    return reduced
