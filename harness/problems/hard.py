"""Functions of the sorts on which a sampler that does well on smooth problems may lose, minimised.

Each has the least value 0, at a minimizer that is drawn by a fixed seed, apart from the middle and
the borders of the space where samplers with a prior begin.

- ``plateau-*``, ``penalty-5d``, ``infinite-4d``: one value, a large penalty or infinity wherever a
  run "fails".
- ``tree``, ``net``, ``optimizer``: conditional parameters.
- ``rugged-choices``: Rastrigin's function, moved by five choices of six.
- ``rosenbrock-*``, ``rastrigin-*``, ``ackley-*``, ``levy-*``, ``sphere-40d``: 5 to 40 dimensions.
- ``exploding-bowl``, ``exploding-ellipsoid``: losses over many magnitudes.
- ``hartmann6``: smooth, with a second optimum nearly as good.
- ``boosting``: floats and integers, linear and logarithmic.
- ``bits-30``, ``bits-60``, ``order-8``: choices alone, and an order of eight things by keys.
- ``sphere-noise-1``, ``sphere-noise-5``, ``boosting-noise``, ``grid-noise``: every evaluation adds
  normal noise, of a standard deviation of 1, 5, 0.02 and 0.02. What counts is the true value of
  the configuration that looked best.

Notations:
    z: distance from the minimizer, float64 array of shape (n_parameters,).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import optuna
from optuna._transform import _SearchSpaceTransform
from optuna.distributions import BaseDistribution

from harness.problems import functions
from harness.problems.conditional import net
from harness.problems.conditional import optimizer
from harness.problems.conditional import tree
from harness.problems.family import Family
from harness.problems.family import Source
from harness.problems.functions import FunctionProblem
from harness.problems.functions import Params
from harness.problems.makers import Made
from harness.problems.makers import Maker
from harness.problems.makers import Vector
from harness.problems.makers import numbers
from harness.problems.makers import rng_of
from harness.problems.makers import shifted
from harness.problems.makers import values


_N_TYPICAL = 501
"""Configurations drawn to find the median of a space."""


class HardProblem(FunctionProblem):
    """A function of this family."""

    @property
    def text(self) -> str:
        """Text by which it is found, e.g. ``"hard/tree"``."""
        return FAMILY.text(self.name, _SOURCE.name)

    @property
    def fingerprint(self) -> str:
        """Name of the function and its values at drawn configurations."""
        noise = f" {self.noise!r}" if self.noise else ""
        return f"{self.name} {self.typical!r} {self.function(self.minimizer)!r}{noise}"


def sphere(z: Vector) -> float:
    """Sum of squares."""
    return float(z @ z)


def rosenbrock(z: Vector) -> float:
    """Rosenbrock's valley (1960), moved so that the origin is least."""
    return functions.rosenbrock(*(z + 1).tolist())


def rastrigin(z: Vector) -> float:
    """Rastrigin's function (1974)."""
    return float(np.sum(z**2 - 10 * np.cos(2 * np.pi * z) + 10))


def levy(z: Vector) -> float:
    """Levy's function, moved so that the origin is least."""
    w = 1 + z / 4
    inner = (w[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:-1] + 1) ** 2)
    last = (w[-1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[-1]) ** 2)
    return float(np.sin(np.pi * w[0]) ** 2 + inner.sum() + last)


def exploding_bowl(z: Vector) -> float:
    """Exponential of the mean square: 10^7 and more at the borders."""
    return float(np.expm1(2 * np.mean(z**2)))


def exploding_ellipsoid(z: Vector) -> float:
    """Power of an ellipsoid whose axes have the scales 1 to 10^3."""
    scales = 10.0 ** np.linspace(0, 6, len(z))
    return float(np.expm1(3 * math.log10(1 + float(scales @ z**2))))


def _failing_outside(value: float, half_width: float) -> Callable[[Vector], float]:
    """Return a bowl within a box, and one value outside it."""
    return lambda z: sphere(z) if np.all(np.abs(z) < half_width) else value


