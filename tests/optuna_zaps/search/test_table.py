"""Tables of parameters and proxies, as frames and as mappings of columns."""

from __future__ import annotations

from decimal import Decimal
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from optuna_zaps import ZAPSSampler
from optuna_zaps.search.columns import Column
from optuna_zaps.search.columns import Table
from optuna_zaps.search.table import UserTable
from optuna_zaps.search.table import split_table


def content(table: Table) -> dict[str, list[Any]]:
    """Values of each column."""
    return {name: column.values.tolist() for name, column in table.columns.items()}


TABLE = pd.DataFrame({"op": ["x", "y"], "width": [8, 16], "flops": [1.0, 2.0]})


@pytest.mark.parametrize(
    ("table", "parameters"),
    [
        (TABLE, ["op", "width"]),
        (TABLE.to_dict("list"), ["op", "width"]),
        (TABLE.set_index(["op", "width"]), None),
        (TABLE.set_index(["op", "width"]), ["op", "width"]),
        (
            TABLE[["flops"]].set_axis(pd.Index([("x", 8), ("y", 16)], tupleize_cols=False)),
            ["op", "width"],
        ),
    ],
)
def test_every_way_to_say_which_columns_are_parameters(
    table: UserTable, parameters: list[str] | None
) -> None:
    configurations, proxies = split_table(table, parameters)
    assert content(configurations) == {"op": ["x", "y"], "width": [8, 16]}
    assert content(proxies) == {"flops": [1.0, 2.0]}


def test_columns_that_are_not_numeric_are_parameters() -> None:
    table = TABLE.assign(bias=[True, False])
    for given in (table, table.to_dict("list")):
        configurations, proxies = split_table(given, None)
        assert list(configurations.columns) == ["op", "bias"]
        assert list(proxies.columns) == ["width", "flops"]


@pytest.mark.parametrize(
    ("table", "parameters", "message"),
    [
        (TABLE, ["op", "depth"], r"\['depth'\] are missing"),
        (TABLE.to_dict("list"), ["op", "depth"], r"\['depth'\] are missing"),
        (TABLE[["width", "flops"]], None, "Cannot tell parameters from proxies"),
        ({"width": [8, 16], "flops": [1.0, None]}, None, "Cannot tell parameters from proxies"),
        (
            TABLE[["flops"]].set_axis(pd.Index([("x", 8), ("y", 16)], tupleize_cols=False)),
            None,
            "named levels",
        ),
        (
            TABLE[["flops"]].set_axis(pd.Index([("x", 8), ("y", 16)], tupleize_cols=False)),
            ["op"],
            r"one value per parameter \['op'\]",
        ),
    ],
)
def test_tables_that_do_not_say_it(
    table: UserTable, parameters: list[str] | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        split_table(table, parameters)


# --- mappings of columns -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ({}, ValueError, "at least one row, but is empty"),
        ({"op": [], "flops": []}, ValueError, "at least one row, but is empty"),
        ({"op": list("ab"), "flops": 3}, TypeError, "'flops' has int"),
        ({"op": "ab", "flops": [1, 2]}, TypeError, "'op' has str"),
        ({"op": list("ab"), "flops": {1, 2}}, TypeError, "'flops' has set"),
        ({"op": list("ab"), "flops": np.ones((2, 1))}, TypeError, "'flops' has ndarray"),
        (
            {"op": list("ab"), "flops": [1, 2, 3]},
            ValueError,
            r"equally long, but have \{'op': 2, 'flops': 3\} values",
        ),
        ({"op": list("ab"), 1: [1, 2], "1": [2, 1]}, ValueError, r"\['1'\] occur more than once"),
        ({"op": list("aa"), "flops": [1, 2]}, ValueError, r"again .*\['op'\] were taken"),
    ],
)
def test_a_mapping_that_is_no_table_is_refused(
    columns: dict[Any, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ZAPSSampler(columns)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["1", "2"], "'x' has dtype object and holds '1'"),
        (np.array(["1", "2"]), "'x' has dtype <U1"),
        ([1, "n/a"], "'x' has dtype object and holds 'n/a'"),
        ([1.0, 2j], "'x' has dtype object and holds 2j"),
        (np.array([1, 2j]), "'x' has dtype complex128"),
        (np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]"), "has dtype datetime64"),
    ],
)
def test_a_column_that_holds_no_numbers_is_no_proxy(column: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ZAPSSampler({"op": ["a", "b"], "x": column}, search_space={"op": ["a", "b"]})


def test_a_value_that_the_space_does_not_offer_is_named() -> None:
    with pytest.raises(ValueError, match=r"Row 1 has op='z'.*offers only \['a', 'b'\]"):
        ZAPSSampler({"op": ["a", "z"], "x": [1, 2]}, search_space={"op": ["a", "b"]})


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, None, 3], [1, math.nan, 3]),
        ([1.5, math.nan, -math.inf], [1.5, math.nan, -math.inf]),
        ([10**400, 2, 3], [math.inf, 2, 3]),
        ([Decimal("0.5"), Decimal("NaN"), 2], [0.5, math.nan, 2]),
        ([True, None, False], [1, math.nan, 0]),
        ([np.float32(0.5), np.int8(2), pd.NA], [0.5, 2, math.nan]),
        (np.ma.masked_array([1, 2, 3], [False, True, False]), [1, math.nan, 3]),
        (pd.array([1, None, 3], dtype="Int64"), [1, math.nan, 3]),
        (range(3), [0, 1, 2]),
    ],
)
def test_numbers_are_floats_and_nan_where_they_are_missing(
    values: Any, expected: list[float]
) -> None:
    _, proxies = split_table({"op": list("abc"), "x": values}, ["op"])
    np.testing.assert_array_equal(proxies.floats()[:, 0], expected)


@pytest.mark.parametrize(
    ("values", "distinct"),
    [
        (["b", "a", "b"], ("b", "a")),
        ([3, 1, 3], (3, 1)),
        (np.array([0.5, 0.25, 0.5], dtype=np.float32), (0.5, 0.25)),
        (np.array([0.5, math.nan, math.nan]), (0.5, math.nan)),
        ([8, None, None], (8, None)),
        (["x", math.nan, "x"], ("x", None)),
        (["x", math.nan, None], ("x", math.nan, None)),
        ([[1, 2], (1, 2), [3]], ([1, 2], [3])),
        ([np.array([1, 2]), [1, 2], [3]], ([1, 2], [3])),
        ([None, pd.NA, pd.NaT], (None,)),
        ([np.float32("nan"), "x", math.nan], (None, "x")),
    ],
)
def test_a_parameter_has_pythons_values_in_order_of_first_appearance(
    values: Any, distinct: tuple[Any, ...]
) -> None:
    parameters, _ = split_table({"p": values}, ["p"])
    codes, found = parameters.columns["p"].factorized()
    assert repr(found) == repr(distinct)
    assert [type(value) for value in found] == [type(value) for value in distinct]
    assert codes[0] == 0
    assert set(codes.tolist()) == set(range(len(distinct)))


def test_equal_values_have_equal_codes_in_arrays_and_in_lists() -> None:
    values = np.random.default_rng(0).integers(0, 9, 60)
    for column in (values, values.astype(float), values.tolist(), values.astype(str)):
        made = Column.of_array(np.asarray(column))
        codes, distinct = made.factorized()
        assert [distinct[code] for code in codes] == np.asarray(column).tolist()
