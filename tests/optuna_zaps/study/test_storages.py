"""Storages and the workers that share them: repetitions, long claims, dead workers, cost.

``ZAPS_TEST_STORAGES`` names databases by URL, separated by spaces; ``.ci/run`` sets it.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import json
import logging
from pathlib import Path
import socket
from typing import Any
from unittest import mock
import warnings

import numpy as np
import optuna
from optuna.samplers import BaseSampler
from optuna.samplers import TPESampler
from optuna.storages import GrpcStorageProxy
from optuna.storages import RDBStorage
from optuna.storages import run_grpc_proxy_server
from optuna.trial import TrialState
import pytest
from sqlalchemy import event
import worker

from optuna_zaps import ZAPSSampler


MYSQL_TEXT = 65_535  # bytes

PROMPTS = {f"p{i}": [f"{i}-{k} " + "word " * 1600 for k in range(3)] for i in range(10)}
NINE = {"x": [0, 1, 2], "y": [0, 1, 2]}


def prompted(trial: optuna.Trial) -> float:
    picks = [trial.suggest_categorical(name, choices) for name, choices in PROMPTS.items()]
    return float(
        sum(choices.index(pick) for choices, pick in zip(PROMPTS.values(), picks, strict=True))
    )


def claims(study: optuna.Study) -> list[Any]:
    return [trial.system_attrs.get("zaps:candidate") for trial in study.trials]


@pytest.mark.parametrize("make", [
    lambda: ZAPSSampler(seed=0), lambda: ZAPSSampler(search_space=PROMPTS, seed=0)
])  # fmt: skip
def test_a_claim_of_long_texts_is_short_and_still_theirs(make: Callable[[], ZAPSSampler]) -> None:
    study = optuna.create_study(sampler=make())
    study.optimize(prompted, n_trials=14)
    running = [study.ask() for _ in range(6)]
    for trial in running:
        trial.suggest_categorical("p0", PROMPTS["p0"])  # the others are known by the claim alone
    assert max(len(json.dumps(claim).encode()) for claim in claims(study)) < MYSQL_TEXT
    for trial in running:
        prompted(trial)
    assert len({tuple(trial.params.values()) for trial in study.trials}) == 20


@pytest.mark.skipif(not any("mysql" in url for url in worker.SERVERS), reason="no MySQL server")
def test_mysql_takes_the_claim_of_long_texts() -> None:
    address = next(url for url in worker.SERVERS if "mysql" in url)
    with worker.new_study(address) as study:
        study.sampler = ZAPSSampler(search_space=PROMPTS, n_startup_trials=2, seed=0)
        study.optimize(prompted, n_trials=4)
        assert all(trial.state == TrialState.COMPLETE for trial in study.trials)


def score(trial: optuna.Trial) -> float:
    return float(sum(trial.suggest_categorical(name, NINE[name]) for name in NINE))


def killed_before_its_first_parameter(study: optuna.Study) -> optuna.Trial:
    """Make a trial that has claimed a configuration, and of which nothing else is known."""
    trial = study.ask()
    with (
        mock.patch.object(study._storage, "set_trial_param", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        score(trial)
    assert study.trials[trial.number].params == {}
    assert study.trials[trial.number].system_attrs["zaps:candidate"]
    return trial


def test_a_claim_without_parameters_of_a_failed_trial_is_void() -> None:
    study = optuna.create_study(sampler=ZAPSSampler(search_space=NINE, seed=0))
    for _ in range(3):
        study.tell(killed_before_its_first_parameter(study), state=TrialState.FAIL)
    study.optimize(score, n_trials=20)
    complete = [trial for trial in study.trials if trial.state == TrialState.COMPLETE]
    assert len(complete) == 9  # all of them, and then the study stopped
    assert len({tuple(trial.params.items()) for trial in complete}) == 9


def test_a_trial_that_is_tried_again_keeps_what_was_claimed() -> None:
    study = optuna.create_study(sampler=ZAPSSampler(search_space=NINE, seed=0))
    study.optimize(score, n_trials=4)
    number = killed_before_its_first_parameter(study).number
    dead = study.trials[number]
    study.tell(dead.number, state=TrialState.FAIL)
    # As RetryHeartbeatStaleTrialCallback has it.
    study.add_trial(
        optuna.create_trial(state=TrialState.WAITING, system_attrs=dict(dead.system_attrs))
    )
    study.optimize(score, n_trials=1)
    assert study.trials[-1].params == dead.system_attrs["zaps:candidate"]


@pytest.mark.parametrize("inferred", [True, False])
def test_configurations_of_dead_workers_are_evaluated_when_nothing_else_is_left(
    inferred: bool, caplog: pytest.LogCaptureFixture
) -> None:
    zaps = ZAPSSampler(search_space=None if inferred else NINE, seed=0)
    study = optuna.create_study(sampler=zaps)
    study.optimize(score, n_trials=3)
    for _ in range(3):
        score(study.ask())  # and then its worker dies
    optuna.logging.enable_propagation()
    with caplog.at_level(logging.INFO):
        study.optimize(score, n_trials=6 if inferred else 20)
    optuna.logging.disable_propagation()
    complete = [trial.params for trial in study.trials if trial.state == TrialState.COMPLETE]
    assert len({tuple(sorted(params.items())) for params in complete}) == 9
    assert len(complete) == 9
    assert "Every configuration was evaluated;" not in caplog.text  # while three were not


def test_a_study_stops_when_enqueued_trials_evaluate_the_rest() -> None:
    study = optuna.create_study(sampler=ZAPSSampler(search_space={"x": [0, 1, 2, 3]}, seed=0))

    def one(trial: optuna.Trial) -> float:
        return float(trial.suggest_categorical("x", [0, 1, 2, 3]))

    study.optimize(one, n_trials=1)
    for x in {0, 1, 2, 3} - {study.trials[0].params["x"]}:
        study.enqueue_trial({"x": x})
    study.optimize(one, n_trials=10)
    assert len(study.trials) == 4


@pytest.mark.filterwarnings("ignore")  # an experimental feature, and not in ask and tell
def test_a_storage_with_a_heartbeat_needs_no_second_evaluation(tmp_path: Path) -> None:
    storage = RDBStorage(f"sqlite:///{tmp_path / 'study.db'}", heartbeat_interval=60)
    zaps = ZAPSSampler(search_space=NINE, seed=0)
    study = optuna.create_study(storage=storage, sampler=zaps)
    score(study.ask())
    study.optimize(score, n_trials=20)
    assert len(study.trials) == 9  # the ninth is still evaluated elsewhere


@pytest.mark.parametrize("space", [NINE, None])
@pytest.mark.parametrize("foreign", ["text", [1.0], 3, True, None, {"x": [1]}, {"z": 5}, {}])
def test_a_claim_that_is_none_is_ignored_with_one_warning(
    foreign: Any, space: Any, caplog: pytest.LogCaptureFixture
) -> None:
    study = optuna.create_study(sampler=ZAPSSampler(search_space=space, seed=0))
    study.optimize(score, n_trials=3)
    for key in ("zaps:candidate", "zaps:mean"):
        for _ in range(2):
            trial = study.ask()
            study._storage.set_trial_system_attr(trial._trial_id, key, foreign)
            study._storage.set_trial_user_attr(trial._trial_id, key, 10**400)
    optuna.logging.enable_propagation()
    study.optimize(score, n_trials=3)
    optuna.logging.disable_propagation()
    warned = [record for record in caplog.records if "zaps:candidate" in record.getMessage()]
    assert len(warned) == (not isinstance(foreign, dict))
    assert sum(trial.state == TrialState.COMPLETE for trial in study.trials) == 6


def statements(sampler: BaseSampler, tmp_path: Path) -> tuple[int, int]:
    """SQL statements of an ask with its parameters, and of a tell, after some trials."""
    storage = RDBStorage(f"sqlite:///{tmp_path / type(sampler).__name__}.db")
    study = optuna.create_study(storage=storage, sampler=sampler)
    n_statements = 0

    @event.listens_for(storage.engine, "before_cursor_execute")
    def count(*_: Any) -> None:
        nonlocal n_statements
        n_statements += 1

    for _ in range(16):
        n_statements = 0
        trial = study.ask()
        value = sum(trial.suggest_categorical(name, list(range(6))) for name in "abc")
        n_ask, n_statements = n_statements, 0
        study.tell(trial, value)
    return n_ask, n_statements


@pytest.mark.parametrize("space", [{name: list(range(6)) for name in "abc"}, None])
def test_a_tell_costs_the_statements_of_tpe_and_an_ask_its_attributes_more(
    space: Any, tmp_path: Path
) -> None:
    n_ask, n_tell = statements(ZAPSSampler(search_space=space, seed=0), tmp_path)
    n_ask_tpe, n_tell_tpe = statements(
        TPESampler(seed=0, n_startup_trials=0, multivariate=True, constant_liar=True), tmp_path
    )
    assert n_tell == n_tell_tpe
    # Phase, mean, spread and acquisition, which TPE does not tell, take two statements each.
    assert n_ask <= n_ask_tpe + 2


# --- several workers on one study --------------------------------------------------------------


N_WORKERS, N_TRIALS = 8, 25
GRID = {name: list(range(size)) for name, size in zip("abcd", (6, 5, 4, 3), strict=True)}


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


STORAGES = ["journal", "postgresql", "mysql", "grpc"]


@pytest.fixture(params=STORAGES)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "journal":
        return str(tmp_path / "journal.log")
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'study.db'}"
    if request.param == "grpc":
        return str(request.getfixturevalue("proxy"))
    return worker.database(request.param)


def objective(trial: optuna.Trial) -> float:
    return float(sum(trial.suggest_categorical(name, GRID[name]) for name in GRID))


def work(address: str, name: str, seed: int, n_trials: int) -> None:
    zaps = worker.sampler(seed, search_space=GRID, profile="anytime")
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


# SQLite has one writer at a time, too few for eight workers.
@pytest.mark.parametrize("address", [*STORAGES, "sqlite"], indirect=True)
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
    # test_pending.py repeats this on more seeds, with eight trials at a time in one process.
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
