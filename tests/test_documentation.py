"""Everything that a reader copies works: docstring examples, the examples folder, the README."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path
import re
import runpy
from typing import Any

import optuna
import pytest


ROOT = Path(__file__).parent.parent
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for package in ("optuna_zaps", "harness")
    for path in (ROOT / package).rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("module", MODULES)
def test_docstring_examples(module: str) -> None:
    if "zerocost" in module:
        pytest.importorskip("torch", reason="needs PyTorch: pip install 'optuna-zaps[zerocost]'")
    verbosity = optuna.logging.get_verbosity()
    result = doctest.testmod(importlib.import_module(module))
    optuna.logging.set_verbosity(verbosity)
    assert result.attempted > 0
    assert result.failed == 0


def test_the_quickstart_finds_the_optimum(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "quickstart.py"))
    assert "'width': 64, 'depth': 3, 'act': 'gelu'" in capsys.readouterr().out


@pytest.mark.slow
def test_own_architecture_is_found_sooner_than_by_chance(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("torch", reason="needs PyTorch: pip install 'optuna-zaps[zerocost]'")
    runpy.run_path(str(ROOT / "examples" / "own_architecture.py"))
    found = re.findall(
        r"(\w+): best accuracy after \d+ trainings ([\d.]+) %", capsys.readouterr().out
    )
    accuracies = {name: float(percent) for name, percent in found}
    assert accuracies.keys() == {"ZAPS", "TPE", "random"}
    assert accuracies["ZAPS"] > accuracies["random"]


def test_the_readmes_code_finds_the_optimum() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = (c for c in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "SPACE" in c)
    names: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), names)
    # 64 ** 0.5 - 0 + 1, by hand.
    assert names["study"].best_value == 9.0
