from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
import os
from pathlib import Path
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
from odd_samplers import Recording
import optuna
from optuna.trial import TrialState
import pytest
from scipy import stats

from harness import problems
from harness import samplers
from harness.experiment import Cell
from harness.experiment import CellResult
from harness.experiment import make_cells
from harness.run import engines
from harness.run import runner
from harness.run.engines import Engine
from harness.run.processes import end_with_parent
from harness.run.processes import stopped_by_sigterm
from harness.run.runner import run
from harness.run.runner import run_cell
from harness.run.store import Store


TABLE = problems.load_table("nasbench201/cifar10@package")


def cells(*texts: str, seeds: int = 1, budgets: tuple[int, ...] = (12,)) -> list[Cell]:
    return make_cells([TABLE], [samplers.make_spec(t) for t in texts], range(seeds), budgets)


def test_a_cell_is_a_study_of_distinct_configurations() -> None:
    result = run_cell(cells("tpe", budgets=(60,))[0])
    assert len(result.evaluated) == 60
    assert len(result.asked) == len(result.ask_seconds) == len(result.tell_seconds)
    assert result.asked[-1] not in result.asked[:-1]
    assert all(second >= 0 for second in (*result.ask_seconds, *result.tell_seconds))
    assert result.provenance["optuna"] == optuna.__version__


def test_a_cell_is_the_study_that_a_user_would_run() -> None:
    (cell,) = cells("zaps", budgets=(30,))
    study = optuna.create_study(
        direction="maximize", sampler=samplers.build(cell.sampler, TABLE, budget=30, seed=0)
    )
    study.optimize(TABLE, n_trials=30)
    result = run_cell(cell)
    assert list(result.asked) == [TABLE.row(trial.params) for trial in study.trials]
    assert result.evaluated == result.asked
    assert [a["zaps:phase"] for a in result.user_attrs] == [
        trial.user_attrs["zaps:phase"] for trial in study.trials
    ]


def test_a_sampler_that_repeats_itself_is_stopped_and_reported() -> None:
    result = run_cell(cells("odd_samplers:Stubborn")[0])
    assert len(result.asked) == 20 * 12
    assert result.capped
    assert result.evaluated == (result.asked[0],)


def test_the_ranking_of_a_sampler_that_has_one_is_judged_over_the_whole_table() -> None:
    (cell,) = cells("zaps", budgets=(30,))
    result = run_cell(cell)
    sampler = samplers.build(cell.sampler, TABLE, budget=30, seed=0)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(TABLE, n_trials=30)
    ranking = sampler.rank(study, n=15_625)  # type: ignore[attr-defined]
    merged = TABLE.parameters.assign(truth=TABLE.values).merge(ranking)
    assert len(merged) == 15_625
    expected = merged["truth"].corr(merged["mean"], method="spearman")
    assert result.spearman == pytest.approx(expected)
    assert run_cell(cells("random")[0]).spearman is None
    assert run_cell(cells("odd_samplers:RanksSomethingElse")[0]).spearman is None
    assert run_cell(cells("zaps", budgets=(1,))[0]).spearman is None


def test_seeds_make_studies_and_equal_seeds_equal_ones() -> None:
    first, second = (run_cell(cell).asked for cell in cells("random", seeds=2))
    assert first != second
    assert run_cell(cells("random")[0]).asked == first


def test_random_search_finds_what_the_hypergeometric_distribution_says() -> None:
    n_seeds, budget = 40, 200
    top = set(TABLE.top(100).tolist())
    found = [len(top.intersection(run_cell(cell).evaluated))
             for cell in cells("random", seeds=n_seeds, budgets=(budget,))]  # fmt: skip
    expected = stats.hypergeom(15_625, 100, budget)
    assert expected.mean() == pytest.approx(1.28)
    assert abs(np.mean(found) - expected.mean()) < 3 * expected.std() / n_seeds**0.5


def test_only_what_plans_for_its_budget_has_a_study_for_each() -> None:
    made = cells("zaps", "zaps-paper", seeds=2, budgets=(10, 20, 30))
    planned = [(c.sampler.label, c.budget) for c in made if c.seed == 1]
    assert planned == [("zaps", 30)] + [("zaps-paper", budget) for budget in (10, 20, 30)]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_failure_is_reported_and_the_others_are_saved(tmp_path: Path) -> None:
    store = Store(tmp_path)
    made = cells("random", "odd_samplers:Broken", seeds=2)
    outcomes = list(run(made, store, n_jobs=1))
    failed = {o.cell.sampler.label for o in outcomes if o.error}
    assert failed == {"Broken"}
    assert all("no idea" in o.error for o in outcomes if o.error)
    assert len(store.load_all()) == 2
    assert store.missing(made) == [c for c in made if c.sampler.label == "Broken"]


