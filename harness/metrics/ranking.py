"""Quality of the sampler's final ranking of the whole space."""

from __future__ import annotations

import numpy as np

from harness.metrics.metric import Metric
from harness.metrics.metric import Quantity
from harness.metrics.snapshot import Snapshot
from harness.problems import Problem


def _numbers(snapshot: Snapshot, problem: Problem) -> tuple[float]:
    found = snapshot.result.spearman
    ended = snapshot.budget >= snapshot.result.cell.budget
    return (found if found is not None and ended else np.nan,)


METRIC = Metric(
    (
        Quantity(
            "spearman",
            "correlation",
            "Spearman",
            "Rank correlation of the sampler's final prediction with the truth over the table; "
            "none if it predicts nothing or the study goes on after the budget.",
            larger_is_better=True,
            digits=2,
        ),
    ),
    numbers=_numbers,
)
