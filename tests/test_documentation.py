"""What a reader copies works: docstring examples, the examples folder, the README."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path
import re
import runpy

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
    verbosity = optuna.logging.get_verbosity()
    result = doctest.testmod(importlib.import_module(module))
    optuna.logging.set_verbosity(verbosity)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_examples_run(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(example))
    assert "'width': 64, 'depth': 3, 'act': 'gelu'" in capsys.readouterr().out


def test_the_readmes_code_finds_the_optimum() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = (c for c in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "SPACE" in c)
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    # 64 ** 0.5 - 0 + 1, by hand.
    assert names["study"].best_value == 9.0