def recorded(target: str, **setting: Any) -> CellResult:
    for notes in (Recording.running, Recording.told, Recording.studies):
        notes.clear()
    spec = samplers.make_spec(f"odd_samplers:{target}")
    (cell,) = make_cells([TABLE], [spec], [0], [10], **setting)
    return run_cell(cell)


@pytest.mark.parametrize("by_trials", [False, True])
def test_trials_in_flight_are_told_oldest_first(by_trials: bool) -> None:
    result = recorded("Recording", in_flight=4, by_trials=by_trials)
    # Four are asked; then 0 is told before 4 is asked, 1 before 5, and so on.
    assert Recording.running[:6] == [[], [0], [0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4]]
    assert all(len(others) == 3 for others in Recording.running[3:])
    assert Recording.told == list(range(10))
    assert len(result.asked) == len(result.ask_seconds) == len(result.tell_seconds) == 10
    states = [trial.state for trial in Recording.studies[-1].trials]
    assert states == [TrialState.COMPLETE] * 10
    assert result.asked == recorded("Recording", by_trials=by_trials).asked


def test_of_distinct_configurations_in_flight_repeats_cost_nothing() -> None:
    result = recorded("Repeating", in_flight=4)
    assert len(result.evaluated) == 10
    assert result.asked[::2] == result.evaluated  # the budget ends with the tenth new one
    assert Recording.told == list(range(19))
    assert {trial.state for trial in Recording.studies[-1].trials} == {TrialState.COMPLETE}
    assert len(recorded("Repeating", in_flight=4, by_trials=True).asked) == 10


def test_more_in_flight_than_the_budget_are_not_asked() -> None:
    assert len(recorded("Recording", in_flight=64).asked) == 10
    assert Recording.running[-1] == list(range(9))
    assert Recording.told == list(range(10))


def test_trials_in_flight_are_part_of_the_work(tmp_path: Path) -> None:
    (random,) = cells("random")
    Store(tmp_path).save(run_cell(random))
    four = replace(random, in_flight=4)
    assert Store(tmp_path).missing([random, four]) == [four]
    Store(tmp_path).save(run_cell(four))
    found = sorted((r.cell for r in Store(tmp_path).load_all()), key=lambda c: c.in_flight)
    assert found == [random, four]


@pytest.mark.parametrize("in_flight", [0, -3])
def test_fewer_than_one_in_flight_is_refused(in_flight: int) -> None:
    with pytest.raises(ValueError, match=f"must be at least 1, but got {in_flight}"):
        make_cells([TABLE], [samplers.make_spec("random")], [0], [5], in_flight=in_flight)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_sampler_that_exits_fails_its_study_alone(n_jobs: int, tmp_path: Path) -> None:
    store = Store(tmp_path)
    made = cells("odd_samplers:Exits", "random", seeds=2)
    outcomes = {o.cell.key: o for o in run(made, store, n_jobs=n_jobs)}
    assert len(outcomes) == len(made)
    for cell in made:
        error = outcomes[cell.key].error
        if cell.sampler.label == "Exits":
            assert error is not None
            assert error.startswith("It called sys.exit('no licence').")
            assert "odd_samplers.py" in error
        else:
            assert error is None
            assert store.load(cell) is not None


def test_the_exit_of_a_signal_ends_a_study_in_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def terminate(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)

    monkeypatch.setattr(Recording, "before_trial", terminate)
    made = cells("odd_samplers:Recording")
    with pytest.raises(SystemExit) as caught, stopped_by_sigterm():
        list(run(made, Store(tmp_path), n_jobs=1))
    assert caught.value.code == 143


