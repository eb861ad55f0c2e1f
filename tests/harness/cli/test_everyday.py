"""Regrets, mean ranks, hypervolumes and feasible bests, worked by hand."""

from __future__ import annotations

import math
from pathlib import Path

from harness.report.everyday import leaderboard
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from toy import study
from toy import table
from typer.testing import CliRunner

from harness import everyday
from harness import feasibility
from harness import pareto
from harness import ranks
from harness.cli import app
from harness.experiment import CellResult
from harness.problems import functions
from harness.problems import tradeoffs
from harness.problems.limits import Limited
from harness.problems.tradeoffs import Tradeoff
from harness.run.runner import make_cells
from harness.run.runner import run_cell
from harness.run.store import Store
from harness.samplers import make_spec


def losses(**columns: list[float]) -> pd.DataFrame:
    return pd.DataFrame(columns, index=[f"p{i}" for i in range(len(next(iter(columns.values()))))])


def summary_of(frame: pd.DataFrame) -> pd.DataFrame:
    long = frame.rename_axis(index="problem").reset_index()
    return long.melt("problem", var_name="sampler", value_name="regret").assign(
        seed=0, cpu_seconds=1.0, repeat_share=0.0
    )


def test_mean_ranks_by_hand_with_shared_ties() -> None:
    frame = losses(a=[1.0, 5.0, 2.0], b=[2.0, 5.0, 1.0], c=[3.0, 7.0, 1.0])
    assert ranks.ranks(frame).to_numpy().tolist() == [[1, 2, 3], [1.5, 1.5, 3], [3, 1.5, 1.5]]
    board = leaderboard(summary_of(frame), frame)
    assert board["mean_rank"].to_dict() == pytest.approx({"a": 5.5 / 3, "b": 5 / 3, "c": 7.5 / 3})
    assert list(board.index) == ["b", "a", "c"]
    assert board["n_first"].to_dict() == {"a": 2, "b": 2, "c": 1}


def test_friedman_by_hand() -> None:
    # Ranks 1, 2, 3 on each of four problems: chi2 = 12 / (4 3 4) (4^2 + 8^2 + 12^2) - 3 4 4 = 8.
    frame = losses(a=[1.0] * 4, b=[2.0] * 4, c=[3.0] * 4)
    assert ranks.friedman_p(frame) == pytest.approx(stats.chi2.sf(8, 2))
    assert math.isnan(ranks.friedman_p(frame[["a", "b"]]))
    assert ranks.friedman_p(losses(a=[1.0] * 4, b=[1.0] * 4, c=[1.0] * 4)) == 1.0


def test_pairs_by_hand() -> None:
    # Six differences of one sign: 2 / 2^6. Holm: the smallest of three times three.
    frame = losses(
        a=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        b=[2.0, 4.0, 6.0, 8.0, 10.0, 12.0],
        c=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    )
    pairs = ranks.pairs(frame).set_index(["sampler_a", "sampler_b"])
    assert pairs.loc[("a", "b"), "p_value"] == pytest.approx(2 / 2**6)
    assert pairs.loc[("a", "b"), "p_holm"] == pytest.approx(6 / 2**6)
    assert pairs.loc[("a", "b"), ["n_better", "n_worse", "n_equal"]].tolist() == [6, 0, 0]
    assert pairs.loc[("a", "c"), "p_value"] == 1.0
    assert pairs.loc[("a", "c"), "n_equal"] == 6
    assert pairs.loc[("b", "c"), "n_worse"] == 6


def test_a_problem_that_a_sampler_lacks_is_left_out() -> None:
    summary = pd.DataFrame(
        [("p", "a", 1.0), ("p", "a", 3.0), ("p", "b", 5.0), ("q", "a", 1.0)],
        columns=["problem", "sampler", "regret"],
    )
    assert ranks.mean_losses(summary).to_dict("index") == {"p": {"a": 2.0, "b": 5.0}}


def test_normalized_regret_by_hand() -> None:
    # Branin: the median configuration is 100, the optimum 0, whatever their values.
    branin = functions.load("branin")
    assert everyday.normalized_regret(branin.typical, branin) == pytest.approx(100.0)
    assert everyday.normalized_regret(branin.optimum, branin) == 0.0
    # A table of 1 .. 200: optimum 200, median 100.5; a best of 190 is 10 / 99.5 away.
    summary = everyday.summarize([study([3, 189, 7], label="a")], [table()], 3)
    assert summary["best_value"].tolist() == [190.0]
    assert summary["regret"].item() == pytest.approx(1000 / 99.5)


