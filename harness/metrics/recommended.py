"""Regret of the configuration that a sampler itself recommends where evaluations are noisy."""

from __future__ import annotations

import numpy as np

from harness.metrics.metric import Metric
from harness.metrics.metric import Quantity
from harness.metrics.regret import normalized_regret
from harness.metrics.snapshot import Snapshot
from harness.problems.functions import FunctionProblem
from harness.problems.problem import ScalarProblem


def _numbers(snapshot: Snapshot, problem: ScalarProblem) -> tuple[float]:
    result = snapshot.result
    ended = snapshot.budget >= result.cell.budget
    if result.recommended is None or not ended or not isinstance(problem, FunctionProblem):
        return (np.nan,)
    value = problem.function(result.configurations[result.recommended])
    return (float(normalized_regret(value, problem)),)


METRIC = Metric(
    (
        Quantity(
            "recommended_regret",
            "%",
            "own pick: regret %",
            "Under noise: regret of the evaluated configuration that the sampler's rank(study, n) "
            "puts first; none if it ranks nothing or the study goes on after the budget.",
            digits=None,
        ),
    ),
    numbers=_numbers,
)
