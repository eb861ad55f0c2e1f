"""Search space inferred from a study's finished trials: the parameters that they have in common.

A parameter whose range changes in mid-study is one parameter: its trials count over the union of
its ranges, and the next trial is expected to ask for the latest of them.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import TypeAlias

from optuna.distributions import BaseDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial
from optuna.trial import TrialState

from optuna_zaps.study.cache import FinishedPrefix
from optuna_zaps.study.cache import PerStudy
from optuna_zaps.study.cache import all_trials
from optuna_zaps.study.parameters import same
from optuna_zaps.study.parameters import union


Space: TypeAlias = dict[str, BaseDistribution]


class InferredSpaces:
    """Inferred spaces of studies; each finished trial is read once.

    Args:
        read_trials: Reads the trials of a study.
    """

    def __init__(self, read_trials: Callable[[Study], Sequence[FrozenTrial]] = all_trials) -> None:
        self._read_trials = read_trials
        self._partitions: PerStudy[list[_Partition]] = PerStudy(list)

    def shared(self, study: Study) -> Space:
        """Parameters that every trial suggests, each with its latest distribution."""
        return self._partition(study).shared()

    def groups(self, study: Study) -> list[Space]:
        """Groups of parameters that occur in the same trials.

        Those of :class:`~optuna.samplers.TPESampler` with ``group=True``.
        """
        return self._partition(study).groups()

    def variable(self, study: Study) -> set[str]:
        """Parameters that any finished trial suggests and that have more than one value."""
        return self._partition(study).variable()

    def changing(self, study: Study) -> Collection[str]:
        """Parameters whose range has changed.

        Known from the latest call of another method: reading a storage takes time.
        """
        return self._latest(study).unions

    def united(self, study: Study, space: Mapping[str, BaseDistribution]) -> Space:
        """Unite each range of a space with those of the finished trials.

        They are known from the latest call of another method, as for :meth:`changing`.
        """
        partition = self._latest(study)
        return {name: partition.united(name, d) for name, d in space.items()}

    def _latest(self, study: Study) -> _Partition:
        return self._partitions[study][-1] if self._partitions[study] else _Partition()

    def _partition(self, study: Study) -> _Partition:
        trials = self._read_trials(study)
        known = self._partitions[study]
        finished = known[0] if known and known[0].prefix.is_of(trials) else _Partition()
        known[:] = [finished, finished.including(trials)]
        return known[1]


class _Partition:
    """Groups and ranges of the parameters of a run of trials, in order of their numbers."""

    def __init__(self) -> None:
        self.prefix = FinishedPrefix()
        self.unions: Space = {}
        self._latest: Space = {}
        self._incompatible: set[str] = set()
        self._shared: list[str] | None = None
        self._groups: list[list[str]] = []

    def including(self, trials: Sequence[FrozenTrial]) -> _Partition:
        """Partition of all trials; finished ones at the beginning are added to this one."""
        finished, rest = self.prefix.advance(trials)
        self._add(finished)
        twin = _Partition()
        twin.unions, twin._latest = self.unions.copy(), self._latest.copy()
        twin._incompatible = self._incompatible.copy()
        twin._shared, twin._groups = self._shared, self._groups
        twin._add(trial for trial in rest if trial.state.is_finished())
        return twin

    def shared(self) -> Space:
        return self._space(self._shared or [])

    def variable(self) -> set[str]:
        constant = {n for n, d in self._latest.items() if self.united(n, d).single()}
        return {name for group in self._groups for name in group} - constant

    def groups(self) -> list[Space]:
        return [space for space in map(self._space, self._groups) if space]

    def united(self, name: str, distribution: BaseDistribution) -> BaseDistribution:
        known = self.unions.get(name, self._latest.get(name, distribution))
        return (
            distribution
            if same(known, distribution)
            else union(known, distribution) or distribution
        )

    def _space(self, names: Iterable[str]) -> Space:
        return {name: self._latest[name] for name in sorted(names) if name in self._latest}

    def _add(self, trials: Iterable[FrozenTrial]) -> None:
        for trial in trials:
            if trial.state in (TrialState.COMPLETE, TrialState.PRUNED):
                names = trial.distributions.keys()
                if self._shared is None or not names >= set(self._shared):
                    shared = names if self._shared is None else self._shared
                    self._shared = [name for name in shared if name in names]
                self._groups = _refined(self._groups, names)
                for name, distribution in trial.distributions.items():
                    self._take(name, distribution)

    def _take(self, name: str, distribution: BaseDistribution) -> None:
        latest = self._latest.get(name)
        if same(latest, distribution) or name in self._incompatible:
            return
        if latest is not None:
            united = union(self.unions.get(name, latest), distribution)
            if united is None:
                self._incompatible.add(name)
                self.unions.pop(name, None)
                del self._latest[name]
                return
            self.unions[name] = united
        self._latest[name] = distribution


def _refined(groups: list[list[str]], names: Collection[str]) -> list[list[str]]:
    """Split each group by whether the trial suggests a parameter; new ones are a group."""
    parts = []
    for group in groups:
        parts.append([name for name in group if name in names])
        parts.append([name for name in group if name not in names])
    known = {name for group in groups for name in group}
    parts.append([name for name in names if name not in known])
    return [part for part in parts if part]
