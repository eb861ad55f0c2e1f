"""The configurations of a space that is scored, in each of the forms in which they are given."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set
from typing import Any

import pandas as pd

from optuna_zaps.search.candidates import CandidateSet


Configurations = Mapping[str, Sequence[Any]] | Iterable[Mapping[str, Any]] | pd.DataFrame


def checked_rows(configurations: Configurations) -> list[dict[str, Any]]:
    """Values by parameter of each configuration.

    Raises:
        ValueError: If there is none, or they do not have the same parameters.
        TypeError: If they are no mapping of sequences, no mappings and no frame.
    """
    if isinstance(configurations, Mapping):
        configurations = _grid(configurations)
    if isinstance(configurations, pd.DataFrame):
        rows = _rows_of_frame(configurations)
    else:
        rows = [dict(row) for row in _mappings(configurations)]
    if not rows or not rows[0]:
        raise ValueError(
            "configurations must hold at least one configuration with a parameter, but got none."
        )
    odd = next((row for row in rows if row.keys() != rows[0].keys()), None)
    if odd is not None:
        raise ValueError(
            f"Every configuration must have the parameters {list(rows[0])}, but got {odd}."
        )
    return rows


def _grid(choices: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    for name, values in choices.items():
        if isinstance(values, str | bytes | Mapping | Set) or not hasattr(values, "__getitem__"):
            raise TypeError(
                "configurations must map each parameter to a sequence of choices, but got "
                f"{values!r} for {name!r}."
            )
        if len(values) == 0:
            raise ValueError(f"Every parameter must have a choice, but {name!r} has none.")
    return pd.DataFrame(CandidateSet.grid(choices).columns() if choices else {}, dtype=object)


def _rows_of_frame(frame: pd.DataFrame) -> list[dict[str, Any]]:
    columns = [str(name) for name in frame.columns]
    repeated = sorted({name for name in columns if columns.count(name) > 1})
    if repeated:
        raise ValueError(
            f"Each parameter must have a column of its own, but got {repeated} twice."
        )
    values = frame.astype(object).itertuples(index=False, name=None)
    return [dict(zip(columns, row, strict=True)) for row in values]


def _mappings(configurations: Any) -> list[Mapping[str, Any]]:
    rows = list(configurations) if isinstance(configurations, Iterable) else [configurations]
    odd = next((row for row in rows if not isinstance(row, Mapping)), None)
    if odd is not None or None in rows:
        raise TypeError(
            "configurations must be a mapping of choices by parameter, mappings of a value by "
            f"parameter, or a frame, but got {odd!r}."
        )
    return rows
