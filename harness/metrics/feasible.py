"""The share of trials that met a limit."""

from __future__ import annotations

import numpy as np

from harness.metrics.best import feasible_of
from harness.metrics.metric import Metric
from harness.metrics.metric import Quantity
from harness.metrics.snapshot import Snapshot
from harness.problems import Problem


def _numbers(snapshot: Snapshot, problem: Problem) -> tuple[float]:
    told = np.asarray(snapshot.result.told[: snapshot.n_asks], dtype=np.intp)
    return (100.0 * float(feasible_of(snapshot.result, problem)[told].mean()),)


METRIC = Metric(
    (
        Quantity(
            "feasible_share",
            "%",
            "feasible %",
            "Share of trials, repeated proposals included, that met the limit.",
            larger_is_better=True,
        ),
    ),
    numbers=_numbers,
)
