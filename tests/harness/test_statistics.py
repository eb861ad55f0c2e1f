from __future__ import annotations

import math
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from harness.report.aggregates import overview
from harness.statistics import bootstrap_interval
from harness.statistics import cliffs_delta
from harness.statistics import compare
from harness.statistics import effect_size
from harness.statistics import friedman_p
from harness.statistics import holm
from harness.statistics import mann_whitney_p
from harness.statistics import mean_losses
from harness.statistics import pairs
from harness.statistics import ranks


numbers = st.lists(st.integers(-20, 20), min_size=1, max_size=12)


def frame(**samples: list[float]) -> pd.DataFrame:
    rows = [
        {"problem": "f/p", "in_flight": 1, "durations": "", "unit": "trials", "budget": 10,
         "sampler": label, "seed": seed, "precision": value, "gap": 100 - value}
        for label, values in samples.items()
        for seed, value in enumerate(values)
    ]  # fmt: skip
    return pd.DataFrame(rows)


@given(numbers, numbers)
def test_delta_counts_pairs(first: list[int], second: list[int]) -> None:
    larger = sum(x > y for x in first for y in second)
    smaller = sum(x < y for x in first for y in second)
    expected = (larger - smaller) / (len(first) * len(second))
    assert cliffs_delta(first, second) == pytest.approx(expected)
    assert cliffs_delta(second, first) == pytest.approx(-expected)
    cubes = [[x**3 for x in sample] for sample in (first, second)]
    assert cliffs_delta(*cubes) == pytest.approx(expected)


def test_mann_whitney_by_hand() -> None:
    # {3, 4} above {1, 2}: one of the 4! / (2! 2!) = 6 arrangements has U as large as 4.
    assert mann_whitney_p([3, 4], [1, 2]) == pytest.approx(1 / 6)
    assert mann_whitney_p([1, 2], [3, 4]) == pytest.approx(1.0)
    assert mann_whitney_p([3, 1], [2, 4]) == pytest.approx(5 / 6)


def test_equal_samples_differ_in_nothing() -> None:
    assert mann_whitney_p([5, 5], [5, 5, 5]) == 1.0
    assert cliffs_delta([5, 5], [5, 5, 5]) == 0.0


@pytest.mark.parametrize(
    ("delta", "word"),
    [(0.14, "negligible"), (-0.2, "small"), (0.45, "medium"), (-0.6, "large"), (0.69, "large")],
)
def test_effect_sizes_in_the_papers_words(delta: float, word: str) -> None:
    # 0.14 "negligible", 0.45 "medium", 0.69 "large": Section 4.4 of the paper.
    assert effect_size(delta) == word


def test_holm_by_hand() -> None:
    # Sorted 0.005, 0.011, 0.02, 0.04 times 4, 3, 2, 1: 0.020, 0.033, 0.040, 0.040.
    np.testing.assert_allclose(holm([0.02, 0.04, 0.005, 0.011]), [0.04, 0.04, 0.02, 0.033])
    np.testing.assert_allclose(holm([0.9, np.nan, 0.8]), [1.0, np.nan, 1.0])


def test_the_interval_covers_the_true_difference() -> None:
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(60):
        low, high = bootstrap_interval(rng.normal(1, 1, 40), rng.normal(0, 2, 60), rng)
        inside += low <= 1.0 <= high
    # 95 % of 60 is 57, with a standard deviation of 1.7.
    assert inside >= 51


def test_compare_knows_which_direction_is_better() -> None:
    summary = frame(good=[50.0, 60.0, 70.0], bad=[10.0, 20.0, 30.0])
    for metric, difference in (("precision", 40.0), ("gap", -40.0)):
        (test,) = compare(summary, metric=metric, reference="good").to_dict("records")
        assert test["difference"] == pytest.approx(difference)
        assert test["ci_low"] < difference < test["ci_high"]
        assert test["cliffs_delta"] == 1.0
        assert test["p_value"] == pytest.approx(1 / 20)  # 6 choose 3 arrangements


def test_a_summary_that_was_read_from_its_file_has_all_tests(tmp_path: Path) -> None:
    summary = frame(a=[1.0, 2, 3], b=[4.0, 5, 6])
    summary.to_csv(tmp_path / "summary.csv")
    read = pd.read_csv(tmp_path / "summary.csv")
    assert read["durations"].isna().all()
    # 6 choose 3 arrangements, of which one is this.
    assert sorted(compare(read)["p_value"]) == pytest.approx([1 / 20, 1.0])


