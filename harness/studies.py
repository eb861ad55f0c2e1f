"""Studies that anyone ran, with any sampler, as results of a comparison.

Notations:
    trial: one that ended, in the order in which they ended. A failed or pruned one has no value
        and counts as the worst; running and waiting ones are left out.
    seconds: wall-clock time of a study at the end of each trial, shape (n_trials,): the time
        within which any of its trials was running. A pause between two runs is not in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from fnmatch import fnmatchcase
import hashlib
import json
import math
import re
from typing import Any

import numpy as np
import numpy.typing as npt
import optuna
from optuna.storages import BaseStorage
from optuna.study import Study
from optuna.trial import FrozenTrial
from optuna.trial import TrialState

from harness.experiment import Cell
from harness.experiment import CellResult
from harness.experiment import SamplerSpec
from harness.problems.untabled import UntabledProblem
from harness.run.passwords import hidden


BY_NAME = "name"
"""Groups by the names of studies without the number that they end in."""

_ENDED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)
_NUMBER = re.compile(r"[\s·_./-]*(seed|run)?[\s·_./-]*\d+$", re.IGNORECASE)
_MOST_NAMED = 10


def read(
    storage: BaseStorage,
    source: str,
    *,
    names: Sequence[str] = (),
    group_by: str | None = None,
    optimum: float | None = None,
) -> tuple[UntabledProblem, list[CellResult]]:
    """Read studies of one problem.

    Args:
        storage: The storage.
        source: URL or path of the storage.
        names: Names of studies; one with ``*``, ``?`` or ``[`` is a pattern, whose studies are one
            group. By default all studies.
        group_by: User attribute of the studies whose values are the groups, or :data:`BY_NAME`.
            By default each study is a group, apart from those of a pattern.
        optimum: Best value there is, by default unknown.

    Returns:
        The problem, which knows no more than the optimum, and its studies; those of one group have
        a label and the seeds 0, 1, ... Their provenance has the name of the ``study``.

    Raises:
        ValueError: If there is no such study or attribute, no trial has ended, or the studies
            have not one problem's directions.
    """
    labels = _chosen(optuna.get_all_study_names(storage), names)
    if not labels:
        raise ValueError("There is no study in the storage.")
    studies = [optuna.load_study(study_name=name, storage=storage) for name in labels]
    directions = {tuple(study.directions) for study in studies}
    if len(directions) > 1:
        listed = "; ".join(
            f"{study.study_name}: {', '.join(each.name.lower() for each in study.directions)}"
            for study in studies[:_MOST_NAMED]
        )
        raise ValueError(
            f"Studies that are compared must have the same directions, but have {listed}. Choose "
            "some with --study."
        )
    groups = {study.study_name: _group(study, group_by, labels) for study in studies}
    shown = hidden(source)
    problem = UntabledProblem(
        text=shown,
        objectives=tuple(_metric_names(studies[0])),
        directions=studies[0].directions,
        fingerprint=hashlib.sha256(shown.encode()).hexdigest()[:16],
        own_notes=tuple(_notes(studies)),
        known_optimum=optimum,
    )
    seeds: Counter[str] = Counter()
    results = []
    for study in studies:
        label = groups[study.study_name]
        trials = _ended(study)
        if trials:
            results.append(_result(problem, study, trials, label, seeds[label]))
            seeds[label] += 1
    if not results:
        raise ValueError(
            f"A study must have a trial that ended, but none of these has one: {_listed(labels)}."
        )
    return problem, results


def _chosen(present: Sequence[str], wanted: Sequence[str]) -> dict[str, str]:
    """Label of each chosen study, by its name: the pattern that chose it, else the name."""
    if not wanted:
        return {name: name for name in sorted(present)}
    labels: dict[str, str] = {}
    for text in wanted:
        is_pattern = text not in present and any(each in text for each in "*?[")
        found = [name for name in sorted(present) if name == text or fnmatchcase(name, text)]
        if not found:
            raise ValueError(f"There is no study {text!r}; the storage has {_listed(present)}.")
        for name in found if is_pattern else [text]:
            labels.setdefault(name, text)
    return labels


def _listed(names: Iterable[str]) -> str:
    first = sorted(names)[: _MOST_NAMED + 1]
    return ", ".join([*first[:_MOST_NAMED], *(["..."] if len(first) > _MOST_NAMED else [])])


def _group(study: Study, group_by: str | None, labels: Mapping[str, str]) -> str:
    if group_by is None:
        return labels[study.study_name]
    if group_by == BY_NAME:
        return _NUMBER.sub("", study.study_name) or study.study_name
    attributes = study.user_attrs
    if group_by not in attributes:
        listed = ", ".join(sorted(attributes)) or "none"
        raise ValueError(
            f"The study {study.study_name!r} has no user attribute {group_by!r} (--group-by); it "
            f"has {listed}. --group-by {BY_NAME} takes names without the number at their end."
        )
    value = attributes[group_by]
    return value if isinstance(value, str) else json.dumps(value)


def _metric_names(study: Study) -> Sequence[str]:
    n_objectives = len(study.directions)
    if study.metric_names:
        return study.metric_names
    return ["value"] if n_objectives == 1 else [f"value {n + 1}" for n in range(n_objectives)]


def _notes(studies: Iterable[Study]) -> Iterable[str]:
    states = Counter(
        trial.state for study in studies for trial in study.get_trials(deepcopy=False)
    )
    n_lost = {each: states[each] for each in (TrialState.FAIL, TrialState.PRUNED) if states[each]}
    if n_lost:
        counts = " and ".join(f"{n} {_WORDS[state]}" for state, n in n_lost.items())
        yield f"{counts} trials have no value and count as the worst that was seen."
    n_open = sum(n for state, n in states.items() if state not in _ENDED)
    if n_open:
        yield f"{n_open} trials that have not ended are left out."


_WORDS = {TrialState.FAIL: "failed", TrialState.PRUNED: "pruned"}


def _ended(study: Study) -> list[FrozenTrial]:
    """Trials in the order in which they ended."""
    trials = study.get_trials(deepcopy=False, states=_ENDED)
    return sorted(trials, key=lambda trial: (trial.datetime_complete, trial.number))


def _result(
    problem: UntabledProblem, study: Study, trials: Sequence[FrozenTrial], label: str, seed: int
) -> CellResult:
    values = [_values(trial, len(problem.directions)) for trial in trials]
    constraints = [_constraints(trial) for trial in trials]
    # A trial is a repeat of another where parameters and outcome agree.
    numbers: dict[str, int] = {}
    asked = [
        numbers.setdefault(repr((sorted(trial.params.items()), value, limits)), len(numbers))
        for trial, value, limits in zip(trials, values, constraints, strict=True)
    ]
    first = [asked.index(number) for number in range(len(numbers))]
    limited = any(constraints)
    return CellResult(
        cell=Cell(
            problem.text,
            problem.fingerprint,
            SamplerSpec(label, "a finished study"),
            seed,
            len(trials),
            by_trials=True,
        ),
        asked=tuple(asked),
        ask_seconds=(math.nan,) * len(trials),  # Nobody measured the sampler.
        tell_seconds=(math.nan,) * len(trials),
        user_attrs=tuple(dict(trial.user_attrs) for trial in trials),
        provenance={"study": study.study_name, "finished": str(trials[-1].datetime_complete)},
        configurations=tuple(dict(trials[n].params) for n in first),
        values=tuple(values[n][0] if len(values[n]) == 1 else values[n] for n in first),
        constraints=tuple(_told(constraints[n]) for n in first) if limited else (),
        seconds=tuple(_busy_seconds(trials).tolist()),
    )


def _values(trial: FrozenTrial, n_objectives: int) -> tuple[float, ...]:
    if trial.state != TrialState.COMPLETE:
        return (math.nan,) * n_objectives
    return tuple(trial.values)


def _constraints(trial: FrozenTrial) -> dict[str, float]:
    told: Any = getattr(trial, "constraints", None)  # Since Optuna 5.
    if told is None:
        listed = trial.system_attrs.get("constraints") or ()
        told = {str(index): value for index, value in enumerate(listed)}
    return {str(name): float(value) for name, value in told.items()}


def _told(constraints: dict[str, float]) -> dict[str, float]:
    """Constraints of a trial; one that told none is infeasible, as it is for Optuna."""
    return constraints or {"not told": math.inf}


def _busy_seconds(trials: Sequence[FrozenTrial]) -> npt.NDArray[np.float64]:
    """Seconds within which any trial was running, up to the end of each; shape (n_trials,)."""
    ends = np.array([_timestamp(trial.datetime_complete) for trial in trials])
    begins = np.array(
        [_timestamp(trial.datetime_start or trial.datetime_complete) for trial in trials]
    )
    order = np.argsort(begins, kind="stable")
    # Busy intervals are unions of overlapping ones: [b_1, e_1], [b_2, e_2], ... with b_k > e_k-1.
    busy, spans = 0.0, []
    low, high = begins[order[0]], ends[order[0]]
    for row in order[1:]:
        if begins[row] > high:
            spans.append((low, high, busy))
            busy += high - low
            low, high = begins[row], ends[row]
        high = max(high, ends[row])
    spans.append((low, high, busy))
    starts = np.array([span[0] for span in spans])
    before = np.array([span[2] for span in spans])
    # busy(t) = sum of the intervals before the one that t is in, and t - b within that.
    which = np.searchsorted(starts, ends, side="right") - 1
    return np.asarray(before[which] + ends - starts[which], dtype=np.float64)


def _timestamp(moment: Any) -> float:
    return float(moment.timestamp())
