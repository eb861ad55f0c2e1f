"""Floors of the default sampler beside Optuna's on problems that are not ours."""

from __future__ import annotations

from pathlib import Path
import subprocess
import sys

import pandas as pd
import pytest


pytestmark = pytest.mark.slow


def means(folder: Path, suite: str, metric: str) -> pd.DataFrame:
    """Mean of a metric over 20 seeds, a row per problem and a column per sampler."""
    arguments = [
        "compare",
        suite,
        "-s",
        "zaps",
        "-s",
        "tpe",
        "--seeds",
        "20",
        "--output",
        str(folder),
    ]
    subprocess.run(
        [sys.executable, "-m", "harness.cli", *arguments], check=True, capture_output=True
    )
    frame = pd.read_csv(folder / "summary.csv")
    return frame.pivot_table(metric, "problem", "sampler")


def test_the_mean_rank_on_everyday_problems_is_no_worse(tmp_path: Path) -> None:
    regret = means(tmp_path, "everyday", "regret")
    assert len(regret) == 17
    rank = regret.rank(axis=1).mean()
    assert rank["zaps"] <= rank["tpe"]


def test_the_gap_under_a_constraint_is_no_larger(tmp_path: Path) -> None:
    gap = means(tmp_path, "limits", "gap")
    assert len(gap) == 2
    assert (gap["zaps"] <= gap["tpe"]).all()


def test_the_hypervolume_of_two_objectives_is_no_smaller(tmp_path: Path) -> None:
    volume = means(tmp_path, "tradeoffs", "hypervolume")
    assert len(volume) == 3
    assert (volume["zaps"] >= volume["tpe"]).all()
