"""The 17 problems that are not ours: 12 HPO tables and five functions, without proxies.

Notations:
    regret: normalised, |best evaluated - optimum| / |median of the space - optimum| in percent:
        0 at the optimum, 100 for a typical configuration. It needs no optimum other than zero
        and no bounded values, so that it compares problems of all kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from harness.experiment import CellResult
from harness.problems import functions
from harness.problems import hpo
from harness.problems.base import TabularBenchmark
from harness.problems.functions import FunctionProblem
from harness.problems.problem import check_one_of
from harness.readings import Reading
from harness.readings import benchmark_key
from harness.readings import keyed
from harness.readings import read_off


EverydayProblem = TabularBenchmark | FunctionProblem

NAMES = (*hpo.DATASETS, *functions.FUNCTIONS)
"""All 17, tables first."""

COLUMNS = (
    "problem",
    "in_flight",
    "sampler",
    "seed",
    "best_value",
    "regret",
    "repeat_share",
    "cpu_seconds",
)


def load(name: str, source: str | None = None) -> EverydayProblem:
    """One of the problems.

    Args:
        name: One of :data:`NAMES`.
        source: Source of a table's numbers (:data:`harness.problems.hpo.SOURCES`), by default
            the one without proxies. Functions have no other.

    Raises:
        ValueError: If there is no such problem or source.
    """
    check_one_of("problem", name, NAMES)
    return functions.load(name) if name in functions.FUNCTIONS else hpo.load(name, source)


def summarize(
    results: Sequence[CellResult],
    problems: Sequence[EverydayProblem],
    budget: int,
    *,
    by_trials: bool = False,
) -> pd.DataFrame:
    """What each study was worth after ``budget`` distinct evaluations.

    Args:
        results: Finished studies on the problems.
        problems: The problems.
        budget: Number of distinct evaluations that count.
        by_trials: Whether it counts trials instead, repeated proposals included.

    Returns:
        One row per study with the columns of :data:`COLUMNS`: ``best_value`` in the unit of the
        problem, ``regret`` in percent, ``repeat_share`` in percent, ``cpu_seconds`` those of the
        sampler.
    """
    by_key = keyed(problems)
    rows = [
        _row(reading, by_key[benchmark_key(reading.result)])
        for reading in read_off(results, [budget], by_trials=by_trials)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def normalized_regret(best: float, problem: EverydayProblem) -> float:
    """Regret of a best value in percent; see the module's notations."""
    return 100.0 * abs(best - problem.optimum) / abs(problem.typical - problem.optimum)


def _row(reading: Reading, problem: EverydayProblem) -> dict[str, Any]:
    result = reading.result
    known = problem.values if isinstance(problem, TabularBenchmark) else np.array(result.values)
    values = known[list(reading.evaluated)]
    maximized = isinstance(problem, TabularBenchmark) and problem.maximized
    best = float(values.max() if maximized else values.min())
    return {
        "problem": problem.dataset,
        "in_flight": result.cell.in_flight,
        "sampler": result.cell.sampler.label,
        "seed": result.cell.seed,
        "best_value": best,
        "regret": normalized_regret(best, problem),
        "cpu_seconds": reading.cpu_seconds,
        "repeat_share": 100.0 * (1.0 - len(reading.evaluated) / reading.n_asks),
    }
