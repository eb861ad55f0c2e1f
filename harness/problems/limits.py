"""Accuracy on NAS-Bench-201 among the cells that cost little.

The limit is the lower quartile of the costs: about three quarters of the cells break it, and on
CIFAR-10 the best cells do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from optuna.study import StudyDirection

from harness.problems import costed
from harness.problems.base import TableEvaluations


NAME = "limits"
DEFAULTS = ("cifar10-latency", "cifar10-params")

_QUANTILE = 0.25


@dataclass(frozen=True, eq=False)
class Limited(costed.CostedCells):
    """Accuracy, maximised under a constraint: cost - limit must be zero or less."""

    @property
    def limit(self) -> float:
        """Largest cost that is feasible, in the unit of the cost."""
        return float(np.quantile(self.costs, _QUANTILE))

    @property
    def notes(self) -> tuple[str, ...]:
        """Those of the cells, and the limit."""
        share = 100 * self.feasible.mean()
        return (
            *super().notes,
            f"Feasible are the {share:.0f} % of the cells up to {self.limit:.4g}.",
        )

    @property
    def feasible(self) -> npt.NDArray[np.bool_]:
        """Which cells meet the limit, shape (n_cells,)."""
        return self.costs <= self.limit

    @property
    def directions(self) -> list[StudyDirection]:
        """Accuracy up."""
        return [StudyDirection.MAXIMIZE]

    @property
    def optimum(self) -> float:
        """Best accuracy of a feasible cell."""
        return float(self.table.values[self.feasible].max())

    def begin(self, seed: int) -> TableEvaluations:
        """Begin a study."""
        return TableEvaluations(
            self.table,
            self.table.values[:, np.newaxis],
            seed,
            {self.cost: self.costs - self.limit},
        )


@lru_cache
def load(dataset: str, source: str | None = None) -> Limited:
    """A limit by name; see :func:`harness.problems.costed.read`."""
    return Limited(NAME, *costed.read(NAME, dataset, source))
