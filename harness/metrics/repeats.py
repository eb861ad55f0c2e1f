"""The share of proposals that had been evaluated before."""

from __future__ import annotations

from harness.metrics.metric import Metric
from harness.metrics.metric import Quantity
from harness.metrics.snapshot import Snapshot
from harness.problems import Problem


def _numbers(snapshot: Snapshot, problem: Problem) -> tuple[float]:
    share = 1.0 - len(snapshot.evaluated) / snapshot.n_asks if snapshot.n_asks else 0.0
    return (100.0 * share,)


METRIC = Metric(
    (
        Quantity(
            "repeat_share",
            "%",
            "repeats %",
            "Share of proposals that had been evaluated before.",
        ),
    ),
    numbers=_numbers,
)
