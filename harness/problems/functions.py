"""Five functions of continuous and mixed parameters with known optima, all minimised.

They have no table, so a result holds what its study evaluated, and there is no top 100.

- ``branin``: two floats, three equal minima (Dixon and Szegö, 1978).
- ``hartmann6``: six floats (Dixon and Szegö, 1978).
- ``ackley-mixed``: five floats and five ints (Ackley, 1987). The minimum is moved away from the
  middle of the space, where samplers with a prior begin.
- ``rosenbrock-log``: Rosenbrock's valley (1960) in the logarithms of two floats and an int, as
  learning rate, weight decay and width might interact.
- ``conditional``: three optimisers, each with parameters of its own beside a shared one. The
  widest branch is not the best.

Notations:
    params: parameters by name, as a trial was given them.
    optimum: least value, from the literature or exact by construction; ``minimizer`` has it.
    typical: median value of configurations drawn at random, which the tests estimate again.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
import hashlib
from itertools import pairwise
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import optuna
from optuna.study import StudyDirection

from harness.problems.evaluation import Kind
from harness.problems.evaluation import Measurement
from harness.problems.evaluation import NumberedEvaluations
from harness.problems.family import Family
from harness.problems.family import Source


Params = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class FunctionProblem:
    """A function to be minimised.

    An instance can be passed to ``study.optimize`` as it is.

    Attributes:
        name: Name of the function.
        space: Lets a trial choose the parameters.
        function: Value of the parameters.
        optimum: Least value.
        minimizer: Parameters that have it.
        typical: Median value over the space.
        notes: Notes for a reader, a sentence each.
        noise: Standard deviation of the normal noise that every evaluation adds to the value.
    """

    name: str
    space: Callable[[optuna.trial.BaseTrial], dict[str, Any]]
    function: Callable[[Params], float]
    optimum: float
    minimizer: Params
    typical: float
    notes: tuple[str, ...] = ()
    noise: float = 0.0
    objectives = ("value",)
    kind = Kind.FUNCTION
    table = None  # Configurations cannot be listed.
    scores = None

    @property
    def text(self) -> str:
        """Text by which it is found, e.g. ``"functions/branin"``."""
        return FAMILY.text(self.name, _SOURCE.name)

    @property
    def directions(self) -> list[StudyDirection]:
        """One objective, minimised."""
        return [StudyDirection.MINIMIZE]

    @property
    def fingerprint(self) -> str:
        """Hash of this module's source and the function's name."""
        return hashlib.sha256(Path(__file__).read_bytes() + self.name.encode()).hexdigest()[:16]

    def suggest(self, trial: optuna.trial.BaseTrial) -> dict[str, Any]:
        """Let the study's sampler choose a configuration."""
        return self.space(trial)

    def evaluate(self, params: Params) -> float:
        """Value of a configuration."""
        return self.function(params)

    def __call__(self, trial: optuna.trial.BaseTrial) -> float:
        """Objective for ``study.optimize``."""
        return self.evaluate(self.suggest(trial))

    def begin(self, seed: int) -> NumberedEvaluations:
        """Begin a study; ``seed`` decides the noise of its first evaluation, its second, ..."""
        rng = np.random.default_rng(seed)

        def measure(params: Params) -> Measurement:
            return Measurement((float(self.function(params) + self.noise * rng.normal()),))

        return NumberedEvaluations(measure, measures_again=self.noise > 0)


def branin(x1: float, x2: float) -> float:
    """Branin's function on [-5, 10] x [0, 15]."""
    valley = x2 - 5.1 * x1**2 / (4 * math.pi**2) + 5 * x1 / math.pi - 6
    return valley**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x1) + 10


_HARTMANN_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_HARTMANN_SCALES = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
_HARTMANN_CENTERS = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def hartmann6(x: Mapping[str, float]) -> float:
    """Hartmann's function of six variables on [0, 1]^6."""
    point = np.array([x[f"x{i}"] for i in range(1, 7)])
    distances = (_HARTMANN_SCALES * (point - _HARTMANN_CENTERS) ** 2).sum(axis=1)
    return float(-_HARTMANN_WEIGHTS @ np.exp(-distances))


_ACKLEY_MINIMIZER: Params = {
    "x1": 9.3,
    "x2": -14.1,
    "x3": 4.7,
    "x4": -7.9,
    "x5": 17.2,
    "n1": -11,
    "n2": 6,
    "n3": 15,
    "n4": -4,
    "n5": 8,
}


def ackley(params: Params) -> float:
    """Ackley's function of the distance from the moved minimum."""
    return ackley_at(np.array([params[name] - least for name, least in _ACKLEY_MINIMIZER.items()]))


def ackley_at(offsets: npt.NDArray[np.float64]) -> float:
    """Ackley's function of any number of variables, least at the origin."""
    bowl = -20 * math.exp(-0.2 * math.sqrt(float((offsets**2).mean())))
    ripples = -math.exp(float(np.cos(2 * math.pi * offsets).mean()))
    return bowl + ripples + 20 + math.e


