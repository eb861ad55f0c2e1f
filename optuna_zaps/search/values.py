"""Values that a user gives: which are missing, and which are numbers."""

from __future__ import annotations

from decimal import Decimal
import math
from numbers import Number
from numbers import Real
from typing import Any

import numpy as np

from optuna_zaps import _optional


def is_missing(value: Any) -> bool:
    """Whether a value stands for a missing one: ``None``, NaN, NaT or pandas' NA."""
    if value is None:
        return True
    if isinstance(value, str | int):
        return False
    if isinstance(value, Number | np.generic):
        return bool(value != value)  # noqa: PLR0124  # NaN and NaT differ from themselves
    pandas = _optional.loaded("pandas")
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)


def real_number(value: Any) -> float | None:
    """Return a proxy as a float: NaN for a missing value, infinity for one beyond all floats.

    Returns:
        ``None`` for anything but a real number, or an array or tensor of one.
    """
    try:
        number = value.item() if hasattr(value, "item") else value
    except (RuntimeError, ValueError):  # an array of several
        return None
    if is_missing(number):
        return math.nan
    if not isinstance(number, Real | Decimal):
        return None
    try:
        return float(number)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
