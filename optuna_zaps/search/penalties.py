"""Penalties: bad values that stand for failed runs, whose size means nothing.

On the scale of a penalty of 1e9 all other values look the same, to a model and to whatever asks
whether a search still gains.

Notations:
    labels: float64 array of shape (n_labelled,), finite, oldest first, larger is better.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from optuna_zaps.search.ramps import RampSettings


FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_LEAST = 2  # penalties that are more than a measurement, and others that have a range
_LEAST_AMONG_OLDEST = 3  # others; two are close to each other by chance now and then


@dataclass(frozen=True)
class PenaltySettings:
    """Settings that tell penalties from other labels.

    Attributes:
        gap_of_equal: Distance from all other labels beyond which several equal ones, the worst of
            all, are a penalty, in units of the range of the others.
        gap: Distance likewise where penalties differ, as by the violation of a limit.
        n_oldest: Number of oldest labels, of an initial design, that tell such penalties: later
            ones gather near the best, far from the rest, on any problem.
        ramps: Settings that tell penalties without a gap, ``None`` to take them as they are.
    """

    gap_of_equal: float
    gap: float
    n_oldest: int
    ramps: RampSettings | None = None

    def reduced(self, labels: FloatArray, points: FloatArray | None = None) -> FloatArray:
        """Labels whose penalties are next to the worst of the others, in their order.

        Args:
            labels: See the module's notations.
            points: Their numbers, shape (n_labelled, n_numbers), which tell ramps
                (:mod:`optuna_zaps.search.ramps`); ``None`` to look for none.

        Example:
            >>> settings = PenaltySettings(gap_of_equal=3.0, gap=100.0, n_oldest=5)
            >>> settings.reduced(np.array([-1e9, -3.0, -1e9, -1.0, -2.0]))
            array([-3., -3., -3., -1., -2.])
            >>> settings.reduced(np.array([-1.5e6, -3.0, -1e6, -1.0, -2.0]))
            array([-5., -3., -3., -1., -2.])
        """
        # Each kind of failure may have a penalty of its own.
        while (is_penalty := self._are_differing(labels) | self._are_equal(labels)).any():
            labels = _beside(labels, is_penalty)
        if self.ramps is None or points is None:
            return labels
        return self.ramps.reduced(labels, points)

    def _are_equal(self, labels: FloatArray) -> BoolArray:
        """Mask of the labels that are one penalty."""
        is_worst = labels == labels.min(initial=np.inf)
        others = labels[~is_worst]
        if is_worst.sum() >= _LEAST and len(others) >= _LEAST:
            extent = np.ptp(others)
            if extent > 0 and others.min() - labels.min() > self.gap_of_equal * extent:
                return np.asarray(is_worst)
        return np.zeros(len(labels), dtype=np.bool_)

    def _are_differing(self, labels: FloatArray) -> BoolArray:
        """Mask of the labels below the largest gap of the oldest, if they are penalties."""
        none = np.zeros(len(labels), dtype=np.bool_)
        if len(labels) < self.n_oldest:  # of a few labels, the best may be close by chance
            return none
        ordered = np.sort(labels[: self.n_oldest])
        gaps = np.diff(ordered)
        n_penalties = int(gaps.argmax()) + 1
        penalties, others = ordered[:n_penalties], ordered[n_penalties:]
        gap, extent = float(gaps.max()), float(np.ptp(others))
        if len(penalties) < _LEAST or len(others) < _LEAST_AMONG_OLDEST:
            return none
        if extent == 0 or gap <= self.gap * extent:
            return none
        return np.asarray(labels < penalties.max() + gap / 2)


def _beside(labels: FloatArray, is_penalty: BoolArray) -> FloatArray:
    """Labels whose penalties lie between the worst of the others and once their range below it."""
    others, penalties = labels[~is_penalty], labels[is_penalty]
    # From 0 for the best penalty to 1 for the worst.
    depth = (penalties.max() - penalties) / (np.ptp(penalties) or 1.0)
    reduced = labels.copy()
    reduced[is_penalty] = others.min() - np.ptp(others) * depth
    return reduced
