"""Tables of a user: a configuration per row, its parameters and its proxies as columns."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import TYPE_CHECKING
from typing import Any
from typing import TypeAlias
from typing import TypeGuard

import numpy as np
import numpy.typing as npt

from optuna_zaps import _checks
from optuna_zaps import _optional
from optuna_zaps.search import frames
from optuna_zaps.search.columns import Column
from optuna_zaps.search.columns import Table


if TYPE_CHECKING:
    import pandas as pd


UserTable: TypeAlias = "pd.DataFrame | Mapping[str, Sequence[Any] | npt.NDArray[Any]]"
"""Frame, or columns by name, with a configuration per row."""

HOW_TO_NAME = (
    "search_space={name: sorted(set(table[name])), ...} with every parameter, or of a frame by "
    "table.set_index([...])"
)
"""Ways to say which columns are parameters, for messages."""


def is_table(value: Any) -> TypeGuard[UserTable]:
    """Whether a value is a frame or a mapping."""
    return isinstance(value, Mapping) or _is_frame(value)


def split_table(table: UserTable, parameters: Sequence[str] | None) -> tuple[Table, Table]:
    """Tell the parameters of a user's table from its proxies.

    Args:
        table:
            Its parameters are the columns or index levels named ``parameters``; without
            ``parameters``, the named index levels, and where no index has names, the columns that
            are not numeric. Names count as text.
        parameters:
            Names of the parameters, where they are known. An unnamed index of tuples is read in
            this order, unless the columns have them all.

    Returns:
        The parameters and the proxies.

    Raises:
        ValueError: If there is no row, a parameter is missing, a name occurs twice, columns are
            not equally long, or nothing tells which columns are parameters.
        TypeError: If a column is no sequence.
    """
    levels: list[frames.NamedColumn] = []
    if _is_frame(table):
        columns, n_rows = frames.columns_of_frame(table), len(table)
        levels = frames.levels_of_frame(table, parameters)
    else:
        columns = [(str(name), _column(name, values)) for name, values in table.items()]
        n_rows = _common_length(columns)
    if n_rows == 0:
        raise ValueError("The proxy table must have at least one row, but is empty.")
    names = [name for name, _ in levels + columns]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise ValueError(
            "Each column and each level of the index of the proxy table must have a name of its "
            f"own, but {repeated} occur more than once. Drop or rename them, or "
            "table.reset_index(drop=True) where the index repeats a column."
        )
    whole = Table(dict(levels + columns), n_rows)
    if parameters is None:
        parameters = [name for name, _ in levels] or _not_numeric(whole)
    missing = [name for name in parameters if name not in whole.columns]
    if missing:
        raise ValueError(
            f"The proxy table must have a column for each parameter, but {missing} are missing "
            f"from its columns {names}."
        )
    return whole.select(parameters), whole.select(n for n in names if n not in parameters)


def _is_frame(value: Any) -> TypeGuard[pd.DataFrame]:
    pandas = _optional.loaded("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def _column(name: Any, values: Any) -> Column:
    pandas = _optional.loaded("pandas")
    if pandas is not None and isinstance(values, pandas.Series | pandas.Index):
        return frames.column_of_series(pandas.Series(values))
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist()  # None where it is masked
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return Column.of_array(values)
    listed = _checks.listed(values)
    if listed is None:
        raise TypeError(
            "A proxy table that is a mapping must have a sequence for each name, with a value for "
            f"each configuration, but {name!r} has {type(values).__name__}."
        )
    return Column.of_objects(listed)


def _common_length(columns: Sequence[frames.NamedColumn]) -> int:
    lengths = {name: len(column.values) for name, column in columns}
    if len({*lengths.values()}) > 1:
        raise ValueError(
            f"The columns of the proxy table must be equally long, but have {lengths} values."
        )
    return next(iter(lengths.values()), 0)


def _not_numeric(table: Table) -> list[str]:
    """Find the parameters among the columns where nothing names them.

    Raises:
        ValueError: If there is none, or if a column of numbers is one of objects, which is either.
    """
    names = [name for name, column in table.columns.items() if not column.is_numeric]
    if not names:
        raise ValueError(
            "Cannot tell parameters from proxies: all columns are numeric. Name the parameters by "
            f"{HOW_TO_NAME}."
        )
    either = [name for name in names if table.columns[name].may_be_numbers]
    if either:
        raise ValueError(
            f"Cannot tell whether {either}, numbers in columns of dtype object, are parameters or "
            "proxies. Make them numeric by table.infer_objects() if they are proxies; if they are "
            f"parameters, name the parameters by {HOW_TO_NAME}."
        )
    return names
