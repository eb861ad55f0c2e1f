from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pandas as pd
import pytest

from harness.statistics import bootstrap_interval
from harness.statistics import cliffs_delta
from harness.statistics import compare
from harness.statistics import effect_size
from harness.statistics import holm
from harness.statistics import mann_whitney_p


numbers = st.lists(st.integers(-20, 20), min_size=1, max_size=12)


def frame(**samples: list[float]) -> pd.DataFrame:
    rows = [
        {"benchmark": "b", "dataset": "d", "source": "s", "budget": 10, "sampler": label,
         "seed": seed, "precision": value, "regret": 100 - value}
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
    for metric, difference in (("precision", 40.0), ("regret", -40.0)):
        (test,) = compare(summary, metric=metric, reference="good").to_dict("records")
        assert test["difference"] == pytest.approx(difference)
        assert test["ci_low"] < difference < test["ci_high"]
        assert test["cliffs_delta"] == 1.0
        assert test["p_value"] == pytest.approx(1 / 20)  # 6 choose 3 arrangements


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
