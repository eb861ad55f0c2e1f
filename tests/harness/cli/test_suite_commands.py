"""Suites and problems of every kind through the one command."""

from __future__ import annotations

from pathlib import Path

import optuna
import pandas as pd
import pytest
from typer.testing import CliRunner

from harness import samplers
from harness.cli import app
from harness.cli.compare import usual_samplers
from harness.run.store import Store
from harness.suites import SUITES


def call(*arguments: str, code: int = 0) -> str:
    result = CliRunner(env={"COLUMNS": "80", "TERM": "dumb"}).invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result.output


SMALL = ["-s", "tpe", "-s", "random", "--seeds", "2", "--n-jobs", "1"]

needs_optuna_5 = pytest.mark.skipif(
    not hasattr(optuna.Trial, "set_constraint"), reason="set_constraint came with Optuna 5"
)


def test_several_problems_are_ranked_within_80_columns(tmp_path: Path) -> None:
    arguments = ["compare", "hpo/car", "functions/branin", *SMALL, "-s", "nsgaii", "--seeds-of",
                 "nsgaii=1", "--budget", "12", "--output", str(tmp_path)]  # fmt: skip
    output = call(*arguments)
    assert max(map(len, output.splitlines())) <= 80
    for text in (
        "mean rank",
        "Friedman",
        "Wilcoxon",
        "functions/branin",
        "hpo/car",
    ):
        assert text in output
    summary = pd.read_csv(tmp_path / "summary.csv")
    assert summary.groupby("sampler").size().to_dict() == {"tpe": 4, "random": 4, "nsgaii": 2}
    page = (tmp_path / "dashboard.html").read_text(encoding="utf-8")
    for text in ("has the best mean rank over the 2 problems", "hpo/car", "functions/branin"):
        assert text in page
    assert "10 of 10 studies are already done" in call(*arguments)
    assert "functions/branin" in call("report", str(tmp_path))
    assert len(pd.read_csv(tmp_path / "summary.csv")) == len(summary)


def test_by_trials_a_study_stops_at_them_and_those_by_evaluations_are_taken_over(
    tmp_path: Path,
) -> None:
    common = ["compare", "hpo/car", "-s", "tpe", "--n-jobs", "1", "--budget", "12",
              "--output", str(tmp_path)]  # fmt: skip
    call(*common, "--seeds", "1")
    output = call(*common, "--seeds", "2", "--by-trials")
    assert "1 of 2 studies are already done" in output
    assert "12 trials, 2 seeds" in output
    lengths = sorted(len(r.asked) for r in Store(tmp_path).load_all() if r.cell.by_trials)
    assert lengths == [12]


def test_tradeoffs_are_told_by_hypervolumes_within_80_columns(tmp_path: Path) -> None:
    output = call("compare", "nasbench201/cifar10-latency", *SMALL, "--budget", "12",
                  "--output", str(tmp_path))  # fmt: skip
    assert max(map(len, output.splitlines())) <= 80
    assert "hypervolume %" in output
    summary = pd.read_csv(tmp_path / "summary.csv")
    assert summary["hypervolume"].between(0, 100).all()
    assert set(summary["unit"]) == {"trials"}
    assert len(summary) == 4


@needs_optuna_5
def test_limits_are_told_by_feasible_bests_within_80_columns(tmp_path: Path) -> None:
    output = call("compare", "nasbench201-limited/cifar10-params", *SMALL, "--budget", "12",
                  "--output", str(tmp_path))  # fmt: skip
    assert max(map(len, output.splitlines())) <= 80
    assert "feasible %" in output
    assert len(pd.read_csv(tmp_path / "summary.csv")) == 4


@pytest.mark.parametrize(
    ("problem", "title"),
    [("functions/branin", "functions/branin, 8 evaluations, 4 in flight, 2 seeds"),
     ("nasbench201/cifar10-params", "nasbench201/cifar10-params, 8 trials, 4 in flight, 2 seeds")],
)  # fmt: skip
def test_trials_in_flight_stand_in_the_titles(problem: str, title: str, tmp_path: Path) -> None:
    output = call("compare", problem, *SMALL, "--budget", "8", "--in-flight", "4",
                  "--output", str(tmp_path))  # fmt: skip
    assert title in " ".join(output.split())
    assert max(map(len, output.splitlines())) <= 80
    assert {result.cell.in_flight for result in Store(tmp_path).load_all()} == {4}
    assert set(pd.read_csv(tmp_path / "summary.csv")["in_flight"]) == {4}


def test_the_name_of_a_suite_is_a_command(tmp_path: Path) -> None:
    common = ["-s", "random", "--seeds", "1", "--n-jobs", "1", "--budget", "3", "--output",
              str(tmp_path)]  # fmt: skip
    first = call("tradeoffs", *common)
    assert "3 of 3 studies are already done" in call("compare", "tradeoffs", *common)
    for name in ("latency", "params", "train_time"):
        assert f"nasbench201/cifar10-{name}" in first


