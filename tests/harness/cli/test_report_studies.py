"""Studies that a user ran, from real files."""

from __future__ import annotations

from pathlib import Path
import re
import shutil

import optuna
from optuna.samplers import BaseSampler
from optuna.samplers import NSGAIISampler
from optuna.samplers import RandomSampler
from optuna.samplers import TPESampler
from optuna.storages import JournalStorage
from optuna.storages import RDBStorage
from optuna.storages.journal import JournalFileBackend
import pandas as pd
import pytest
from typer.testing import CliRunner

from harness.cli import app
from harness.cli.console import command_line


SAMPLERS: dict[str, type[BaseSampler]] = {
    "tpe": TPESampler, "random": RandomSampler, "nsga": NSGAIISampler
}  # fmt: skip


def call(*arguments: str, code: int = 0) -> str:
    result = CliRunner(env={"COLUMNS": "80", "TERM": "dumb"}).invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result.output


def flat(output: str) -> str:
    return " ".join(output.replace("│", " ").split())


def objective(trial: optuna.Trial) -> float:
    x, y = trial.suggest_float("x", -5, 5), trial.suggest_float("y", -5, 5)
    if trial.number == 3:
        trial.report(x, 0)
        raise optuna.TrialPruned
    if trial.number == 5:
        raise RuntimeError
    return x * x + y * y


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with an SQLite file of 3 x 5 studies and one of two objectives, and a journal."""
    folder = tmp_path_factory.mktemp("studies")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage = RDBStorage(f"sqlite:///{folder / 'mine.db'}")
    for name, sampler in SAMPLERS.items():
        for seed in range(5):
            study = optuna.create_study(
                storage=storage, study_name=f"{name}-{seed}", sampler=sampler(seed=seed)
            )
            study.set_user_attr("sampler", sampler.__name__)
            study.optimize(objective, n_trials=12 + seed, catch=(RuntimeError,))
            study.ask()
    both = optuna.create_study(
        storage=storage, study_name="both", directions=["minimize", "maximize"]
    )
    both.optimize(lambda t: (t.suggest_float("x", 0, 1), t.suggest_float("y", 0, 1)), n_trials=9)
    storage.engine.dispose()
    journal = JournalStorage(JournalFileBackend(str(folder / "journal.log")))
    for name in ("a", "b"):
        study = optuna.create_study(storage=journal, study_name=name)
        study.optimize(objective, n_trials=8, catch=(RuntimeError,))
    return folder


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_three_times_five_studies_of_a_file_are_compared(here: Path) -> None:
    output = call("report", "sqlite:///mine.db", "--study", "*-?", "--group-by", "sampler")
    assert max(map(len, output.splitlines())) <= 80
    for text in (
        "Measured after the 12 trials of the shortest study, nsga-0",
        "sqlite:///mine.db, 12 trials, 5 seeds",
        "15 failed and 15 pruned trials have no value",
        "15 trials that have not ended are left out",
        "regret is against the best that these 15 studies saw",
        "over wall-clock time",
    ):
        assert text in flat(output)
    summary = pd.read_csv("zaps-studies/summary.csv")
    assert summary.groupby("sampler").size().to_dict() == {
        sampler.__name__: 5 for sampler in SAMPLERS.values()
    }
    times = pd.read_csv("zaps-studies/wall_clock.csv")
    assert len(times) == 3 * 15
    assert times.groupby("seconds")["n_ended"].sum().is_monotonic_increasing
    page = Path("zaps-studies/dashboard.html").read_text(encoding="utf-8")
    axes = re.findall(r'name="axis" value="(\w+)"', page)
    assert axes == ["steps", "clock"]  # nobody measured the CPU of these samplers


def test_studies_by_name_at_a_budget_against_an_optimum(here: Path) -> None:
    output = flat(call("report", "mine.db", "--study", "tpe-0", "--study", "tpe-1", "--study",
                       "random-0", "--group-by", "name", "--optimum", "0", "--budget", "6",
                       "--budget", "10", "--output", "there"))  # fmt: skip
    assert "mine.db, 10 trials, 1 or 2 seeds" in output
    assert "The optimum is 0." in output
    summary = pd.read_csv("there/summary.csv")
    assert set(summary["budget"]) == {6, 10}
    assert (summary["regret"] > 0).all()


def test_several_objectives_and_a_journal(here: Path) -> None:
    assert "hypervolume %" in call("report", "mine.db", "--study", "both")
    page = Path("zaps-studies/dashboard.html").read_text(encoding="utf-8")
    assert "21 targets per problem: missing hypervolume from 50 % to 0.1 %" in page
    output = flat(call("report", "journal.log"))
    assert "journal.log, 8 trials, 1 seeds" in output
    assert "Each study is a row of its own" in output


def test_a_storage_of_exported_results_is_a_storage_like_any(here: Path) -> None:
    call("compare", "functions/branin", "-s", "tpe", "-s", "random", "--seeds", "2", "--budget",
         "6", "--n-jobs", "1")  # fmt: skip
    call("export", "zaps-results", "--storage", "sqlite:///exported.db")
    output = flat(call("report", "exported.db", "--group-by", "sampler"))
    assert "exported.db, 6 trials, 2 seeds" in output
    best = pd.read_csv("zaps-results/summary.csv").sort_values(["sampler", "seed"])["best_value"]
    again = pd.read_csv("zaps-studies/summary.csv").sort_values(["sampler", "seed"])["best_value"]
    assert again.tolist() == pytest.approx(best.tolist())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mine.db"], "must have the same directions, but have both: minimize, maximize; nsga-0"),
        (["mine.db", "--study", "tpe"], "There is no study 'tpe'; the storage has both, nsga-0"),
        (["mine.db", "--study", "tpe-0", "--group-by", "who"], "has no user attribute 'who'"),
        (["mine.db", "--study", "tpe-0", "--budget", "99"], "at most 12, that of the studies"),
        (["sqlite:///none.db"], "cannot be opened: there is no such file"),
        (["nowhere"], "There is no directory and no storage 'nowhere'"),
        ([".", "--study", "x"], "are for a storage, but . is a directory"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(arguments: list[str], message: str, here: Path) -> None:
    assert message in flat(call("report", *arguments, code=2))
    assert not (here / "none.db").exists()


def test_no_password_is_printed_or_stands_on_a_page(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "postgresql://me:s3cr3t@localhost:1/studies"
    output = call("report", url, code=2)
    assert "s3cr3t" not in output
    assert "postgresql://me:***@localhost:1/studies" in flat(output)
    monkeypatch.setattr("sys.argv", ["zaps-harness", "report", url, "--study", "a"])
    assert "s3cr3t" not in command_line()
    assert command_line().endswith("--study a")
