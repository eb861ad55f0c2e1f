"""Studies on the development tables."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import optuna

from harness import problems
from harness.experiment import make_cells
from harness.run.runner import run_cell
from harness.samplers import make_spec


def studies(
    sampler: str, n_seeds: int, budget: int, dataset: str = "cifar10"
) -> tuple[problems.TabularBenchmark, npt.NDArray[np.intp]]:
    """The benchmark, and the rows evaluated by each study, shape (n_seeds, budget)."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    benchmark = problems.load_table(f"nasbench201/{dataset}@suite-zero")
    cells = make_cells([benchmark], [make_spec(sampler)], range(n_seeds), [budget])
    return benchmark, np.array([run_cell(cell).evaluated for cell in cells])
