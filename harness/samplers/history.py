"""What a study's trials tell a baseline."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
import math

from optuna.study import Study
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial
from optuna.trial import TrialState

from harness.samplers.space import Configuration
from harness.samplers.space import Space
from optuna_zaps.study.cache import FinishedPrefix
from optuna_zaps.study.cache import PerStudy


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


class _Reading:
    """What was read of a study in a space, so that no finished trial is read twice."""

    def __init__(self, space: Space | None = None) -> None:
        self.space = space
        self.history = History()
        self.prefix = FinishedPrefix()


class HistoryReader:
    """Reads histories, remembering the finished trials; everything else is in the storage."""

    def __init__(self) -> None:
        self._readings: PerStudy[_Reading] = PerStudy(_Reading)

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
        reading = self._readings[study]
        if space is not reading.space or not reading.prefix.is_of(trials):
            reading = self._readings[study] = _Reading(space)
        sign = 1.0 if study.direction == StudyDirection.MAXIMIZE else -1.0
        finished, behind = reading.prefix.advance(trials)
        for trial in finished:
            _observe(reading.history, trial, space, sign)
        rest = [trial for trial in behind if trial.number != but.number]
        first = reading.history
        if not rest:
            return first
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
