"""Several processes on one study, on every kind of storage that there is a server for.

``ZAPS_TEST_STORAGES`` names databases by URL, separated by spaces; ``.ci/run`` sets it.
"""

from __future__ import annotations

from collections.abc import Iterator
import multiprocessing
import os
from pathlib import Path
import uuid

import optuna
from optuna.storages import BaseStorage
from optuna.storages import JournalStorage
from optuna.storages import RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState
import pytest

from optuna_zaps import ZAPSSampler


SPACE = {"op": list("abcde"), "act": list("wxyz"), "width": [8, 16, 32]}
N_WORKERS, N_TRIALS = 3, 17
SERVERS = os.environ.get("ZAPS_TEST_STORAGES", "").split()


def opened(address: str) -> BaseStorage:
    if "://" in address:
        return RDBStorage(address)
    return JournalStorage(JournalFileBackend(address))


@pytest.fixture(params=["journal", "sqlite", "postgresql", "mysql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "journal":
        return str(tmp_path / "journal.log")
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'study.db'}"
    for server in SERVERS:
        if server.startswith(request.param):
            return server
    pytest.skip(f"needs the URL of a {request.param} database in ZAPS_TEST_STORAGES")


@pytest.fixture
def study(address: str) -> Iterator[optuna.Study]:
    storage, name = opened(address), f"zaps-{uuid.uuid4()}"
    yield optuna.create_study(storage=storage, study_name=name, direction="maximize")
    optuna.delete_study(storage=storage, study_name=name)
    if isinstance(storage, RDBStorage):
        storage.engine.dispose()


def objective(trial: optuna.Trial) -> float:
    params = {name: trial.suggest_categorical(name, choices) for name, choices in SPACE.items()}
    return float(SPACE["op"].index(params["op"]) + params["width"] ** 0.5)


def work(address: str, name: str, seed: int) -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = ZAPSSampler(search_space=SPACE, n_startup_trials=6, seed=seed)
    study = optuna.load_study(storage=opened(address), study_name=name, sampler=sampler)
    study.optimize(objective, n_trials=N_TRIALS)


def test_processes_evaluate_nothing_twice(study: optuna.Study, address: str) -> None:
    # Workers with one seed are the hard case: in the same state all want the same candidate.
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=work, args=(address, study.study_name, 0)) for _ in range(N_WORKERS)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    trials = study.trials
    assert [trial.state for trial in trials] == [TrialState.COMPLETE] * N_WORKERS * N_TRIALS
    assert len({tuple(sorted(t.params.items())) for t in trials}) == N_WORKERS * N_TRIALS
