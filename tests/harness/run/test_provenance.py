from __future__ import annotations

import os
from pathlib import Path
import shutil
import subprocess
import sys

import numpy as np
import optuna
import pytest

from harness.run import provenance as module
from harness.run.provenance import provenance


def test_versions_are_those_that_run() -> None:
    known = provenance()
    assert known["optuna"] == optuna.__version__
    assert known["numpy"] == np.__version__
    assert known["python"] == ".".join(map(str, sys.version_info[:3]))


def test_the_checkout_of_another_project_is_not_ours(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], cwd=tmp_path, check=True)
    installed = tmp_path / "provenance.py"
    shutil.copy(str(module.__file__), installed)
    code = "import provenance; print(provenance._commit())"

    def commit() -> str:
        finished = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return finished.stdout.strip()

    assert commit() == "not a checkout"
    subprocess.run([*git, "add", "provenance.py"], cwd=tmp_path, check=True)
    subprocess.run([*git, "commit", "-q", "-m", "y"], cwd=tmp_path, check=True)
    assert commit() not in ("not a checkout", "")


def test_cores_are_known_where_a_process_has_no_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)  # macOS and Windows
    module._machine.cache_clear()
    assert provenance()["cores"] == str(os.cpu_count())
    module._machine.cache_clear()
