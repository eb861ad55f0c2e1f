"""Several objectives on NAS-Bench-201: the accuracy of a cell against its costs."""

from __future__ import annotations

from collections.abc import Mapping

from harness.problems import costs
from harness.problems import nasbench201
from harness.problems.extended import ExtendedTable
from harness.problems.extended import Objective
from harness.problems.table import TabularBenchmark


def tradeoff(
    text: str, table: TabularBenchmark, values: Mapping[str, costs.Floats]
) -> ExtendedTable:
    """Accuracy, maximised, and costs, minimised.

    Args:
        text: Text of the problem.
        table: The cells with their accuracies.
        values: Cost of each cell, shape (n_cells,), by names of
            :data:`harness.problems.costs.COSTS`.
    """
    further = {cost: Objective(of_cells) for cost, of_cells in values.items()}
    return ExtendedTable(text, table, further, own_notes=tuple(map(costs.note, values)))


FAMILY = costs.family(
    nasbench201.NAME,
    "several objectives: the accuracy of those cells against a cost, or two",
    tradeoff,
    together=[("latency", "params")],
)
