"""Views over the course of studies, against numbers worked by hand.

On the tables of ``on`` the value of row r is r, of 0 .. 200: the optimum is 200 and the median
100, so that the regret of row r is 200 - r percent. Targets are regrets of 100, 63.1, 39.8, 25.1,
15.8, 10, 6.31, 3.98, 2.51, 1.58, 1, 0.631, ..., 0.01.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from toy import study
from toy import table

from harness.experiment import CellResult
from harness.metrics import Snapshot
from harness.metrics.progress import Axis
from harness.metrics.progress import known_axes
from harness.metrics.progress import progress
from harness.problems import TabularBenchmark
from harness.report.axes import axis_scale
from harness.report.drawn import Drawn
from harness.report.figures_progress import progress_figure
from harness.report.figures_progress import progress_numbers
from harness.report.palette import sampler_styles
from harness.report.rank_curves import rank_curves
from harness.report.runtimes import expected_runtimes
from harness.report.runtimes import profile
from harness.report.runtimes import reached
from harness.report.runtimes import runtimes
from harness.report.runtimes import sampled
from harness.report.runtimes import targets_of
from harness.report.view_panels import runtime_panels


def on(dataset: str = "p") -> TabularBenchmark:
    return table(np.arange(201.0).tolist(), dataset)


def snapshot(rows: Sequence[int], *, budget: int = 4, by_trials: bool = False) -> Snapshot:
    return Snapshot(study(rows, on=on()), budget, by_trials)


def toy() -> list[Drawn]:
    rows = {
        "p": {"a": [100, 150, 190, 200], "b": [50, 190, 191, 199], "c": [0, 1, 2, 3]},
        "q": {"a": [0, 100, 120, 130], "b": [100, 110, 199, 200], "c": [150, 151, 152, 153]},
    }
    return [
        Drawn(
            on(name),
            "evaluations",
            4,
            {
                label: [Snapshot(study(asked, label=label, on=on(name)), 4)]
                for label, asked in by_label.items()
            },
        )
        for name, by_label in rows.items()
    ]


def column(frame: pd.DataFrame, label: str, *names: str) -> list[list[float]]:
    return frame.loc[frame["sampler"] == label, list(names)].to_numpy().tolist()


def test_mean_ranks_at_each_evaluation_by_hand() -> None:
    # p: a 1 2 2 1, b 2 1 1 2, c 3 3 3 3; q: a 3 3 3 3, b 2 2 1 1, c 1 1 2 2.
    curves = rank_curves(toy(), "regret", Axis.STEPS)
    assert column(curves, "a", "at", "mean_rank") == [[1, 2], [2, 2.5], [3, 2.5], [4, 2]]
    assert column(curves, "b", "mean_rank") == [[2], [1.5], [1], [1.5]]
    assert column(curves, "c", "mean_rank") == [[2], [2], [2.5], [2.5]]
    assert curves[["low", "high"]].isna().all(axis=None)


def test_the_band_is_that_of_a_mean_over_problems() -> None:
    # Ten problems like p and ten like q: the rank of a at the end is 1 or 3, so that its mean over
    # 20 has the standard error 1 / sqrt(20) = 0.22 and c, between them, half of that.
    problems = [
        replace(drawn, problem=on(f"{drawn.problem.text[6]}{copy}"))
        for drawn in toy()
        for copy in range(10)
    ]
    curves = rank_curves(problems, "regret", Axis.STEPS)
    (*_, (mean, low, high)) = column(curves, "a", "mean_rank", "low", "high")
    assert mean == 2
    assert (low, high) == (pytest.approx(2 - 1.96 * 0.224, abs=0.06), pytest.approx(4 - low))
    (*_, (mean, low, high)) = column(curves, "c", "mean_rank", "low", "high")
    assert high - low == pytest.approx(1.96 * 0.224, abs=0.06)


def test_a_sampler_without_a_result_ranks_last() -> None:
    # Their only asks end after 2 ms, so that one of them is ahead from then on.
    fast, slow = (study([row], label=label, on=on()) for row, label in ((0, "a"), (200, "b")))
    slow = replace(slow, ask_seconds=(1.999,))
    drawn = Drawn(on(), "evaluations", 1, {"a": [Snapshot(fast, 1)], "b": [Snapshot(slow, 1)]})
    curves = rank_curves([drawn], "regret", Axis.CPU)
    assert column(curves, "a", "at", "mean_rank")[0] == pytest.approx([0.002, 1])
    assert column(curves, "a", "at", "mean_rank")[-1] == pytest.approx([2.0, 2])
    assert column(curves, "b", "mean_rank")[0] == [2]


def test_shares_of_targets_by_hand() -> None:
    # Targets of 21 reached after each evaluation. p: a 1 2 6 21, b 0 6 6 11, c 0 0 0 0;
    # q: a 0 1 1 1, b 1 1 11 21, c 2 2 2 2.
    steps = reached(runtimes(toy(), "regret", Axis.STEPS))
    expected = {
        "a": [[1, 1], [2, 3], [3, 7], [4, 22]],
        "b": [[1, 1], [2, 7], [3, 17], [4, 32]],
        "c": [[1, 2], [4, 2]],
    }
    for label, points in expected.items():
        at, share = np.transpose(column(steps, label, "at", "share"))
        assert at.tolist() == [position for position, _ in points]
        np.testing.assert_allclose(share, [100 * n / 42 for _, n in points])


@pytest.mark.parametrize("label", ["a", "b", "c"])
def test_shares_are_scipys_distribution_of_censored_data(label: str) -> None:
    times = runtimes(toy(), "regret", Axis.STEPS)
    own = times[times["sampler"] == label]
    missed = own["runtime"].isna()
    data = stats.CensoredData(own["runtime"][~missed], right=own["end"][missed])
    steps = column(reached(times), label, "at", "share")
    for at, share in steps:
        assert share == pytest.approx(100 * float(stats.ecdf(data).cdf.evaluate(at)))


def test_a_study_that_ended_early_stays_in_the_count() -> None:
    # The second ended after one evaluation, without a target; Kaplan and Meier would drop it.
    snapshots = [snapshot([0, 200]), replace(snapshot([0]), budget=4)]
    times = runtimes([Drawn(on(), "evaluations", 4, {"a": snapshots})], "regret", Axis.STEPS)
    assert times.groupby("seed")["end"].max().tolist() == [2]
    assert column(reached(times), "a", "at", "share") == [[2, 50]]


def test_problems_count_alike_whatever_their_number_of_seeds() -> None:
    first, second = toy()
    seeds = [replace(first.snapshots["c"][0]) for _ in range(3)]
    drawn = [
        replace(first, snapshots={"c": seeds}),
        replace(second, snapshots={"c": second.snapshots["c"]}),
    ]
    steps = reached(runtimes(drawn, "regret", Axis.STEPS))
    assert column(steps, "c", "share")[0] == pytest.approx([100 * 2 / 42])


def test_the_profile_by_hand() -> None:
    # Runtimes (a, b, c). p: (1, 2, -), (2, 2, -), 4 of (3, 2, -), 5 of (4, 4, -), 10 of (4, -, -);
    # q: (2, 1, 1), (-, 3, 1), 9 of (-, 3, -), 10 of (-, 4, -).
    steps = profile(runtimes(toy(), "regret", Axis.STEPS))
    expected = {
        "a": [[1, 17], [1.5, 21], [2, 22], [3, 22]],
        "b": [[1, 30], [2, 31], [3, 32]],
        "c": [[1, 2], [3, 2]],
    }
    for label, points in expected.items():
        np.testing.assert_allclose(
            column(steps, label, "ratio", "share"), [[r, 100 * n / 42] for r, n in points]
        )


def test_expected_runtimes_restart_where_a_seed_missed() -> None:
    # The target 100 % after 2 and 1 evaluations: 3 / 2. The optimum after 3, and missed with 4
    # spent: (3 + 4) / 1.
    snapshots = [snapshot([0, 100, 200]), snapshot([100, 101, 102, 103])]
    times = runtimes([Drawn(on(), "evaluations", 4, {"a": snapshots})], "regret", Axis.STEPS)
    expected = expected_runtimes(times).droplevel("problem")["a"]
    assert expected[100.0] == 1.5
    assert expected.iloc[-1] == 7
    missed = runtimes(
        [Drawn(on(), "evaluations", 4, {"a": [snapshot([0])]})], "regret", Axis.STEPS
    )
    assert np.isinf(expected_runtimes(missed)["a"]).all()
    assert profile(missed).empty


def test_a_sampler_that_is_never_best_starts_at_nothing() -> None:
    drawn = Drawn(on(), "evaluations", 4, {"a": [snapshot([200])], "b": [snapshot([0, 1, 200])]})
    steps = profile(runtimes([drawn], "regret", Axis.STEPS))
    assert column(steps, "b", "ratio", "share") == [[1, 0], [3, pytest.approx(100)]]


def test_targets_of_each_quantity() -> None:
    regrets = targets_of("regret")
    assert regrets.tolist() == targets_of("gap").tolist()
    assert regrets[[0, 5, 10, 15, 20]] == pytest.approx([100, 10, 1, 0.1, 0.01])
    assert targets_of("precision").tolist() == [95 - 5 * n for n in range(20)]
    assert targets_of("hypervolume")[[0, -1]] == pytest.approx([50, 0.1])


def test_targets_of_a_share_that_is_found() -> None:
    # One of the best 100 is 1 %: the fifth brings the target of 5 %.
    drawn = Drawn(on(), "evaluations", 6, {"a": [snapshot([0, *range(196, 201)], budget=6)]})
    times = runtimes([drawn], "precision", Axis.STEPS)
    assert times["runtime"].tolist()[0] == 6
    assert times["runtime"].isna().sum() == 19


def test_the_text_of_a_figure_is_about_its_quantity() -> None:
    # A page shows the problems of several suites in the same cards, one for each name.
    styles = sampler_styles("abc")
    panels = [
        panel
        for metric in ("precision", "regret", "gap")
        for panel in runtime_panels(toy(), metric, styles)
    ]
    sentences = {panel.name: panel.sentence for panel in panels}
    assert set(sentences) == {"targets-precision", "targets-regret", "profile"}
    assert (
        "20 targets per problem: P@100 of 5 %, 10 %, ..., 100 %." in sentences["targets-precision"]
    )
    assert "21 targets per problem: regrets from 100 %" in sentences["targets-regret"]
    assert {panel.axis for panel in panels} == {Axis.STEPS, Axis.CPU}
    steps = next(panel for panel in panels if panel.key == "targets-precision@steps")
    assert list(steps.data) == ["sampler", "evaluations", "share", "ended"]


def timed(result: CellResult, *seconds: float) -> CellResult:
    return replace(result, seconds=seconds)


def test_progress_over_cpu_seconds_skips_repeats() -> None:
    # Toy asks take 1, 2, 3 ms and tells 1 ms: trials end after 2, 5 and 9 ms.
    result = study([150, 150, 190], on=on())
    followed = progress(Snapshot(result, 2), on(), "regret", Axis.CPU)
    np.testing.assert_allclose(followed.at, [0.002, 0.009])
    np.testing.assert_allclose(followed.losses, [50, 10])
    by_trials = progress(Snapshot(result, 3, by_trials=True), on(), "regret", Axis.CPU)
    np.testing.assert_allclose(by_trials.at, [0.002, 0.005, 0.009])
    assert followed.until(np.array([0.001, 0.002, 1.0])).tolist() == [np.inf, 50, 10]


def test_trials_of_several_workers_count_in_the_order_of_their_ends() -> None:
    # In the order of their ends the rows are 190, 150, 190 again, 200; the third is no evaluation.
    result = timed(study([150, 190, 190, 200], on=on()), 2.0, 1.0, 3.0, 4.0)
    for budget, ends, losses in ((2, [1, 2], [10, 10]), (3, [1, 2, 4], [10, 10, 0])):
        followed = progress(Snapshot(result, budget), on(), "regret", Axis.CLOCK)
        assert followed.at.tolist() == ends
        assert followed.losses.tolist() == losses
        steps = progress(Snapshot(result, budget), on(), "regret", Axis.STEPS)
        assert steps.at.tolist() == list(range(1, budget + 1))
        assert steps.losses.tolist() == losses
    # Asks take 1, 2, 3, 4 ms and tells 1 ms: those of the trials, as they end, 3, 2, 4 and 5 ms.
    spent = progress(Snapshot(result, 3), on(), "regret", Axis.CPU)
    np.testing.assert_allclose(spent.at, [0.003, 0.005, 0.014])


def test_only_axes_on_which_every_study_is_known_are_offered() -> None:
    known = timed(study([1, 2], on=on()), 1.0, 2.0)
    assert known_axes([Snapshot(known, 2)]) == list(Axis)
    unmeasured = replace(known, ask_seconds=(np.nan, np.nan))
    assert known_axes([Snapshot(known, 2), Snapshot(unmeasured, 2)]) == [Axis.STEPS, Axis.CLOCK]
    assert known_axes([Snapshot(study([1, 2]), 2)]) == [Axis.STEPS, Axis.CPU]
    assert known_axes([Snapshot(timed(known, 0.0, 0.0), 2)]) == [Axis.STEPS, Axis.CPU]


def test_curves_are_thinned_without_losing_their_ends() -> None:
    many = pd.DataFrame({"sampler": "a", "at": np.arange(1.0, 2_001.0), "share": 0.05})
    many["share"] = many["share"].cumsum()
    few = sampled(many, "at", whole=True)
    assert len(few) <= 120
    assert few.iloc[0].tolist() == ["a", 1.0, pytest.approx(0.05), False]
    assert few.iloc[-1].tolist() == ["a", 2_000.0, pytest.approx(100), True]
    np.testing.assert_allclose(few["share"], 0.05 * few["at"])


def test_a_quantity_over_time_is_that_of_all_studies_by_then() -> None:
    # Regrets: 50 after 1 s and 10 after 3 s; 40 after 2 s and 0 after 4 s. One has none before.
    results = [
        timed(study([150, 190], on=on()), 1.0, 3.0),
        timed(study([160, 200], seed=1, on=on()), 2.0, 4.0),
    ]
    drawn = Drawn(on(), "evaluations", 2, {"a": [Snapshot(each, 2) for each in results]})
    styles = sampler_styles(["a"])
    numbers = progress_numbers(drawn, styles, "regret", Axis.CLOCK).set_index("seconds")
    assert numbers.index[[0, -1]].tolist() == [2, 4]
    assert numbers.loc[2, "geometric_mean"] == pytest.approx((50 * 40) ** 0.5)
    assert numbers.loc[4, "geometric_mean"] == pytest.approx((10 * 1e-5) ** 0.5)
    between = numbers[(numbers.index > 3) & (numbers.index < 4)]
    np.testing.assert_allclose(between["geometric_mean"], (10 * 40) ** 0.5)
    shares = progress_numbers(drawn, styles, "precision", Axis.CLOCK)
    assert shares["mean"].iloc[[0, -1]].tolist() == [1, 2]
    figure = progress_figure(numbers.reset_index(), drawn, styles, "regret", Axis.CLOCK)
    assert figure.layout.xaxis.title.text == "wall-clock time (s)"


def test_a_long_time_is_in_hours() -> None:
    assert axis_scale(Axis.CLOCK, "trials", 7_199) == (1, "wall-clock time (s)")
    assert axis_scale(Axis.CLOCK, "trials", 7_200) == (1 / 3600, "wall-clock time (h)")
    assert axis_scale(Axis.STEPS, "trials", 10_000) == (1, "trials")
