"""P@100: the share of the true top 100 that a study evaluated (Eq. 1 of the paper).

Notations:
    top: rows of the 100 best configurations of the table.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harness.metrics.metric import Floats
from harness.metrics.metric import Metric
from harness.metrics.metric import Quantity
from harness.metrics.metric import held
from harness.metrics.snapshot import Snapshot
from harness.problems import TabularBenchmark


N_TOP = 100


def precision_curve(steps: Sequence[int], top: npt.NDArray[np.intp], budget: int) -> Floats:
    """P@100 in percent after 1 .. ``budget`` steps.

    Args:
        steps: Rows in order of evaluation; a repeated one counts once.
        top: The true best rows, ``table.top(100)``.
        budget: Length of the curve.

    Returns:
        Array of shape (budget,).
    """
    rows = np.asarray(steps[:budget], dtype=np.intp)
    is_first = np.zeros(len(rows), dtype=bool)
    is_first[np.unique(rows, return_index=True)[1]] = True
    # P@K = 100 |evaluated and top K| / K
    return held(100.0 * np.cumsum(np.isin(rows, top) & is_first) / len(top), budget, before=0.0)


def _curve(snapshot: Snapshot, problem: TabularBenchmark) -> Floats:
    return precision_curve(snapshot.steps, problem.top(N_TOP), snapshot.budget)


METRIC = Metric(
    (
        Quantity(
            "precision",
            "%",
            "P@100 %",
            "Share of the true top 100 that was evaluated.",
            larger_is_better=True,
            spread=True,
        ),
    ),
    _curve,
)
