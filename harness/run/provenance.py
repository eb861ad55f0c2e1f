"""Provenance of a number: versions, commit, machine."""

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

from threadpoolctl import threadpool_info


_DISTRIBUTIONS = ("optuna", "numpy", "scipy", "scikit-learn", "pandas", "optuna-zaps")


def provenance() -> dict[str, str]:
    """Versions of the code, the machine of this process, and the time."""
    return {
        **_machine(),
        "threads per study": _threads(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


@lru_cache
def _machine() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        **{name: _version(name) for name in _DISTRIBUTIONS},
        "xgboost": _xgboost_version(),
        "commit": _commit(),
        "cpu": _cpu(),
        "cores": str(_cores()),
        "system": platform.platform(),
    }


def _cores() -> int:
    """Cores that this process may use; all of them on macOS and Windows, which do not tell."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _threads() -> str:
    """Most threads that a numerical library may use now."""
    return str(max((int(pool["num_threads"]) for pool in threadpool_info()), default=1))


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
        # A site-packages directory may lie in the checkout of another project.
        _git("ls-files", "--error-unmatch", Path(__file__).name)
        return _git("describe", "--always", "--dirty", "--abbrev=12")
    except (OSError, subprocess.CalledProcessError):
        return "not a checkout"


def _git(*arguments: str) -> str:
    finished = subprocess.run(
        ["git", *arguments],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return finished.stdout.strip()


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
