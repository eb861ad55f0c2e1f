"""Processes that work on one study, as on a cluster.

An address is the URL of a database, ``grpc://HOST:PORT`` of a proxy, or the path of a journal.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
import multiprocessing
from multiprocessing.process import BaseProcess
import os
from pathlib import Path
import tempfile
from typing import Any
import uuid
import warnings

from flat import FLAT
import optuna
from optuna.storages import BaseStorage
from optuna.storages import GrpcStorageProxy
from optuna.storages import JournalStorage
from optuna.storages import RDBStorage
from optuna.storages.journal import JournalFileBackend
import pytest
import quick_sqlite  # noqa: F401

from optuna_zaps import ZAPSSampler


# One process imports everything and forks the workers: it has no threads yet.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["optuna_zaps"])

SERVERS = os.environ.get("ZAPS_TEST_STORAGES", "").split()

SPACE: dict[str, list[Any]] = {"op": list("abcd"), "act": list("xyz"), "width": [8, 16]}
SIZE = 24


def database(dialect: str) -> str:
    """URL of a server of this kind, or a skipped test."""
    for url in SERVERS:
        if url.startswith(dialect):
            return url
    pytest.skip(f"needs the URL of a {dialect} database in ZAPS_TEST_STORAGES")


@contextmanager
def storage_at(address: str, **arguments: Any) -> Iterator[BaseStorage]:
    """Open the storage at an address until the end; arguments are those of an RDBStorage."""
    storage = _opened(address, **arguments)
    try:
        yield storage
    finally:
        if isinstance(storage, RDBStorage):
            storage.engine.dispose()
        elif isinstance(storage, GrpcStorageProxy):
            storage.close()


def _opened(address: str, **arguments: Any) -> BaseStorage:
    if address.startswith("grpc://"):
        host, port = address.removeprefix("grpc://").split(":")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            return GrpcStorageProxy(host=host, port=int(port))
    if "://" in address:
        # A connection that a restart of the server has cut is made anew.
        return RDBStorage(address, engine_kwargs={"pool_pre_ping": True}, **arguments)
    return JournalStorage(JournalFileBackend(address))


@contextmanager
def new_study(address: str) -> Iterator[optuna.Study]:
    """A study of its own in a storage, deleted in the end."""
    name = f"zaps-{uuid.uuid4()}"
    with storage_at(address) as storage:
        study = optuna.create_study(storage=storage, study_name=name, direction="maximize")
        try:
            yield study
        finally:
            optuna.delete_study(storage=storage, study_name=name)


@contextmanager
def loaded(
    address: str, name: str, zaps: ZAPSSampler | None, **arguments: Any
) -> Iterator[optuna.Study]:
    """Load a study that others made, and close its connections in the end."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with storage_at(address, **arguments) as storage:
        yield optuna.load_study(storage=storage, study_name=name, sampler=zaps)


def suggest(trial: optuna.Trial) -> float:
    """Suggest all parameters, and return the sum of their positions, 9 at most."""
    return float(
        sum(
            choices.index(trial.suggest_categorical(name, choices))
            for name, choices in SPACE.items()
        )
    )


def sampler(seed: int = 0, **arguments: Any) -> ZAPSSampler:
    """A sampler of the space that spends no time on a model."""
    return ZAPSSampler(
        **{"search_space": SPACE, "n_startup_trials": 4, "profile": FLAT}
        | {"seed": seed}
        | arguments
    )


def configurations(trials: Sequence[optuna.trial.FrozenTrial]) -> list[tuple[Any, ...]]:
    """Parameters of trials, comparable."""
    return [tuple(trial.params[name] for name in sorted(trial.params)) for trial in trials]


class Worker:
    """A process that calls a function, and keeps what it wrote to its standard error.

    Args:
        function: What to call.
        arguments: With what.
    """

    def __init__(self, function: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        descriptor, self._stderr = tempfile.mkstemp(prefix="zaps-worker-")
        os.close(descriptor)
        self.process: BaseProcess = CONTEXT.Process(
            target=_call, args=(function, arguments, self._stderr), daemon=True
        )
        self.process.start()

    def fault(self) -> str | None:
        """Wait for the end, and return what the worker wrote if it did not end well."""
        self.process.join()
        stderr = Path(self._stderr)
        said = stderr.read_text()
        stderr.unlink()
        if self.process.exitcode == 0:
            return None
        return f"a worker ended with exit code {self.process.exitcode}:\n{said}"


def _call(function: Callable[..., None], arguments: tuple[Any, ...], stderr: str) -> None:
    with open(stderr, "w") as file:
        os.dup2(file.fileno(), 2)
    function(*arguments)


def run(function: Callable[..., None], each: Sequence[tuple[Any, ...]]) -> None:
    """Call a function in a process for each tuple of arguments, and wait for all to succeed."""
    succeed([Worker(function, arguments) for arguments in each])


def succeed(workers: Sequence[Worker]) -> None:
    """Wait for workers to end; all must end well."""
    faults = [fault for worker in workers if (fault := worker.fault()) is not None]
    assert not faults, "\n".join(faults)
