"""Protocols of the problems that a study can search.

Every problem has what the runner needs (:class:`Problem`). What the metrics need beside it depends
on its kind (:class:`harness.problems.evaluation.Kind`): a scalar problem has one objective and an
optimum, a trade-off several losses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from typing import Protocol

import numpy as np
import numpy.typing as npt
import optuna
from optuna.study import StudyDirection

from harness.problems.evaluation import Evaluations
from harness.problems.evaluation import Kind
from harness.problems.table import TabularBenchmark


Floats = npt.NDArray[np.float64]


class Problem(Protocol):
    """A problem that a study can search, whatever its kind."""

    def __hash__(self) -> int:
        """Hash of the object, for caches of what follows from its numbers."""

    @property
    def text(self) -> str:
        """Text by which :func:`harness.problems.load` finds it in any process."""

    @property
    def kind(self) -> Kind:
        """Kind, which decides by what its studies are measured."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for a reader of its results, a sentence each."""

    @property
    def objectives(self) -> tuple[str, ...]:
        """Name and unit of each objective, ``"validation accuracy (%)"``."""

    @property
    def directions(self) -> list[StudyDirection]:
        """Direction of each objective."""

    @property
    def table(self) -> TabularBenchmark | None:
        """Configurations with their proxies, ``None`` where they cannot be listed."""

    @property
    def fingerprint(self) -> str:
        """Hash of everything that decides the course of a study."""

    def suggest(self, trial: optuna.trial.BaseTrial) -> dict[str, Any]:
        """Let the study's sampler choose a configuration."""

    def begin(self, seed: int) -> Evaluations:
        """Begin a study; ``seed`` decides where a proposal stands for one of several."""


class ScalarProblem(Problem, Protocol):
    """A problem of one objective with a known optimum."""

    @property
    def scores(self) -> Floats | None:
        """Score of every configuration, shape (n_configurations,); larger is better.

        It is the value, negated if it is minimised. ``None`` where they cannot be listed: then the
        values of a study are in its result.
        """

    @property
    def optimum(self) -> float:
        """Best value there is; under a limit the best feasible one."""

    @property
    def typical(self) -> float:
        """Median value over the whole space; under a limit over what is feasible."""


class TradeoffProblem(Problem, Protocol):
    """A problem of several objectives whose front is known."""

    @property
    def losses(self) -> Floats:
        """Objectives, smaller is better; shape (n, n_objectives).

        Those of every configuration of a table, else of points of the front.
        """


def with_top(problem: Problem, top: int | None) -> Problem:
    """Problem with another k of P@k, if it is a table of one value.

    Raises:
        ValueError: If it has fewer configurations.
    """
    if top is None or not isinstance(problem, TabularBenchmark):
        return problem
    return replace(problem, n_top=top)
