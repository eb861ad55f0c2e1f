"""Numbers rounded for people."""

from __future__ import annotations

import math


N_DIGITS = 5
"""Significant digits of a number in a table or a figure."""


def significant(number: float, digits: int = N_DIGITS) -> float:
    """Round a number to significant digits; infinities and NaN stay."""
    return float(f"{number:.{digits}g}")


def estimate(mean: float, std: float) -> float:
    """Round an estimate to significant digits, or to a hundredth of its dispersion if finer.

    Estimates of an objective that varies little around a large number stay apart.
    """
    if not (math.isfinite(mean) and math.isfinite(std) and std > 0):
        return significant(mean)
    # Decimals of the leading digit of the dispersion, and two more.
    decimals = 2 - math.floor(math.log10(std))
    rounded = round(mean, decimals)
    return min(significant(mean), rounded, key=lambda each: abs(each - mean))
