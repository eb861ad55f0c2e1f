"""From a study's trials to what the search wants to know.

A worker that is about to evaluate a candidate says so in a system attribute of its trial, the
*claim*, because the parameters themselves are only stored one by one as the objective asks. While
it evaluates the candidate, what was predicted of it counts as its value.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from datetime import datetime
import math
from typing import Any
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from optuna.distributions import BaseDistribution
from optuna.study import Study
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial
from optuna.trial import TrialState

from optuna_zaps._process import PerStudy
from optuna_zaps._space import offers
from optuna_zaps.candidates import CandidateSet
from optuna_zaps.candidates import choice_key
from optuna_zaps.joint import Observations
from optuna_zaps.search import History


CLAIM_KEY = "zaps:candidate"
"""System attribute that holds the parameters of the candidate a trial is about to evaluate."""

MEAN_KEY = "zaps:mean"
"""User attribute that holds the predicted value of a trial, in the unit of the objective."""

CONSTRAINTS_KEY = "constraints"
"""Optuna's system attribute for the values of constraints, and the prefix of others."""

_LARGEST = 1e30
"""Largest label: squares of larger ones overflow, such as those of a penalty of
``sys.float_info.max``, and trees read labels in single precision."""

_Label: TypeAlias = tuple[int, float, TrialState]
"""Candidate, value or prediction (larger is better), and the state of the trial."""


class _Tally:
    """What a run of trials, in order of their numbers, adds up to."""

    def __init__(self, candidates: CandidateSet, signs: tuple[float, ...]) -> None:
        self._signs = signs
        self._unavailable = np.zeros(len(candidates), dtype=np.bool_)
        self._objectives: tuple[list[_Label], ...] = tuple([] for _ in signs)
        self._constraints: dict[str, list[_Label]] = {}

    def copy(self) -> _Tally:
        twin = _Tally.__new__(_Tally)
        twin._signs = self._signs
        twin._unavailable = self._unavailable.copy()
        twin._objectives = tuple(labels.copy() for labels in self._objectives)
        twin._constraints = {name: labels.copy() for name, labels in self._constraints.items()}
        return twin

    def add(self, trial: FrozenTrial, candidate: int | None) -> None:
        if candidate is None:
            return
        self._unavailable[candidate] = True
        if trial.state == TrialState.FAIL:
            return
        values = trial.values if trial.state.is_finished() else predicted_values(trial)
        if values is None or len(values) != len(self._signs) or any(map(math.isnan, values)):
            return
        for labels, sign, value in zip(self._objectives, self._signs, values, strict=True):
            labels.append((candidate, sign * value, trial.state))
        for name, value in constraints_of(trial).items():
            labels = self._constraints.setdefault(name, [])
            labels.append((candidate, min(-value, 0.0), trial.state))

    def holds(self, candidate: int) -> bool:
        return bool(self._unavailable[candidate])

    def observations(self) -> Observations:
        return Observations(
            tuple(self._history(_comparable(labels)) for labels in self._objectives),
            tuple(self._history(self._constraints[name]) for name in sorted(self._constraints)),
        )

    def _history(self, labels: list[_Label]) -> History:
        labelled, means, pending = _merged(labels)
        return History(labelled, _finite(means), self._unavailable, pending)


@dataclass
class _Prefix:
    """The first trials of a study, all finished, so that none is read twice.

    A worker that died leaves a running trial, behind which no prefix grows: the candidates of
    finished trials beyond are remembered, since looking them up is what takes time.
    """

    candidates: CandidateSet
    tally: _Tally
    n_trials: int = 0
    last_completed: datetime | None = None
    beyond: dict[tuple[int, datetime | None], int | None] = field(default_factory=dict)

    def is_of(self, trials: Sequence[FrozenTrial]) -> bool:
        """Whether the trials still begin with these: a deleted study's identity may come again."""
        if self.n_trials == 0:
            return True
        if len(trials) < self.n_trials:
            return False
        return trials[self.n_trials - 1].datetime_complete == self.last_completed

    def extend(self, trials: Sequence[FrozenTrial]) -> None:
        for trial in trials[self.n_trials :]:
            if not trial.state.is_finished():
                return
            self.tally.add(trial, self.candidate_of(trial))
            self.beyond.pop((trial.number, trial.datetime_complete), None)
            self.n_trials += 1
            self.last_completed = trial.datetime_complete

    def candidate_of(self, trial: FrozenTrial) -> int | None:
        if not trial.state.is_finished():
            return candidate_of(trial, self.candidates)
        key = trial.number, trial.datetime_complete
        if key not in self.beyond:
            self.beyond[key] = candidate_of(trial, self.candidates)
        return self.beyond[key]


