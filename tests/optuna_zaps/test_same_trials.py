"""A seed gives the same trials in every process, and with every Optuna that is supported."""

from __future__ import annotations

import json
import os
from pathlib import Path
import subprocess
import sys
from typing import Any

import print_trials
import pytest


@pytest.fixture(scope="module")
def ours() -> dict[str, list[Any]]:
    """Studies of this process, as a reader of JSON sees them."""
    studies: dict[str, list[Any]] = json.loads(json.dumps(print_trials.studies()))
    return studies


def test_processes_with_other_hash_seeds_decide_alike(ours: dict[str, list[Any]]) -> None:
    # Hash seeds move the order of sets; attributes are compared to the last bit.
    printed = [
        subprocess.run(
            [sys.executable, print_trials.__file__],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    ]
    assert printed[0] == printed[1]
    assert json.loads(printed[0]) == ours
    assert len(ours) == 10


def test_another_environment_decided_alike(ours: dict[str, list[Any]]) -> None:
    path = os.environ.get("ZAPS_TEST_TRIALS")
    if not path:
        pytest.skip(
            "needs ZAPS_TEST_TRIALS, a file with what `python tests/optuna_zaps/print_trials.py` "
            "printed in another environment, for example one with the oldest Optuna"
        )
    theirs = json.loads(Path(path).read_text())
    assert ours.keys() == theirs.keys()
    for name, trials in ours.items():
        assert trials == theirs[name], f"{name!r} differs"
