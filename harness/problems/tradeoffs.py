"""Two objectives on NAS-Bench-201: the accuracy of a cell against its cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from optuna.study import StudyDirection

from harness.problems import costs
from harness.problems import nasbench201
from harness.problems.evaluation import Kind
from harness.problems.table import TableEvaluations


@dataclass(frozen=True, eq=False)
class Tradeoff(costs.CostedCells):
    """Accuracy, maximised, and a cost, minimised."""

    kind = Kind.TRADEOFF

    @property
    def objectives(self) -> tuple[str, str]:
        """Accuracy and cost."""
        return (self.table.objective, self.cost)

    @property
    def directions(self) -> list[StudyDirection]:
        """Accuracy up, cost down."""
        return [StudyDirection.MAXIMIZE, StudyDirection.MINIMIZE]

    @property
    def losses(self) -> npt.NDArray[np.float64]:
        """Both objectives, smaller is better; shape (n_cells, 2)."""
        return np.column_stack([-self.table.scores, self.costs])

    def begin(self, seed: int) -> TableEvaluations:
        """Begin a study."""
        return TableEvaluations(self.table, np.column_stack([self.table.values, self.costs]), seed)


FAMILY = costs.family(
    nasbench201.NAME,
    "two objectives: the accuracy of those cells against a cost",
    Tradeoff,
)
