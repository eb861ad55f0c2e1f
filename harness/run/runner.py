"""Run cells: each a real Optuna study, in processes, saved the moment it is done."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
import math
import time
import traceback
from typing import Any

import joblib
from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.process_executor import BrokenProcessPool
import optuna
from optuna.trial import TrialState
from threadpoolctl import threadpool_limits

from harness import problems
from harness.experiment import Cell
from harness.experiment import CellResult
from harness.problems import Problem
from harness.problems.evaluation import Evaluations
from harness.problems.evaluation import Measurement
from harness.run.engines import Engine
from harness.run.engines import completed
from harness.run.engines import watched
from harness.run.final_ranking import ranking_quality
from harness.run.final_ranking import recommended
from harness.run.processes import Terminated
from harness.run.provenance import provenance
from harness.run.store import Store
from harness.run.workers import Workers
from harness.run.workers import duration_of
from harness.samplers import build


ASKS_PER_EVALUATION = 20
"""A study ends, its budget unspent, after this many asks per evaluation of the budget."""


@dataclass(frozen=True)
class Outcome:
    """End of one cell.

    Attributes:
        cell: The cell.
        error: Traceback or reason if it failed, else ``None``.
    """

    cell: Cell
    error: str | None = None


def run(
    cells: Sequence[Cell], store: Store, *, n_jobs: int, engine: Engine | None = None
) -> Iterator[Outcome]:
    """Run the cells and save their results; a failed one does not stop the others.

    Args:
        cells: Cells to run; results that are there already are made again.
        store: Store of the results; each process saves its own.
        n_jobs: Number of processes, each of one thread.
        engine: Engine that runs them, by default processes of this machine.

    Yields:
        Outcomes in the order in which cells end, one for each. If a process dies (out of memory,
        or in native code), the cells that were running run again, each in a process of its own,
        so that only the guilty one fails. On a cluster other workers run them, and a cell that
        several workers died with fails.
    """
    if engine is not None and engine.name == "dask":
        yield from _run_on_cluster(cells, store, n_jobs, engine)
        return
    left = list(cells)
    while left:
        begun: dict[str, Cell] = {}
        try:
            for outcome in _run_together(left, store, n_jobs, begun):
                begun.pop(outcome.cell.key, None)
                left.remove(outcome.cell)
                yield outcome
        except BrokenProcessPool:
            for cell in begun.values():
                left.remove(cell)
                yield _run_alone(cell, store)


def _run_on_cluster(
    cells: Sequence[Cell], store: Store, n_jobs: int, engine: Engine
) -> Iterator[Outcome]:
    again = {cell.key for cell in cells if store.path(cell).exists()}
    with engine.cluster(n_jobs) as client:
        once = partial(_run_once, store=store, again=again)
        for cell, outcome, error in completed(client, once, cells):
            if error is not None:
                yield Outcome(cell, f"Its worker died, or was lost: {error}")
            elif outcome.error is None and not store.path(cell).exists():
                yield Outcome(
                    cell,
                    f"Its worker saved it, but not in {store.directory} of this machine. The "
                    "folder of the results must be one that all workers share.",
                )
            else:
                yield outcome


def _run_once(cell: Cell, store: Store, again: Set[str]) -> Outcome:
    """Run a cell, unless a worker had saved it and died before it could say so."""
    if cell.key not in again and not store.missing([cell]):
        return Outcome(cell)
    return _run_and_save(cell, store)


def _run_together(
    cells: Sequence[Cell], store: Store, n_jobs: int, begun: dict[str, Cell]
) -> Iterator[Outcome]:
    """Run cells in a pool, noting each that it was given."""

    def tasks() -> Iterator[Any]:
        for cell in list(cells):
            begun[cell.key] = cell
            yield joblib.delayed(_run_and_save)(cell, store)

    with joblib.parallel_config(backend="loky", inner_max_num_threads=1, **watched()):
        parallel = joblib.Parallel(
            n_jobs=n_jobs, batch_size=1, return_as="generator_unordered", pre_dispatch="2*n_jobs"
        )
        yield from parallel(tasks())


def _run_alone(cell: Cell, store: Store) -> Outcome:
    """Run a cell in a process that may die."""
    if not store.missing([cell]):
        return Outcome(cell)
    executor = ProcessPoolExecutor(max_workers=1, **watched())
    try:
        outcome: Outcome = executor.submit(_run_and_save, cell, store).result()
    except BrokenProcessPool as error:
        return Outcome(cell, f"Its process died before the end: {error}")
    finally:
        executor.shutdown(kill_workers=True)  # Who is interrupted does not wait for the study.
    return outcome


def run_cell(cell: Cell) -> CellResult:
    """Run one study by ask and tell until its budget of distinct configurations is evaluated.

    A configuration proposed again is told the value that is known, and costs nothing of the
    budget unless the cell counts trials. A proposal that a table does not hold stands for the
    nearest row not evaluated yet (:meth:`~harness.problems.TabularBenchmark.nearest`) and is
    told its value. Constraints are set on the trial before it is told.

    Once ``cell.in_flight`` trials are running, the one that ends first is told before the next is
    asked (:mod:`harness.run.workers`); without a clock that is the oldest. When those asked spend
    the budget, the running ones are told in the order of their ends, so that none is left.

    CPU seconds of an ask are those of ``ask`` and every ``suggest``, where samplers do their work;
    making the sampler, looking up values and the final ranking are not counted.

    Args:
        cell: The cell.

    Returns:
        The result; :attr:`~harness.experiment.CellResult.capped` if 20 asks per evaluation were
        not enough.

    Raises:
        ValueError: If the problem is not the one that the cell was made for, the sampler cannot
            be made, or there are constraints and Optuna is older than 5.
    """
    problem = problems.load(cell.problem)
    if problem.fingerprint != cell.problem_fingerprint:
        raise ValueError(
            f"The numbers of {cell.problem} must have the fingerprint "
            f"{cell.problem_fingerprint}, but have {problem.fingerprint}."
        )
    sampler = build(cell.sampler, problem, budget=cell.budget, seed=cell.seed)
    study = optuna.create_study(sampler=sampler, directions=problem.directions)
    evaluate = problem.begin(cell.seed)
    asked: list[int] = []
    ask_seconds: list[float] = []
    tell_seconds: dict[int, float] = {}
    ends: list[float] = []
    duration = duration_of(cell.durations, problem, cell.seed)
    workers: Workers[tuple[optuna.Trial, Measurement]] = Workers(cell.in_flight)
    distinct: set[int] = set()
    n_asks = cell.budget if cell.by_trials else ASKS_PER_EVALUATION * cell.budget
    while len(distinct) < cell.budget and len(asked) < n_asks:
        start = time.process_time()
        trial = study.ask()
        params = problem.suggest(trial)
        ask_seconds.append(time.process_time() - start)
        evaluation = evaluate(params)
        # A user's function asks for its parameters on its way to the value.
        ask_seconds[-1] -= min(evaluation.measurement.seconds, ask_seconds[-1])
        asked.append(evaluation.number)
        distinct.add(evaluation.number)
        evaluated = _evaluated(problem, evaluate, evaluation.number)
        seconds = duration(evaluation.number, evaluated)
        ends.append(workers.begin((trial, evaluation.measurement), seconds))
        if workers.are_busy:
            _tell(study, *workers.end(), tell_seconds)
    while workers:
        _tell(study, *workers.end(), tell_seconds)
    return CellResult(
        cell=cell,
        asked=tuple(asked),
        ask_seconds=_rounded(ask_seconds),
        tell_seconds=_rounded([tell_seconds[number] for number in range(len(asked))]),
        user_attrs=tuple(_compact(trial.user_attrs) for trial in study.get_trials(deepcopy=False)),
        provenance=provenance(),
        spearman=ranking_quality(sampler, study, problem),
        configurations=tuple(evaluate.configurations),
        values=tuple(evaluate.values),
        constraints=tuple(evaluate.constraints),
        seconds=tuple(ends) if cell.durations else None,
        recommended=recommended(sampler, study, problem, evaluate.configurations),
    )


def _evaluated(problem: Problem, evaluate: Evaluations, number: int) -> Mapping[str, Any]:
    """Parameters of a configuration that was evaluated."""
    return problem.table.params(number) if problem.table else evaluate.configurations[number]


def _tell(
    study: optuna.Study, trial: optuna.Trial, measurement: Measurement, seconds: dict[int, float]
) -> None:
    """Tell a trial what its proposal was worth, and note the CPU seconds of the tell."""
    if measurement.constraints:
        _constrain(trial, measurement.constraints)
    start = time.process_time()
    if measurement.pruned:
        study.tell(trial, state=TrialState.PRUNED)
    elif any(map(math.isnan, measurement.values)):
        study.tell(trial, state=TrialState.FAIL)
    else:
        study.tell(trial, measurement.values)
    seconds[trial.number] = time.process_time() - start


def _constrain(trial: optuna.Trial, constraints: Mapping[str, float]) -> None:
    if not hasattr(trial, "set_constraint"):
        raise ValueError(
            "Constraints must have Trial.set_constraint, which came with Optuna 5, but this is "
            f"Optuna {optuna.__version__}. Run: pip install 'optuna>=5'"
        )
    for name, value in constraints.items():
        trial.set_constraint(name, value)


def _run_and_save(cell: Cell, store: Store) -> Outcome:
    # What a sampler remarks on a problem it remarks in every study: that would bury the table.
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    _load_libraries_with_threads()
    try:
        with threadpool_limits(limits=1):  # With one job there is no process of its own to limit.
            store.save(run_cell(cell))
    except Terminated:
        raise
    except SystemExit as error:  # A sampler must not end the comparison.
        return Outcome(cell, f"It called sys.exit({error.code!r}).\n{traceback.format_exc()}")
    except Exception:
        return Outcome(cell, traceback.format_exc())
    return Outcome(cell)


def _load_libraries_with_threads() -> None:
    """Import what samplers import later: only a library that is loaded can be limited."""
    for name in ("scipy.linalg", "sklearn.cluster", "xgboost"):
        with suppress(ImportError):
            import_module(name)


def _rounded(seconds: Sequence[float]) -> tuple[float, ...]:
    """Round to the microsecond, the resolution of the clock."""
    return tuple(round(second, 6) for second in seconds)


def _compact(attributes: dict[str, Any]) -> dict[str, Any]:
    return {
        name: float(f"{value:.6g}") if isinstance(value, float) else value
        for name, value in attributes.items()
    }
