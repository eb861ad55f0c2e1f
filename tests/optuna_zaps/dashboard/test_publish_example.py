"""The example runs, prints what it says, and leaves a page."""

from __future__ import annotations

from pathlib import Path
import runpy

import optuna
import pytest


pytest.importorskip(
    "optuna_dashboard", reason="needs optuna-dashboard: pip install 'optuna-zaps[dashboard]'"
)

from dashboard_page import IDS
from dashboard_page import Page


EXAMPLE = Path(__file__).parents[3] / "examples" / "publish_to_dashboard.py"


def test_the_example_publishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert capsys.readouterr().out.strip() in names["__doc__"]
    storage = optuna.storages.RDBStorage("sqlite:///digits.db")
    study = optuna.load_study(study_name="digits", storage=storage)
    assert Page(study).texts.keys() == IDS
    assert "zaps:proxy:accuracy_tenth" in study.trials[0].user_attrs
    storage.remove_session()
    storage.engine.dispose()
