"""Where a number comes from: versions, commit, machine."""

from __future__ import annotations

from datetime import UTC
from datetime import datetime
from functools import lru_cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version
import os
from pathlib import Path
import platform
import subprocess


_DISTRIBUTIONS = ("optuna", "numpy", "scipy", "scikit-learn", "pandas", "optuna-zaps")


def provenance() -> dict[str, str]:
    """What is known about the code and the machine of this process, and the time."""
    return {**_machine(), "finished": datetime.now(UTC).isoformat(timespec="seconds")}


@lru_cache
def _machine() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        **{name: _version(name) for name in _DISTRIBUTIONS},
        "xgboost": _xgboost_version(),
        "commit": _commit(),
        "cpu": _cpu(),
        "cores": str(len(os.sched_getaffinity(0))),
        "threads per study": os.environ.get("OMP_NUM_THREADS", "not set"),
        "system": platform.platform(),
    }


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def _xgboost_version() -> str:
    # Two distributions have this import name.
    installed = [
        f"{name} {found}"
        for name in ("xgboost", "xgboost-cpu")
        if (found := _version(name)) != "not installed"
    ]
    return ", ".join(installed) or "not installed"


def _commit() -> str:
    """Commit of the checkout that the harness runs from, marked if files were changed."""
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "not a checkout"
    return described.stdout.strip()


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
