"""CPU time of the sampler: of its asks, with every ``suggest``, and its tells."""

from __future__ import annotations

import numpy as np

from harness.metrics.metric import Metric
from harness.metrics.metric import Quantity
from harness.metrics.snapshot import Snapshot
from harness.problems import Problem


def _numbers(snapshot: Snapshot, problem: Problem) -> tuple[float, float, float]:
    ask = np.asarray(snapshot.result.ask_seconds[: snapshot.n_asks])
    tell = np.asarray(snapshot.result.tell_seconds[: snapshot.n_asks])
    return float(ask.sum() + tell.sum()), 1e3 * float(ask.mean()), 1e3 * float(tell.mean())


METRIC = Metric(
    (
        Quantity(
            "cpu_seconds",
            "s",
            "CPU s",
            "CPU time of the sampler for a whole study.",
            digits=None,
        ),
        Quantity("ask_ms", "ms", "ask ms", "CPU time of an ask, mean.", digits=None),
        Quantity("tell_ms", "ms", "tell ms", "CPU time of a tell, mean.", digits=None),
    ),
    numbers=_numbers,
)
