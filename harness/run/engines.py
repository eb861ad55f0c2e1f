"""Engines that run cells: processes of this machine (joblib), or a cluster (Dask)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import os
from typing import Any

import joblib

from harness.run.processes import end_with_parent


ENGINES = ("joblib", "dask")


@dataclass(frozen=True)
class Engine:
    """Engine that runs cells.

    Attributes:
        name: ``"joblib"`` for processes of this machine, ``"dask"`` for the workers of a cluster.
        scheduler: Address of Dask's scheduler; by default a cluster is started on this machine.
            The workers must see the directory of the results.
    """

    name: str = "joblib"
    scheduler: str | None = None

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            raise ValueError(f"The engine must be one of {ENGINES}, but got {self.name!r}.")
        if self.scheduler is not None and self.name != "dask":
            raise ValueError(f"Only the engine 'dask' has a scheduler, but got {self.name!r}.")

    @contextmanager
    def backend(self, n_jobs: int) -> Iterator[None]:
        """Joblib's backend within a block.

        Raises:
            ValueError: If Dask is not installed, or its scheduler does not answer.
        """
        if self.name == "joblib":
            with joblib.parallel_config(backend="loky", inner_max_num_threads=1, **watched()):
                yield
            return
        try:
            from distributed import Client  # noqa: PLC0415  # only who asks for it needs it
        except ImportError:
            raise ValueError(
                "The engine 'dask' must have the package distributed, but it is not installed. "
                "Run: pip install 'optuna-zaps[dask]'"
            ) from None
        local = {} if self.scheduler else {"n_workers": n_jobs, "threads_per_worker": 1}
        try:
            client = Client(self.scheduler, **local)
        except (OSError, TimeoutError) as error:
            raise ValueError(
                f"The scheduler must answer at {self.scheduler}, but: {error}."
            ) from error
        with client, joblib.parallel_config(backend="dask"):
            if self.scheduler is None:
                client.run(end_with_parent, os.getpid())
            yield


def watched() -> dict[str, Any]:
    """Options of the processes that joblib starts, so that they end with this one."""
    return {"initializer": end_with_parent, "initargs": (os.getpid(),)}
