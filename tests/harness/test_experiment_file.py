from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from harness import experiment_file
from harness import problems
from harness.cli import app
from harness.run.store import Store


WHOLE = """
# A comparison.
problems = [
  "functions/branin",
  { file = "runs.csv", params = ["lr"], objective = "score", direction = "minimize" },
  { object = "own_objects:deep_bowl(depth=3)", direction = "minimize", optimum = 0 },
]
samplers = ["tpe", "plain=optuna.samplers:TPESampler(multivariate=False)"]
budgets = [3, 5]
seeds = 2
first_seed = 4
by_trials = true
in_flight = 2
n_jobs = 1
engine = "joblib"

[seeds_of]
plain = 1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pd.DataFrame({"lr": range(8), "score": range(8, 0, -1)}).to_csv(
        tmp_path / "runs.csv", index=False
    )
    (tmp_path / "whole.toml").write_text(WHOLE)
    return tmp_path


def call(*arguments: str, code: int = 0) -> str:
    result = CliRunner(env={"COLUMNS": "80", "TERM": "dumb"}).invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return " ".join(result.output.replace("│", " ").split())


def test_every_setting_is_read(folder: Path) -> None:
    settings = experiment_file.read(folder / "whole.toml")
    branin, table, bowl = settings.pop("problem")
    assert branin == "functions/branin"
    assert problems.load(table).table is not None
    assert problems.load(bowl).known_optimum == 0.0  # type: ignore[attr-defined]
    assert settings == {
        "sampler": ["tpe", "plain=optuna.samplers:TPESampler(multivariate=False)"],
        "budget": [3, 5],
        "seeds": 2,
        "first_seed": 4,
        "by_trials": True,
        "in_flight": 2,
        "n_jobs": 1,
        "engine": "joblib",
        "seeds_of": ["plain=1"],
    }


def test_a_written_file_is_the_experiment_again(folder: Path) -> None:
    settings = experiment_file.read(folder / "whole.toml")
    text = experiment_file.write(
        {
            "problems": settings["problem"],
            "samplers": settings["sampler"],
            "budgets": [3, 5],
            "seeds": None,
            "seeds_of": {"plain": 1, "a b": 2},
        }
    )
    again = folder / "again.toml"
    again.write_text(text)
    read = experiment_file.read(again)
    assert read["problem"] == settings["problem"]
    assert read["sampler"] == settings["sampler"]
    assert read["seeds_of"] == ["plain=1", "a b=2"]
    assert "seeds" not in read


def test_a_file_runs_the_comparison_and_the_one_it_prints_runs_it_again(folder: Path) -> None:
    results = str(folder / "results")
    output = call("compare", str(folder / "whole.toml"), "--output", results)
    # plain has one study of each problem, tpe two.
    assert len(Store(Path(results)).load_all()) == 3 * 3
    assert "Again: zaps-harness compare" in output
    printed = Path(results, "experiment.toml")
    assert output.endswith(" ".join(printed.read_text().split()))
    again = call("compare", str(printed), "--output", results)
    assert "9 of 9 studies are already done" in again
    assert "experiment.toml" in Path(results, "dashboard.html").read_text(encoding="utf-8")


def test_the_command_line_counts_for_more_than_the_file(folder: Path) -> None:
    results = folder / "results"
    call("compare", str(folder / "whole.toml"), "--output", str(results), "--seeds", "1",
         "-s", "random", "--budget", "2", "--seeds-of", "random=1")  # fmt: skip
    cells = [result.cell for result in Store(results).load_all()]
    assert {(cell.sampler.label, cell.seed, cell.budget) for cell in cells} == {("random", 4, 2)}
    assert {cell.in_flight for cell in cells} == {2}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"tpe"', '"tep"', "line 8, tep: A sampler must be one of"),
        ("budgets", "budget", "line 9, budget: it must be one of ['problems', 'samplers'"),
        ("seeds = 2", 'seeds = "2"', "line 10, seeds: it must be a number from 1, but is '2'"),
        ("seeds = 2", "seeds = 0", "line 10, seeds: it must be a number from 1, but is 0"),
        ("seeds = 2", "seeds = ", "is no TOML: Invalid value (at line 10, column 9)"),
        ('"lr"', '"rl"', "line 5, runs.csv: runs.csv has no column 'rl'"),
        ("deep_bowl", "deep_bow", "line 6, own_objects:deep_bow(depth=3): The module"),
        ("branin", "brain", "line 4, functions/brain: There is no problem"),
        ("optimum = 0", "optimun = 0", "line 6, optimun: an option of a problem must be one of"),
        ('"functions/branin"', "3", "a problem must be a text or a table, but is 3"),
        ('"joblib"', '"slurm"', 'line 15, engine: it must be "joblib" or "dask"'),
        ("plain = 1", "other = 1", "--seeds-of must be LABEL=N"),
    ],
)
def test_a_mistake_names_its_line(old: str, new: str, message: str, folder: Path) -> None:
    (folder / "whole.toml").write_text(WHOLE.replace(old, new))
    output = call("compare", str(folder / "whole.toml"), "--output", str(folder / "r"), code=2)
    assert message in output
    assert not (folder / "r").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.toml"], "cannot be read: No such file"),
        (["whole.toml", "hpo/car"], "must be alone, but got whole.toml, hpo/car"),
    ],
)
def test_a_file_is_there_and_alone(
    arguments: list[str], message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert message in call("compare", *arguments, code=2)


def test_texts_of_every_character_survive(folder: Path) -> None:
    names: dict[str, Any] = {'a"b': 1, "c\\d": 2, "é": 3}
    (folder / "odd.toml").write_text(
        'problems = ["functions/branin"]\n' + experiment_file.write({"seeds_of": names})
    )
    read = experiment_file.read(folder / "odd.toml")
    assert read["seeds_of"] == [f"{name}={n}" for name, n in names.items()]
