"""Conditions on which a configuration has a parameter: those of branches of an objective.

A parameter that a configuration does not have is *inactive* there. Configurations that differ in
inactive parameters alone are one.
"""

from __future__ import annotations

from collections.abc import Mapping
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
        if condition.parent not in active or choice_key(active[condition.parent]) in condition.keys:
            active.pop(name, None)
        elif name not in active:
            return None
    return active
