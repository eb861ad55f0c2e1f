"""Everything that a reader copies works: docstring examples, the examples folder, the README."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path
import re
import runpy
import subprocess
import sys

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


ROUTES = re.findall(
    r"```python\n(.*?)```\n```text\n(.*?)```",
    (ROOT / "README.md").read_text(encoding="utf-8"),
    re.DOTALL,
)


@pytest.mark.parametrize(("code", "output"), ROUTES, ids=["table", "torch", "drop-in"])
def test_the_readmes_code_prints_what_the_readme_says(
    code: str,
    output: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if "torch" in code:
        pytest.importorskip("torch", reason="needs PyTorch: pip install 'optuna-zaps[zerocost]'")
    monkeypatch.chdir(ROOT)
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == output


def test_the_readmes_links_and_folders_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!http)([^)#]+)", text)
    code_map = re.findall(r"^    ((?:optuna_zaps|harness)/[\w./]*)  ", text, re.MULTILINE)
    assert len(code_map) == 12
    assert [each for each in (*links, *code_map) if not (ROOT / each).exists()] == []


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="needs MkDocs: pip install 'optuna-zaps[docs]'")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    assert (tmp_path / "api" / "index.html").is_file()
