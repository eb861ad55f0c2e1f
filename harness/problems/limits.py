"""Accuracy on NAS-Bench-201 under a limit on the cost of a cell.

The limit is the lower quartile of the costs: about three quarters of the cells break it, and on
CIFAR-10 the best cells do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from optuna.study import StudyDirection

from harness.problems import costs
from harness.problems.evaluation import Kind
from harness.problems.table import TableEvaluations


_QUANTILE = 0.25


@dataclass(frozen=True, eq=False)
class Limited(costs.CostedCells):
    """Accuracy, maximised under a constraint: cost - limit must be zero or less."""

    @property
    def kind(self) -> Kind:
        """A limit."""
        return Kind.LIMIT

    @property
    def objectives(self) -> tuple[str]:
        """Accuracy."""
        return self.table.objectives

    @property
    def limit(self) -> float:
        """Largest cost that is feasible, in the unit of the cost."""
        return float(np.quantile(self.costs, _QUANTILE))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the cells, and the limit."""
        share = 100 * self.feasible.mean()
        return (
            *super().notes,
            f"Feasible are the {share:.0f} % of the cells up to {self.limit:.4g}.",
        )

    @cached_property
    def feasible(self) -> npt.NDArray[np.bool_]:
        """Whether each cell meets the limit, shape (n_cells,)."""
        return self.costs <= self.limit

    @cached_property
    def scores(self) -> npt.NDArray[np.float64]:
        """Score of each cell: an infeasible one counts as the worst feasible one."""
        scores = self.table.scores
        return np.where(self.feasible, scores, scores[self.feasible].min())

    @property
    def directions(self) -> list[StudyDirection]:
        """Accuracy up."""
        return self.table.directions

    @property
    def optimum(self) -> float:
        """Best accuracy of a feasible cell."""
        return float(self.table.values[self.scores.argmax()])

    def begin(self, seed: int) -> TableEvaluations:
        """Begin a study."""
        return TableEvaluations(
            self.table,
            self.table.values[:, np.newaxis],
            seed,
            {self.cost: self.costs - self.limit},
        )


FAMILY = costs.family(
    "nasbench201-limited",
    "the best of those cells whose cost is in the lowest quarter",
    Limited,
)