def test_by_trials_a_repeat_counts() -> None:
    # Rows 3, 3, 189: two distinct evaluations reach row 189, two trials do not.
    repeating = [study([3, 3, 189, 5], label="a", budget=3)]
    distinct, trials = (
        everyday.summarize(repeating, [table()], 2, by_trials=by_trials).iloc[0]
        for by_trials in (False, True)
    )
    assert (distinct["best_value"], trials["best_value"]) == (190.0, 4.0)
    assert distinct["repeat_share"] == pytest.approx(100 / 3)
    assert trials["repeat_share"] == 50.0
    assert distinct["cpu_seconds"] == pytest.approx(0.001 + 0.002 + 0.003 + 3 * 0.001)
    assert trials["cpu_seconds"] == pytest.approx(0.001 + 0.002 + 2 * 0.001)


def test_a_budget_of_trials_ends_a_study_that_repeats_itself() -> None:
    (problem, spec) = tradeoffs.load("cifar10-params"), make_spec("odd_samplers:Stubborn")
    (cell,) = make_cells([problem], [spec], [0], [7], by_trials=True)
    result = run_cell(cell)
    assert len(result.asked) == 7
    summary = pareto.summarize([result], [problem], 7).iloc[0]
    assert summary["repeat_share"] == pytest.approx(600 / 7)
    (by_evaluations,) = make_cells([problem], [spec], [0], [7])
    assert by_evaluations.key != cell.key


def test_a_study_on_a_function_is_read_off_at_fewer_evaluations() -> None:
    problem = functions.load("rosenbrock-log")
    (cell,) = make_cells([problem], [make_spec("random")], [0], [20])
    result = run_cell(cell)
    for budget in (1, 5, 20):
        summary = everyday.summarize([result], [problem], budget)
        assert summary["best_value"].item() == min(result.values[:budget])


def test_the_17_problems() -> None:
    assert len(everyday.NAMES) == 17
    with pytest.raises(ValueError, match="must be one of"):
        everyday.load("sphere")


def test_the_front_by_hand() -> None:
    points = np.array([[2.0, 2.0], [1.0, 3.0], [3.0, 1.0], [2.0, 3.0], [1.0, 4.0], [2.0, 2.0]])
    assert pareto.front(points).tolist() == [1, 0, 2]


def test_the_hypervolume_by_hand() -> None:
    # Three steps under (5, 6): widths 4, 3, 1 and heights 1, 2, 2; (4.5, 5.5) is dominated and
    # (6, 0) beyond the reference.
    points = np.array([[1.0, 5.0], [2.0, 3.0], [4.0, 1.0], [4.5, 5.5], [6.0, 0.0]])
    assert pareto.hypervolume(points, (5.0, 6.0)) == 4 * 1 + 3 * 2 + 1 * 2
    assert pareto.hypervolume(points[-1:], (5.0, 6.0)) == 0.0


def test_the_hypervolume_is_that_of_optuna() -> None:
    private = pytest.importorskip("optuna._hypervolume.wfg")
    points = np.random.default_rng(0).random((50, 2))
    ours = pareto.hypervolume(points, (1.1, 1.1))
    assert ours == pytest.approx(private.compute_hypervolume(points, np.array([1.1, 1.1])))


def four(costs: list[float]) -> Tradeoff:
    return Tradeoff("tradeoffs", table([1.0, 2.0, 3.0, 0.0]), "cost", np.array(costs))


def results_on(problem: Tradeoff | Limited, asked: list[int]) -> list[CellResult]:
    return [study(asked, on=problem)]  # type: ignore[arg-type]


def test_a_share_of_the_true_front_by_hand() -> None:
    # The front is rows 0, 1, 2 at (1, 0), (0.5, 0.5) and (0, 1) once scaled; under (1.1, 1.1) it
    # has 1.1 * 0.1 + 0.6 * 0.5 + 0.1 * 0.5 = 0.46, and the middle alone has 0.6^2.
    problem = four([1.0, 2.0, 3.0, 4.0])
    summary = pareto.summarize(results_on(problem, [1, 3, 1]), [problem], 2).iloc[0]
    assert summary["hypervolume"] == pytest.approx(100 * 0.36 / 0.46)
    assert summary["on_front"] == 1
    assert summary["repeat_share"] == 0.0  # the repeat came after the second distinct row
    everything = pareto.summarize(results_on(problem, [0, 1, 2, 3]), [problem], 4).iloc[0]
    assert everything["hypervolume"] == pytest.approx(100.0)


def test_objectives_that_do_not_conflict_have_no_front() -> None:
    with pytest.raises(ValueError, match="must conflict"):
        pareto.scaled(np.array([[0.0, 0.0], [1.0, 1.0]]))


def test_the_best_feasible_by_hand() -> None:
    # The lower quartile of 1, 2, 3, 4 is 1.75: only row 0 of value 10 is feasible.
    problem = Limited("limits", table([10.0, 20.0, 30.0, 5.0]), "cost", np.arange(1.0, 5.0))
    assert problem.limit == 1.75
    assert problem.optimum == 10.0
    missed, found = (
        feasibility.summarize(results_on(problem, asked), [problem], 3).iloc[0]
        for asked in ([1, 2, 1, 3], [1, 0, 0, 2])
    )
    assert missed["infeasible_share"] == 100.0
    assert found["infeasible_share"] == 50.0
    assert found["regret"] == 0.0
    assert found["found_optimum"] == 100.0


