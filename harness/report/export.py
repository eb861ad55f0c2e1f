"""Finished cells as studies in a storage, for optuna-dashboard."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from datetime import datetime
from datetime import timedelta
from functools import lru_cache
from itertools import islice
from typing import Any
import warnings

import numpy as np
import optuna
from optuna.exceptions import ExperimentalWarning
from optuna.storages import BaseStorage
from optuna.trial import FixedTrial
from optuna.trial import FrozenTrial
from optuna.trial import TrialState

from harness.experiment import Cell
from harness.experiment import CellResult
from harness.problems import Problem
from harness.problems import short_name
from harness.problems.objects import ObjectProblem


def study_name(cell: Cell) -> str:
    """Name of a cell's study, e.g. ``nasbench201/cifar10@package/zaps/200/seed-0``.

    More than one trial in flight stands before the seed: ``.../200/4-in-flight/seed-0``.
    """
    budget = f"{cell.budget}-trials" if cell.by_trials else str(cell.budget)
    setting = [] if cell.in_flight == 1 else [f"{cell.in_flight}-in-flight"]
    return "/".join((cell.problem, cell.sampler.label, budget, *setting, f"seed-{cell.seed}"))


def export(
    results: Sequence[CellResult], problems: Iterable[Problem], storage: BaseStorage
) -> Iterator[str | None]:
    """Write each cell as a study with its trials, values, constraints and user attributes.

    Args:
        results: Studies to write.
        problems: Their problems.
        storage: Where to. A study that it has already is left as it is, except one that an
            earlier export was stopped in: that is completed.

    Yields:
        For each cell the name of the study written, ``None`` if it was there.

    Raises:
        ValueError: If a problem must be run to know its distributions.
    """
    by_text = {problem.text: problem for problem in problems}
    present = set(optuna.get_all_study_names(storage))
    for result in results:
        name = study_name(result.cell)
        if name in present and not _is_cut_off(name, result, storage):
            yield None
            continue
        problem = by_text[result.cell.problem]
        _check_suggests(problem)
        study = optuna.create_study(
            storage=storage, study_name=name, directions=problem.directions, load_if_exists=True
        )
        with warnings.catch_warnings():
            # Experimental since Optuna 3.2, and what optuna-dashboard labels its axes by.
            warnings.simplefilter("ignore", ExperimentalWarning)
            study.set_metric_names(list(problem.objectives))
        for key, value in _attributes(result.cell, problem).items():
            study.set_user_attr(key, value)
        n_there = len(study.get_trials(deepcopy=False))
        study.add_trials(islice(_trials(result, problem), n_there, None))
        yield name


def _check_suggests(problem: Problem) -> None:
    if isinstance(problem, ObjectProblem) and problem.space is None:
        raise ValueError(
            f"{short_name(problem.text)} asks for its parameters on the way to its value: its "
            "studies cannot be exported without running it again. Give it a search_space and "
            "evaluate(params)."
        )


def _attributes(cell: Cell, problem: Problem) -> dict[str, Any]:
    return {
        "cell": cell.key,
        "problem": cell.problem,
        "sampler": cell.sampler.label,
        "arguments": dict(cell.sampler.arguments),
        "seed": cell.seed,
        "budget": cell.budget,
        "by_trials": cell.by_trials,
        "in_flight": cell.in_flight,
        "notes": " ".join(problem.notes),
    }


def _is_cut_off(name: str, result: CellResult, storage: BaseStorage) -> bool:
    """Whether the study is this cell's, with only the first of its trials."""
    study = optuna.load_study(study_name=name, storage=storage)
    n_there = len(study.get_trials(deepcopy=False))
    same = study.user_attrs.get("cell") == result.cell.key
    return n_there == 0 or (same and n_there < len(result.asked))


def _trials(result: CellResult, problem: Problem) -> Iterator[FrozenTrial]:
    """Trials one after the other in time, as far apart as the sampler took."""
    finished = datetime.fromisoformat(str(result.provenance["finished"])).replace(tzinfo=None)
    seconds = [a + b for a, b in zip(result.ask_seconds, result.tell_seconds, strict=True)]
    clock = finished - timedelta(seconds=sum(seconds))
    outcome = lru_cache(maxsize=None)(lambda number: _outcome(number, result, problem))
    for number, duration, attributes in zip(result.asked, seconds, result.user_attrs, strict=True):
        trial = optuna.trial.create_trial(
            state=TrialState.COMPLETE, user_attrs=dict(attributes), **outcome(number)
        )
        trial.datetime_start = clock
        clock += timedelta(seconds=duration)
        trial.datetime_complete = clock
        yield trial


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
    fixed = FixedTrial(params)
    problem.suggest(fixed)
    return {"params": params, "distributions": fixed.distributions, **outcome}
