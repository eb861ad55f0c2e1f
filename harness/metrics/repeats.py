"""The share of proposals that had been evaluated before."""

from __future__ import annotations

from harness.metrics.metric import Metric
from harness.metrics.metric import Quantity
from harness.metrics.snapshot import Snapshot
from harness.problems import Problem


def _measure(snapshot: Snapshot, problem: Problem) -> dict[str, float]:
    share = 1.0 - len(snapshot.evaluated) / snapshot.n_asks if snapshot.n_asks else 0.0
    return {"repeat_share": 100.0 * share}


METRIC = Metric(
    (
        Quantity(
            "repeat_share",
            "%",
            "repeats %",
            "Share of proposals that had been evaluated before.",
        ),
    ),
    _measure,
)
