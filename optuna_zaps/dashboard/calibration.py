"""Calibration of predictions, measured and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np
import pandas as pd

from optuna_zaps.dashboard.snapshot import Forecast


MIN_FORECASTS = 10
"""Number of predictions below which nothing is said of them."""

_EXPECTED = math.erf(1 / math.sqrt(2))  # share of a normal distribution within one spread: 0.683
_Z = 1.96  # of an interval of 95 %


@dataclass(frozen=True)
class Calibration:
    """Agreement of predictions with results.

    Attributes:
        n: Number of predictions.
        n_within: Number of results within one standard deviation of the mean.
        rank_correlation: Spearman correlation of predictions and results.
        bias: Median of result less prediction, in units of the predicted standard deviation.
    """

    n: int
    n_within: int
    rank_correlation: float
    bias: float

    @classmethod
    def of(cls, forecasts: Sequence[Forecast]) -> Calibration:
        """Compare predictions with results."""
        means, stds, values = (
            np.array([getattr(each, name) for each in forecasts], dtype=np.float64)
            for name in ("mean", "std", "value")
        )
        errors = values - means
        rank_correlation = bias = 0.0
        if len(forecasts) > 1 and np.ptp(means) > 0 and np.ptp(values) > 0:
            ranks = pd.Series(means).rank(), pd.Series(values).rank()
            rank_correlation = float(np.corrcoef(*ranks)[0, 1])
        if (stds > 0).any():
            bias = float(np.median(errors[stds > 0] / stds[stds > 0]))
        n_within = int((np.abs(errors) <= stds).sum())
        return cls(len(forecasts), n_within, rank_correlation, bias)

    def verdict(self) -> str:
        """Word for the spread: right unless the share differs by more than chance."""
        low, high = _interval(self.n_within, self.n)
        if high < _EXPECTED:
            return "too small, the model too sure"
        if low > _EXPECTED:
            return "too large, the model too careful"
        return "about right"

    def in_words(self) -> str:
        """Sentences for a person."""
        if self.n < MIN_FORECASTS:
            return (
                f"Predictions with a result so far: {self.n}; {MIN_FORECASTS} are needed to judge "
                "them."
            )
        sentences = (
            f"{self.n_within} of {self.n} results ({self.n_within / self.n:.0%}) lie within one "
            f"predicted standard deviation, where {_EXPECTED:.0%} should: the spread is "
            f"{self.verdict()}. Rank correlation of predictions and results: "
            f"{self.rank_correlation:.2f}."
        )
        if abs(self.bias) > 1:
            side = "above" if self.bias > 0 else "below"
            sentences += (
                f" Half of the results lie at least {abs(self.bias):.1f} standard deviations "
                f"{side} their prediction."
            )
        return sentences


def _interval(n_hits: int, n: int) -> tuple[float, float]:
    """Interval of a share (Wilson, 1927)."""
    share = n_hits / n
    # (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)
    middle = share + _Z**2 / (2 * n)
    half = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    scale = 1 + _Z**2 / n
    return (middle - half) / scale, (middle + half) / scale
