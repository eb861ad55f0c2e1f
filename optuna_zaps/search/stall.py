"""Search that stands still, and how it moves on.

A model that takes the best basin for the only one refines it to the last digit. Where that gains
next to nothing, part of the trials are better spent elsewhere. Not in the paper.

Notations:
    labels: float64 array of shape (n_labelled,), oldest first, larger is better.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from optuna_zaps.search.acquisition import Acquisition


@dataclass(frozen=True)
class StallSettings:
    """Settings of what a search does once it stands still.

    Attributes:
        n_latest: Number of the latest labels that are compared with all before.
        least_gain: Gain of the latest over these, in units of the distance from the median to the
            best of all, below which a search stands still.
        period: Every so many trials explore then; the others refine what is best.
        acquisition: Worth of a candidate to those that explore.
    """

    n_latest: int
    least_gain: float
    period: int
    acquisition: Acquisition

    def explores(self, number: int, labels: npt.NDArray[np.float64]) -> bool:
        """Decide whether a trial explores.

        Args:
            number: Number of the trial.
            labels: See the module's notations.
        """
        if number % self.period or len(labels) < 2 * self.n_latest:
            return False
        best = labels.max()
        gain = best - labels[: -self.n_latest].max()
        return bool(gain < self.least_gain * (best - np.median(labels)))