def test_what_is_imported_in_a_study_is_limited_to_one_thread(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
import threadpoolctl
from harness import problems, samplers
from harness.experiment import make_cells
from harness.run.runner import run
from harness.run.store import Store
table = problems.load_table("nasbench201/cifar10@package")
cells = make_cells([table], [samplers.make_spec("zaps")], [0], [16])
store = Store(Path({str(tmp_path)!r}))
assert [outcome.error for outcome in run(cells, store, n_jobs=1)] == [None]
print(store.load(cells[0]).provenance["threads per study"])
"""
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert finished.stdout == "1\n"


def test_a_process_that_dies_takes_no_other_study_with_it(tmp_path: Path) -> None:
    store = Store(tmp_path)
    made = cells("random", "odd_samplers:Dies", seeds=2)
    outcomes = {o.cell.key: o for o in run(made, store, n_jobs=2)}
    assert len(outcomes) == len(made)
    for cell in made:
        error = outcomes[cell.key].error
        if cell.sampler.label == "Dies":
            assert error is not None
            assert "process died" in error
        else:
            assert error is None
            assert store.load(cell) is not None


def test_who_interrupts_a_study_that_runs_alone_does_not_wait_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[dict[str, Any]] = []

    class Executor:
        def __init__(self, **options: Any) -> None:
            calls.append(options)

        def submit(self, *_: Any) -> Any:
            raise KeyboardInterrupt

        def shutdown(self, **options: Any) -> None:
            calls.append(options)

    monkeypatch.setattr(runner, "ProcessPoolExecutor", Executor)
    with pytest.raises(KeyboardInterrupt):
        runner._run_alone(cells("random")[0], Store(tmp_path))
    assert calls == [
        {"max_workers": 1, "initializer": end_with_parent, "initargs": (os.getpid(),)},
        {"kill_workers": True},
    ]


def test_what_json_does_not_know_is_saved_as_what_it_does(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (cell,) = cells("odd_samplers:Talkative")
    assert [o.error for o in run([cell], store, n_jobs=1)] == [None]
    loaded = store.load(cell)
    assert loaded is not None
    assert loaded.user_attrs[0] == {"array": [0, 1, 2], "number": 7, "set": "{1}"}
    assert loaded.provenance["threads per study"] == "1"


def test_another_table_than_the_cells_is_refused() -> None:
    (cell,) = cells("random")
    other = Cell(**{**cell.__dict__, "problem_fingerprint": "0"})
    with pytest.raises(ValueError, match="must have the fingerprint 0"):
        run_cell(other)


@pytest.fixture(scope="module")
def scheduler() -> Iterator[Any]:
    """Scheduler of two worker processes."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="ERROR"
    ) as cluster:
        yield cluster.scheduler


@pytest.mark.xdist_group("dask")
def test_on_a_cluster_of_which_workers_are_killed_each_cell_is_run_once(
    scheduler: Any, tmp_path: Path
) -> None:
    once = f"once=odd_samplers:DiesOnce(folder={str(tmp_path)!r})"
    made = [*cells("random", seeds=10), *cells(once)]
    store = Store(tmp_path)
    outcomes = list(run(made, store, n_jobs=1, engine=Engine("dask", scheduler.address)))
    assert (tmp_path / "died-0").exists()
    assert [outcome.error for outcome in outcomes] == [None] * 11
    assert {outcome.cell.key for outcome in outcomes} == {cell.key for cell in made}
    assert len(store.load_all()) == len(list((tmp_path / "cells").iterdir())) == 11
    assert [store.load(cell).asked for cell in made] == [run_cell(cell).asked for cell in made]


@pytest.mark.xdist_group("dask")
def test_on_a_cluster_a_cell_that_kills_its_workers_fails_alone(
    scheduler: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "allowed_failures", 0)
    (cell,) = cells("odd_samplers:Dies")
    engine = Engine("dask", scheduler.address)
    (outcome,) = run([cell], Store(tmp_path), n_jobs=1, engine=engine)
    assert outcome.cell == cell
    assert "Its worker died" in (outcome.error or "")


@pytest.mark.xdist_group("dask")
def test_a_cluster_that_does_not_share_the_folder(scheduler: Any, tmp_path: Path) -> None:
    elsewhere = Store(tmp_path / "there")

    class Other(Store):
        """Store that is another folder on the machine of the workers."""

        def __reduce__(self) -> Any:
            return Store, (elsewhere.directory,)

    (cell,) = cells("random")
    engine = Engine("dask", scheduler.address)
    (outcome,) = run([cell], Other(tmp_path / "here"), n_jobs=1, engine=engine)
    assert "all workers share" in (outcome.error or "")
    assert elsewhere.load(cell) is not None
    # As after the death of a worker that had saved it: it is not run again.
    saved = elsewhere.path(cell).stat().st_mtime_ns
    list(run([cell], Other(tmp_path / "here"), n_jobs=1, engine=engine))
    assert elsewhere.path(cell).stat().st_mtime_ns == saved


@pytest.mark.parametrize(
    ("n_workers", "n_threads", "message"),
    [(1, 2, "must have one thread"), (0, 1, "must have workers, but has none")],
)
def test_a_cluster_that_cannot_be_used(
    n_workers: int, n_threads: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(engines, "_SECONDS_FOR_WORKERS", 0.1 if n_workers == 0 else 60)
    with (
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=n_threads,
            processes=False,
            dashboard_address=":0",
        ) as cluster,
        pytest.raises(ValueError, match=message),
        Engine("dask", cluster.scheduler_address).cluster(1),
    ):
        pass


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("slurm",), r"must be one of \('joblib', 'dask'\)"),
     (("joblib", "tcp://x:1"), "Only the engine 'dask' has a scheduler")],
)  # fmt: skip
def test_an_engine_that_does_not_exist(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Engine(*arguments)
