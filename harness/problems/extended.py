"""Tables with more than one number of each configuration: further objectives, and limits.

Notations:
    violation: how far a configuration is over a limit; zero or less where it meets it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from functools import cached_property
import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt
import optuna
from optuna.study import StudyDirection

from harness.problems.evaluation import Kind
from harness.problems.table import TableEvaluations
from harness.problems.table import TabularBenchmark
from harness.problems.table import typical_value


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Objective:
    """Objective beside that of a table.

    Attributes:
        values: Value of each configuration, shape (n_configurations,).
        direction: Whether larger or smaller values are better.
    """

    values: Floats
    direction: StudyDirection = StudyDirection.MINIMIZE


@dataclass(frozen=True, eq=False)
class Limit:
    """Limit on a number of each configuration.

    Attributes:
        values: The number, shape (n_configurations,).
        bound: Last value that is feasible.
        is_upper: Whether larger values break the limit, else smaller ones.
        of: Name of the number, by default that of the constraint.
    """

    values: Floats
    bound: float
    is_upper: bool = True
    of: str = ""

    @property
    def violations(self) -> Floats:
        """Violation of each configuration."""
        excess = self.values - self.bound
        return excess if self.is_upper else -excess


@dataclass(frozen=True, eq=False)
class ExtendedTable:
    """A table with further objectives, limits, or both.

    Attributes:
        text: Text by which the problem is found.
        table: The configurations with their first objective, and proxies.
        further: Objectives beside the first, by name.
        limits: Limits, by name of the constraint.
        own_notes: Notes beside those of the table, a sentence each.
    """

    text: str
    table: TabularBenchmark
    further: Mapping[str, Objective] = field(default_factory=dict)
    limits: Mapping[str, Limit] = field(default_factory=dict)
    own_notes: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """A trade-off where there are further objectives, else a limit."""
        return Kind.TRADEOFF if self.further else Kind.LIMIT

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the table, then its own, then on the limits."""
        if not self.limits:
            return (*self.table.notes, *self.own_notes)
        share = 100 * self.feasible.mean()
        bounds = " and ".join(
            f"{limit.of or name} of at {'most' if limit.is_upper else 'least'} {limit.bound:.4g}"
            for name, limit in self.limits.items()
        )
        limited = f"Feasible are the {share:.0f} % of configurations with {bounds}."
        return (*self.table.notes, *self.own_notes, limited)

    @property
    def objectives(self) -> tuple[str, ...]:
        """Name and unit of each objective."""
        return (self.table.objective, *self.further)

    @property
    def directions(self) -> list[StudyDirection]:
        """Direction of each objective."""
        return [self.table.direction, *(each.direction for each in self.further.values())]

    @cached_property
    def feasible(self) -> npt.NDArray[np.bool_]:
        """Whether each configuration meets all limits, shape (n_configurations,)."""
        met = np.ones(len(self.table.values), dtype=bool)
        for limit in self.limits.values():
            met &= limit.violations <= 0
        return met

    @cached_property
    def scores(self) -> Floats:
        """Score of each configuration: an infeasible one counts as the worst feasible one."""
        scores = self.table.scores
        return np.where(self.feasible, scores, scores[self.feasible].min())

    @property
    def optimum(self) -> float:
        """Best value of a feasible configuration."""
        return float(self.table.values[self.scores.argmax()])

    @property
    def typical(self) -> float:
        """Median value of the feasible configurations."""
        return typical_value(self.table.values[self.feasible], self.optimum)

    @cached_property
    def losses(self) -> Floats:
        """Objectives, smaller is better, infinite where a limit is broken; (n, n_objectives)."""
        signs = [1 if each == StudyDirection.MINIMIZE else -1 for each in self.directions]
        return np.where(self.feasible[:, np.newaxis], self._values * signs, np.inf)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the table, the further objectives and the limits."""
        digest = hashlib.sha256(self.table.fingerprint.encode())
        for objective in self.further.values():
            digest.update(objective.values.tobytes())
            if objective.direction != StudyDirection.MINIMIZE:
                digest.update(objective.direction.name.encode())
        for limit in self.limits.values():
            digest.update(b"limit" + limit.violations.tobytes())
        return digest.hexdigest()[:16]

    @cached_property
    def _values(self) -> Floats:
        further = (each.values for each in self.further.values())
        return np.column_stack([self.table.values, *further])

    def suggest(self, trial: optuna.trial.BaseTrial) -> dict[str, Any]:
        """Let the study's sampler choose a configuration."""
        return self.table.suggest(trial)

    def begin(self, seed: int) -> TableEvaluations:
        """Begin a study."""
        violations = {name: limit.violations for name, limit in self.limits.items()}
        return TableEvaluations(self.table, self._values, seed, violations)
