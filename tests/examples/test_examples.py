"""Each example is short, runs, and prints what its docstring says."""

from __future__ import annotations

import ast
import os
from pathlib import Path
import runpy
import subprocess
import sys
import textwrap
from typing import Any
from typing import ClassVar

import optuna
import pytest
from sklearn import svm
from sklearn.svm import SVC
import worker


EXAMPLES = Path(__file__).parents[2] / "examples"
MAX_LINES = 60
NEEDS_OPTUNA_5 = pytest.mark.skipif(
    not hasattr(optuna.Trial, "set_constraint"), reason="needs Optuna 5 for Trial.set_constraint"
)


def said_output(example: str) -> str:
    """The indented block at the end of the example's docstring."""
    docstring = ast.get_docstring(ast.parse((EXAMPLES / example).read_text(encoding="utf-8")))
    assert docstring is not None
    return textwrap.dedent(docstring.rsplit("\n\n", maxsplit=1)[1])


class SharedSVC(SVC):
    """Vector machine that is fitted once, whichever example does it."""

    fitted: ClassVar[dict[tuple[Any, ...], SVC]] = {}

    def fit(self, X: Any, y: Any) -> SVC:
        key = (*map(repr, self.get_params().values()), X.tobytes(), y.tobytes())
        if key not in self.fitted:
            self.fitted[key] = super().fit(X, y)
        return self.fitted[key]


@pytest.mark.xdist_group("examples")
@pytest.mark.parametrize(
    "example",
    [
        "own_csv.py",
        "swap_tpe.py",
        "compare_on_own_table.py",
        pytest.param("accuracy_within_latency.py", marks=NEEDS_OPTUNA_5),
    ],
)
def test_it_prints_what_it_says(
    example: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(svm, "SVC", SharedSVC)
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")  # to run studies in this process
    runpy.run_path(str(EXAMPLES / example), run_name="__main__")
    printed = textwrap.dedent(capsys.readouterr().out)
    assert printed.rstrip().endswith(said_output(example))


def test_eight_workers_share_a_study() -> None:
    url = worker.database("postgresql")
    command = [sys.executable, str(EXAMPLES / "eight_workers.py"), url]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.rstrip() == said_output("eight_workers.py")


@pytest.mark.parametrize(
    "example", [path for path in EXAMPLES.glob("*.py") if path.name != "own_architecture.py"]
)
def test_it_is_short(example: Path) -> None:
    assert len(example.read_text(encoding="utf-8").splitlines()) <= MAX_LINES
