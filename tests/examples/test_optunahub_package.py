"""The package for OptunaHub loads, has what its registry asks for, and searches."""

from __future__ import annotations

from pathlib import Path
import re

import optuna
import pytest


REGISTRY = Path(__file__).parents[2] / "examples" / "optunahub" / "package"
PACKAGE = REGISTRY / "samplers" / "zaps"
KEYS = ["author", "title", "description", "tags", "optuna_versions", "license"]


def test_it_loads_and_searches() -> None:
    optunahub = pytest.importorskip("optunahub", reason="needs optunahub: pip install optunahub")
    module = optunahub.load_local_module("samplers/zaps", registry_root=str(REGISTRY))
    sampler = module.ZAPSSampler(
        lambda params: {"distance": abs(params["x"] - 50)}, search_space={"x": range(100)}, seed=0
    )
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda trial: abs(trial.suggest_int("x", 0, 99) - 53), n_trials=30)
    assert study.best_value == 0


def test_its_front_matter_has_the_six_keys() -> None:
    text = (PACKAGE / "README.md").read_text(encoding="utf-8")
    matter = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    assert matter is not None
    values = dict(line.split(": ", maxsplit=1) for line in matter[1].splitlines())
    assert list(values) == KEYS
    assert all(values.values())
    assert values["license"] == "MIT License"
    assert values["tags"].startswith("[sampler,")


def test_its_files_are_those_of_the_registry() -> None:
    files = {path.name for path in PACKAGE.iterdir() if not path.name.startswith("__pycache__")}
    assert files == {
        "LICENSE", "README.md", "__init__.py", "example.py", "requirements.txt", "tests"
    }  # fmt: skip
    licence = (PACKAGE / "LICENSE").read_text(encoding="utf-8")
    assert licence == (Path(__file__).parents[2] / "LICENSE").read_text(encoding="utf-8")
