"""What a study under a constraint was worth.

Notations:
    regret: (best feasible value there is - best feasible evaluated) / the former, in percent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from harness.experiment import CellResult
from harness.problems.limits import Limited
from harness.readings import benchmark_key
from harness.readings import keyed
from harness.readings import read_off
from harness.statistics import GROUP


COLUMNS = (
    *GROUP,
    "sampler",
    "seed",
    "best_value",
    "regret",
    "infeasible_share",
    "found_optimum",
    "cpu_seconds",
)


def summarize(
    results: Sequence[CellResult], problems: Sequence[Limited], budget: int
) -> pd.DataFrame:
    """What each study found among the feasible within a budget.

    Args:
        results: Finished studies on the problems.
        problems: The problems.
        budget: What counts of each study, in the unit of its own budget.

    Returns:
        One row per study with the columns of :data:`COLUMNS`: ``best_value`` that of the best
        feasible configuration evaluated (of the worst feasible one there is if none was),
        ``infeasible_share`` the percentage of trials, repeated proposals included, that broke the
        limit, ``found_optimum`` 100 or 0.
    """
    by_key = keyed(problems)
    rows: list[dict[str, Any]] = []
    for reading in read_off(results, [budget]):
        problem = by_key[benchmark_key(reading.result)]
        values, feasible = problem.table.values, problem.feasible
        evaluated = np.asarray(reading.evaluated, dtype=np.intp)
        found = values[evaluated[feasible[evaluated]]]
        best = float(found.max()) if found.size else float(values[feasible].min())
        asked = np.asarray(reading.result.asked[: reading.n_asks], dtype=np.intp)
        rows.append(
            {
                **reading.identity,
                "best_value": best,
                "regret": 100.0 * (problem.optimum - best) / problem.optimum,
                "infeasible_share": 100.0 * (1.0 - feasible[asked].mean()),
                "found_optimum": 100.0 * (best == problem.optimum),
                "cpu_seconds": reading.cpu_seconds,
            }
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))
