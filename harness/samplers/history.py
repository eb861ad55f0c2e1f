"""History of a study's trials, for a baseline."""

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
"""Value of a trial that failed or was pruned: worse than every completed one."""


@dataclass
class History:
    """Finished trials of a study, and the configurations being evaluated.

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
        """Configurations that were tried or are being tried."""
        return self.pending.union(self.values) if self.pending else self.values.keys()


def finite(values: Mapping[Configuration, float]) -> dict[Configuration, float]:
    """Select the values that a model can learn from."""
    return {cell: value for cell, value in values.items() if math.isfinite(value)}


class _Finished:
    """Cache of a study's finished trials in a space, so that none is read twice."""

    def __init__(self, space: Space | None = None) -> None:
        self.space = space
        self.history = History()
        self.prefix = FinishedPrefix()


class HistoryReader:
    """Reader of histories that caches finished trials; the storage has everything else."""

    def __init__(self) -> None:
        self._finished: PerStudy[_Finished] = PerStudy(_Finished)

    def read(self, study: Study, space: Space, excluding: FrozenTrial) -> History:
        """Read the history of a study, excluding the trial that asks.

        Args:
            study: The study, of one objective.
            space: Space of its configurations; trials outside it are left out.
            excluding: The trial that asks.

        Returns:
            The history, valid until the next call and not to be changed.
        """
        trials = study._storage.get_all_trials(study._study_id, deepcopy=False)
        finished = self._finished[study]
        if space is not finished.space or not finished.prefix.is_of(trials):
            finished = self._finished[study] = _Finished(space)
        sign = 1.0 if study.direction == StudyDirection.MAXIMIZE else -1.0
        added, behind = finished.prefix.advance(trials)
        for trial in added:
            _observe(finished.history, trial, space, sign)
        rest = [trial for trial in behind if trial.number != excluding.number]
        shared = finished.history
        if not rest:
            return shared
        history = History(
            list(shared.observations), dict(shared.values), shared.n_repeats_in_a_row
        )
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
