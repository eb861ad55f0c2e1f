"""Workers that are killed, databases that restart, studies that others go on with."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import os
from pathlib import Path
import shutil
import signal
import socket
import subprocess
import time
from typing import Any
import warnings

import optuna
from optuna.exceptions import StorageInternalError
from optuna.storages import RetryHeartbeatStaleTrialCallback
from optuna.trial import TrialState
import pytest
from sqlalchemy.exc import SQLAlchemyError
import worker


# --- a worker that is killed -------------------------------------------------------------------


def heart(retries: int) -> dict[str, Any]:
    """Arguments of a storage whose workers are missed after two seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        retry = RetryHeartbeatStaleTrialCallback(max_retry=retries) if retries else None
    return {
        "heartbeat_interval": 1,
        "grace_period": 2,
        "heartbeat_stale_trial_callback": retry,
    }


def hang(address: str, name: str, arguments: dict[str, Any], flag: str) -> None:
    """Evaluate eight configurations, and begin a ninth for ever."""
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)

    def objective(trial: optuna.Trial) -> float:
        value = worker.suggest(trial)
        if trial.number == 8:
            Path(flag).touch()
            time.sleep(600)
        return value

    with worker.loaded(address, name, worker.sampler(), **arguments) as study:
        study.optimize(objective, n_trials=20)


@pytest.fixture(
    params=[
        pytest.param("sqlite", marks=pytest.mark.slow),
        "postgresql",
        pytest.param("mysql", marks=pytest.mark.slow),
    ]
)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'study.db'}"
    return worker.database(request.param)


@pytest.mark.parametrize(
    "retries",
    [
        pytest.param(None, id="no heartbeat"),
        pytest.param(0, id="heartbeat", marks=pytest.mark.slow),
        pytest.param(1, id="retry"),
    ],
)
def test_a_worker_is_killed_in_mid_trial(
    address: str, tmp_path: Path, retries: int | None
) -> None:
    arguments = {} if retries is None else heart(retries)
    flag = tmp_path / "ninth"
    with worker.new_study(address) as study, warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        ninth = worker.Worker(hang, (address, study.study_name, arguments, str(flag)))
        while not flag.exists():
            assert ninth.process.is_alive(), ninth.fault()
            time.sleep(0.05)
        assert ninth.process.pid is not None
        os.kill(ninth.process.pid, signal.SIGKILL)
        assert ninth.fault() == f"a worker ended with exit code {-signal.SIGKILL}:\n"
        if retries is not None:
            time.sleep(3)  # the grace period
        zaps = worker.sampler(seed=1)
        with worker.loaded(address, study.study_name, zaps, **arguments) as other:
            other.optimize(worker.suggest, n_trials=100)
        trials = study.trials

    killed, others = trials[8], trials[:8] + trials[9:]
    assert {trial.state for trial in others} == {TrialState.COMPLETE}
    assert len(set(worker.configurations(others))) == len(others)
    if retries == 1:
        # Stale and queued again with the same parameters: everything was evaluated, once each.
        assert killed.state == TrialState.FAIL
        assert len(others) == worker.SIZE
        assert worker.configurations([killed])[0] in worker.configurations(others)
    elif retries is None:
        # Nobody knows that the worker is gone: when nothing else is left it is tried again.
        assert killed.state == TrialState.RUNNING
        assert len(others) == worker.SIZE
    else:
        # Nobody knows whether it was the configuration that killed the worker: it is left out.
        assert killed.state == TrialState.FAIL
        assert len(others) == worker.SIZE - 1
        assert worker.configurations([killed])[0] not in worker.configurations(others)


# --- a database that restarts ------------------------------------------------------------------


