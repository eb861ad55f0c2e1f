"""Conditions on which a configuration has a parameter: those of branches of an objective.

A parameter that a configuration does not have is *inactive* there. Configurations that differ in
inactive parameters alone are one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
import math
from typing import Any
from typing import TypeAlias

from optuna_zaps.search.choices import choice_key


class _Marker(Enum):
    """Type of :data:`INACTIVE`, so that it stays one object in a pickle."""

    INACTIVE = "inactive"

    def __float__(self) -> float:
        return math.nan


INACTIVE = _Marker.INACTIVE
"""Stands among the choices of a parameter for no value."""

INACTIVE_COORDINATE = 0.5
"""Coordinate of :data:`INACTIVE` among numbers. Which branch it is, the parent tells; within one
all configurations agree in it. Regret at 100 trials on conditional objectives, 8 seeds each, with
the centre / with -0.5, outside the range / with pseudo-random coordinates: 4 families of numbers
.0063 / .0200 / .0134, layers .0025 / .0200 / .0257, optimisers .0050 / .0225 / .0076."""


@dataclass(frozen=True)
class Condition:
    """Values of another parameter, the parent, that decide whether a parameter is active.

    Attributes:
        parent: Name of the parent. Where it is inactive, so is the parameter.
        inactive: Values of the parent for which the parameter is inactive.
    """

    parent: str
    inactive: tuple[Any, ...]

    @cached_property
    def keys(self) -> frozenset[Any]:
        """:func:`~optuna_zaps.search.choices.choice_key` of each of these values."""
        return frozenset(map(choice_key, self.inactive))


Conditions: TypeAlias = Mapping[str, Condition | None]
"""Condition of each parameter that some configurations lack, parents before their children;
``None`` where no parent explains it: such a parameter is taken for active."""

NO_CONDITIONS: Conditions = {}
"""Conditions of a space whose configurations have every parameter."""


def active_params(params: Mapping[str, Any], conditions: Conditions) -> dict[str, Any] | None:
    """Leave out parameters of a configuration that are inactive.

    Returns:
        ``None`` if a parameter is missing that should be active.
    """
    active = dict(params)
    for name, condition in conditions.items():
        if condition is None:
            continue
        if (
            condition.parent not in active
            or choice_key(active[condition.parent]) in condition.keys
        ):
            active.pop(name, None)
        elif name not in active:
            return None
    return active


def neglected_branch(
    choices: Mapping[str, Sequence[Any]],
    branching: Collection[str],
    conditions: Conditions,
    seen: Sequence[Mapping[str, Any]],
    n_enough: int,
) -> dict[str, Any]:
    """Find the branch of which the fewest configurations were tried.

    Args:
        choices: Values of each parent.
        branching: Parents of which each value is a branch.
        conditions: Conditions of the parameters that some configurations lack.
        seen: Configurations that were tried, without inactive parameters.
        n_enough: Number of tried configurations of a branch that is not neglected.

    Returns:
        Value of the parent, and of the parents of that; empty if no branch is neglected.
    """
    fewest = n_enough
    chosen: tuple[str, Any] | None = None
    for parent in branching:
        n_tried = Counter(choice_key(params[parent]) for params in seen if parent in params)
        for value in choices[parent]:
            if n_tried[choice_key(value)] < fewest:
                fewest, chosen = n_tried[choice_key(value)], (parent, value)
    if chosen is None:
        return {}
    branch = dict([chosen])
    condition = conditions.get(chosen[0])
    while condition is not None:
        values = [v for v in choices[condition.parent] if choice_key(v) not in condition.keys]
        branch[condition.parent] = values[len(seen) % len(values)]
        condition = conditions.get(condition.parent)
    return branch
