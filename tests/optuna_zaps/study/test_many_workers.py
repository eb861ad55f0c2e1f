"""Several workers on one study, on every kind of storage that there is a server for.

``ZAPS_TEST_STORAGES`` names databases by URL, separated by spaces; ``.ci/run`` sets it.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from pathlib import Path
import socket
from typing import Any
import warnings

import numpy as np
import optuna
from optuna.storages import GrpcStorageProxy
from optuna.storages import run_grpc_proxy_server
from optuna.trial import TrialState
import pytest
import worker

from optuna_zaps import ZAPSSampler


N_WORKERS, N_TRIALS = 8, 25
SPACE = {name: list(range(size)) for name, size in zip("abcd", (6, 5, 4, 3), strict=True)}


def serve(address: str, port: int) -> None:
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    with worker.storage_at(address) as storage:
        run_grpc_proxy_server(storage, host="127.0.0.1", port=port)


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[str]:
    pytest.importorskip("grpc", reason="the gRPC proxy needs grpcio: pip install grpcio protobuf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    behind = next(iter(worker.SERVERS), f"sqlite:///{tmp_path / 'proxy.db'}")
    server = worker.Worker(serve, (behind, port))
    address = f"grpc://127.0.0.1:{port}"
    with worker.storage_at(address) as storage:
        assert isinstance(storage, GrpcStorageProxy)
        storage.wait_server_ready(timeout=60)
    yield address
    server.process.terminate()
    server.fault()


PLACES = ["journal", "postgresql", "mysql", "grpc"]


@pytest.fixture(params=PLACES)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "journal":
        return str(tmp_path / "journal.log")
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'study.db'}"
    if request.param == "grpc":
        return str(request.getfixturevalue("proxy"))
    return worker.database(request.param)


def objective(trial: optuna.Trial) -> float:
    return float(sum(trial.suggest_categorical(name, SPACE[name]) for name in SPACE))


def work(address: str, name: str, seed: int, n_trials: int) -> None:
    zaps = worker.sampler(seed, search_space=SPACE, profile="anytime")
    with worker.loaded(address, name, zaps) as study:
        study.optimize(objective, n_trials=n_trials)


def fail(name: str) -> None:
    raise RuntimeError(f"no {name}")


def test_a_worker_that_fails_says_why() -> None:
    with pytest.raises(AssertionError, match=r"(?s)exit code 1:.*RuntimeError: no one.*no two"):
        worker.run(fail, [("one",), ("two",)])


# Workers with one seed are the hard case: in the same state all want the same candidate.
@pytest.mark.parametrize(
    "seeds", [[0] * N_WORKERS, list(range(N_WORKERS))], ids=["one seed", "seeds"]
)
@pytest.mark.slow
def test_nothing_is_evaluated_twice_and_no_trial_lost(address: str, seeds: list[int]) -> None:
    with worker.new_study(address) as study:
        worker.run(work, [(address, study.study_name, seed, N_TRIALS) for seed in seeds])
        trials = study.trials
    assert [trial.number for trial in trials] == list(range(N_WORKERS * N_TRIALS))
    assert {trial.state for trial in trials} == {TrialState.COMPLETE}
    assert len(set(worker.configurations(trials))) == N_WORKERS * N_TRIALS


# SQLite has one writer at a time, which is no place for eight workers.
@pytest.mark.parametrize("address", [*PLACES, "sqlite"], indirect=True)
def test_three_workers_evaluate_nothing_twice(address: str) -> None:
    with worker.new_study(address) as study:
        worker.run(work, [(address, study.study_name, 0, 10)] * 3)
        trials = study.trials
    assert [trial.state for trial in trials] == [TrialState.COMPLETE] * 30
    assert len(set(worker.configurations(trials))) == 30


def work_on_nasbench201(address: str, name: str, seed: int, table: Any) -> None:
    with worker.loaded(address, name, ZAPSSampler(table.frame, seed=seed)) as study:
        study.optimize(table.objective, n_trials=N_TRIALS)


@pytest.mark.slow
def test_eight_processes_find_what_one_finds(
    nasbench201: Callable[[str], Any], tmp_path: Path
) -> None:
    # test_pending.py has the same on more seeds, with eight trials at a time in one process.
    table, alone, together = nasbench201("cifar10"), [], []
    for seed in range(5):
        study = optuna.create_study(
            direction="maximize", sampler=ZAPSSampler(table.frame, seed=seed)
        )
        study.optimize(table.objective, n_trials=N_WORKERS * N_TRIALS)
        alone.append(table.precision(study))
        address = str(tmp_path / f"{seed}.log")
        with worker.new_study(address) as study:
            worker.run(work_on_nasbench201, [(address, study.study_name, seed, table)] * N_WORKERS)
            together.append(table.precision(study))
    print(f"\nP@100 at 200: {alone} by one process, {together} by eight")
    assert np.mean(together) > np.mean(alone) - 5
