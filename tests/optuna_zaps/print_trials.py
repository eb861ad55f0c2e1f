"""Prints the trials of some studies, which must be the same in every environment.

    python tests/optuna_zaps/print_trials.py

prints JSON: for each study the parameters and attributes of its trials.
"""

from __future__ import annotations

from collections.abc import Callable
import json
import math
from typing import Any

import numpy as np
import optuna
from optuna.trial import TrialState
import pandas as pd

from optuna_zaps import ZAPSSampler


SPACE: dict[str, list[Any]] = {
    "op": list("abcde"), "act": ["x", None, True, 2.5], "width": [8, 16, 32]
}  # fmt: skip
N_TRIALS = 30


def score(params: dict[str, Any]) -> float:
    """Smooth in the positions of the choices, with an interaction."""
    op, act, width = (SPACE[name].index(params[name]) for name in SPACE)
    return float(op + 2 * act - 0.5 * width * act)


def table() -> pd.DataFrame:
    """Two proxies that know a little of the score."""
    rows = pd.MultiIndex.from_product(SPACE.values(), names=list(SPACE)).to_frame(index=False)
    rows = rows.astype(object).where(rows.notna(), None)
    truth = np.asarray([score(row) for row in rows.to_dict("records")])
    rng = np.random.default_rng(0)
    return rows.assign(
        flops=truth + rng.normal(scale=2.0, size=len(rows)),
        synflow=truth + rng.normal(scale=4.0, size=len(rows)),
    )


Objective = Callable[[optuna.Trial], float]


def choices(trial: optuna.Trial) -> float:
    """Suggest and score; every seventh trial fails."""
    value = score({name: trial.suggest_categorical(name, SPACE[name]) for name in SPACE})
    return float("nan") if trial.number % 7 == 3 else value


def branches(trial: optuna.Trial) -> float:
    """Numbers of every kind, some of them in one branch alone.

    None has so few values that they run out, after which it would be Optuna's TPE that decides.
    """
    rate = trial.suggest_float("rate", 1e-4, 1.0, log=True)
    depth = trial.suggest_int("depth", 1, 40)
    if trial.suggest_categorical("op", ["x", "y"]) == "x":
        return depth * trial.suggest_float("share", 0.0, 1.0, step=0.01) - rate
    return rate * trial.suggest_float("decay", -5.0, 5.0) * trial.suggest_int("width", 1, 99)


STUDIES: dict[str, tuple[Callable[[], ZAPSSampler], Objective]] = {
    "processes": (lambda: ZAPSSampler(table(), search_space=SPACE, seed=1), choices),
    "trees": (lambda: ZAPSSampler(table(), search_space=SPACE, budget=30, seed=1), choices),
    "no proxies": (lambda: ZAPSSampler(search_space=SPACE, seed=1), choices),
    "space from the trials": (lambda: ZAPSSampler(n_startup_trials=8, seed=1), choices),
    "pools": (lambda: ZAPSSampler(group=True, seed=1), branches),
}


def one_by_one(study: optuna.Study, objective: Objective) -> None:
    """Run the trials one after the other."""
    study.optimize(objective, n_trials=N_TRIALS)


def four_at_a_time(study: optuna.Study, objective: Objective) -> None:
    """Run trials with others pending, told in the order in which they were asked."""
    pending: list[tuple[optuna.Trial, float]] = []
    for _ in range(N_TRIALS):
        trial = study.ask()
        pending.append((trial, objective(trial)))
        if len(pending) == 4:
            done, value = pending.pop(0)
            if math.isnan(value):
                study.tell(done, state=TrialState.FAIL)
            else:
                study.tell(done, value)


def studies() -> dict[str, list[Any]]:
    """Parameters and user attributes of every trial, by the name of the study."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    result = {}
    for name, (make, objective) in STUDIES.items():
        for way in (one_by_one, four_at_a_time):
            study = optuna.create_study(direction="maximize", sampler=make())
            way(study, objective)
            result[f"{name}, {way.__name__}"] = [
                [trial.params, trial.user_attrs] for trial in study.trials
            ]
    return result


if __name__ == "__main__":
    print(json.dumps(studies(), sort_keys=True))
