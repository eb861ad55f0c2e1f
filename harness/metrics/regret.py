"""Normalised regret, which compares problems of all kinds.

Notations:
    regret: |best evaluated - optimum| / |median of the space - optimum| in percent: 0 at the
        optimum, 100 for a typical configuration. It needs no optimum other than zero and no
        bounded values. Under noise, with the true value of what appeared to be the best.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.metrics.best import best_values
from harness.metrics.metric import Floats
from harness.metrics.metric import Metric
from harness.metrics.metric import Quantity
from harness.metrics.snapshot import Snapshot
from harness.problems.problem import ScalarProblem


def normalized_regret(best: npt.ArrayLike, problem: ScalarProblem) -> Floats:
    """Regret of best values in percent, NaN where the median is the optimum; see the notations."""
    distance = np.abs(np.asarray(best, dtype=np.float64) - problem.optimum)
    scale = abs(problem.typical - problem.optimum)
    # Where all values are equal, every configuration is the best.
    return np.asarray(100.0 * distance / scale if scale else 0.0 * distance)


def _curve(snapshot: Snapshot, problem: ScalarProblem) -> Floats:
    return normalized_regret(best_values(snapshot, problem), problem)


METRIC = Metric(
    (
        Quantity(
            "regret",
            "%",
            "regret %",
            "Normalised regret: 0 at the optimum, 100 for the median configuration. Under noise "
            "that of the true value of study.best_trial.",
            digits=None,
        ),
    ),
    _curve,
)
