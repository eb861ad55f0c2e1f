"""Floors of the default sampler beside Optuna's on problems that are not ours."""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys

import pandas as pd
import pytest

from harness.problems import hpo
from harness.problems import nasbench201
from harness.statistics import compare
from harness.statistics import holm


pytestmark = pytest.mark.slow


WITH_PROXIES = (
    *(f"{text}@package" for text in nasbench201.FAMILY.texts),
    *(f"{text}@package-costs" for text in hpo.FAMILY.texts),
)
WITH_PROXIES_IN_FILES = (
    *(f"{text}@suite-zero" for text in nasbench201.FAMILY.texts),
    "nasbench101/cifar10@parquet",
    "nasbench101/cifar10@parquet-own",
)
WITHOUT = "without=zaps-misled(lie='none')"


def compared(folder: Path, *arguments: str) -> pd.DataFrame:
    """Summary of a comparison, a row per study and budget."""
    subprocess.run(
        [sys.executable, "-m", "harness.cli", "compare", *arguments, "--output", str(folder)],
        check=True,
        capture_output=True,
    )
    return pd.read_csv(folder / "summary.csv")


def means(folder: Path, suite: str, metric: str) -> pd.DataFrame:
    """Mean of a metric over 20 seeds, a row per problem and a column per sampler."""
    frame = compared(folder, suite, "-s", "zaps", "-s", "tpe", "--seeds", "20")
    return frame.pivot_table(metric, "problem", "sampler")


def test_proxies_are_nowhere_worse_than_none(tmp_path: Path) -> None:
    problems = WITH_PROXIES + (WITH_PROXIES_IN_FILES if "ZAPS_DATA_DIR" in os.environ else ())
    budgets = ("--budget", "50", "--budget", "100", "--budget", "200")
    summary = compared(
        tmp_path, *problems, "-s", "zaps", "-s", WITHOUT, *budgets, "--seeds", "40"
    )  # fmt: skip
    tests = compare(summary, metric="regret", reference="without")
    assert len(tests) == 3 * len(problems)
    # A search without proxies is better: one test for each problem and budget. The smallest
    # p-values of NAS-Bench, seeds 0 to 39, are .03, for CIFAR-100 and ImageNet16-120 of the
    # package at 50; that of the HPO tables, 20 seeds at 50, 100 and 200, is .04 of 36 (1 by Holm).
    assert (holm(tests["p_value"]) >= 0.05).all()


def test_the_mean_rank_on_everyday_problems_is_no_worse(tmp_path: Path) -> None:
    regret = means(tmp_path, "everyday", "regret")
    assert len(regret) == 17
    rank = regret.rank(axis=1).mean()
    assert rank["zaps"] <= rank["tpe"]


def test_the_gap_under_a_constraint_is_no_larger(tmp_path: Path) -> None:
    gap = means(tmp_path, "limits", "gap")
    assert len(gap) == 2
    assert (gap["zaps"] <= gap["tpe"]).all()


@pytest.mark.parametrize("suite", ["tradeoffs", "hard-tradeoffs"])
def test_the_hypervolume_is_no_smaller(tmp_path: Path, suite: str) -> None:
    volume = means(tmp_path, suite, "hypervolume")
    assert len(volume) == 3
    assert (volume["zaps"] >= volume["tpe"]).all()
