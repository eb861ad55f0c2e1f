from __future__ import annotations

import warnings

from columns import proxy_table
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from warned import only

from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.proxies import ProxyTable
from optuna_zaps.search.proxies import scaled_ranks


def test_ranks_are_average_ranks_scaled_to_the_unit_interval() -> None:
    values = np.asarray([[10.0], [30.0], [20.0], [20.0], [-5.0]])
    # Ranks 2, 5, 3.5, 3.5, 1 of 5.
    np.testing.assert_allclose(scaled_ranks(values)[:, 0], [0.25, 1.0, 0.625, 0.625, 0.0])


def test_infinite_values_rank_at_the_ends_and_missing_ones_in_the_middle() -> None:
    values = np.asarray([[np.nan], [np.inf], [1.0], [-np.inf]])
    np.testing.assert_allclose(scaled_ranks(values)[:, 0], [0.5, 1.0, 0.5, 0.0])


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30), st.randoms())
def test_ranks_ignore_increasing_transforms_and_follow_permutations(
    numbers: list[float], random: object
) -> None:
    values = np.round(np.asarray(numbers), 3)[:, np.newaxis]
    ranks = scaled_ranks(values)
    np.testing.assert_array_equal(scaled_ranks(np.arctan(values / 1e3) * 5 - 2), ranks)
    order = np.random.default_rng(0).permutation(len(values))
    np.testing.assert_array_equal(scaled_ranks(values[order]), ranks[order])


def test_values_that_are_equal_in_the_reference_share_their_rank() -> None:
    reference = proxy_table({"x": [1.0, 2.0, 2.0, 2.0, 3.0, 3.0]})
    table = proxy_table({"x": [3.0, 2.0, 1.0, 2.5]}, reference)
    # Ranks from 0: 0, 1 2 3 and 4 5; 2.5 would come after the 2s. Of 6 the last has rank 5.
    np.testing.assert_allclose(table.ranks[:, 0], [4.5 / 5, 2 / 5, 0, 4 / 5])
    same = ProxyTable(reference.names, reference.values, reference)
    np.testing.assert_allclose(same.ranks, reference.ranks)


def test_columns_are_those_of_the_reference_by_name() -> None:
    with pytest.warns(UserWarning, match="'flat' is constant"):
        reference = proxy_table({"flat": [1, 1], "x": [1, 2], "y": [4, 3]})
    table = proxy_table({"y": [3, 9], "flat": [5, 6], "x": [2, 1]}, reference)
    assert table.names == ("x", "y")
    assert table.values.tolist() == [[2, 3], [1, 9]]
    assert table.ranks.tolist() == [[1, 0], [0, 1]]


def test_useless_proxies_are_dropped_with_one_warning_that_names_them() -> None:
    columns = {
        "good": [1.0, 2.0, 3.0],
        "flat": [7.0, 7.0, 7.0],
        "empty": [np.nan] * 3,
        "holes": [np.nan, 1.0, 2.0],
        "overflow": [np.inf, 1.0, 2.0],
    }
    with pytest.warns(UserWarning) as record:
        table = proxy_table(columns)
    assert table.names == ("good", "holes", "overflow")
    message = str(only(record).message)
    for complaint in (
        "'flat' is constant",
        "'empty' holds no number",
        "'holes' misses 1 values",
        "'overflow' has 1 infinite values",
    ):
        assert complaint in message
    assert "good" not in message


def test_no_warning_without_cause() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert proxy_table({"a": [1, 2], "b": [2, 1]}).names == ("a", "b")


def test_function_is_called_once_for_each_candidate() -> None:
    grid = CandidateSet.grid({"a": [1, 2], "b": [10, 20]})
    calls: list[dict[str, int]] = []

    def function(params: dict[str, int]) -> dict[str, float]:
        calls.append(params)
        return {"sum": params["a"] + params["b"]}

    table = ProxyTable.from_function(function, grid)
    assert calls == [grid.params(i) for i in range(4)]
    assert table.values[:, 0].tolist() == [11, 21, 12, 22]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda params: 1.0, "must return a mapping"),
        (lambda params: {str(params["a"]): 1.0}, "same names everywhere"),
    ],
)
def test_function_that_returns_something_else(function: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ProxyTable.from_function(function, CandidateSet.grid({"a": [1, 2]}))  # type: ignore[arg-type]


def test_unknown_names_are_named() -> None:
    table = proxy_table({"a": [1, 2], "b": [2, 1]})
    assert table.columns(["b", "a"]).tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"among the usable proxies \['a', 'b'\].*\['c'\]"):
        table.columns(["a", "c"])