def test_a_sampler_is_left_out_where_it_cannot_be_used(tmp_path: Path) -> None:
    common = ["-s", "random-distinct", "--seeds", "1", "--budget", "4", "--n-jobs", "1",
              "--output", str(tmp_path)]  # fmt: skip
    chosen = ["nasbench201/cifar10-latency", "fronts/zdt1"]
    output = " ".join(call("compare", *chosen, "-s", "random", *common).split())
    assert "random-distinct is left out where it cannot be used: fronts/zdt1" in output
    summary = pd.read_csv(tmp_path / "summary.csv")
    assert summary.groupby("sampler").size().to_dict() == {"random": 2, "random-distinct": 1}
    refused = call("compare", "fronts/zdt1", *common, code=2)
    assert "has no table" in " ".join(refused.replace("│", " ").split())


def test_a_sampler_of_one_objective_is_left_out_of_trade_offs(tmp_path: Path) -> None:
    pytest.importorskip("cmaes")
    common = ["-s", "cmaes", "--seeds", "1", "--budget", "2", "--n-jobs", "1", "--output",
              str(tmp_path)]  # fmt: skip
    chosen = ["fronts/zdt1", "own_objects:two", "hard/levy-5d", "--direction", "minimize,minimize"]
    output = " ".join(call("compare", *chosen, "-s", "random", *common).split())
    assert "cmaes is left out where it cannot be used: fronts/zdt1, own_objects:two." in output
    assert "CmaEsSampler cannot be used." in output
    summary = pd.read_csv(tmp_path / "summary.csv")
    assert summary.groupby("sampler").size().to_dict() == {"random": 3, "cmaes": 1}
    refused = " ".join(call("compare", "fronts/zdt1", *common, code=2).replace("│", " ").split())
    assert "The sampler 'cmaes' cannot search fronts/zdt1" in refused


def test_a_samplers_own_pick_is_shown_where_there_is_one(tmp_path: Path) -> None:
    common = ["--seeds", "1", "--budget", "12", "--n-jobs", "1", "--output", str(tmp_path)]
    assert "own pick" in call("compare", "hard/sphere-noise-1", "-s", "zaps", *common)
    assert "own pick" not in call("compare", "hard/levy-5d", "-s", "zaps", *common)
    assert "own pick" not in call("compare", "hard/sphere-noise-1", "-s", "random", *common)


def test_a_suite_names_what_it_leaves_out_where_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("cmaes")
    hard = SUITES["hard"]
    assert usual_samplers(hard) == [*hard.samplers, "cmaes"]
    monkeypatch.setattr(samplers, "how_to_have", lambda name: f"pip install {name}")
    assert usual_samplers(hard) == list(hard.samplers)
    assert "cmaes is left out" in capsys.readouterr().out


@needs_optuna_5
def test_problems_of_every_kind_are_compared_and_exported_together(tmp_path: Path) -> None:
    chosen = ["nasbench201/cifar10@package", "functions/conditional", "nasbench201/cifar10-params",
              "nasbench201-limited/cifar10-params"]  # fmt: skip
    output = call("compare", *chosen, "-s", "random", "--seeds", "1", "--budget", "9",
                  "--first-seed", "3", "--n-jobs", "1", "--output", str(tmp_path))  # fmt: skip
    page = (tmp_path / "dashboard.html").read_text(encoding="utf-8")
    for text in ("P@100 %", "regret %", "hypervolume %", "feasible %"):
        assert text in output
        assert f">{text}</button>" in page
    summary = pd.read_csv(tmp_path / "summary.csv").set_index("problem")
    assert list(summary.index) == chosen
    assert set(summary["seed"]) == {3}
    storage = optuna.storages.RDBStorage(f"sqlite:///{tmp_path / 'studies.db'}")
    call("export", str(tmp_path), "--storage", str(storage.url))
    studies = {
        study.user_attrs["problem"]: study
        for study in (
            optuna.load_study(study_name=name, storage=storage)
            for name in optuna.get_all_study_names(storage)
        )
    }
    assert {name: len(study.trials) for name, study in studies.items()} == dict.fromkeys(chosen, 9)
    assert len(studies[chosen[2]].directions) == 2
    best = summary["best_value"]
    assert studies[chosen[0]].best_value == pytest.approx(best[chosen[0]])
    assert studies[chosen[1]].best_value == pytest.approx(best[chosen[1]])
    feasible = [t.value for t in studies[chosen[3]].trials if t.constraints["params"] <= 0]
    assert len(feasible) == pytest.approx(9 * summary["feasible_share"][chosen[3]] / 100)
    storage.engine.dispose()
