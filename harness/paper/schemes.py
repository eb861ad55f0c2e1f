"""Proxy-only schemes of Section 4.5: each evaluates the top of its ranking (Table 5)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from harness.metrics.best import best_curve
from harness.metrics.gap import gap_curve
from harness.metrics.precision import precision_curve
from harness.paper import rankings
from harness.problems import TabularBenchmark
from harness.problems.registry import parts_of
from harness.problems.table import N_TOP


def scheme_metrics(table: TabularBenchmark, budgets: Sequence[int]) -> pd.DataFrame:
    """Measure each scheme on a table that has its proxies.

    Args:
        table: The benchmark.
        budgets: Distinct evaluations.

    Returns:
        A row per scheme and budget, with columns of :func:`harness.metrics.summarize` and seed
        0. A scheme that lacks a proxy has no rows.
    """
    top, longest = table.top(N_TOP), max(budgets)
    rows = []
    benchmark, dataset, source = parts_of(table.text)
    for scheme in rankings.SCHEMES:
        if not scheme.applies_to(table):
            continue
        evaluated = scheme.rank(table)[:longest].tolist()
        precision = precision_curve(evaluated, top, longest)
        regret = gap_curve(evaluated, table.scores, longest)
        best = best_curve(evaluated, table.scores, longest)
        rows += [
            {
                "benchmark": benchmark,
                "dataset": dataset,
                "source": source,
                "sampler": scheme.name,
                "budget": budget,
                "seed": 0,
                "precision": precision[budget - 1],
                "regret": regret[budget - 1],
                "best_value": best[budget - 1],
                "found_optimum": regret[budget - 1] == 0.0,
            }
            for budget in budgets
        ]
    return pd.DataFrame(rows)
