"""Two objectives on NAS-Bench-201: the accuracy of a cell against its cost."""

from __future__ import annotations

from harness.problems import costs
from harness.problems import nasbench201
from harness.problems.extended import ExtendedTable
from harness.problems.extended import Objective
from harness.problems.table import TabularBenchmark


def tradeoff(text: str, table: TabularBenchmark, cost: str, values: costs.Floats) -> ExtendedTable:
    """Accuracy, maximised, and a cost, minimised.

    Args:
        text: Text of the problem.
        table: The cells with their accuracies.
        cost: One of :data:`harness.problems.costs.COSTS`.
        values: Cost of each cell, shape (n_cells,).
    """
    return ExtendedTable(text, table, {cost: Objective(values)}, own_notes=(costs.note(cost),))


FAMILY = costs.family(
    nasbench201.NAME,
    "two objectives: the accuracy of those cells against a cost",
    tradeoff,
)
