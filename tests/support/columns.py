"""Tables for tests, from frames and from lists of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.proxies import ProxyTable
from optuna_zaps.search.table import split_table


def proxy_table(
    columns: Mapping[str, Sequence[float]], reference: ProxyTable | None = None
) -> ProxyTable:
    """Proxies of a few candidates, by name."""
    values = np.column_stack([np.asarray(column, float) for column in columns.values()])
    return ProxyTable(list(columns), values, reference)


def candidates_of(
    frame: pd.DataFrame, choices: Mapping[str, Sequence[Any]] | None = None
) -> CandidateSet:
    """Candidates of a frame whose columns are the parameters."""
    table, _ = split_table(frame, list(map(str, frame.columns)))
    return CandidateSet.from_columns(table.columns, choices)
