from __future__ import annotations

import math
import pickle

from columns import candidates_of
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pandas as pd
import pytest

from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.encoding import MAX_POOL_COLUMNS


def test_grid_holds_every_combination_once() -> None:
    grid = CandidateSet.grid({"a": ["x", "y"], "b": [1, 2, 3]})
    assert [grid.params(i) for i in range(len(grid))] == [
        {"a": a, "b": b} for a in "xy" for b in (1, 2, 3)
    ]


def test_encoding_is_one_hot_and_scaled() -> None:
    grid = CandidateSet.grid({"a": ["x", "y"], "b": [2, 4, 6]}, coordinates={"b": [0.0, 0.5, 1.0]})
    expected = [[1, 0, 0], [1, 0, 0.5], [1, 0, 1], [0, 1, 0], [0, 1, 0.5], [0, 1, 1]]
    np.testing.assert_array_equal(grid.encoding, np.asarray(expected, dtype=np.float32))


def test_nasbench201_encoding_has_the_papers_30_dimensions() -> None:
    grid = CandidateSet.grid({f"edge{i}": range(5) for i in range(6)})
    assert grid.encoding.shape == (15_625, 30)
    assert np.all(grid.encoding.sum(axis=1) == 6)


@given(
    st.dictionaries(
        st.text("abc", min_size=1),
        st.lists(
            st.none() | st.booleans() | st.integers(5, 9) | st.text("xyz") | st.just(math.nan),
            min_size=1,
            max_size=4,
            unique_by=repr,
        ),
        min_size=1,
        max_size=3,
    )
)
def test_index_inverts_params(choices: dict[str, list[object]]) -> None:
    grid = CandidateSet.grid(choices)
    assert [grid.index(grid.params(i)) for i in range(len(grid))] == list(range(len(grid)))


def test_index_of_what_is_not_there() -> None:
    grid = CandidateSet.grid({"a": ["x", "y"], "b": [1, 2]})
    assert grid.index({"a": "x"}) is None
    assert grid.index({"a": "x", "b": 3}) is None
    assert grid.index({"a": ["x"], "b": 1}) is None
    assert grid.index({"a": "y", "b": 1, "unrelated": 0}) == 2


def test_floats_on_a_grid_are_found_however_they_were_rounded() -> None:
    grid = CandidateSet.grid({"lr": [0.1, 0.2, 0.3]}, coordinates={"lr": [0.0, 0.5, 1.0]})
    assert grid.index({"lr": 0.1 + 0.2}) == 2


def test_a_list_is_the_tuple_that_a_storage_made_it_of() -> None:
    grid = CandidateSet.grid({"kernel": [(3, 3), (5, (7, None))]})
    assert grid.index({"kernel": [5, [7, None]]}) == 1
    assert grid.index({"kernel": (3, 3)}) == grid.index({"kernel": [3, 3]}) == 0
    assert grid.index({"kernel": [3, 5]}) is None


def test_matching() -> None:
    grid = CandidateSet.grid({"a": ["x", "y"], "b": [1, 2]})
    assert grid.matching({"b": 2}).tolist() == [False, True, False, True]
    assert not grid.matching({"b": 7}).any()
    assert grid.matching({}).all()


def test_the_mean_of_the_neighbours_by_hand() -> None:
    # a-x  b-x  c-x     The neighbours of a-x are b-x, c-x and a-y; b-y is missing, so c-y has
    # a-y       c-y     a-y and c-x. d-z, off the others in both, has none.
    rows = [("a", "x"), ("b", "x"), ("c", "x"), ("a", "y"), ("c", "y"), ("d", "z")]
    candidates = candidates_of(pd.DataFrame(rows, columns=["p", "q"]))
    values = np.asarray([[1.0], [2.0], [4.0], [8.0], [16.0], [32.0]])
    expected = [14 / 3, 5 / 2, 19 / 3, 17 / 2, 12 / 2, 32.0]
    mean = candidates.neighbourhood_mean(values)
    np.testing.assert_allclose(mean[:, 0], expected, rtol=1e-12)


def test_the_mean_of_the_neighbours_is_that_of_hamming_distance_one() -> None:
    rng = np.random.default_rng(0)
    grid = CandidateSet.grid({"a": "abc", "b": range(4), "c": [None, True], "d": "wxyz"})
    part = CandidateSet(grid.choices, grid.codes[rng.permutation(len(grid))[:40]])
    values = rng.random((len(part), 2))
    adjacent = (part.codes[:, np.newaxis] != part.codes).sum(axis=2) == 1
    expected = adjacent @ values / adjacent.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(part.neighbourhood_mean(values), expected, rtol=1e-12)


