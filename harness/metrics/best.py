"""The best value that a study evaluated.

Notations:
    scores: scores of the configurations, larger is better; (n_configurations,). Under a limit an
        infeasible configuration has the score of the worst feasible one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from optuna.study import StudyDirection

from harness.experiment import CellResult
from harness.metrics.metric import Floats
from harness.metrics.metric import Metric
from harness.metrics.metric import Quantity
from harness.metrics.metric import held
from harness.metrics.snapshot import Snapshot
from harness.problems.problem import ScalarProblem


def scores_of(result: CellResult, problem: ScalarProblem) -> Floats:
    """Scores by number of a configuration: of the whole table, else of what the study found."""
    if problem.scores is not None:
        return problem.scores
    return sign(problem) * np.asarray(result.values)


def sign(problem: ScalarProblem) -> float:
    """Factor from a value to its score: 1 for a maximised problem, else -1."""
    return 1.0 if problem.directions[0] == StudyDirection.MAXIMIZE else -1.0


def best_curve(steps: Sequence[int], scores: Floats, budget: int) -> Floats:
    """Best score after 1 .. ``budget`` steps, shape (budget,)."""
    rows = np.asarray(steps[:budget], dtype=np.intp)
    return held(np.maximum.accumulate(scores[rows]), budget, before=np.nan)


def best_values(snapshot: Snapshot, problem: ScalarProblem) -> Floats:
    """Best value after each step, in the unit of the objective; shape (budget,)."""
    scores = scores_of(snapshot.result, problem)
    return sign(problem) * best_curve(snapshot.steps, scores, snapshot.budget)


METRIC = Metric(
    (
        Quantity(
            "best_value",
            "",
            "best value",
            "Best value that was evaluated; under a limit the best feasible one, or the worst "
            "there is if none was.",
            larger_is_better=None,
            digits=2,
            spread=True,
        ),
    ),
    best_values,
)
