"""Conditions on the parameters of branches, learned from the trials of a study.

A branch is decided by parameters with few values: a choice of a model, a number of layers. A
parameter whose values decide in every trial whether another one was asked for is the *parent* of
that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import TypeAlias

from optuna.distributions import BaseDistribution

from optuna_zaps.search.choices import choice_key
from optuna_zaps.search.conditions import INACTIVE
from optuna_zaps.search.conditions import Condition
from optuna_zaps.search.conditions import Conditions
from optuna_zaps.study.parameters import parameter_of


_MOST_VALUES = 64
"""Most values of a parent."""

_Names: TypeAlias = frozenset[str]


class ConditionLearner:
    """Learns from one trial after the other, in any order, which parameters occur together.

    Attributes:
        names: Parameters that any trial had.
        shared: Parameters that every trial had.
    """

    def __init__(self) -> None:
        self.names: _Names = frozenset()
        self.shared: _Names = frozenset()
        self._n_trials = 0
        # Of each value of each possible parent, the parameters that all trials with it had, and
        # those that any had.
        self._occurring: dict[str, dict[Any, tuple[_Names, _Names]]] = {}

    def copy(self) -> ConditionLearner:
        """Copy what was learned."""
        twin = ConditionLearner()
        twin.names, twin.shared, twin._n_trials = self.names, self.shared, self._n_trials
        twin._occurring = {name: known.copy() for name, known in self._occurring.items()}
        return twin

    def add(
        self, params: Mapping[str, Any], distributions: Mapping[str, BaseDistribution]
    ) -> None:
        """Learn from the parameters of a trial."""
        active = frozenset(distributions)
        before = (self.shared, self.names) if self._n_trials else None
        self.names |= active
        self.shared = self.shared & active if self._n_trials else active
        self._n_trials += 1
        for name, distribution in distributions.items():
            if name not in self._occurring and parameter_of(distribution).count() <= _MOST_VALUES:
                self._occurring[name] = {} if before is None else {INACTIVE: before}
        for name, known in self._occurring.items():
            key = choice_key(params[name]) if name in active else INACTIVE
            always, ever = known.get(key, (active, active))
            known[key] = always & active, ever | active

    def conditions(self, space: Mapping[str, BaseDistribution]) -> Conditions:
        """Conditions of the parameters of a space that some trials lack."""
        found = {name: self._condition(name, space) for name in space if name not in self.shared}
        ordered: dict[str, Condition | None] = {}
        while len(ordered) < len(found):
            # A parent occurs in more trials than its children: there is no circle.
            ordered.update(
                (name, condition)
                for name, condition in found.items()
                if condition is None or condition.parent not in found.keys() - ordered.keys()
            )
        return ordered

    def _condition(self, name: str, space: Mapping[str, BaseDistribution]) -> Condition | None:
        """Condition by the parent of the fewest values."""
        best: tuple[int, str] | None = None
        for parent, known in self._occurring.items():
            if parent in space and parent != name and self._explains(known, name):
                best = min(best or (len(known), parent), (len(known), parent))
        if best is None:
            return None
        parent = best[1]
        known = self._occurring[parent]
        values = parameter_of(space[parent]).all()
        none = frozenset[str]()
        inactive = [v for v in values if name not in known.get(choice_key(v), (none, {name}))[1]]
        return Condition(parent, tuple(inactive))

    def _explains(self, known: Mapping[Any, tuple[_Names, _Names]], name: str) -> bool:
        """Whether a parameter occurs in all or none of the trials with each value of another.

        In none of those without the other, and with some value in none either: two parameters of
        one branch are not the parents of each other.
        """
        lacking = 0
        for key, (always, ever) in known.items():
            if name in ever and (key is INACTIVE or name not in always):
                return False
            lacking += key is not INACTIVE and name not in ever
        return lacking > 0