def test_frame_in_any_order_of_rows_with_choices_of_its_own() -> None:
    frame = pd.DataFrame({"op": ["conv", None, "pool"], "width": [8, 8, 16]}, dtype=object)
    candidates = candidates_of(frame)
    assert candidates.choices == {"op": ("conv", None, "pool"), "width": (8, 16)}
    assert candidates.params(1) == {"op": None, "width": 8}
    assert type(candidates.params(2)["width"]) is int


def test_a_missing_string_is_none() -> None:
    frame = pd.DataFrame({"op": pd.Series(["conv", None], dtype="str")})
    assert candidates_of(frame).params(1) == {"op": None}


def test_a_missing_float_is_nan() -> None:
    candidates = candidates_of(pd.DataFrame({"rate": [0.5, math.nan]}))
    missing = candidates.params(1)["rate"]
    assert isinstance(missing, float)
    assert math.isnan(missing)


def test_a_table_over_a_space_beyond_64_bits() -> None:
    frame = pd.DataFrame([[i * j for j in range(1, 61)] for i in (1, 2, 3)], columns=range(60))
    candidates = candidates_of(frame)
    assert [candidates.index(candidates.params(i)) for i in range(3)] == [0, 1, 2]


def test_configurations_beyond_64_bits_are_told_apart_by_any_parameter() -> None:
    choices = {f"p{i}": range(10) for i in range(30)}
    codes = np.vstack([np.zeros(30), np.eye(30), 2 * np.eye(30)]).astype(np.intp)
    candidates = CandidateSet(choices, codes)
    assert [candidates.index(candidates.params(i)) for i in range(61)] == list(range(61))
    assert candidates.index(dict.fromkeys(choices, 1)) is None
    # Each line holds the first, which is in all of them, and two that differ in one parameter.
    mean = candidates.neighbourhood_mean(np.arange(61.0)[:, np.newaxis])[:, 0]
    np.testing.assert_allclose(mean[[0, 1, 31]], [np.arange(1, 61).mean(), 31 / 2, 1 / 2])
    with pytest.raises(ValueError, match="occurs again"):
        CandidateSet(choices, codes[[3, 5, 3]])


@pytest.mark.parametrize("n_parameters", [2, 30])
def test_of_equal_configurations_the_first_stays(n_parameters: int) -> None:
    codes = np.full((5, n_parameters), 7)
    codes[:, -1] = [4, 1, 4, 9, 1]
    choices = {f"p{i}": range(10) for i in range(n_parameters)}
    distinct = CandidateSet(choices, codes, drop_repeated=True)
    assert distinct.codes[:, -1].tolist() == [4, 1, 9]


def test_a_repeated_configuration_is_named() -> None:
    frame = pd.DataFrame({"a": ["x", "y", "x"], "b": ["u", "u", "u"]})
    with pytest.raises(ValueError, match=r"\{'a': 'x', 'b': 'u'\} occurs again \(1 duplicates"):
        candidates_of(frame)


def test_a_value_outside_the_space_is_named() -> None:
    frame = pd.DataFrame({"a": ["x", "z"]})
    with pytest.raises(ValueError, match=r"Row 1 has a='z'.*offers only \['x', 'y'\]"):
        candidates_of(frame, {"a": ["x", "y"]})


def test_no_candidate_at_all() -> None:
    with pytest.raises(ValueError, match="at least one candidate"):
        CandidateSet({"a": ["x"]}, np.empty((0, 1), dtype=np.intp))


def test_parameters_that_offer_the_same_choices_share_kinds() -> None:
    candidates = CandidateSet.grid(
        {"a": ["x", "y"], "b": ["y", "x"], "alone": ["x", "z"], "n": [1, 2], "c": [1, 2]},
        coordinates={"n": [0.0, 1.0]},
    )
    # x, y | y, x | x, z offered by no other | a number | 1, 2 offered by no other unordered one
    assert candidates.shared_choices == (0, 1, 1, 0, -1, -1, -1, -1, -1)


def test_parameters_that_offer_different_choices_share_no_kind() -> None:
    candidates = CandidateSet.grid({"a": "xy", "u": [1, 2, 3], "b": "yx", "v": [3, 1, 2]})
    assert candidates.shared_choices == (0, 1, 2, 3, 4, 1, 0, 4, 2, 3)


def test_a_pickled_pool_is_encoded_as_before() -> None:
    # More choices than a pool has columns: which have one of their own depends on what was tried.
    choices = {"x": list(range(MAX_POOL_COLUMNS + 100))}
    codes = np.arange(50)[::-1, np.newaxis] * 7
    pool = CandidateSet(choices, codes, n_seen=20)
    twin = pickle.loads(pickle.dumps(pool))
    np.testing.assert_array_equal(twin.encoding, pool.encoding)
    assert pool.encoding.shape == (50, MAX_POOL_COLUMNS)
