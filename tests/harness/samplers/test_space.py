from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from harness.samplers.space import Space
from harness.samplers.space import make_space


def test_configurations_are_positions_among_the_choices() -> None:
    space = Space({"op": ["a", "b", "c"], "k": [3, 1]})
    assert space.configuration({"op": "c", "k": 3, "other": 0}) == (2, 0)
    assert space.params((2, 0)) == {"op": "c", "k": 3}
    assert space.configuration({"op": "c"}) is None
    assert space.configuration({"op": "z", "k": 3}) is None


def test_neighbours_differ_in_one_parameter() -> None:
    space = Space({"a": [0, 1, 2], "b": [0, 1]})
    assert space.neighbours((1, 0)) == [(0, 0), (2, 0), (1, 1)]
    # Six edges with five operations have 6 x 4 neighbours (NAS-Bench-201).
    assert len(Space(dict.fromkeys("abcdef", range(5))).neighbours((0,) * 6)) == 24


def test_a_pool_holds_its_rows_alone() -> None:
    table = pd.DataFrame({"a": ["u", "v", "w"], "b": ["s", "t", "s"]})
    space = make_space(None, table)
    assert space is not None
    assert len(space) == 3
    assert [space.params(row) for row in space.rows] == table.to_dict("records")
    assert (0, 1) not in space
    assert space.neighbours((0, 0)) == [(2, 0)]  # u, t and v, s are no rows


def test_one_hot_in_order_of_parameter_and_choice() -> None:
    encoded = Space({"a": [0, 1, 2], "b": [0, 1]}).one_hot([(2, 0), (0, 1)])
    np.testing.assert_array_equal(encoded, [[0, 0, 1, 1, 0], [1, 0, 0, 0, 1]])


def test_the_last_unseen_configuration_is_found_and_then_repeats() -> None:
    space = Space({"a": range(300)})
    rng = np.random.default_rng(0)
    seen = {(i,) for i in range(300) if i != 123}
    assert space.random_unseen(rng, seen) == (123,)
    assert space.random_unseen(rng, seen | {(123,)}) in space.rows
    assert space.sample_unseen(5, seen, rng) == [(123,)]


@pytest.mark.parametrize(
    ("search_space", "table", "error", "message"),
    [
        ({}, None, ValueError, "at least one parameter"),
        ({"a": "xyz"}, None, TypeError, "CategoricalDistribution or a sequence"),
        ({"a": [1]}, pd.DataFrame({"b": [1]}), ValueError, r"\['a'\] are missing"),
        ({"a": [1]}, pd.DataFrame({"a": [2]}), ValueError, "offers only"),
        (None, pd.DataFrame({"a": [1, 1]}), ValueError, "occurs again"),
        (None, pd.DataFrame({"a": []}), ValueError, "at least one row"),
    ],
)
def test_what_is_no_space_is_refused(
    search_space: dict[str, list[int]] | None,
    table: pd.DataFrame | None,
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        make_space(search_space, table)