class PostgreSQL:
    """A server of one's own, which may be stopped without asking anybody."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs, self._folder = programs, folder
        self._user = "postgres" if os.getuid() == 0 else None  # it refuses to run as root
        folder.mkdir()
        if self._user is not None:
            shutil.chown(folder, self._user)
        self._run("initdb", "--auth=trust", "--username=postgres", "--no-sync")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.url = f"postgresql+psycopg://postgres@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        options = f"-p {self._port} -k {self._folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        log = str(self._folder / "log")
        self._run("pg_ctl", "start", "--wait", "--options", options, "--log", log)

    def stop(self) -> None:
        # Connections are cut as they stand, and what was not committed is lost.
        self._run("pg_ctl", "stop", "--mode=immediate", "--wait")

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self._programs / program), "--pgdata", str(self._folder), *arguments],
            user=self._user,
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            check=True,
        )


@pytest.fixture
def server() -> Iterator[PostgreSQL]:
    pytest.importorskip("psycopg", reason="needs psycopg: pip install 'psycopg[binary]'")
    found = [shutil.which("initdb"), *sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))]
    program = next((Path(each) for each in found if each is not None), None)
    if program is None:
        pytest.skip("needs a PostgreSQL server to restart: no initdb on PATH or in /usr/lib")
    # Not in tmp_path, which another user may not enter.
    folder = Path("/tmp") / f"zaps-postgresql-{os.getpid()}"
    postgres = PostgreSQL(program.parent, folder)
    postgres.start()
    yield postgres
    postgres.stop()
    shutil.rmtree(folder)


def test_a_database_restarts_while_a_trial_runs(server: PostgreSQL) -> None:
    def objective(trial: optuna.Trial) -> float:
        value = worker.suggest(trial)
        if trial.number == 10:
            server.stop()
            server.start()
        return value

    zaps = worker.sampler(profile="anytime")
    with worker.storage_at(server.url) as storage:
        study = optuna.create_study(storage=storage, direction="maximize", sampler=zaps)
        study.optimize(objective, n_trials=14)
        trials = study.trials
    assert {trial.state for trial in trials} == {TrialState.COMPLETE}

    # The interruption has changed nothing.
    undisturbed = optuna.create_study(
        direction="maximize", sampler=worker.sampler(profile="anytime")
    )
    undisturbed.optimize(worker.suggest, n_trials=14)
    assert worker.configurations(trials) == worker.configurations(undisturbed.trials)


def slowly(trial: optuna.Trial) -> float:
    time.sleep(0.05)
    return worker.suggest(trial)


def persist(url: str, name: str, seed: int) -> None:
    """Work on until everything is evaluated, whatever the database does."""
    zaps = worker.sampler(seed)
    for _ in range(200):
        try:
            with worker.loaded(url, name, zaps) as study:
                study.optimize(slowly, n_trials=100)
            return
        # Optuna 5.0 raises UnboundLocalError where it meant to pass the storage's error on.
        except (StorageInternalError, SQLAlchemyError, UnboundLocalError):
            time.sleep(0.1)
    raise RuntimeError("the database did not come back")


def test_a_database_restarts_under_three_workers(server: PostgreSQL) -> None:
    with worker.new_study(server.url) as study:
        arguments = [(server.url, study.study_name, seed) for seed in (0, 0, 1)]
        workers = [worker.Worker(persist, each) for each in arguments]
        while len(study.get_trials(deepcopy=False)) < 8:
            time.sleep(0.05)
        server.stop()
        time.sleep(0.5)
        server.start()
        worker.succeed(workers)
        trials = study.trials
    complete = [trial for trial in trials if trial.state == TrialState.COMPLETE]
    cut_off = [trial for trial in trials if trial.state != TrialState.COMPLETE]
    assert len(cut_off) <= 3  # one of each worker
    new = [trial for trial in complete if trial.user_attrs["zaps:phase"] != "repetition"]
    evaluated = worker.configurations(new)
    assert len(set(evaluated)) == len(evaluated)
    # Nothing is lost: what was cut off is evaluated again, by whoever finds nothing else left.
    assert len(set(worker.configurations(complete))) == worker.SIZE
    # While the others evaluate the last two, a worker cannot know that they are alive.
    assert len(complete) - len(new) <= len(cut_off) + 2 * 2


# --- a study that others go on with ------------------------------------------------------------


def go_on(address: str, name: str, seed: int | None, n_trials: int) -> None:
    zaps = None if seed is None else worker.sampler(seed, profile="anytime")
    with worker.loaded(address, name, zaps) as study:
        study.optimize(worker.suggest, n_trials=n_trials)


@pytest.mark.parametrize("address_in", [
    lambda folder: str(folder / "journal.log"),
    pytest.param(lambda folder: f"sqlite:///{folder / 'study.db'}", marks=pytest.mark.slow),
], ids=["journal", "sqlite"])  # fmt: skip
def test_other_processes_go_on_from_the_history(
    tmp_path: Path, address_in: Callable[[Path], str]
) -> None:
    address = address_in(tmp_path)
    with worker.new_study(address) as study:
        # The second has another seed; the third loads the study without a sampler, which is TPE.
        for seed, n_trials in ((0, 6), (99, 6), (None, 6), (7, 6)):
            worker.run(go_on, [(address, study.study_name, seed, n_trials)])
        trials = study.trials
    assert len(trials) == 24
    everything = worker.configurations(trials)
    assert len(set(everything[:12])) == 12
    assert all("zaps:phase" not in trial.user_attrs for trial in trials[12:18])
    assert len(set(everything)) == len(set(everything[:18])) + 6
    # Nobody starts again: from the fifth trial on it is the model that decides.
    phases = [trial.user_attrs["zaps:phase"] for trial in trials[4:12] + trials[18:]]
    assert set(phases) == {"model"}
