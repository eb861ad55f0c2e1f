"""Finished cells as studies in a storage, for optuna-dashboard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from datetime import datetime
from datetime import timedelta
from functools import lru_cache
from typing import Any
import warnings

import numpy as np
import optuna
from optuna.exceptions import ExperimentalWarning
from optuna.storages import BaseStorage
from optuna.study import Study
from optuna.trial import FixedTrial
from optuna.trial import FrozenTrial
from optuna.trial import TrialState

from harness.experiment import Cell
from harness.experiment import CellResult
from harness.problems import Problem
from harness.problems import short_name
from harness.problems.objects import ObjectProblem
from harness.report import formats
from harness.report.bulk import write


def study_name(cell: Cell, problem: str) -> str:
    """Name of a cell's study, e.g. ``nasbench201/cifar10 · zaps · 200 evaluations · seed 3``.

    Args:
        cell: The cell. More than one trial in flight, or workers, stand before its seed.
        problem: Name of its problem.
    """
    budget = f"{cell.budget} {cell.unit}"
    workers = formats.in_flight(cell.in_flight, cell.durations)
    setting = [workers.removeprefix(", ")] if workers else []
    return " · ".join((problem, cell.sampler.label, budget, *setting, f"seed {cell.seed}"))


def export(
    results: Sequence[CellResult], problems: Iterable[Problem], storage: BaseStorage
) -> Iterator[str | None]:
    """Write each cell as a study with its trials, values, constraints and user attributes.

    Args:
        results: Studies to write.
        problems: Their problems.
        storage: Where to. A study that it has already, of whatever name, is left as it is, except
            one that an earlier export was stopped in: that is completed.

    Yields:
        For each cell the name of the study written, ``None`` if it was there.

    Raises:
        ValueError: If a problem must be run to know its distributions.
    """
    by_text = {problem.text: problem for problem in problems}
    short = Counter(map(short_name, by_text))
    names = {text: name if short[name := short_name(text)] == 1 else text for text in by_text}
    there = {study.study_name: study for study in storage.get_all_studies()}
    cells = {study.user_attrs.get(_CELL): name for name, study in there.items()}
    for result in results:
        cell, problem = result.cell, by_text[result.cell.problem]
        name = cells.get(cell.key) or study_name(cell, names[problem.text])
        if name in there:
            trials = storage.get_all_trials(there[name]._study_id, deepcopy=False)
            is_same = not trials or there[name].user_attrs.get(_CELL) == cell.key
            if is_same and len(trials) >= len(result.asked):
                yield None
                continue
            if not is_same:  # Another version of the sampler, or of the problem.
                name = f"{name} · {cell.key}"
        _check_suggests(problem)
        write(_study(name, result, problem), storage)
        yield name


_CELL = "cell"
"""User attribute of a study with the key of its cell."""


def _study(name: str, result: CellResult, problem: Problem) -> Study:
    """A cell as a study in memory."""
    study = optuna.create_study(study_name=name, directions=problem.directions)
    with warnings.catch_warnings():
        # Experimental since Optuna 3.2, and what optuna-dashboard labels its axes by.
        warnings.simplefilter("ignore", ExperimentalWarning)
        study.set_metric_names(list(problem.objectives))
    for key, value in _attributes(result.cell, problem).items():
        study.set_user_attr(key, value)
    study.add_trials(_trials(result, problem))
    return study


def _check_suggests(problem: Problem) -> None:
    if isinstance(problem, ObjectProblem) and problem.space is None:
        raise ValueError(
            f"{short_name(problem.text)} asks for its parameters on the way to its value: its "
            "studies cannot be exported without running it again. Give it a search_space and "
            "evaluate(params)."
        )


def _attributes(cell: Cell, problem: Problem) -> dict[str, Any]:
    return {
        _CELL: cell.key,
        "problem": cell.problem,
        "sampler": cell.sampler.label,
        "arguments": dict(cell.sampler.arguments),
        "seed": cell.seed,
        "budget": cell.budget,
        "by_trials": cell.by_trials,
        "in_flight": cell.in_flight,
        "durations": cell.durations,
        "notes": " ".join(problem.notes),
    }


def _trials(result: CellResult, problem: Problem) -> Iterator[FrozenTrial]:
    """Trials with their times, the last of which is that at which the study finished."""
    finished = datetime.fromisoformat(str(result.provenance["finished"])).replace(tzinfo=None)
    times = _times(result)
    start = finished - timedelta(seconds=max(end for _, end in times))
    outcome = lru_cache(maxsize=None)(lambda number: _outcome(number, result, problem))
    for number, (begin, end), attributes in zip(
        result.asked, times, result.user_attrs, strict=True
    ):
        trial = optuna.trial.create_trial(user_attrs=dict(attributes), **outcome(number))
        trial.datetime_start = start + timedelta(seconds=begin)
        trial.datetime_complete = start + timedelta(seconds=end)
        yield trial


def _times(result: CellResult) -> list[tuple[float, float]]:
    """Seconds at which each trial began and ended, in the order of the asks.

    Without a clock trials follow one another, as far apart as the sampler took.
    """
    if result.seconds is None:
        seconds = np.add(result.ask_seconds, result.tell_seconds)
        ends = np.cumsum(seconds)
        begins = ends - seconds
    else:
        # Each trial but the first of each worker begins when another ends.
        ends = np.asarray(result.seconds)
        free = np.concatenate([np.zeros(result.cell.in_flight), ends[list(result.order)]])
        begins = free[: len(ends)]
    return list(zip(begins.tolist(), ends.tolist(), strict=True))


def _outcome(number: int, result: CellResult, problem: Problem) -> dict[str, Any]:
    """Parameters, distributions, values and constraints of a configuration."""
    if problem.table is None:
        params = dict(result.configurations[number])
        outcome: dict[str, Any] = {"values": np.ravel(result.values[number]).tolist()}
        if result.constraints:
            outcome["constraints"] = dict(result.constraints[number])
    else:
        params = problem.table.params(number)
        found = problem.begin(seed=0)(params).measurement
        outcome = {"values": list(found.values)}
        if found.constraints:
            outcome["constraints"] = dict(found.constraints)
    if np.isnan(outcome["values"]).any():  # As the study itself was told.
        outcome |= {"state": TrialState.FAIL, "values": None}
    fixed = FixedTrial(params)
    problem.suggest(fixed)
    return {"params": params, "distributions": fixed.distributions, **outcome}
