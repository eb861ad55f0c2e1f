"""Whether and when a study evaluated the optimum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.metrics.best import scores_of
from harness.metrics.metric import Floats
from harness.metrics.metric import Metric
from harness.metrics.metric import Quantity
from harness.metrics.snapshot import Snapshot
from harness.problems.problem import ScalarProblem


def trials_to_optimum(steps: Sequence[int], scores: Floats) -> float:
    """Number of steps up to the first optimum, NaN if there was none."""
    found = np.flatnonzero(scores[np.asarray(steps, dtype=np.intp)] == scores.max())
    return float(found[0] + 1) if found.size else float("nan")


def _numbers(snapshot: Snapshot, problem: ScalarProblem) -> tuple[float, float]:
    step = trials_to_optimum(snapshot.steps, scores_of(snapshot.result, problem))
    return 0.0 if np.isnan(step) else 100.0, step


def _curve(snapshot: Snapshot, problem: ScalarProblem) -> Floats:
    _, step = _numbers(snapshot, problem)
    counted = np.arange(1, snapshot.budget + 1)
    return np.where(counted >= step, 100.0, 0.0)


METRIC = Metric(
    (
        Quantity(
            "found_optimum",
            "%",
            "optimum %",
            "Share of seeds that evaluated the optimum.",
            larger_is_better=True,
            digits=0,
        ),
        Quantity(
            "trials_to_optimum",
            "steps",
            "trials to",
            "Median number of evaluations up to the optimum; a seed that missed it counts as "
            "more.",
            digits=0,
        ),
    ),
    _curve,
    _numbers,
)
