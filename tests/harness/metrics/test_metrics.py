from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pandas as pd
import pytest
from toy import study
from toy import table

from harness.metrics import QUANTITIES
from harness.metrics import Budgets
from harness.metrics import geometric_mean
from harness.metrics import metric_of
from harness.metrics import quantity_of
from harness.metrics import snapshots
from harness.metrics import summarize
from harness.metrics.best import best_curve
from harness.metrics.gap import gap_curve
from harness.metrics.optimum import trials_to_optimum
from harness.metrics.precision import ceiling
from harness.metrics.precision import precision_curve
from harness.metrics.summary import METRICS
from harness.problems import Kind
from harness.problems import TabularBenchmark
from harness.problems import with_top


VALUES = np.asarray([10.0, 40.0, 20.0, 50.0, 30.0])
TEXT = table().text


def test_precision_by_hand() -> None:
    curve = precision_curve([0, 3, 2, 1], np.asarray([1, 3]), budget=4)
    assert curve.tolist() == [0.0, 50.0, 50.0, 100.0]


def test_the_gap_is_relative_to_the_optimum_in_percent() -> None:
    # (50 - 10) / 50, (50 - 40) / 50, then found: Section 3 of the paper.
    assert gap_curve([0, 1, 3], VALUES, budget=3).tolist() == [80.0, 20.0, 0.0]
    assert best_curve([0, 1, 3], VALUES, budget=3).tolist() == [10.0, 40.0, 50.0]


def test_a_study_that_ended_early_keeps_what_it_had() -> None:
    assert precision_curve([3], np.asarray([1, 3]), budget=3).tolist() == [50.0] * 3
    assert gap_curve([1], VALUES, budget=3).tolist() == [20.0] * 3


def test_trials_to_the_optimum() -> None:
    assert trials_to_optimum([0, 2, 3, 1], VALUES) == 3
    assert np.isnan(trials_to_optimum([0, 2], VALUES))


def test_repeats_within_the_budget() -> None:
    # The third distinct row comes with the fifth ask; two of the five were repeats.
    results = [study([4, 4, 2, 4, 1, 1, 1], budget=3), study([1, 2, 3], seed=1)]
    assert summarize(results, [table()])["repeat_share"].tolist() == pytest.approx([40.0, 0.0])


def test_a_repeated_row_counts_once() -> None:
    curve = precision_curve([3, 3, 0, 1], np.asarray([1, 3]), budget=4)
    assert curve.tolist() == [50.0, 50.0, 50.0, 100.0]


def test_geometric_mean_is_floored() -> None:
    assert geometric_mean([0.0, 1e-1]) == pytest.approx(1e-3)  # sqrt(1e-5 * 1e-1)
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)


def test_a_relative_gap_needs_an_optimum_other_than_zero() -> None:
    with pytest.raises(ValueError, match="optimum other than 0"):
        gap_curve([0], np.asarray([-1.0, 0.0]), budget=1)


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
    assert np.all(np.diff(gap_curve(order, VALUES, 5)) <= 0)


def test_a_study_that_plans_for_no_budget_is_measured_at_smaller_ones() -> None:
    rows = list(range(150, 200))
    summary = summarize([study(rows)], [table()], {TEXT: Budgets((50, 10))})
    assert summary["budget"].tolist() == [10, 50]
    assert summary["precision"].tolist() == [10.0, 50.0]  # all of them are in the top 100 of 200
    assert summary["gap"].tolist() == pytest.approx([100 * 40 / 200, 0.0])
    assert summary["found_optimum"].tolist() == [0.0, 100.0]
    assert summary["ask_ms"].tolist() == pytest.approx([5.5, 25.5])  # mean of 1..n ms
    assert summary["cpu_seconds"].tolist() == pytest.approx([0.065, 1.325])


def test_a_study_planned_for_its_budget_counts_there_only() -> None:
    results = [
        study(range(n), label="zaps-paper", target="zaps-paper", budget=n) for n in (10, 20)
    ]
    summary = summarize(results, [table()])
    assert summary[["budget", "trials_to_optimum"]].notna()["budget"].sum() == 2
    assert summary["budget"].tolist() == [10, 20]


def test_the_longest_study_of_a_seed_is_measured() -> None:
    results = [study(range(5)), study(range(100, 130))]
    summary = summarize(results, [table()], {TEXT: Budgets((5,))})
    assert summary["precision"].tolist() == [5.0]


