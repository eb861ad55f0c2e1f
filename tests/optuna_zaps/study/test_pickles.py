"""Pickles of a sampler hold what the history does not tell, and go on as it would."""

from __future__ import annotations

from collections.abc import Callable
import pickle
from typing import Any

import numpy as np
import optuna
import pandas as pd
import pytest

from optuna_zaps import ZAPSSampler


GRID = {f"x{i}": list(range(5)) for i in range(6)}
WEIGHTS = np.random.default_rng(0).normal(size=(6, 5))
TABLE = pd.DataFrame(
    np.random.default_rng(1).normal(size=(125, 2)),
    index=pd.MultiIndex.from_product([range(5)] * 3, names=["x0", "x1", "x2"]),
    columns=["flops", "synflow"],
)


def additive(trial: optuna.Trial) -> float:
    return float(
        sum(WEIGHTS[i, trial.suggest_categorical(n, GRID[n])] for i, n in enumerate(GRID))
    )


def of_table(trial: optuna.Trial) -> float:
    return float(sum(trial.suggest_categorical(f"x{i}", GRID["x0"]) for i in range(3)))


def numbers(trial: optuna.Trial) -> float:
    return float(sum(trial.suggest_float(f"x{i}", -5, 5) ** 2 for i in range(4)))


def flops(params: dict[str, Any]) -> dict[str, float]:
    return {"flops": float(sum(params.values()))}


CONTINUOUS = {f"x{i}": optuna.distributions.FloatDistribution(-5, 5) for i in range(4)}


Case = tuple[Callable[[], ZAPSSampler], Callable[[optuna.Trial], float]]

CASES: dict[str, Case] = {
    "grid": (lambda: ZAPSSampler(search_space=GRID, seed=0), additive),
    "trees": (lambda: ZAPSSampler(search_space=GRID, budget=40, seed=0), additive),
    "table": (lambda: ZAPSSampler(TABLE, seed=0), of_table),
    "choices": (lambda: ZAPSSampler(seed=0), additive),
    "numbers": (lambda: ZAPSSampler(seed=0), numbers),
    "given numbers": (lambda: ZAPSSampler(search_space=CONTINUOUS, seed=0), numbers),
    "proxies": (lambda: ZAPSSampler(flops, search_space=CONTINUOUS, seed=0), numbers),
}


@pytest.mark.parametrize(("make", "objective"), CASES.values(), ids=CASES)
def test_a_pickle_is_small_and_proposes_what_the_sampler_would(
    make: Callable[[], ZAPSSampler], objective: Callable[[optuna.Trial], float]
) -> None:
    study = optuna.create_study(sampler=make())
    study.optimize(objective, n_trials=25)
    pickled = pickle.dumps(study.sampler)
    assert len(pickled) < 1_000_000
    twin = optuna.create_study(sampler=pickle.loads(pickled))
    twin.add_trials(study.trials)
    for each in (study, twin):
        each.optimize(objective, n_trials=4)
    assert [t.params for t in twin.trials[25:]] == [t.params for t in study.trials[25:]]


# The results of a proxy function are no part of the history: of these it holds some.
@pytest.mark.parametrize(("make", "objective"), [
    pytest.param(*case, id=name) for name, case in CASES.items() if name != "proxies"
])  # fmt: skip
def test_a_pickle_does_not_grow_with_the_study(
    make: Callable[[], ZAPSSampler], objective: Callable[[optuna.Trial], float]
) -> None:
    sampler = make()
    early = len(pickle.dumps(sampler))
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=30)
    # A topic of which was warned, and the state of the independent sampler.
    assert len(pickle.dumps(sampler)) < early + 200
