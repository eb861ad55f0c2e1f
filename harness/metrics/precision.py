"""P@k: the share of the true top k that a study evaluated (Eq. 1 of the paper, with k = 100).

Notations:
    top: rows of the k best configurations of the table.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harness.metrics.metric import Floats
from harness.metrics.metric import Metric
from harness.metrics.metric import Quantity
from harness.metrics.metric import held
from harness.metrics.snapshot import Snapshot
from harness.problems import TabularBenchmark
from harness.problems.table import N_TOP


def precision_curve(steps: Sequence[int], top: npt.NDArray[np.intp], budget: int) -> Floats:
    """P@k in percent after 1 .. ``budget`` steps.

    Args:
        steps: Rows in order of evaluation; a repeated one counts once.
        top: The true best rows, ``table.top(k)``.
        budget: Length of the curve.

    Returns:
        Array of shape (budget,).
    """
    rows = np.asarray(steps[:budget], dtype=np.intp)
    is_first = np.zeros(len(rows), dtype=bool)
    is_first[np.unique(rows, return_index=True)[1]] = True
    # P@k = 100 |evaluated and top k| / k
    return held(100.0 * np.cumsum(np.isin(rows, top) & is_first) / len(top), budget, before=0.0)


def quantity(counts: Collection[int]) -> Quantity:
    """P@k of problems with these k: with its number where there is one."""
    k = str(next(iter(counts))) if len(counts) == 1 else "k"
    return Quantity(
        "precision",
        "%",
        f"P@{k} %",
        f"Share of the true top {k} that was evaluated.",
        larger_is_better=True,
        spread=True,
    )


def ceiling(k: int, budget: int, unit: str) -> str:
    """Sentence on the largest P@k that a budget allows; empty if it allows 100 %."""
    if budget >= k:
        return ""
    return f"With {budget} {unit} P@{k} is at most {100 * budget / k:.3g} %."


def _curve(snapshot: Snapshot, problem: TabularBenchmark) -> Floats:
    return precision_curve(snapshot.steps, problem.top(problem.n_top), snapshot.budget)


def _numbers(snapshot: Snapshot, problem: TabularBenchmark) -> tuple[float, float]:
    return float(_curve(snapshot, problem)[-1]), float(problem.n_top)


METRIC = Metric(
    (
        quantity((N_TOP,)),
        Quantity(
            "top",
            "configurations",
            "k",
            "Number of the best configurations that P@k counts.",
            larger_is_better=None,
            digits=0,
        ),
    ),
    _curve,
    _numbers,
)
