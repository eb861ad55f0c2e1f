"""Problems of a user's own, as files of a working directory would have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution


def bowl(trial: optuna.Trial) -> float:
    x, y = trial.suggest_float("x", -5, 5), trial.suggest_float("y", -5, 5)
    return (x - 1) ** 2 + (y + 2) ** 2


def deep_bowl(trial: optuna.Trial, depth: int = 2) -> float:
    return sum(trial.suggest_float(f"x{i}", -5, 5) ** 2 for i in range(depth))


deep_bowl.optimum = 0.0  # type: ignore[attr-defined]


def branches(trial: optuna.Trial) -> float:
    if trial.suggest_categorical("optimizer", ["sgd", "adam"]) == "sgd":
        return trial.suggest_float("momentum", 0, 1)
    n = trial.suggest_int("n", 1, 9)
    trial.report(n, 0)
    if n > 6:
        raise optuna.TrialPruned
    return float("nan") if n == 1 else 0.2 * n


def two(trial: optuna.Trial) -> tuple[float, float]:
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
    return x, (1 - x) ** 2 + y


def limited(trial: optuna.Trial) -> float:
    x, y = trial.suggest_float("x", -5, 5), trial.suggest_float("y", -5, 5)
    trial.set_constraint("sum", 1 - x - y)
    return x * x + y * y


class Sphere:
    """With the interface of ``optunahub.benchmarks.BaseProblem``."""

    def __init__(self, dimension: int = 2) -> None:
        self.dimension = dimension

    @property
    def search_space(self) -> dict[str, BaseDistribution]:
        return {f"x{i}": FloatDistribution(-5, 5) for i in range(self.dimension)}

    @property
    def directions(self) -> list[optuna.study.StudyDirection]:
        return [optuna.study.StudyDirection.MINIMIZE]

    def evaluate(self, params: dict[str, Any]) -> Any:
        return sum((value - 1) ** 2 for value in params.values())


class ThreeLimited(Sphere):
    metric_names = ("origin", "east", "north")
    directions = ["minimize"] * 3  # type: ignore[assignment]

    def evaluate(self, params: dict[str, Any]) -> Any:
        x, y = params.values()
        return x * x + y * y, (x - 1) ** 2 + y * y, x * x + (y - 1) ** 2

    def evaluate_constraints(self, params: dict[str, Any]) -> dict[str, float]:
        return {"west": params["x0"] - 3}


class Knapsack:
    """Constraints of a finished trial, choices, and names of an object behind it."""

    directions = ("maximize",)
    weights = (3, 4, 5)
    reference_point = (0.0,)
    nadir_point = None

    @property
    def search_space(self) -> dict[str, BaseDistribution]:
        return {f"x{i}": CategoricalDistribution([0, 1]) for i in range(3)}

    def evaluate(self, params: dict[str, int]) -> Any:
        return np.array([sum(params.values())])

    def evaluate_constraints(self, trial: optuna.trial.FrozenTrial) -> list[float]:
        return [sum(w * trial.params[f"x{i}"] for i, w in enumerate(self.weights)) - 7]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._problem, name)  # As wrappers of the registry do.

    _problem = object()


class Noisy(Sphere):
    """Noise of its own, as the tables of the registry have."""

    def __init__(self, dimension: int = 2, seed: int | None = None) -> None:
        super().__init__(dimension)
        self.reseed(seed)

    def reseed(self, seed: int | None = None) -> None:
        self._rng = np.random.default_rng(seed)

    def evaluate(self, params: dict[str, Any]) -> Any:
        return super().evaluate(params) + self._rng.normal()


class Fails(Sphere):
    def evaluate(self, params: dict[str, Any]) -> Any:
        return float("nan") if params["x0"] < 0 else params["x0"]


NOT_A_PROBLEM = 3
