"""Conditions that studies share when they are compared: budget, and trials in flight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from typing import NamedTuple

from harness.metrics import GROUP
from harness.report import formats


COLUMNS = GROUP[1:]
"""Columns of a setting in a frame of studies."""


class Setting(NamedTuple):
    """Conditions of studies, in the order of :data:`harness.metrics.GROUP` after the problem.

    Attributes:
        in_flight: Number of trials in flight.
        durations: Durations of the trials, empty without a clock.
        unit: Unit of the budget, ``"evaluations"`` or ``"trials"``.
        budget: Number of them.
    """

    in_flight: int
    durations: str
    unit: str
    budget: int

    @classmethod
    def of(cls, values: Sequence[Any]) -> Setting:
        """Setting of the values of a row, of any type that NumPy makes of them."""
        in_flight, durations, unit, budget = values
        return cls(int(in_flight), str(durations), str(unit), int(budget))

    def __str__(self) -> str:
        """Budget with its unit, and trials in flight, for people."""
        return formats.setting(self.budget, self.unit, self.in_flight, self.durations)

    def group(self, name: str) -> str:
        """Name of what is compared, with all but the budget.

        Example:
            >>> Setting(4, "", "trials", 100).group("everyday")
            'everyday, by trials, 4 in flight'
        """
        by_trials = ", by trials" if self.unit == "trials" else ""
        return name + by_trials + formats.in_flight(self.in_flight, self.durations)