def test_all_ordered_pairs_are_one_family() -> None:
    tests = compare(frame(a=[1.0, 2, 3], b=[4.0, 5, 6], c=[7.0, 8, 9]))
    assert len(tests) == 6
    best = tests[(tests["sampler_a"] == "c") & (tests["sampler_b"] == "a")]["p_holm"].item()
    assert best == pytest.approx(6 * 1 / 20)
    mirrored = tests.set_index(["sampler_a", "sampler_b"])
    assert mirrored.loc[("a", "b"), "ci_low"] == -mirrored.loc[("b", "a"), "ci_high"]


def test_one_seed_each_is_no_reason_to_fail() -> None:
    (test,) = compare(frame(a=[1.0], b=[2.0]), reference="b").to_dict("records")
    assert test["difference"] == 1.0
    assert np.isnan(test["ci_low"])
    assert test["p_value"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    "arguments", [{"metric": "accuracy"}, {"reference": "nobody"}], ids=["metric", "reference"]
)
def test_unknown_names(arguments: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="must be one of"):
        compare(frame(a=[1.0], b=[2.0]), **arguments)


def losses(**columns: list[float]) -> pd.DataFrame:
    return pd.DataFrame(columns, index=[f"p{i}" for i in range(len(next(iter(columns.values()))))])


def summary_of(frame: pd.DataFrame) -> pd.DataFrame:
    long = frame.rename_axis(index="problem").reset_index()
    return long.melt("problem", var_name="sampler", value_name="regret").assign(
        seed=0, cpu_seconds=1.0, repeat_share=0.0
    )


def test_mean_ranks_by_hand_with_shared_ties() -> None:
    frame = losses(a=[1.0, 5.0, 2.0], b=[2.0, 5.0, 1.0], c=[3.0, 7.0, 1.0])
    assert ranks(frame).to_numpy().tolist() == [[1, 2, 3], [1.5, 1.5, 3], [3, 1.5, 1.5]]
    board = overview(summary_of(frame), "regret")
    assert board["mean_rank"].to_dict() == pytest.approx({"a": 5.5 / 3, "b": 5 / 3, "c": 7.5 / 3})
    assert list(board.index) == ["b", "a", "c"]
    assert board["n_first"].to_dict() == {"a": 2, "b": 2, "c": 1}


def test_friedman_by_hand() -> None:
    # Ranks 1, 2, 3 on each of four problems: chi2 = 12 / (4 3 4) (4^2 + 8^2 + 12^2) - 3 4 4 = 8.
    frame = losses(a=[1.0] * 4, b=[2.0] * 4, c=[3.0] * 4)
    assert friedman_p(frame) == pytest.approx(stats.chi2.sf(8, 2))
    assert math.isnan(friedman_p(frame[["a", "b"]]))
    assert friedman_p(losses(a=[1.0] * 4, b=[1.0] * 4, c=[1.0] * 4)) == 1.0


def test_pairs_by_hand() -> None:
    # Six differences of one sign: 2 / 2^6. Holm: the smallest of three times three.
    frame = losses(
        a=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        b=[2.0, 4.0, 6.0, 8.0, 10.0, 12.0],
        c=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    )
    tests = pairs(frame).set_index(["sampler_a", "sampler_b"])
    assert tests.loc[("a", "b"), "p_value"] == pytest.approx(2 / 2**6)
    assert tests.loc[("a", "b"), "p_holm"] == pytest.approx(6 / 2**6)
    assert tests.loc[("a", "b"), ["n_better", "n_worse", "n_equal"]].tolist() == [6, 0, 0]
    assert tests.loc[("a", "c"), "p_value"] == 1.0
    assert tests.loc[("a", "c"), "n_equal"] == 6
    assert tests.loc[("b", "c"), "n_worse"] == 6


def test_a_problem_that_a_sampler_lacks_is_left_out() -> None:
    summary = pd.DataFrame(
        [("p", "a", 1.0), ("p", "a", 3.0), ("p", "b", 5.0), ("q", "a", 1.0)],
        columns=["problem", "sampler", "regret"],
    )
    assert mean_losses(summary).to_dict("index") == {"p": {"a": 2.0, "b": 5.0}}


def test_a_larger_gain_is_a_smaller_loss() -> None:
    summary = pd.DataFrame(
        [("p", "a", 1.0), ("p", "b", 5.0)], columns=["problem", "sampler", "hypervolume"]
    )
    assert mean_losses(summary, "hypervolume").loc["p"].to_dict() == {"a": -1.0, "b": -5.0}
    with pytest.raises(ValueError, match="metric must be one of"):
        mean_losses(summary.assign(best_value=1.0), "best_value")


def test_a_difference_of_an_infinite_mean_has_no_interval() -> None:
    # A study of which every run failed has an infinite regret.
    ends = bootstrap_interval([1.0, 2.0, 3.0], [1.0, np.inf], np.random.default_rng(0))
    assert np.isnan(ends).all()
