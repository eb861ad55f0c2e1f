"""Small spaces and studies on them for the tests of the samplers."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import optuna
from optuna.samplers import BaseSampler
import pandas as pd

from harness.samplers.history import History
from harness.samplers.space import Configuration
from harness.samplers.space import Space


GRID = {"x": list(range(5)), "y": list(range(5))}
GRID_TABLE = pd.DataFrame(
    [(x, y, x - y) for x in range(5) for y in range(5)], columns=["x", "y", "proxy"]
)


def hill(params: Mapping[Any, Any]) -> float:
    """One local optimum, at (3, 1)."""
    return -float((params["x"] - 3) ** 2 + (params["y"] - 1) ** 2)


def space(n_parameters: int = 2, n_choices: int = 5) -> Space:
    return Space({f"p{i}": range(n_choices) for i in range(n_parameters)})


def history(*observations: tuple[Configuration, float]) -> History:
    made = History()
    for observation in observations:
        made.add(observation)
    return made


def run(
    sampler: BaseSampler,
    n_trials: int,
    *,
    value: Callable[[Mapping[str, Any]], float] = hill,
    study: optuna.Study | None = None,
    choices: Mapping[str, Sequence[Any]] | None = None,
) -> optuna.Study:
    study = study or optuna.create_study(direction="maximize")
    study.sampler = sampler
    sign = 1.0 if study.direction == optuna.study.StudyDirection.MAXIMIZE else -1.0
    for _ in range(n_trials):
        trial = study.ask()
        params = {
            name: trial.suggest_categorical(name, values)
            for name, values in (choices or GRID).items()
        }
        study.tell(trial, sign * value(params))
    return study


def visited(study: optuna.Study) -> list[tuple[Any, ...]]:
    return [tuple(trial.params[name] for name in sorted(trial.params)) for trial in study.trials]
