"""A user's own problems from the command line, with real files."""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from harness.cli import app
from harness.run.store import Store


def call(*arguments: str, code: int = 0) -> str:
    result = CliRunner(env={"COLUMNS": "80", "TERM": "dumb"}).invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result.output


def flat(output: str) -> str:
    return " ".join(output.replace("│", " ").split())


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Working directory with a file of 192 results."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    grid = pd.MultiIndex.from_product(
        [[1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2], [16, 32, 64, 128], [*"abcdefgh"]],
        names=["lr", "width", "act"],
    ).to_frame(index=False)
    grid["score"] = -((np.log10(grid["lr"]) + 2.5) ** 2) + rng.normal(scale=0.1, size=192)
    grid["flops"] = 10 * grid["width"] ** 2
    grid["latency"] = grid["width"] / 4 + rng.random(192)
    grid.to_csv("runs.csv", index=False)
    return tmp_path


FILE = ["compare", "runs.csv", "--params", "lr,width,act", "--objective", "score"]


def test_a_file_of_results_is_compared_by_worker_processes(here: Path) -> None:
    output = call(*FILE, "--proxies", "flops", "--budget", "12", "--seeds", "2", "--n-jobs", "2")
    for text in ("runs.csv: score, 12 trials, 2 seeds", "192 configurations", "regret %"):
        assert text in flat(output)
    tables, _, _ = output.partition("Again:")  # Lines of a file to copy are as long as they are.
    assert max(map(len, tables.splitlines())) <= 80
    summary = pd.read_csv("zaps-results/summary.csv")
    assert summary.groupby("sampler").size().to_dict() == {"zaps": 2, "tpe": 2, "random": 2}
    again = call(*FILE, "--proxies", "flops", "--budget", "12", "--seeds", "2")
    assert "6 of 6 studies are already done" in again


def test_the_k_of_precision_is_chosen_and_its_ceiling_is_told(here: Path) -> None:
    size = ["-s", "tpe", "-s", "random", "--budget", "4", "--seeds", "2", "--n-jobs", "1"]
    output = flat(call(*FILE, *size, "--top", "5"))
    assert "P@5 %" in output
    assert "With 4 trials P@5 is at most 80 %." in output
    assert "With 2 seeds no test of these samplers can reach p < 0.05" in output
    assert "top = 5" in output  # of the file that runs it again
    assert "[" not in output.partition("random against")[2].partition("With")[0]  # no interval
    assert "P@5" in Path("zaps-results/dashboard.html").read_text(encoding="utf-8")
    assert "P@3 %" in flat(call("report", "zaps-results", "--top", "3"))
    assert set(pd.read_csv("zaps-results/summary.csv")["top"]) == {3}
    assert "at most the 192 of" in flat(call(*FILE, *size, "--top", "193", code=2))
    assert "P@" not in call("report", "zaps-results")


def test_results_are_reported_from_another_folder(
    here: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    call(*FILE, "-s", "random", "--budget", "5", "--seeds", "1", "--n-jobs", "1")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert "runs.csv: score, 5 trials" in flat(call("report", str(here / "zaps-results")))
    changed = pd.read_csv(here / "runs.csv")
    changed.assign(score=changed["score"] + 1).to_csv(here / "runs.csv", index=False)
    assert "must be those its studies ran on" in flat(
        call("report", str(here / "zaps-results"), code=2)
    )


def test_options_stand_for_themselves_and_no_content_shares_a_cell(here: Path) -> None:
    small = ["-s", "random", "--budget", "3", "--seeds", "1", "--n-jobs", "1"]
    call(*FILE, *small)
    call(*FILE, "--minimize", *small)
    call(*FILE, "--limit", "latency<=20", *small)
    changed = pd.read_csv("runs.csv")
    changed.assign(score=changed["score"] ** 2).to_csv("runs.csv", index=False)
    call(*FILE, *small)
    assert len(Store(Path("zaps-results")).load_all()) == 4


def test_several_objectives_and_a_limit(here: Path) -> None:
    small = ["-s", "tpe", "-s", "random", "--budget", "10", "--seeds", "2", "--n-jobs", "1"]
    two = ["compare", "runs.csv", "--params", "lr,width,act", "--objective", "score,latency"]
    output = call(*two, "--direction", "maximize,minimize", *small)
    assert "hypervolume %" in output
    limited = flat(call(*FILE, "--limit", "latency<=20", *small))
    assert "Feasible are the 75 % of configurations with latency of at most 20" in limited
    assert "feasible %" in limited


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*FILE[:4], "--objective", "scoer"], "has no column 'scoer'"),
        ([*FILE, "--proxies", "score"], "score is named several times"),
        (["compare", "functions/branin", "--params", "lr"], "Only a problem of your own has"),
        (["compare", "nothing.csv", "--objective", "x"], "No such file"),
    ],
)
def test_a_mistake_ends_before_anything_runs(
    arguments: list[str], message: str, here: Path
) -> None:
    assert message in flat(call(*arguments, code=2))
    assert not (here / "zaps-results").exists()


