"""The proxy-only schemes of Section 4.5: each evaluates the top of its ranking (Table 5)."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness import rankings
from harness.benchmarks import TabularBenchmark
from harness.metrics import N_TOP
from harness.metrics import best_curve
from harness.metrics import precision_curve
from harness.metrics import regret_curve
from harness.paper import published as paper


Ranking = Callable[[TabularBenchmark], npt.NDArray[np.intp]]

SCHEMES: Mapping[str, Ranking] = {
    paper.BEST_SINGLE: rankings.best_single,
    paper.SYNFLOW: partial(rankings.single, name="synflow"),
    paper.RANK_PRODUCT: rankings.rank_product,
    paper.RANK_PRODUCT_POSITIVE: partial(rankings.rank_product, positive_only=True),
    paper.BORDA: rankings.borda,
}

NEEDS = {paper.SYNFLOW: {"synflow"}, paper.BORDA: {"synflow", "jacov", "snip"}}
"""Proxies that a scheme names; the others take what there is."""


def scheme_readings(table: TabularBenchmark, budgets: Sequence[int]) -> pd.DataFrame:
    """What each scheme finds on a table that has its proxies.

    Args:
        table: The benchmark.
        budgets: Distinct evaluations.

    Returns:
        A row per scheme and budget, with columns of :func:`harness.metrics.summarize`; a scheme
        has no seed but 0. No row where a proxy that a scheme names is missing.
    """
    top, longest = table.top(N_TOP), max(budgets)
    rows = []
    for label, ranking in SCHEMES.items():
        if not NEEDS.get(label, set()) <= set(table.proxies.columns):
            continue
        evaluated = ranking(table)[:longest].tolist()
        precision = precision_curve(evaluated, top, longest)
        regret = regret_curve(evaluated, table.values, longest)
        best = best_curve(evaluated, table.values, longest)
        rows += [
            {
                "benchmark": table.name,
                "dataset": table.dataset,
                "source": table.source,
                "sampler": label,
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
