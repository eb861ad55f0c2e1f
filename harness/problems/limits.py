"""Accuracy on NAS-Bench-201 under a limit on the cost of a cell.

The limit is the lower quartile of the costs: about three quarters of the cells break it, and on
CIFAR-10 the best cells do.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness.problems import costs
from harness.problems.extended import ExtendedTable
from harness.problems.extended import Limit
from harness.problems.table import TabularBenchmark


_QUANTILE = 0.25


def limited(
    text: str, table: TabularBenchmark, values: Mapping[str, costs.Floats]
) -> ExtendedTable:
    """Accuracy, maximised under a constraint: cost - limit must be zero or less.

    Args:
        text: Text of the problem.
        table: The cells with their accuracies.
        values: Cost of each cell, shape (n_cells,), by names of
            :data:`harness.problems.costs.COSTS`.
    """
    limits = {
        cost: Limit(of_cells, float(np.quantile(of_cells, _QUANTILE)))
        for cost, of_cells in values.items()
    }
    return ExtendedTable(text, table, limits=limits, own_notes=tuple(map(costs.note, values)))


FAMILY = costs.family(
    "nasbench201-limited",
    "the best of those cells whose cost is in the lowest quarter",
    limited,
)
