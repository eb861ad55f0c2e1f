"""What a study's trials tell a baseline."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from datetime import datetime
import math

from optuna.study import Study
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial
from optuna.trial import TrialState

from harness.samplers.space import Configuration
from harness.samplers.space import Space
from optuna_zaps._process import PerStudy


Observation = tuple[Configuration, float]
LOST = -math.inf
"""Value of a trial that failed or was pruned: tried, and worse than all that finished."""


@dataclass
class History:
    """The finished trials of a study, and what is being evaluated.

    Attributes:
        observations: Configuration and value of each finished trial, in order of trial number,
            repeats included; larger is better, whatever the study's direction.
        values: Latest value of each configuration, in order of first evaluation.
        n_repeats_in_a_row: Number of the latest trials that each repeated a configuration.
        pending: Configurations of the trials that are running.
    """

    observations: list[Observation] = field(default_factory=list)
    values: dict[Configuration, float] = field(default_factory=dict)
    n_repeats_in_a_row: int = 0
    pending: frozenset[Configuration] = frozenset()

    def add(self, observation: Observation) -> None:
        """Append the next finished trial."""
        configuration, value = observation
        self.n_repeats_in_a_row = (
            self.n_repeats_in_a_row + 1 if configuration in self.values else 0
        )
        self.observations.append(observation)
        self.values[configuration] = value

    @property
    def seen(self) -> Collection[Configuration]:
        """Everything that was tried or is being tried."""
        return self.pending.union(self.values) if self.pending else self.values.keys()


def finite(values: Mapping[Configuration, float]) -> dict[Configuration, float]:
    """Those of the values that a model can learn from."""
    return {cell: value for cell, value in values.items() if math.isfinite(value)}


@dataclass
class _Prefix:
    """The first trials of a study, all finished, so that none is read twice."""

    space: Space | None = None
    history: History = field(default_factory=History)
    n_trials: int = 0
    last_completed: datetime | None = None

    def is_of(self, trials: Sequence[FrozenTrial], space: Space) -> bool:
        """Whether it is up to date: a deleted study's identity may come again."""
        if space is not self.space or len(trials) < self.n_trials:
            return False
        return (
            self.n_trials == 0
            or trials[self.n_trials - 1].datetime_complete == self.last_completed
        )


class HistoryReader:
    """Reads histories, remembering the finished trials; everything else is in the storage."""

    def __init__(self) -> None:
        self._prefixes: PerStudy[_Prefix] = PerStudy(_Prefix)

    def read(self, study: Study, space: Space, but: FrozenTrial) -> History:
        """History of a study, as seen by one of its trials.

        Args:
            study: The study, of one objective.
            space: What its configurations are looked up in; trials outside it are left out.
            but: The trial that asks.

        Returns:
            The history, to be read and not changed, until the next call.
        """
        trials = study._storage.get_all_trials(study._study_id, deepcopy=False)
        prefix = self._prefixes[study]
        if not prefix.is_of(trials, space):
            prefix = self._prefixes[study] = _Prefix(space)
        sign = 1.0 if study.direction == StudyDirection.MAXIMIZE else -1.0
        for trial in trials[prefix.n_trials :]:
            if not trial.state.is_finished():
                break
            _observe(prefix.history, trial, space, sign)
            prefix.n_trials += 1
            prefix.last_completed = trial.datetime_complete
        rest = [trial for trial in trials[prefix.n_trials :] if trial.number != but.number]
        if not rest:
            return prefix.history
        first = prefix.history
        history = History(list(first.observations), dict(first.values), first.n_repeats_in_a_row)
        pending = set()
        for trial in rest:
            if trial.state.is_finished():
                _observe(history, trial, space, sign)
                continue
            fixed = trial.system_attrs.get("fixed_params", {})
            configuration = space.configuration({**fixed, **trial.params})
            if configuration is not None:
                pending.add(configuration)
        history.pending = frozenset(pending)
        return history


def _observe(history: History, trial: FrozenTrial, space: Space, sign: float) -> None:
    configuration = space.configuration(trial.params)
    if configuration is None:
        return
    value = trial.value if trial.state == TrialState.COMPLETE else None
    history.add((configuration, LOST if value is None or math.isnan(value) else sign * value))