class HistoryReader:
    """Reads histories, remembering the finished trials of each study."""

    def __init__(self) -> None:
        self._prefixes: PerStudy[list[_Prefix]] = PerStudy(list)

    def read(
        self, study: Study, candidates: CandidateSet, but: FrozenTrial | None
    ) -> Observations:
        """What a study's trials have shown, as seen by one of them.

        Args:
            study: The study.
            candidates: What its configurations are looked up in.
            but: The trial that asks; it does not make its own candidate unavailable.
        """
        prefix, rest = self._split(study, candidates, but)
        tally = prefix.tally.copy()
        for trial in rest:
            tally.add(trial, prefix.candidate_of(trial))
        return tally.observations()

    @staticmethod
    def configurations(
        study: Study, space: Mapping[str, BaseDistribution], but: FrozenTrial | None
    ) -> list[dict[str, Any]]:
        """Distinct configurations of a space that trials evaluate or evaluated, oldest first.

        Args:
            study: The study.
            space: Parameters that a configuration has; one with a value that its distribution
                does not offer is left out.
            but: As for :meth:`read`.
        """
        distinct: dict[tuple[Any, ...], dict[str, Any]] = {}
        for trial in study._storage.get_all_trials(study._study_id, deepcopy=False):
            if but is not None and trial.number == but.number:
                continue
            known = evaluated_params(trial)
            if not all(name in known and offers(space[name], known[name]) for name in space):
                continue
            params = {name: known[name] for name in space}
            distinct.setdefault(tuple(map(choice_key, params.values())), params)
        return list(distinct.values())

    def holders(
        self, study: Study, candidates: CandidateSet, candidate: int, but: FrozenTrial
    ) -> list[int]:
        """Numbers of the other trials on a candidate, finished ones among them.

        A trial that was quick may have claimed the candidate and finished since the history was
        read.
        """
        prefix, rest = self._split(study, candidates, but)
        # The trials of the prefix came before, whatever their numbers are.
        first = [-1] if prefix.tally.holds(candidate) else []
        return first + [t.number for t in rest if prefix.candidate_of(t) == candidate]

    def _split(
        self, study: Study, candidates: CandidateSet, but: FrozenTrial | None
    ) -> tuple[_Prefix, list[FrozenTrial]]:
        """The finished first trials of a study, and the others."""
        trials = study._storage.get_all_trials(study._study_id, deepcopy=False)
        known = self._prefixes[study]
        if not known or known[0].candidates is not candidates or not known[0].is_of(trials):
            known[:] = [_Prefix(candidates, _Tally(candidates, direction_signs(study)))]
        prefix = known[0]
        prefix.extend(trials)
        rest = trials[prefix.n_trials :]
        return prefix, [t for t in rest if but is None or t.number != but.number]


def direction_signs(study: Study) -> tuple[float, ...]:
    """For each objective 1 if it is maximised, -1 if it is minimised."""
    return tuple(1.0 if d == StudyDirection.MAXIMIZE else -1.0 for d in study.directions)


def predicted_values(trial: FrozenTrial) -> list[float] | None:
    """What was predicted of a trial when it was proposed, in the unit of each objective."""
    predicted = trial.user_attrs.get(MEAN_KEY)
    return [predicted] if isinstance(predicted, int | float) else predicted


def constraints_of(trial: FrozenTrial) -> dict[str, float]:
    """Values of a trial's constraints by name, feasible up to 0.

    Those of ``constraints_func`` are one sequence; those of ``trial.set_constraint``, which came
    with Optuna 5, an attribute each.
    """
    values = {
        str(position): float(value)
        for position, value in enumerate(trial.system_attrs.get(CONSTRAINTS_KEY) or ())
    }
    prefix = f"{CONSTRAINTS_KEY}:"
    for key, value in trial.system_attrs.items():
        if key.startswith(prefix):
            values[key.removeprefix(prefix)] = float(value)
    return values


def fixed_params(trial: FrozenTrial) -> dict[str, Any]:
    """Parameters of a trial that are decided already: enqueued ones and those suggested."""
    return {**trial.system_attrs.get("fixed_params", {}), **trial.params}


def evaluated_params(trial: FrozenTrial) -> dict[str, Any]:
    """Parameters that a trial evaluates, as far as they can be known yet.

    What the objective suggested counts for more than what was claimed: an outer sampler may have
    overruled a value.
    """
    claim: Mapping[str, Any] = trial.system_attrs.get(CLAIM_KEY, {})
    return {**claim, **fixed_params(trial)}


def candidate_of(trial: FrozenTrial, candidates: CandidateSet) -> int | None:
    """The candidate that a trial evaluates, as far as it can be known yet."""
    return candidates.index(evaluated_params(trial))


def _comparable(labels: list[_Label]) -> list[_Label]:
    """Labels of which those that are no final value count for what they are worth.

    A pruned trial's value comes from an unfinished training, so it counts, but for no more than
    the median of what finished: that is what pruners hold against it. Before anything finished
    neither it nor a prediction has a meaning.
    """
    complete = [value for _, value, state in labels if state == TrialState.COMPLETE]
    if len(complete) == len(labels):
        return labels
    if not complete:
        return []
    median = float(np.median(_finite(np.asarray(complete))))
    return [
        (candidate, min(value, median) if state == TrialState.PRUNED else value, state)
        for candidate, value, state in labels
    ]


def _merged(
    labels: list[_Label],
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Distinct candidates with the mean of their labels, and which of these are predictions.

    A prediction counts only where there is no value. Candidates come in the order of their first
    trials, finished or not, so that a value that arrives late takes the place of its prediction.
    """
    values: dict[int, list[float]] = {}
    predictions: dict[int, float] = {}
    for candidate, value, state in labels:
        known = values.setdefault(candidate, [])
        if state.is_finished():
            known.append(value)
        else:
            predictions[candidate] = value
    means = [
        sum(known) / len(known) if known else predictions[candidate]
        for candidate, known in values.items()
    ]
    return (
        np.fromiter(values, dtype=np.intp, count=len(values)),
        np.asarray(means, dtype=np.float64),
        np.asarray([not known for known in values.values()], dtype=np.bool_),
    )


def _finite(labels: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Infinite labels become the best or worst finite one; huge ones count as infinite."""
    labels = np.where(np.isnan(labels), -np.inf, labels)
    finite = labels[np.abs(labels) <= _LARGEST]
    if len(finite) == len(labels):
        return labels
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    return np.clip(labels, low, high)
