from __future__ import annotations

from decimal import Decimal
import math
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from optuna_zaps.search.values import is_missing


MISSING = [
    None,
    math.nan,
    np.float32("nan"),
    np.datetime64("NaT"),
    np.timedelta64("NaT"),
    Decimal("NaN"),
    complex(math.nan, 0),
]
KNOWN = [
    0, 0.0, math.inf, "", "nan", False, np.int8(0), np.bool_(False), np.datetime64("2026-01-01"),
    Decimal(0), 1j, (), [None], np.array([math.nan]), np.array([1.0, math.nan]), {}, object,
]  # fmt: skip


@pytest.mark.parametrize("value", [*MISSING, pd.NA, pd.NaT, *KNOWN], ids=repr)
def test_a_value_is_missing_where_pandas_says_so(value: Any) -> None:
    says = pd.isna(value)  # of several values it says so for each
    assert is_missing(value) == (isinstance(says, bool | np.bool_) and bool(says))


@pytest.mark.parametrize("value", [*MISSING, *KNOWN], ids=repr)
def test_it_is_so_without_pandas(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = is_missing(value)
    monkeypatch.delitem(sys.modules, "pandas")
    assert is_missing(value) == expected
