"""Optimum, median and front of problems that nobody knows them of, from all studies on them."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness.experiment import CellResult
from harness.metrics.best import signed_losses
from harness.problems import Problem
from harness.problems.untabled import Seen
from harness.problems.untabled import UntabledProblem


def with_seen(problems: Iterable[Problem], results: Sequence[CellResult]) -> list[Problem]:
    """Problems with what the studies on them saw, where that is needed to judge the studies.

    Args:
        problems: Problems of a comparison.
        results: All of its studies.

    Returns:
        The problems; those that are known whole are the same objects.
    """
    return [
        _seen(problem, [result for result in results if result.cell.problem == problem.text])
        if isinstance(problem, UntabledProblem)
        else problem
        for problem in problems
    ]


def _seen(problem: UntabledProblem, results: Sequence[CellResult]) -> UntabledProblem:
    if not results:
        return problem
    losses = np.vstack([signed_losses(problem.directions, result) for result in results])
    has_limits = any(result.constraints for result in results)
    return replace(problem, seen=Seen(losses, has_limits, len(results)))
