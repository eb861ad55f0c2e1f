"""What a study's trials tell a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
import math
from typing import Any
from weakref import WeakKeyDictionary

from optuna.storages import BaseStorage
from optuna.study import Study
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial
from optuna.trial import TrialState

from harness.samplers.space import Configuration
from harness.samplers.space import Space


Observation = tuple[Configuration, float]
LOST = -math.inf
"""Value of a trial that failed or was pruned: tried, and worse than all that finished."""


@dataclass(frozen=True)
class History:
    """The finished trials of a study, and what is being evaluated.

    Attributes:
        observations: Configuration and value of each finished trial, in order of trial number,
            repeats included; larger is better, whatever the study's direction.
        pending: Configurations of the trials that are running.
    """

    observations: Sequence[Observation]
    pending: frozenset[Configuration] = frozenset()

    @cached_property
    def values(self) -> dict[Configuration, float]:
        """Latest value of each configuration, in order of first evaluation."""
        return dict(self.observations)

    @cached_property
    def seen(self) -> frozenset[Configuration]:
        """Everything that was tried or is being tried."""
        return self.pending.union(self.values)

    @cached_property
    def finite(self) -> dict[Configuration, float]:
        """Those of :attr:`values` that a model can learn from."""
        return {
            configuration: value
            for configuration, value in self.values.items()
            if math.isfinite(value)
        }

    @cached_property
    def n_repeats_in_a_row(self) -> int:
        """Number of the latest trials that each repeated an earlier configuration."""
        first: dict[Configuration, int] = {}
        for position, (configuration, _) in enumerate(self.observations):
            first.setdefault(configuration, position)
        return len(self.observations) - 1 - max(first.values(), default=-1)


@dataclass(frozen=True)
class _Parsed:
    """A finished trial, read once. The id of a deleted one may come again, its end may not."""

    completed: datetime | None
    observation: Observation | None


class HistoryReader:
    """Reads histories, remembering the finished trials; everything else is in the storage."""

    def __init__(self) -> None:
        self._space: Space | None = None
        self._parsed: WeakKeyDictionary[BaseStorage, dict[int, _Parsed]] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        return {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]  # a cache starts empty in another process

    def read(self, study: Study, space: Space, but: FrozenTrial) -> History:
        """History of a study, as seen by one of its trials.

        Args:
            study: The study, of one objective.
            space: What its configurations are looked up in; trials outside it are left out.
            but: The trial that asks.
        """
        if space is not self._space:
            self._space = space
            self._parsed.clear()
        parsed = self._parsed.setdefault(study._storage, {})
        sign = 1.0 if study.direction == StudyDirection.MAXIMIZE else -1.0
        observations, pending = [], set()
        for trial in study._storage.get_all_trials(study._study_id, deepcopy=False):
            if trial.state.is_finished():
                known = parsed.get(trial._trial_id)
                if known is None or known.completed != trial.datetime_complete:
                    known = _Parsed(trial.datetime_complete, _observation(trial, space, sign))
                    parsed[trial._trial_id] = known
                if known.observation is not None:
                    observations.append(known.observation)
            elif trial.number != but.number:
                fixed = trial.system_attrs.get("fixed_params", {})
                configuration = space.configuration({**fixed, **trial.params})
                if configuration is not None:
                    pending.add(configuration)
        return History(observations, frozenset(pending))


def _observation(trial: FrozenTrial, space: Space, sign: float) -> Observation | None:
    configuration = space.configuration(trial.params)
    if configuration is None:
        return None
    if trial.state != TrialState.COMPLETE or trial.value is None or math.isnan(trial.value):
        return configuration, LOST
    return configuration, sign * trial.value
