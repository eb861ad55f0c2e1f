"""Scale on which a Gaussian process sees labels.

A process assumes labels of one magnitude. Where they span many, as losses that explode do, all
differences near the best vanish beside those among the worst, and the logarithm of the gap to the
best tells them apart. On any other labels that logarithm does harm: it magnifies what is noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from optuna_zaps.surrogates.rows import FloatArray


_LARGEST_EXPONENT = 700.0  # exp(709.8) overflows a float
_LEAST = 4  # gaps that have a quartile


class LabelScale(Protocol):
    """Increasing function of labels."""

    def scaled(self, labels: FloatArray) -> FloatArray:
        """Values on the scale, shape (n,)."""

    def labels(self, scaled: FloatArray) -> FloatArray:
        """Labels of values on the scale, shape (n,): the inverse."""

    def dispersion(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        """Dispersion of labels, given mean and standard deviation on the scale, shape (n,)."""


class LinearScale:
    """Labels as they are."""

    def scaled(self, labels: FloatArray) -> FloatArray:
        """See :class:`LabelScale`."""
        return labels

    def labels(self, scaled: FloatArray) -> FloatArray:
        """See :class:`LabelScale`."""
        return scaled

    def dispersion(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        """See :class:`LabelScale`."""
        del mean
        return std


@dataclass(frozen=True)
class LogGapScale:
    """Negative logarithm of the gap to the best label: s = -log(1 + (best - y) / unit).

    Attributes:
        best: Largest label.
        unit: Gap at which the logarithm takes over from a straight line.
    """

    best: float
    unit: float

    def scaled(self, labels: FloatArray) -> FloatArray:
        """See :class:`LabelScale`; of labels up to ``best``."""
        return np.asarray(-np.log1p((self.best - labels) / self.unit), dtype=np.float64)

    def labels(self, scaled: FloatArray) -> FloatArray:
        """See :class:`LabelScale`: y = best - unit (exp(-s) - 1)."""
        gap = np.expm1(np.minimum(-scaled, _LARGEST_EXPONENT))
        return np.asarray(self.best - self.unit * gap, dtype=np.float64)

    def dispersion(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        """See :class:`LabelScale`; half of the interval of one deviation to either side."""
        return np.asarray(
            (self.labels(mean + std) - self.labels(mean - std)) / 2, dtype=np.float64
        )


@dataclass(frozen=True)
class SkewTest:
    """Test whether labels span so many magnitudes that their gaps need a logarithm.

    It asks the oldest labels, which come from an initial design: later ones gather near the best
    as a search does, and their gaps span many magnitudes on any problem.

    Attributes:
        n_oldest: Number of labels that it asks.
        ratio: Ratio of the median of their gaps to the lower quartile, beyond which they are
            skewed; about 2 where labels are spread evenly.
    """

    n_oldest: int
    ratio: float

    def scale_of(self, labels: FloatArray) -> LabelScale:
        """Scale of labels, which are in order of their trials."""
        gaps = labels.max() - labels
        oldest = gaps[: self.n_oldest]
        oldest = oldest[oldest > 0]
        if len(oldest) < _LEAST:
            return LinearScale()
        # Interpolated as by `np.quantile`, which takes ten times as long of so few.
        ranks = (len(oldest) - 1) * np.array([0.25, 0.5])
        quartile, median = np.interp(ranks, np.arange(len(oldest)), np.sort(oldest))
        if median <= self.ratio * quartile:
            return LinearScale()
        # In units of the lower quartile of all gaps, which shrinks as the search converges, the
        # scale resolves the labels near the best however close they are.
        return LogGapScale(float(labels.max()), float(np.quantile(gaps[gaps > 0], 0.25)))