def call(*arguments: str, code: int = 0) -> str:
    result = CliRunner(env={"COLUMNS": "80", "TERM": "dumb"}).invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result.output


SMALL = ["-s", "tpe", "-s", "random", "--seeds", "2", "--n-jobs", "1"]


def test_everyday_prints_ranks_within_80_columns_and_says_what_the_page_lacks(
    tmp_path: Path,
) -> None:
    arguments = ["everyday", *SMALL, "-s", "nsgaii", "--seeds-of", "nsgaii=1", "--budget", "12",
                 "--problem", "car", "--problem", "branin", "--output", str(tmp_path)]  # fmt: skip
    output = call(*arguments)
    assert max(map(len, output.splitlines())) <= 80
    for text in ("mean rank", "Friedman", "Wilcoxon", "branin", "car", "no top 100"):
        assert text in output
    summary = pd.read_csv(tmp_path / "everyday.csv")
    assert summary.groupby("sampler").size().to_dict() == {"tpe": 4, "random": 4, "nsgaii": 2}
    assert "hpo / car" in (tmp_path / "everyday.html").read_text(encoding="utf-8")
    assert "10 of 10 studies are there already" in call(*arguments)
    left_out = call("report", str(tmp_path))
    assert "5 results on other problems than tables are left out" in " ".join(left_out.split())


def test_everyday_by_trials_stops_at_them_and_takes_over_studies_by_evaluations(
    tmp_path: Path,
) -> None:
    common = ["everyday", "-s", "tpe", "--n-jobs", "1", "--budget", "12", "--problem", "car",
              "--output", str(tmp_path)]  # fmt: skip
    call(*common, "--seeds", "1")
    output = call(*common, "--seeds", "2", "--by-trials")
    assert "1 of 2 studies are there already" in output
    lengths = sorted(len(r.asked) for r in Store(tmp_path).load_all() if r.cell.by_trials)
    assert lengths == [12]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--seeds-of", "gp=3"], "must be LABEL=N"),
     (["--seeds-of", "tpe=3", "--seeds-of", "tpe=4"], "each sampler once, but got 'tpe' twice"),
     (["--problem", "sphere"], "must be one of"),
     (["--source", "web"], "must be one of"),
     (["-s", "rea", "--problem", "branin"], "has no table")],
)  # fmt: skip
def test_a_mistake_is_told_before_anything_runs(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    output = call("everyday", *arguments, "--output", str(tmp_path / "none"), code=2)
    assert message in " ".join(output.replace("│", " ").split())
    assert not (tmp_path / "none").exists()


def test_tradeoffs_prints_hypervolumes_within_80_columns(tmp_path: Path) -> None:
    output = call("tradeoffs", *SMALL, "--problem", "cifar10-latency", "--budget", "12",
                  "--output", str(tmp_path))  # fmt: skip
    assert max(map(len, output.splitlines())) <= 80
    assert "hypervolume %" in output
    summary = pd.read_csv(tmp_path / "tradeoffs.csv")
    assert summary["hypervolume"].between(0, 100).all()
    assert len(summary) == 4


@pytest.mark.skipif(
    not hasattr(__import__("optuna").Trial, "set_constraint"),
    reason="set_constraint came with Optuna 5",
)
def test_limits_prints_feasible_bests_within_80_columns(tmp_path: Path) -> None:
    output = call("limits", *SMALL, "--problem", "cifar10-params", "--budget", "12", "--output",
                  str(tmp_path))  # fmt: skip
    assert max(map(len, output.splitlines())) <= 80
    assert "infeasible %" in output
    assert len(pd.read_csv(tmp_path / "limits.csv")) == 4


@pytest.mark.parametrize(
    ("command", "problem", "title"),
    [("everyday", "branin", "Regret after 8 evaluations, 4 in flight"),
     ("tradeoffs", "cifar10-params", "cifar10-params, 8 trials, 4 in flight, 2 seeds")],
)  # fmt: skip
def test_trials_in_flight_stand_in_the_titles(
    command: str, problem: str, title: str, tmp_path: Path
) -> None:
    output = call(command, *SMALL, "--problem", problem, "--budget", "8", "--in-flight", "4",
                  "--output", str(tmp_path))  # fmt: skip
    assert title in " ".join(output.split())
    assert max(map(len, output.splitlines())) <= 80
    assert {result.cell.in_flight for result in Store(tmp_path).load_all()} == {4}
    assert set(pd.read_csv(tmp_path / f"{command}.csv")["in_flight"]) == {4}