def test_budgets_are_those_of_the_problem() -> None:
    other = table(dataset="other")
    results = [study(range(5)), study(range(9), on=other)]
    summary = summarize(results, [table(), other])
    assert summary[["problem", "budget"]].to_numpy().tolist() == [[TEXT, 5], [other.text, 9]]


def test_a_capped_study_is_marked() -> None:
    summary = summarize([study([1, 1, 2], budget=9)], [table()])
    assert summary["capped"].tolist() == [True]


def test_by_trials_a_repeat_counts() -> None:
    # Rows 3, 3, 189: two distinct evaluations reach row 189, two trials do not.
    repeating = [study([3, 3, 189, 5], label="a", budget=3)]
    distinct, trials = (
        summarize(repeating, [table()], {TEXT: Budgets((2,), by_trials=by_trials)}).iloc[0]
        for by_trials in (False, True)
    )
    assert (distinct["unit"], trials["unit"]) == ("evaluations", "trials")
    assert (distinct["best_value"], trials["best_value"]) == (190.0, 4.0)
    assert distinct["repeat_share"] == pytest.approx(100 / 3)
    assert trials["repeat_share"] == 50.0
    assert distinct["cpu_seconds"] == pytest.approx(0.001 + 0.002 + 0.003 + 3 * 0.001)
    assert trials["cpu_seconds"] == pytest.approx(0.001 + 0.002 + 2 * 0.001)


def test_another_table_than_the_studys_is_refused() -> None:
    with pytest.raises(ValueError, match="must be those its studies ran on"):
        summarize([study([1])], [table([1.0, 2.0])])
    with pytest.raises(ValueError, match="must be given"):
        summarize([study([1])], [])


def test_one_label_for_two_samplers_is_refused() -> None:
    results = [study([1], target="tpe"), study([1], target="random", seed=1)]
    with pytest.raises(ValueError, match="A label must name one sampler"):
        summarize(results, [table()])


def test_a_curve_ends_at_the_number_of_the_summary() -> None:
    results = [study([3, 3, 189, 5, 190], budget=4)]
    (snapshot,) = snapshots(results)
    row = summarize(results, [table()]).iloc[0]
    for metric in METRICS[Kind.TABLE]:
        if metric.curve is not None:
            curve = metric.curve(snapshot, table())
            assert curve.shape == (4,)
            assert curve[-1] == row[metric.quantities[0].name]


def test_every_number_has_a_unit_and_is_found_by_its_name() -> None:
    for kind, metrics in METRICS.items():
        for metric in metrics:
            for quantity in metric.quantities:
                assert metric_of(quantity.name, kind) is metric
                assert QUANTITIES[quantity.name] == quantity
                assert quantity.unit or quantity.name == "best_value"
    with pytest.raises(ValueError, match="A function must have the metric 'precision'"):
        metric_of("precision", Kind.FUNCTION)


@pytest.mark.parametrize(("n_rows", "k"), [(5, 1), (192, 19), (999, 99), (1000, 100), (9999, 100)])
def test_k_is_100_and_at_most_a_tenth_of_the_table(n_rows: int, k: int) -> None:
    benchmark = TabularBenchmark(
        "made/up",
        pd.DataFrame({"x": range(n_rows)}),
        np.arange(n_rows, dtype=float),
        pd.DataFrame(),
    )
    assert benchmark.n_top == k


def test_precision_counts_the_k_of_its_problem() -> None:
    # Values grow with the row: of rows 195 .. 199 all are in the top 10, of 150 .. 159 none.
    results = [study([*range(150, 160), *range(195, 200)])]
    ten = with_top(table(), 10)
    summary = summarize(results, [ten], {TEXT: Budgets((10, 15))})
    assert summary["precision"].tolist() == [0.0, 50.0]
    assert summary["top"].tolist() == [10, 10]
    assert quantity_of("precision", summary).title == "P@10 %"
    both = pd.concat([summary, summarize(results, [table()], {TEXT: Budgets((10, 15))})])
    assert quantity_of("precision", both).title == "P@k %"
    with pytest.raises(ValueError, match="must be at most the 200 of"):
        with_top(table(), 201)


def test_the_ceiling_of_a_budget() -> None:
    assert ceiling(100, 50, "evaluations") == "With 50 evaluations P@100 is at most 50 %."
    assert ceiling(19, 12, "trials") == "With 12 trials P@19 is at most 63.2 %."
    assert ceiling(100, 100, "evaluations") == ""
