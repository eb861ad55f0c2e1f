from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from toy import study
from toy import table

from harness.experiment import SamplerSpec
from harness.metrics import best_curve
from harness.metrics import geometric_mean
from harness.metrics import precision_curve
from harness.metrics import regret_curve
from harness.metrics import repeat_share
from harness.metrics import summarize
from harness.metrics import trials_to_optimum


VALUES = np.asarray([10.0, 40.0, 20.0, 50.0, 30.0])
KEY = ("bench", "toy", "made")


def by_target(spec: SamplerSpec) -> bool:
    return spec.target == "zaps-paper"


def test_precision_by_hand() -> None:
    curve = precision_curve([0, 3, 2, 1], np.asarray([1, 3]), budget=4)
    assert curve.tolist() == [0.0, 50.0, 50.0, 100.0]


def test_regret_is_relative_to_the_optimum_in_percent() -> None:
    # (50 - 10) / 50, (50 - 40) / 50, then found: Section 3 of the paper.
    assert regret_curve([0, 1, 3], VALUES, budget=3).tolist() == [80.0, 20.0, 0.0]
    assert best_curve([0, 1, 3], VALUES, budget=3).tolist() == [10.0, 40.0, 50.0]


def test_a_study_that_ended_early_keeps_what_it_had() -> None:
    assert precision_curve([3], np.asarray([1, 3]), budget=3).tolist() == [50.0] * 3
    assert regret_curve([1], VALUES, budget=3).tolist() == [20.0] * 3


def test_trials_to_the_optimum() -> None:
    assert trials_to_optimum([0, 2, 3, 1], VALUES) == 3
    assert np.isnan(trials_to_optimum([0, 2], VALUES))


def test_repeats_within_the_budget() -> None:
    # The third distinct row comes with the fifth ask; two of the five were repeats.
    assert repeat_share([4, 4, 2, 4, 1, 1, 1], budget=3) == pytest.approx(0.4)
    assert repeat_share([1, 2, 3], budget=3) == 0.0


def test_geometric_mean_is_floored() -> None:
    assert geometric_mean([0.0, 1e-1]) == pytest.approx(1e-3)  # sqrt(1e-5 * 1e-1)
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)


def test_relative_regret_needs_an_optimum_other_than_zero() -> None:
    with pytest.raises(ValueError, match="optimum other than 0"):
        regret_curve([0], np.asarray([-1.0, 0.0]), budget=1)


def test_random_search_has_the_hypergeometric_mean() -> None:
    # B x 100 / N = 40 x 100 / 200 = 20 %, variance of the hypergeometric distribution.
    rng = np.random.default_rng(0)
    top = table().top(100)
    found = [precision_curve(rng.permutation(200)[:40], top, 40)[-1] for _ in range(400)]
    std = np.sqrt(40 * 0.5 * 0.5 * (200 - 40) / (200 - 1))
    assert np.mean(found) == pytest.approx(20.0, abs=3 * std / np.sqrt(400))
    assert np.std(found) == pytest.approx(std, rel=0.15)


@given(st.permutations(range(5)))
def test_curves_are_monotone(order: list[int]) -> None:
    assert np.all(np.diff(precision_curve(order, np.asarray([1, 3]), 5)) >= 0)
    assert np.all(np.diff(regret_curve(order, VALUES, 5)) <= 0)


def test_an_anytime_study_is_read_off_at_smaller_budgets() -> None:
    rows = list(range(150, 200))
    summary = summarize([study(rows)], {KEY: table()}, [10, 50], budget_aware=by_target)
    assert summary["budget"].tolist() == [10, 50]
    assert summary["precision"].tolist() == [10.0, 50.0]  # all of them are in the top 100 of 200
    assert summary["regret"].tolist() == pytest.approx([100 * 40 / 200, 0.0])
    assert summary["found_optimum"].tolist() == [False, True]
    assert summary["ask_ms"].tolist() == pytest.approx([5.5, 25.5])  # mean of 1..n ms
    assert summary["cpu_seconds"].tolist() == pytest.approx([0.065, 1.325])


def test_a_study_planned_for_its_budget_counts_there_only() -> None:
    results = [
        study(range(n), label="zaps-paper", target="zaps-paper", budget=n) for n in (10, 20)
    ]
    summary = summarize(results, {KEY: table()}, None, budget_aware=by_target)
    assert summary[["budget", "trials_to_optimum"]].notna()["budget"].sum() == 2
    assert summary["budget"].tolist() == [10, 20]


def test_the_longest_study_of_a_seed_speaks() -> None:
    results = [study(range(5)), study(range(100, 130))]
    summary = summarize(results, {KEY: table()}, [5], budget_aware=by_target)
    assert summary["precision"].tolist() == [5.0]


def test_a_capped_study_is_marked() -> None:
    summary = summarize([study([1, 1, 2], budget=9)], {KEY: table()}, budget_aware=by_target)
    assert summary["capped"].tolist() == [True]


def test_another_table_than_the_studys_is_refused() -> None:
    with pytest.raises(ValueError, match="must be the one its studies ran on"):
        summarize([study([1])], {KEY: table([1.0, 2.0])}, budget_aware=by_target)
    with pytest.raises(ValueError, match="must be given"):
        summarize([study([1])], {}, budget_aware=by_target)


def test_one_label_for_two_samplers_is_refused() -> None:
    results = [study([1], target="tpe"), study([1], target="random", seed=1)]
    with pytest.raises(ValueError, match="A label must name one sampler"):
        summarize(results, {KEY: table()}, budget_aware=by_target)
