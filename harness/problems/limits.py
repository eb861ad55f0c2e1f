"""Accuracy on NAS-Bench-201 under a limit on the cost of a cell.

The limit is the lower quartile of the costs: about three quarters of the cells break it, and on
CIFAR-10 the best cells do.
"""

from __future__ import annotations

import numpy as np

from harness.problems import costs
from harness.problems.extended import ExtendedTable
from harness.problems.extended import Limit
from harness.problems.table import TabularBenchmark


_QUANTILE = 0.25


def limited(text: str, table: TabularBenchmark, cost: str, values: costs.Floats) -> ExtendedTable:
    """Accuracy, maximised under a constraint: cost - limit must be zero or less.

    Args:
        text: Text of the problem.
        table: The cells with their accuracies.
        cost: One of :data:`harness.problems.costs.COSTS`.
        values: Cost of each cell, shape (n_cells,).
    """
    limit = Limit(values, float(np.quantile(values, _QUANTILE)))
    return ExtendedTable(text, table, limits={cost: limit}, own_notes=(costs.note(cost),))


FAMILY = costs.family(
    "nasbench201-limited",
    "the best of those cells whose cost is in the lowest quarter",
    limited,
)