FUNCTION = """
def valley(trial):
    x = trial.suggest_float("x", -5, 5)
    return (x - 1) ** 2
"""


def test_a_function_in_a_file_of_the_working_directory_is_run_by_workers(
    here: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    Path("my_valley.py").write_text(FUNCTION)
    arguments = ["compare", "my_valley:valley", "--direction", "minimize", "-s", "tpe", "-s",
                 "random", "--budget", "8", "--seeds", "2", "--n-jobs", "2"]  # fmt: skip
    command = [sys.executable, "-m", "harness.cli"]
    environment = {**os.environ, "COLUMNS": "80"}
    output = flat(call(*arguments))  # by workers that other tests may have left in other folders
    assert "my_valley:valley, 8 trials, 2 seeds" in output
    assert "regret is against the best that these 4 studies saw" in output
    assert len(pd.read_csv("zaps-results/summary.csv")) == 4
    # From another folder, where the module is not.
    report = subprocess.run([*command, "report", str(here / "zaps-results")], env=environment,
                            cwd=tmp_path_factory.mktemp("elsewhere"), capture_output=True,
                            text=True, check=True)  # fmt: skip
    assert "my_valley:valley, 8 trials" in flat(report.stdout)
    Path("my_valley.py").write_text(FUNCTION.replace("- 1", "- 2"))
    again = [*command, *arguments[:-1], "1"]  # the studies have other keys, however they are run
    subprocess.run(again, env=environment, check=True, capture_output=True)
    assert len(Store(Path("zaps-results")).load_all()) == 8


def test_problems_of_every_form_are_compared_together_and_exported(here: Path) -> None:
    output = flat(call("compare", "runs.csv", "own_objects:Sphere", "hpo/car", "--objective",
                       "score", "--params", "lr,width,act", "-s", "random", "--seeds", "1",
                       "--budget", "6", "--n-jobs", "1"))  # fmt: skip
    for name in ("runs.csv: score", "own_objects:Sphere", "hpo/car"):
        assert name in output
    storage = f"sqlite:///{here / 'studies.db'}"
    assert "3 studies written" in flat(call("export", "zaps-results", "--storage", storage))


def test_a_function_is_not_run_again_for_an_export(here: Path) -> None:
    call("compare", "own_objects:bowl", "--minimize", "-s", "random", "--seeds", "1", "--budget",
         "3", "--n-jobs", "1")  # fmt: skip
    storage = f"sqlite:///{here / 'studies.db'}"
    assert "without running it again" in flat(
        call("export", "zaps-results", "--storage", storage, code=2)
    )


def test_another_optimum_runs_nothing_again(here: Path) -> None:
    small = ["compare", "own_objects:bowl", "--minimize", "-s", "random", "--seeds", "2",
             "--budget", "4", "--n-jobs", "1"]  # fmt: skip
    first = flat(call(*small))
    output = flat(call(*small, "--optimum", "-1"))
    assert "2 of 2 studies are already done" in output
    assert "The optimum is -1." in output
    assert "The optimum is -1." not in first