def _rugged_choices(name: str) -> Made:
    """Make Rastrigin's function of five numbers that each of five choices moves."""
    rng = rng_of(name)
    moves, penalties = rng.uniform(-0.6, 0.6, size=(5, 6, 5)), rng.uniform(0.2, 3.0, size=(5, 6))
    best = rng.integers(6, size=5)
    penalties[np.arange(5), best] = 0.0

    def space(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
        choices = {f"c{i}": trial.suggest_categorical(f"c{i}", list("abcdef")) for i in range(5)}
        return {**numbers(5)(trial), **choices}

    def chosen(params: Params) -> npt.NDArray[np.intp]:
        return np.array(["abcdef".index(params[f"c{i}"]) for i in range(5)])

    def function(params: Params) -> float:
        choices = chosen(params)
        z = values(params) - moves[np.arange(5), choices].sum(axis=0)
        return rastrigin(z) / 5 + float(penalties[np.arange(5), choices].sum())

    x = moves[np.arange(5), best].sum(axis=0)
    return (
        space,
        function,
        {f"x{i}": float(x[i]) for i in range(5)} | {f"c{i}": "abcdef"[best[i]] for i in range(5)},
    )


def _boosting(name: str) -> Made:
    """Make the parameters of boosted trees, of which rate and number of trees interact."""
    del name

    def space(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
        return {
            "rate": trial.suggest_float("rate", 1e-3, 1.0, log=True),
            "trees": trial.suggest_int("trees", 10, 1000, log=True),
            "depth": trial.suggest_int("depth", 1, 12),
            "rows": trial.suggest_float("rows", 0.2, 1.0),
            "columns": trial.suggest_float("columns", 0.2, 1.0, step=0.1),
            "alpha": trial.suggest_float("alpha", 1e-6, 10.0, log=True),
            "weight": trial.suggest_int("weight", 1, 20),
        }

    def function(params: Params) -> float:
        work = math.log10(params["rate"]) + math.log10(params["trees"])
        return float(
            0.3 * (work - 1.0) ** 2
            + 0.05 * (math.log10(params["rate"]) + 1.5) ** 2
            + 0.01 * (params["depth"] - 6) ** 2
            + 0.2 * (params["rows"] - 0.8) ** 2
            + 0.1 * (params["columns"] - 0.6) ** 2
            + 0.01 * (math.log10(params["alpha"]) + 3) ** 2
            + 0.0005 * (params["weight"] - 4) ** 2
        )

    return space, function, {
        "rate": 10**-1.5, "trees": 316, "depth": 6, "rows": 0.8, "columns": 0.6, "alpha": 1e-3,
        "weight": 4,
    }  # fmt: skip


def _grid(name: str) -> Made:
    """Make the grid of a table: two numbers that interact, and three things to choose."""
    rates, batches = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0], [16, 32, 64, 128, 256]
    activations = ["relu", "tanh", "gelu", "elu"]
    rng = rng_of(name)
    best = rng.integers([1, 1, 1, 1, 0], [6, 6, 4, 4, 4])

    def space(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
        return {
            "rate": trial.suggest_categorical("rate", rates),
            "width": trial.suggest_categorical("width", [2**i for i in range(4, 11)]),
            "batch": trial.suggest_categorical("batch", batches),
            "dropout": trial.suggest_float("dropout", 0.0, 0.8, step=0.2),
            "activation": trial.suggest_categorical("activation", activations),
        }

    def function(params: Params) -> float:
        rate = rates.index(params["rate"]) - best[0]
        width = math.log2(params["width"]) - 4 - best[1]
        return float(
            0.01 * (rate**2 + width**2 + rate * width)
            + 0.004 * abs(batches.index(params["batch"]) - best[2])
            + 0.01 * (params["dropout"] / 0.2 - best[3]) ** 2
            + 0.02 * (activations.index(params["activation"]) != best[4])
        )

    return space, function, {
        "rate": rates[best[0]], "width": int(2 ** (4 + best[1])), "batch": batches[best[2]],
        "dropout": round(0.2 * int(best[3]), 1), "activation": activations[best[4]],
    }  # fmt: skip


def _bits(n: int) -> Callable[[str], Made]:
    """Return a maker of bits that are wrong alone, and worse in pairs."""

    def make(name: str) -> Made:
        rng = rng_of(name)
        best = rng.integers(2, size=n)
        alone, pairs = rng.uniform(0.2, 1.0, size=n), rng.integers(n, size=(2 * n, 2))

        def space(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
            return {f"b{i}": trial.suggest_categorical(f"b{i}", [0, 1]) for i in range(n)}

        def function(params: Params) -> float:
            wrong = np.array([params[f"b{i}"] != best[i] for i in range(n)], dtype=np.float64)
            return float(alone @ wrong + 0.5 * (wrong[pairs[:, 0]] * wrong[pairs[:, 1]]).sum())

        return space, function, {f"b{i}": int(bit) for i, bit in enumerate(best)}

    return make


def _order(name: str) -> Made:
    """Make an order of eight things by keys, worse by the weight of each pair that is wrong."""
    rng = rng_of(name)
    target, weights = rng.permutation(8), rng.uniform(0.1, 1.0, size=(8, 8))
    upper = np.triu_indices(8, 1)

    def function(params: Params) -> float:
        keys = values(params)[target]
        wrong = keys[upper[0]] > keys[upper[1]]  # the target has rising keys
        return float(weights[upper] @ wrong)

    keys = np.empty(8)
    keys[target] = np.linspace(0.05, 0.95, 8)
    return numbers(8, 0.0, 1.0), function, {f"x{i}": float(key) for i, key in enumerate(keys)}


def _hartmann(name: str) -> Made:
    del name
    known = (0.20168952, 0.15001069, 0.47687398, 0.27533243, 0.31165162, 0.65730054)
    minimizer = {f"x{i}": x for i, x in enumerate(known, 1)}
    least = functions.hartmann6(minimizer)

    def space(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
        return {each: trial.suggest_float(each, 0.0, 1.0) for each in minimizer}

    return space, lambda params: functions.hartmann6(params) - least, minimizer


_MAKERS: dict[str, Maker] = {
    "plateau-3d": shifted(3, _failing_outside(100.0, 2.0)),
    "plateau-4d": shifted(4, _failing_outside(100.0, 2.0)),
    "plateau-5d": shifted(5, lambda z: min(sphere(z), 10.0)),
    "penalty-5d": shifted(5, _failing_outside(1e9, 4.0)),
    "infinite-4d": shifted(4, _failing_outside(math.inf, 3.0)),
    "tree": tree,
    "net": net,
    "optimizer": optimizer,
    "rugged-choices": _rugged_choices,
    "rosenbrock-5d": shifted(5, rosenbrock),
    "rosenbrock-10d": shifted(10, rosenbrock),
    "rastrigin-5d": shifted(5, rastrigin),
    "rastrigin-10d": shifted(10, rastrigin),
    "ackley-5d": shifted(5, functions.ackley_at),
    "ackley-10d": shifted(10, functions.ackley_at),
    "ackley-20d": shifted(20, functions.ackley_at),
    "levy-5d": shifted(5, levy),
    "levy-10d": shifted(10, levy),
    "sphere-40d": shifted(40, sphere),
    "exploding-bowl": shifted(5, exploding_bowl),
    "exploding-ellipsoid": shifted(5, exploding_ellipsoid),
    "hartmann6": _hartmann,
    "boosting": _boosting,
    "bits-30": _bits(30),
    "bits-60": _bits(60),
    "order-8": _order,
    "sphere-noise-1": shifted(5, sphere),
    "sphere-noise-5": shifted(5, sphere),
    "boosting-noise": _boosting,
    "grid-noise": _grid,
}

_NOISE = {
    "sphere-noise-1": 1.0,
    "sphere-noise-5": 5.0,
    "boosting-noise": 0.02,
    "grid-noise": 0.02,
}
"""Standard deviation of the noise of an evaluation."""


class _RandomTrial(optuna.trial.FixedTrial):
    """A trial without a study that draws each parameter uniformly on its scale."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__({})
        self._rng = rng

    def _suggest(self, name: str, distribution: BaseDistribution) -> Any:
        space = _SearchSpaceTransform({name: distribution})
        low, high = space.bounds[:, 0], space.bounds[:, 1]
        return space.untransform(self._rng.uniform(low, high))[name]


@lru_cache
def _read(name: str, source: str) -> HardProblem:
    del source
    space, function, minimizer = _MAKERS[name](name)
    rng = np.random.default_rng(0)
    drawn = np.array([function(space(_RandomTrial(rng))) for _ in range(_N_TYPICAL)])
    return HardProblem(
        name=name,
        space=space,
        function=function,
        optimum=0.0,
        minimizer=minimizer,
        typical=float(np.median(drawn[np.isfinite(drawn)])),
        noise=_NOISE.get(name, 0.0),
    )


_SOURCE = Source("defined", "values of the formulas")
FAMILY = Family(
    name="hard",
    description="30 functions: plateaus, conditions, rugged, of many dimensions or magnitudes, "
    "noisy",
    problems=tuple(_MAKERS),
    sources=(_SOURCE,),
    read=_read,
    usual_source=_SOURCE.name,
)