def rosenbrock(*x: float) -> float:
    """Rosenbrock's function of two or more variables, least where all are 1."""
    return sum(100 * (after - before**2) ** 2 + (1 - before) ** 2 for before, after in pairwise(x))


def _rosenbrock_log(params: Params) -> float:
    return rosenbrock(
        math.log10(params["learning_rate"]) + 3,
        math.log10(params["weight_decay"]) + 5,
        math.log2(params["width"]) - 6,
    )


def conditional(params: Params) -> float:
    """Three branches with the floors 0 (sgd), 0.05 (adam) and 0.2 (lbfgs).

    The number of layers is best at 5 for sgd, 3 for adam and 2 for lbfgs. Adam's branch is
    shallow in its learning rate; sgd's needs learning rate and momentum to agree.
    """
    layers, optimizer = int(params["layers"]), params["optimizer"]
    if optimizer == "sgd":
        rate = math.log10(params["sgd_rate"]) + 2
        momentum = (float(params["momentum"]) - 0.9) / 0.3
        return 0.02 * (layers - 5) ** 2 + rate**2 + momentum**2 + 1.5 * rate * momentum
    if optimizer == "adam":
        rate = math.log10(params["adam_rate"]) + 3
        return 0.05 + 0.02 * (layers - 3) ** 2 + 0.1 * rate**2
    return 0.2 + 0.02 * (layers - 2) ** 2 + (math.log2(params["history"]) - 4) ** 2 / 16


def _branin_space(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
    return {
        "x1": trial.suggest_float("x1", -5.0, 10.0),
        "x2": trial.suggest_float("x2", 0.0, 15.0),
    }


def _hartmann6_space(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
    return {name: trial.suggest_float(name, 0.0, 1.0) for name in (f"x{i}" for i in range(1, 7))}


def _ackley_space(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
    return {
        name: trial.suggest_int(name, -32, 32)
        if isinstance(least, int)
        else trial.suggest_float(name, -32.768, 32.768)
        for name, least in _ACKLEY_MINIMIZER.items()
    }


def _rosenbrock_space(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
    return {
        "learning_rate": trial.suggest_float("learning_rate", 1e-5, 1.0, log=True),
        "weight_decay": trial.suggest_float("weight_decay", 1e-7, 1e-2, log=True),
        "width": trial.suggest_int("width", 8, 2048, log=True),
    }


def _conditional_space(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
    optimizer = trial.suggest_categorical("optimizer", ("lbfgs", "adam", "sgd"))
    params: dict[str, Any] = {"optimizer": optimizer, "layers": trial.suggest_int("layers", 1, 8)}
    if optimizer == "sgd":
        params["sgd_rate"] = trial.suggest_float("sgd_rate", 1e-5, 1.0, log=True)
        params["momentum"] = trial.suggest_float("momentum", 0.0, 0.95, step=0.05)
    elif optimizer == "adam":
        params["adam_rate"] = trial.suggest_float("adam_rate", 1e-6, 1e-1, log=True)
    else:
        params["history"] = trial.suggest_int("history", 1, 64, log=True)
    return params


FUNCTIONS = {
    problem.name: problem
    for problem in (
        FunctionProblem(
            name="branin",
            space=_branin_space,
            function=lambda params: branin(params["x1"], params["x2"]),
            optimum=10 / (8 * math.pi),
            minimizer={"x1": math.pi, "x2": 2.275},
            typical=35.4,
        ),
        FunctionProblem(
            name="hartmann6",
            space=_hartmann6_space,
            function=hartmann6,
            optimum=-3.3223680114155147,
            minimizer={
                "x1": 0.20169,
                "x2": 0.150011,
                "x3": 0.476874,
                "x4": 0.275332,
                "x5": 0.311652,
                "x6": 0.6573,
            },
            typical=-0.102,
        ),
        FunctionProblem(
            name="ackley-mixed",
            space=_ackley_space,
            function=ackley,
            optimum=0.0,
            minimizer=_ACKLEY_MINIMIZER,
            typical=20.73,
        ),
        FunctionProblem(
            name="rosenbrock-log",
            space=_rosenbrock_space,
            function=_rosenbrock_log,
            optimum=0.0,
            minimizer={"learning_rate": 1e-2, "weight_decay": 1e-4, "width": 128},
            typical=1472.0,
        ),
        FunctionProblem(
            name="conditional",
            space=_conditional_space,
            function=conditional,
            optimum=0.0,
            minimizer={"optimizer": "sgd", "layers": 5, "sgd_rate": 1e-2, "momentum": 0.9},
            typical=0.763,
        ),
    )
}


def _read(name: str, source: str) -> FunctionProblem:
    return FUNCTIONS[name]


_SOURCE = Source("defined", "values of the formulas")
FAMILY = Family(
    name="functions",
    description="five functions of continuous and mixed parameters with known optima",
    problems=tuple(FUNCTIONS),
    sources=(_SOURCE,),
    read=_read,
    usual_source=_SOURCE.name,
)
