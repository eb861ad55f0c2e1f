"""The gap to the optimum, relative to it: the regret of the paper (Section 4).

Under a limit the optimum is the best feasible value, and so is the best evaluated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.metrics.best import best_curve
from harness.metrics.best import scores_of
from harness.metrics.best import sign
from harness.metrics.metric import Floats
from harness.metrics.metric import Metric
from harness.metrics.metric import Quantity
from harness.metrics.snapshot import Snapshot
from harness.problems.problem import ScalarProblem


FLOOR = 1e-5
"""Least gap in percent in a geometric mean: the paper's figures take logarithms of zeros."""


def gap_curve(
    steps: Sequence[int], scores: Floats, budget: int, *, best: float | None = None
) -> Floats:
    """Gap in percent after 1 .. ``budget`` steps.

    Args:
        steps: Rows in order of evaluation.
        scores: Scores by number of a configuration, shape (n_configurations,).
        budget: Length of the curve.
        best: Score of the optimum, by default the largest of the scores.

    Returns:
        Array of shape (budget,).

    Raises:
        ValueError: If the optimum is zero, to which no gap is relative.
    """
    optimum = float(scores.max()) if best is None else best
    if optimum == 0.0:
        raise ValueError(
            "A relative gap must have an optimum other than 0, but the best value of the table "
            "is 0. Shift or rescale the values."
        )
    # 100 (optimum - best) / |optimum|
    return 100.0 * (optimum - best_curve(steps, scores, budget)) / abs(optimum)


def geometric_mean(values: npt.ArrayLike, *, axis: int = 0) -> Any:
    """Geometric mean of losses in percent, each floored at :data:`FLOOR`.

    Args:
        values: Losses in percent.
        axis: Axis over which to average.

    Returns:
        A float64, or an array without ``axis``.
    """
    floored = np.maximum(np.asarray(values, dtype=np.float64), FLOOR)
    return np.exp(np.log(floored).mean(axis=axis))


def _curve(snapshot: Snapshot, problem: ScalarProblem) -> Floats:
    if problem.optimum == 0.0:  # No gap is relative to it; the other metrics are measured.
        return np.full(snapshot.budget, np.nan)
    scores = scores_of(snapshot.result, problem)
    best = sign(problem) * problem.optimum
    return gap_curve(snapshot.steps, scores, snapshot.budget, best=best)


METRIC = Metric(
    (
        Quantity(
            "gap",
            "%",
            "gap %",
            "Gap between the best evaluated value and the optimum, relative to the optimum.",
            digits=None,
        ),
    ),
    _curve,
)
