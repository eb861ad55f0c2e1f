"""The best value that a study evaluated, or, under noise, the true one of its apparent best.

Notations:
    pick: evaluation whose value is the best so far, the one that ``study.best_trial`` names.
    scores: scores of the configurations, larger is better; (n_configurations,). Under a limit an
        infeasible configuration has the score of the worst feasible one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from optuna.study import StudyDirection

from harness.experiment import CellResult
from harness.metrics.metric import Floats
from harness.metrics.metric import Metric
from harness.metrics.metric import Quantity
from harness.metrics.metric import held
from harness.metrics.snapshot import Snapshot
from harness.problems import Problem
from harness.problems.extended import ExtendedTable
from harness.problems.functions import FunctionProblem
from harness.problems.problem import ScalarProblem
from harness.problems.problem import TradeoffProblem
from harness.problems.untabled import UntabledProblem


def scores_of(result: CellResult, problem: ScalarProblem) -> Floats:
    """Scores by number of a configuration: of the whole table, else of what the study found.

    There a configuration that broke a limit or failed counts as the worst feasible one.
    """
    if problem.scores is not None:
        return problem.scores
    scores = -signed_losses(problem.directions, result)[:, 0]
    if not isinstance(problem, UntabledProblem):
        return scores
    return np.where(np.isinf(scores), sign(problem) * problem.worst_feasible, scores)


def losses_of(result: CellResult, problem: TradeoffProblem) -> Floats:
    """Losses by number of a configuration: of the whole table, else of what the study found.

    There a configuration that broke a limit or failed has infinite losses.
    """
    if problem.table is not None:
        return problem.losses
    return signed_losses(problem.directions, result)


def signed_losses(directions: Sequence[StudyDirection], result: CellResult) -> Floats:
    """Losses of what a study found, infinite where it is infeasible; (n, n_objectives)."""
    signs = [1.0 if each == StudyDirection.MINIMIZE else -1.0 for each in directions]
    losses = np.asarray(result.values, dtype=np.float64).reshape(-1, len(signs)) * signs
    usable = feasible_rows(result) & ~np.isnan(losses).any(axis=1)
    return np.where(usable[:, np.newaxis], losses, np.inf)


def feasible_of(result: CellResult, problem: Problem) -> npt.NDArray[np.bool_]:
    """Whether each configuration, by number, meets all limits."""
    return problem.feasible if isinstance(problem, ExtendedTable) else feasible_rows(result)


def feasible_rows(result: CellResult) -> npt.NDArray[np.bool_]:
    """Whether each configuration that a study found meets all limits."""
    if not result.constraints:
        return np.ones(len(result.values), dtype=bool)
    return np.array([all(value <= 0 for value in each.values()) for each in result.constraints])


def sign(problem: Problem) -> float:
    """Factor from a value to its score: 1 for a maximised problem, else -1."""
    return 1.0 if problem.directions[0] == StudyDirection.MAXIMIZE else -1.0


def best_curve(steps: Sequence[int], scores: Floats, budget: int) -> Floats:
    """Best score after 1 .. ``budget`` steps, shape (budget,)."""
    rows = np.asarray(steps[:budget], dtype=np.intp)
    return held(np.maximum.accumulate(scores[rows]), budget, before=np.nan)


def picked_curve(steps: Sequence[int], scores: Floats, truth: Floats, budget: int) -> Floats:
    """True value of the pick after 1 .. ``budget`` steps, shape (budget,).

    Args:
        steps: Evaluations by number.
        scores: Observed score by number, larger is better.
        truth: True value by number.
        budget: Length of the curve.
    """
    rows = np.asarray(steps[:budget], dtype=np.intp)
    observed = scores[rows]
    # The first of equal values, as in study.best_trial.
    leads = observed > np.concatenate([[-np.inf], np.maximum.accumulate(observed)[:-1]])
    picks = rows[np.maximum.accumulate(np.where(leads, np.arange(len(rows)), 0))]
    return held(truth[picks], budget, before=np.nan)


def best_values(snapshot: Snapshot, problem: ScalarProblem) -> Floats:
    """Best value after each step, in the unit of the objective; shape (budget,).

    Under noise the true value of the pick, which counts for whoever uses what was found.
    """
    scores = scores_of(snapshot.result, problem)
    if isinstance(problem, FunctionProblem) and problem.noise:
        truth = true_values(snapshot.result, problem)
        return picked_curve(snapshot.steps, scores, truth, snapshot.budget)
    return sign(problem) * best_curve(snapshot.steps, scores, snapshot.budget)


def true_values(result: CellResult, problem: FunctionProblem) -> Floats:
    """Value without noise of all that a study evaluated, by number."""
    return np.array([problem.function(params) for params in result.configurations])


METRIC = Metric(
    (
        Quantity(
            "best_value",
            "",
            "best value",
            "Best value that was evaluated; under a limit the best feasible one, or the worst "
            "there is if none was; under noise the true value of what has the best one.",
            larger_is_better=None,
            digits=2,
            spread=True,
        ),
    ),
    best_values,
)
