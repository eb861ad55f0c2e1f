"""Samplers that are there once something is installed."""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys
from typing import Any

import optuna
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.distributions import IntDistribution
import pytest

from harness import hub
from harness import problems
from harness import samplers
from harness.experiment import make_cells
from harness.run.runner import run_cell
from harness.run.store import Store
from harness.samplers.registry import fixed_space


COMMANDS = """
import sys
from harness.cli import app
for command in sys.argv[1:]:
    app(command.split(), standalone_mode=False)
"""


def cli(*commands: str, path: Path) -> str:
    """Output of commands, one after the other in a process that finds the packages of a folder."""
    environment = {**os.environ, "COLUMNS": "200", "TERM": "dumb"}
    environment["PYTHONPATH"] = f"{path}{os.pathsep}{environment.get('PYTHONPATH', '')}"
    finished = subprocess.run(
        [sys.executable, "-c", COMMANDS, *commands],
        env=environment,
        cwd=path,
        capture_output=True,
        text=True,
        check=False,
    )
    output = finished.stdout + finished.stderr
    assert finished.returncode == 0, output
    return " ".join(output.replace("│", " ").replace("┃", " ").split())


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Folder with an installed package that has two samplers by entry points."""
    (tmp_path / "rival.py").write_text(
        "from optuna.samplers import RandomSampler\n\nclass RivalSampler(RandomSampler): ...\n"
    )
    information = tmp_path / "rival-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: rival\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[optuna_zaps.samplers]\nrival = rival:RivalSampler\nrandom = rival:RivalSampler\n"
    )
    return tmp_path


def test_a_package_adds_samplers_by_entry_points(package: Path) -> None:
    compare = "compare functions/branin -s rival -s random --seeds 1 --budget 4 --n-jobs 2"
    output = cli("list", compare, path=package)
    assert "rival RivalSampler of the package rival yes" in output
    _, ran, tables = output.partition("2/2")
    assert ran
    assert "rival" in tables
    specs = [study.cell.sampler for study in Store(package / "zaps-results").load_all()]
    found = {spec.target: spec.fingerprint for spec in specs}
    # A name of the harness stays what it is.
    assert found["random"] == f"optuna {optuna.__version__}"
    assert found["rival"].startswith("rival 1.0")


def test_every_missing_sampler_says_how_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.samplers.entry.find_spec", lambda name: None)
    monkeypatch.setattr("harness.hub.find_spec", lambda name: None)
    commands = {entry.name: entry.how_to_have for entry in samplers.available()}
    assert commands["gp"] == "pip install torch"
    assert commands["nevergrad"] == "pip install nevergrad"
    assert commands["hebo"].startswith("pip install optunahub hebo && python -c 'import optunahub")
    assert commands["tpe"] == ""
    with pytest.raises(ValueError, match=r"'smac' is not on this machine\. Run: pip install opt"):
        samplers.make_spec("smac")


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of OptunaHub's cache."""
    pytest.importorskip("optunahub")
    monkeypatch.setenv("OPTUNAHUB_CACHE_HOME", str(tmp_path))
    return tmp_path / "github.com" / "optuna" / "optunahub-registry" / "main" / "package"


def test_a_package_of_optunahub_is_loaded_from_its_cache(registry: Path) -> None:
    target = "optunahub.samplers.made_up:MadeUpSampler"
    assert hub.folder("optunahub.samplers.made_up") is None
    with pytest.raises(ValueError, match=r"it is not downloaded\. Run: pip"):
        samplers.make_spec(target)
    folder = registry / "samplers" / "made_up"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("from .sampler import MadeUpSampler\n")
    code = "import joblib\nfrom optuna.samplers import RandomSampler\n\n\n"
    (folder / "sampler.py").write_text(f"{code}class MadeUpSampler(RandomSampler): ...\n")
    spec = samplers.make_spec(target)
    assert "joblib" in spec.fingerprint  # the package that it imports
    (cell,) = make_cells([problems.load("functions/branin")], [spec], [0], [3])
    assert len(run_cell(cell).asked) == 3
    code_before, _ = hub.code_of("optunahub.samplers.made_up")
    (folder / "sampler.py").write_text(f"{code}class MadeUpSampler(RandomSampler): x = 1\n")
    assert hub.code_of("optunahub.samplers.made_up")[0] != code_before


def test_a_benchmark_of_optunahub_is_a_problem(registry: Path) -> None:
    folder = registry / "benchmarks" / "made_up"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(
        "import optuna\nimport optunahub\n\n\n"
        "class Problem(optunahub.benchmarks.BaseProblem):\n"
        "    def __init__(self, high=1.0): self.high = high\n"
        "    directions = [optuna.study.StudyDirection.MINIMIZE]\n"
        "    @property\n"
        "    def search_space(self):\n"
        "        return {'x': optuna.distributions.FloatDistribution(0, self.high)}\n"
        "    def evaluate(self, params): return params['x']\n"
    )
    problem = problems.load("optunahub.benchmarks.made_up:Problem(high=2.0)")
    (cell,) = make_cells([problem], [samplers.make_spec("random")], [0], [20], by_trials=True)
    assert max(run_cell(cell).values) > 1


@pytest.mark.filterwarnings("ignore:Could not import matplotlib:UserWarning")
def test_nevergrad_keeps_to_every_distribution() -> None:
    pytest.importorskip("nevergrad")
    from harness.samplers.nevergrad_ import NevergradSampler

    space: dict[str, Any] = {
        "a": CategoricalDistribution((None, True, "x")),
        "b": IntDistribution(1, 64, log=True),
        "c": IntDistribution(0, 9, step=3),
        "d": FloatDistribution(1e-4, 1.0, log=True),
        "e": FloatDistribution(0.0, 1.0, step=0.25),
        "f": IntDistribution(5, 5),
    }

    def objective(trial: optuna.Trial) -> float:
        params = {name: trial._suggest(name, each) for name, each in space.items()}
        return float(params["d"] + params["e"] + (params["a"] == "x"))

    def searched(seed: int) -> optuna.Study:
        study = optuna.create_study(sampler=NevergradSampler(budget=40, seed=seed))
        study.optimize(objective, n_trials=40)
        return study

    first, again, other = searched(0), searched(0), searched(1)
    assert [t.params for t in first.trials] == [t.params for t in again.trials]
    assert [t.params for t in first.trials] != [t.params for t in other.trials]
    assert first.best_value < 0.2
    assert samplers.make_spec("nevergrad").budget_aware


@pytest.mark.parametrize(
    ("text", "names"),
    [("hard/levy-5d", {f"x{i}" for i in range(5)}), ("fronts/zdt1", {f"x{i}" for i in range(10)}),
     ("hard/tree", None), ("functions/conditional", None)],
)  # fmt: skip
def test_the_space_of_a_function_is_told_where_it_is_fixed(
    text: str, names: set[str] | None
) -> None:
    space = fixed_space(problems.load(text))
    assert (None if space is None else set(space)) == names
