"""The space of a study whose sampler was not told it: what its finished trials suggest."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import TypeAlias

from optuna.distributions import BaseDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial
from optuna.trial import TrialState

from optuna_zaps._process import FinishedPrefix
from optuna_zaps._process import PerStudy
from optuna_zaps._space import same


Space: TypeAlias = dict[str, BaseDistribution]


class InferredSpaces:
    """Spaces of studies, each finished trial of which is looked at once."""

    def __init__(self) -> None:
        self._partitions: PerStudy[list[_Partition]] = PerStudy(list)

    def shared(self, study: Study) -> Space:
        """The parameters that every trial suggests, always from the same distribution."""
        return self._partition(study).shared()

    def groups(self, study: Study) -> list[Space]:
        """The parameters that occur in the same trials together, for each set of trials.

        As :class:`~optuna.samplers.TPESampler` has them with ``group=True``.
        """
        return self._partition(study).groups()

    def _partition(self, study: Study) -> _Partition:
        # Not those of a bracket, which is what Hyperband shows: they share their space.
        trials = study._storage.get_all_trials(study._study_id, deepcopy=False)
        known = self._partitions[study]
        if not known or not known[0].prefix.is_of(trials):
            known[:] = [_Partition()]
        return known[0].including(trials)


class _Partition:
    """What a run of trials, in order of their numbers, says of the space."""

    def __init__(self) -> None:
        self.prefix = FinishedPrefix()
        self._shared: Space | None = None
        self._groups: list[Space] = []

    def including(self, trials: Sequence[FrozenTrial]) -> _Partition:
        """That of all trials; finished ones at the beginning are remembered."""
        finished, rest = self.prefix.advance(trials)
        self._add(finished)
        twin = _Partition()
        twin._shared, twin._groups = self._shared, self._groups
        twin._add(trial for trial in rest if trial.state.is_finished())
        return twin

    def shared(self) -> Space:
        return dict(sorted((self._shared or {}).items()))

    def groups(self) -> list[Space]:
        return [dict(sorted(group.items())) for group in self._groups]

    def _add(self, trials: Iterable[FrozenTrial]) -> None:
        for trial in trials:
            if trial.state in (TrialState.COMPLETE, TrialState.PRUNED):
                self._shared = _intersection(self._shared, trial.distributions)
                self._groups = _refined(self._groups, trial.distributions)


def _intersection(space: Space | None, distributions: Mapping[str, BaseDistribution]) -> Space:
    if space is None:
        return dict(distributions)
    if all(same(distributions.get(name), distribution) for name, distribution in space.items()):
        return space
    return {
        name: distribution
        for name, distribution in space.items()
        if same(distributions.get(name), distribution)
    }


def _refined(groups: list[Space], distributions: Mapping[str, BaseDistribution]) -> list[Space]:
    """Each group in two, what the trial suggests and what not; and what is new to all."""
    parts = []
    for group in groups:
        parts.append({name: group[name] for name in group if name in distributions})
        parts.append({name: group[name] for name in group if name not in distributions})
    known = {name for group in groups for name in group}
    parts.append({name: d for name, d in distributions.items() if name not in known})
    return [part for part in parts if part]
