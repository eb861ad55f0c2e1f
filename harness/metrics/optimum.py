"""Whether and when a study evaluated the optimum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.metrics.best import scores_of
from harness.metrics.best import sign
from harness.metrics.metric import Floats
from harness.metrics.metric import Metric
from harness.metrics.metric import Quantity
from harness.metrics.snapshot import Snapshot
from harness.problems.problem import ScalarProblem


def trials_to_optimum(steps: Sequence[int], scores: Floats, *, best: float | None = None) -> float:
    """Number of steps up to the first optimum, NaN if there was none.

    Args:
        steps: Configurations in order of evaluation.
        scores: Scores by number of a configuration.
        best: Score of the optimum, by default the largest of the scores.
    """
    optimum = scores.max() if best is None else best
    found = np.flatnonzero(scores[np.asarray(steps, dtype=np.intp)] == optimum)
    return float(found[0] + 1) if found.size else float("nan")


def _numbers(snapshot: Snapshot, problem: ScalarProblem) -> tuple[float, float]:
    scores = scores_of(snapshot.result, problem)
    step = trials_to_optimum(snapshot.steps, scores, best=sign(problem) * problem.optimum)
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
