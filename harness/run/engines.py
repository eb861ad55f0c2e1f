"""Engines that run cells: processes of this machine (joblib), or a cluster (Dask)."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
import os
from typing import Any
from typing import TypeVar

from harness.run.processes import end_with_parent


ENGINES = ("joblib", "dask")

_SECONDS_FOR_WORKERS = 60.0
_Item = TypeVar("_Item")


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
    def cluster(self, n_jobs: int) -> Iterator[Any]:
        """Client of Dask's scheduler within a block.

        Args:
            n_jobs: Number of worker processes if a cluster is started on this machine.

        Raises:
            ValueError: If Dask is not installed, its scheduler does not answer or has no worker
                within a minute, or its workers have several threads.
        """
        try:
            from distributed import Client  # noqa: PLC0415  # only who asks for it needs it
        except ImportError:
            raise ValueError(
                "The engine 'dask' must have the package distributed, but it is not installed. "
                "Run: pip install 'optuna-zaps[dask]'"
            ) from None
        # Its dashboard at any port: another comparison may hold the usual one.
        own = {"n_workers": n_jobs, "threads_per_worker": 1, "dashboard_address": ":0"}
        try:
            client = Client(self.scheduler, **({} if self.scheduler else own))
        except (OSError, TimeoutError) as error:
            raise ValueError(
                f"The scheduler must answer at {self.scheduler}, but: {error}."
            ) from error
        with client:
            if self.scheduler is None:
                # Also in the place of a worker that died.
                client.register_worker_callbacks(partial(end_with_parent, os.getpid()))
            _check_workers(client)
            yield client


def _check_workers(client: Any) -> None:
    address = client.scheduler.address
    try:
        client.wait_for_workers(1, timeout=_SECONDS_FOR_WORKERS)
    except TimeoutError:
        raise ValueError(
            f"The scheduler {address} must have workers, but has none after "
            f"{_SECONDS_FOR_WORKERS:.0f} s. Run: dask worker {address} --nthreads 1"
        ) from None
    # The CPU time of a process is that of all its threads.
    if max(client.nthreads().values(), default=1) > 1:
        raise ValueError(
            f"Each worker of {address} must have one thread, so that the CPU time of a study is "
            f"its own, but some have more. Run: dask worker {address} --nthreads 1 --nworkers 4"
        )


def completed(
    client: Any, function: Callable[[_Item], Any], items: Sequence[_Item]
) -> Iterator[tuple[_Item, Any, str | None]]:
    """Call a function with each item on the workers of a cluster.

    The scheduler gives the items of a worker that dies to others; one that is there whenever
    workers die is given up.

    Yields:
        Each item once, in the order in which they end: with the result, and the reason if there is
        none.
    """
    from distributed import as_completed  # noqa: PLC0415  # whoever has a client has it

    futures = {client.submit(function, item, pure=False): item for item in items}
    for future in as_completed(list(futures)):
        item = futures.pop(future)
        if future.status == "finished":
            yield item, future.result(), None
        else:
            error = future.exception() if future.status == "error" else future.status
            yield item, None, f"{type(error).__name__}: {error}"
        future.release()


def watched() -> dict[str, Any]:
    """Options of the processes that joblib starts, so that they end with this one."""
    return {"initializer": end_with_parent, "initargs": (os.getpid(),)}
