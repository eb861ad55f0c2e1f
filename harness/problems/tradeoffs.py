"""Two objectives on NAS-Bench-201: accuracy against what a cell costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from optuna.study import StudyDirection

from harness.problems import costed
from harness.problems.base import TableEvaluations


NAME = "tradeoffs"
DEFAULTS = ("cifar10-latency", "cifar10-params", "cifar10-train_time")


@dataclass(frozen=True, eq=False)
class Tradeoff(costed.CostedCells):
    """Accuracy, maximised, and a cost, minimised."""

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


@lru_cache
def load(dataset: str, source: str | None = None) -> Tradeoff:
    """A pair of objectives by name; see :func:`harness.problems.costed.read`."""
    return Tradeoff(NAME, *costed.read(NAME, dataset, source))
