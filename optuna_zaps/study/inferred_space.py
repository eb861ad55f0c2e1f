"""Search space inferred from a study's finished trials: all parameters that they have.

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

from optuna_zaps.search.conditions import Conditions
from optuna_zaps.study.cache import FinishedPrefix
from optuna_zaps.study.cache import PerStudy
from optuna_zaps.study.cache import all_trials
from optuna_zaps.study.conditions import ConditionLearner
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
        self._unions: PerStudy[list[_Union]] = PerStudy(list)

    def known(self, study: Study) -> Space:
        """Parameters that any trial suggests, each with its latest distribution."""
        return self._union(study).known()

    def conditions(self, study: Study, space: Mapping[str, BaseDistribution]) -> Conditions:
        """Conditions of the parameters of a space that some trials lack.

        Known from the latest call of :meth:`known`: reading a storage takes time.
        """
        return self._latest(study).learner.conditions(space)

    def is_left_out(self, study: Study, name: str) -> bool:
        """Whether a parameter has had distributions that Optuna takes for different ones."""
        return name in self._latest(study).incompatible

    def changing(self, study: Study) -> Collection[str]:
        """Parameters whose range has changed.

        Known from the latest call of :meth:`known`.
        """
        return self._latest(study).unions

    def united(self, study: Study, space: Mapping[str, BaseDistribution]) -> Space:
        """Unite each range of a space with those of the finished trials.

        They are known from the latest call of :meth:`known`.
        """
        union = self._latest(study)
        return {name: union.united(name, d) for name, d in space.items()}

    def _latest(self, study: Study) -> _Union:
        return self._unions[study][-1] if self._unions[study] else _Union()

    def _union(self, study: Study) -> _Union:
        trials = self._read_trials(study)
        known = self._unions[study]
        finished = known[0] if known and known[0].prefix.is_of(trials) else _Union()
        known[:] = [finished, finished.including(trials)]
        return known[1]


class _Union:
    """Parameters of a run of trials, in order of their numbers, and their ranges."""

    def __init__(self) -> None:
        self.prefix = FinishedPrefix()
        self.unions: Space = {}
        self.learner = ConditionLearner()
        self.incompatible: set[str] = set()
        self._latest: Space = {}

    def including(self, trials: Sequence[FrozenTrial]) -> _Union:
        """Union of all trials; finished ones at the beginning are added to this one."""
        finished, rest = self.prefix.advance(trials)
        self._add(finished)
        twin = _Union()
        twin.unions, twin._latest = self.unions.copy(), self._latest.copy()
        twin.incompatible, twin.learner = self.incompatible.copy(), self.learner.copy()
        twin._add(trial for trial in rest if trial.state.is_finished())
        return twin

    def known(self) -> Space:
        return dict(sorted(self._latest.items()))

    def united(self, name: str, distribution: BaseDistribution) -> BaseDistribution:
        known = self.unions.get(name, self._latest.get(name, distribution))
        return (
            distribution
            if same(known, distribution)
            else union(known, distribution) or distribution
        )

    def _add(self, trials: Iterable[FrozenTrial]) -> None:
        for trial in trials:
            if trial.state in (TrialState.COMPLETE, TrialState.PRUNED):
                self.learner.add(trial.params, trial.distributions)
                for name, distribution in trial.distributions.items():
                    self._take(name, distribution)

    def _take(self, name: str, distribution: BaseDistribution) -> None:
        latest = self._latest.get(name)
        if same(latest, distribution) or name in self.incompatible:
            return
        if latest is not None:
            united = union(self.unions.get(name, latest), distribution)
            if united is None:
                self.incompatible.add(name)
                self.unions.pop(name, None)
                del self._latest[name]
                return
            self.unions[name] = united
        self._latest[name] = distribution
