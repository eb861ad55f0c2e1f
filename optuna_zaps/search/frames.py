"""Frames of pandas as tables: the one module of the search that knows pandas, where a frame is."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import TYPE_CHECKING
from typing import Any
from typing import TypeAlias

import numpy as np

from optuna_zaps.search.columns import Column
from optuna_zaps.search.columns import Kind


if TYPE_CHECKING:
    import pandas as pd

NamedColumn: TypeAlias = tuple[str, Column]


def column_of_series(series: pd.Series[Any]) -> Column:
    """Column of the values of a series."""
    import pandas as pd

    dtype, types = series.dtype, pd.api.types
    if types.is_object_dtype(dtype):
        return Column(series.to_numpy(), "object", "object", None)
    kind: Kind = "other"
    valued = dtype
    if isinstance(dtype, pd.CategoricalDtype):
        kind, valued = "category", dtype.categories.dtype
    elif types.is_bool_dtype(dtype):
        kind = "boolean"
    elif types.is_integer_dtype(dtype):
        kind = "integer"
    elif types.is_complex_dtype(dtype):
        kind = "complex"
    elif types.is_numeric_dtype(dtype):
        kind = "float"
    missing = math.nan if types.is_float_dtype(valued) else None
    if kind == "float":
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
    elif kind in ("category", "other") or series.hasnans:
        values = series.to_numpy(dtype=object)
    else:
        values = np.asarray(series)
    return Column(values, kind, str(dtype), missing)


def columns_of_frame(frame: pd.DataFrame) -> list[NamedColumn]:
    """Name, as text, and values of each column, in order.

    Raises:
        ValueError: If a name is a tuple of names.
    """
    import pandas as pd

    if isinstance(frame.columns, pd.MultiIndex):
        raise ValueError(
            "The proxy table must have one name for each column, but has tuples of names as "
            f"{frame.columns[0]!r}. Join them, for example by table.columns = "
            "table.columns.map(' '.join)."
        )
    return [
        (str(name), column_of_series(frame.iloc[:, position]))
        for position, name in enumerate(frame.columns)
    ]


def levels_of_frame(frame: pd.DataFrame, parameters: Sequence[str] | None) -> list[NamedColumn]:
    """Turn the levels of an index into columns, none of one that only counts the rows.

    Args:
        frame: Frame with a configuration per row.
        parameters: Names of the parameters, where they are known. An unnamed index of tuples is
            read in this order, unless the columns have them all.

    Raises:
        ValueError: If an index of tuples does not fit the names of the parameters.
    """
    import pandas as pd

    index = frame.index
    if all(name is not None for name in index.names):
        # Two levels may have the same name, which pandas makes no frame of.
        levels = index.set_names(list(range(index.nlevels))).to_frame(index=False)
        return [
            (str(name), column_of_series(levels[level])) for level, name in enumerate(index.names)
        ]
    if not _holds_tuples(index):
        return []
    if parameters is None:
        raise ValueError(
            "An index of tuples must have named levels, or search_space must give the "
            "parameters' names."
        )
    if set(parameters) <= set(map(str, frame.columns)):
        return []
    for row in index:
        if len(row) != len(parameters):
            raise ValueError(
                "Each tuple of the index must have one value per parameter "
                f"{list(parameters)}, but got {row}."
            )
    if len(index.names) > 1 and any(
        level is not None and str(level) != name
        for level, name in zip(index.names, parameters, strict=True)
    ):
        raise ValueError(
            "The index must name all of its levels or none, or those that have names as "
            f"{list(parameters)}, but they are {list(index.names)}."
        )
    rows = pd.DataFrame(list(index), columns=list(parameters), dtype=object)
    return columns_of_frame(rows)


def _holds_tuples(index: pd.Index[Any]) -> bool:
    import pandas as pd

    if not pd.api.types.is_object_dtype(index):
        return False
    return len(index) > 0 and all(isinstance(row, tuple) for row in index)
