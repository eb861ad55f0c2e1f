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
from harness.problems.family import Family
from harness.problems.family import Source
from harness.problems.functions import FunctionProblem
from harness.problems.functions import Params


Vector = npt.NDArray[np.float64]
Space = Callable[[optuna.trial.BaseTrial], dict[str, Any]]

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
        return f"{self.name} {self.typical!r} {self.function(self.minimizer)!r}"


def _rng(name: str) -> np.random.Generator:
    return np.random.default_rng([2026, *name.encode()])


def _numbers(dimension: int, low: float = -5.0, high: float = 5.0) -> Space:
    return lambda trial: {
        f"x{i}": trial.suggest_float(f"x{i}", low, high) for i in range(dimension)
    }


def _values(params: Params, prefix: str = "x") -> Vector:
    names = [name for name in params if name.startswith(prefix)]
    return np.array([params[name] for name in names], dtype=np.float64)


def _shifted(
    name: str, dimension: int, function: Callable[[Vector], float]
) -> tuple[Space, Callable[[Params], float], Params]:
    """Move a function whose least value lies at the origin."""
    minimizer = _rng(name).uniform(-3.0, 3.0, dimension)
    return (
        _numbers(dimension),
        lambda params: float(function(_values(params) - minimizer)),
        {f"x{i}": float(x) for i, x in enumerate(minimizer)},
    )


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


def _tree(name: str) -> tuple[Space, Callable[[Params], float], Params]:
    """Make four families with 2 to 5 numbers each, and three steps before with 0 to 2 each."""
    rng = _rng(name)
    families, steps = "abcd", "xyz"
    floors = dict(zip(families, rng.permutation([0.0, 0.05, 0.1, 0.2]), strict=True))
    costs = dict(zip(steps, rng.permutation([0.0, 0.03, 0.06]), strict=True))
    best = {
        f"{f}{i}": rng.uniform(0.15, 0.85) for k, f in enumerate(families) for i in range(2 + k)
    }
    best |= {f"{s}{i}": rng.uniform(0.15, 0.85) for k, s in enumerate(steps) for i in range(k)}

    def space(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
        family = trial.suggest_categorical("family", list(families))
        step = trial.suggest_categorical("step", list(steps))
        own = [each for each in best if each[0] in (family, step)]
        return {"family": family, "step": step} | {
            each: trial.suggest_float(each, 0.0, 1.0) for each in own
        }

    def function(params: Params) -> float:
        gaps = {each: (params[each] - best[each]) ** 2 for each in best if each in params}
        weights = {**dict.fromkeys(families, 0.5), **dict.fromkeys(steps, 0.2)}
        gap = sum(weights[each[0]] * square for each, square in gaps.items())
        return float(floors[params["family"]] + costs[params["step"]] + gap)

    family, step = min(floors, key=floors.__getitem__), min(costs, key=costs.__getitem__)
    own = {each: value for each, value in best.items() if each[0] in (family, step)}
    return space, function, {"family": family, "step": step, **own}


def _net(name: str) -> tuple[Space, Callable[[Params], float], Params]:
    """Make a net of one to five layers, each with a width and a dropout of its own."""
    rng = _rng(name)
    n_best, rate = 3, -2.5
    widths, dropouts = 2 ** rng.integers(4, 9, size=5), rng.uniform(0.1, 0.5, size=5)

    def space(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
        n_layers = trial.suggest_int("layers", 1, 5)
        params = {"layers": n_layers, "rate": trial.suggest_float("rate", 1e-5, 1e-1, log=True)}
        for i in range(n_layers):
            params[f"width{i}"] = trial.suggest_int(f"width{i}", 8, 512, log=True)
            params[f"dropout{i}"] = trial.suggest_float(f"dropout{i}", 0.0, 0.7)
        return params

    def function(params: Params) -> float:
        n_layers = params["layers"]
        loss = 0.02 * (n_layers - n_best) ** 2 + 0.05 * (math.log10(params["rate"]) - rate) ** 2
        for i in range(n_layers):
            loss += 0.02 * math.log2(params[f"width{i}"] / widths[i]) ** 2
            loss += 0.3 * (params[f"dropout{i}"] - dropouts[i]) ** 2
        return float(loss)

    minimizer: dict[str, Any] = {"layers": n_best, "rate": 10**rate}
    for i in range(n_best):
        minimizer |= {f"width{i}": int(widths[i]), f"dropout{i}": float(dropouts[i])}
    return space, function, minimizer


def _optimizer(name: str) -> tuple[Space, Callable[[Params], float], Params]:
    """Make three optimizers: one with momentum, one with Nesterov's choice below it."""
    del name

    def space(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
        params: dict[str, Any] = {
            "optimizer": trial.suggest_categorical("optimizer", ["adam", "sgd", "rprop"]),
            "rate": trial.suggest_float("rate", 1e-5, 1.0, log=True),
        }
        if params["optimizer"] == "sgd":
            params["momentum"] = trial.suggest_float("momentum", 0.0, 0.99)
            if params["momentum"] > 0.5:
                params["nesterov"] = trial.suggest_categorical("nesterov", [False, True])
        return params

    def function(params: Params) -> float:
        rate = math.log10(params["rate"])
        if params["optimizer"] == "adam":
            return 0.05 + 0.1 * (rate + 3) ** 2
        if params["optimizer"] == "rprop":
            return 0.2 + 0.1 * (rate + 2) ** 2
        momentum = 0.5 * float(params["momentum"] - 0.9) ** 2
        plain = 0.0 if params.get("nesterov", False) else 0.04
        return 0.1 * (rate + 1.5) ** 2 + momentum + plain

    return space, function, {
        "optimizer": "sgd", "rate": 10**-1.5, "momentum": 0.9, "nesterov": True
    }  # fmt: skip


def _rugged_choices(name: str) -> tuple[Space, Callable[[Params], float], Params]:
    """Make Rastrigin's function of five numbers that each of five choices moves."""
    rng = _rng(name)
    moves, penalties = rng.uniform(-0.6, 0.6, size=(5, 6, 5)), rng.uniform(0.2, 3.0, size=(5, 6))
    best = rng.integers(6, size=5)
    penalties[np.arange(5), best] = 0.0

    def space(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
        choices = {f"c{i}": trial.suggest_categorical(f"c{i}", list("abcdef")) for i in range(5)}
        return {**_numbers(5)(trial), **choices}

    def chosen(params: Params) -> npt.NDArray[np.intp]:
        return np.array(["abcdef".index(params[f"c{i}"]) for i in range(5)])

    def function(params: Params) -> float:
        choices = chosen(params)
        z = _values(params) - moves[np.arange(5), choices].sum(axis=0)
        return rastrigin(z) / 5 + float(penalties[np.arange(5), choices].sum())

    x = moves[np.arange(5), best].sum(axis=0)
    return (
        space,
        function,
        {f"x{i}": float(x[i]) for i in range(5)} | {f"c{i}": "abcdef"[best[i]] for i in range(5)},
    )


def _boosting(name: str) -> tuple[Space, Callable[[Params], float], Params]:
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


def _bits(n: int) -> Callable[[str], tuple[Space, Callable[[Params], float], Params]]:
    """Return a maker of bits that are wrong alone, and worse in pairs."""

    def make(name: str) -> tuple[Space, Callable[[Params], float], Params]:
        rng = _rng(name)
        best = rng.integers(2, size=n)
        alone, pairs = rng.uniform(0.2, 1.0, size=n), rng.integers(n, size=(2 * n, 2))

        def space(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
            return {f"b{i}": trial.suggest_categorical(f"b{i}", [0, 1]) for i in range(n)}

        def function(params: Params) -> float:
            wrong = np.array([params[f"b{i}"] != best[i] for i in range(n)], dtype=np.float64)
            return float(alone @ wrong + 0.5 * (wrong[pairs[:, 0]] * wrong[pairs[:, 1]]).sum())

        return space, function, {f"b{i}": int(bit) for i, bit in enumerate(best)}

    return make


def _order(name: str) -> tuple[Space, Callable[[Params], float], Params]:
    """Make an order of eight things by keys, worse by the weight of each pair that is wrong."""
    rng = _rng(name)
    target, weights = rng.permutation(8), rng.uniform(0.1, 1.0, size=(8, 8))
    upper = np.triu_indices(8, 1)

    def function(params: Params) -> float:
        keys = _values(params)[target]
        wrong = keys[upper[0]] > keys[upper[1]]  # the target has rising keys
        return float(weights[upper] @ wrong)

    keys = np.empty(8)
    keys[target] = np.linspace(0.05, 0.95, 8)
    return _numbers(8, 0.0, 1.0), function, {f"x{i}": float(key) for i, key in enumerate(keys)}


def _hartmann(name: str) -> tuple[Space, Callable[[Params], float], Params]:
    del name
    known = (0.20168952, 0.15001069, 0.47687398, 0.27533243, 0.31165162, 0.65730054)
    minimizer = {f"x{i}": x for i, x in enumerate(known, 1)}
    least = functions.hartmann6(minimizer)

    def space(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
        return {each: trial.suggest_float(each, 0.0, 1.0) for each in minimizer}

    return space, lambda params: functions.hartmann6(params) - least, minimizer


Maker = Callable[[str], tuple[Space, Callable[[Params], float], Params]]


def _of(dimension: int, function: Callable[[Vector], float]) -> Maker:
    return lambda name: _shifted(name, dimension, function)


_MAKERS: dict[str, Maker] = {
    "plateau-3d": _of(3, _failing_outside(100.0, 2.0)),
    "plateau-4d": _of(4, _failing_outside(100.0, 2.0)),
    "plateau-5d": _of(5, lambda z: min(sphere(z), 10.0)),
    "penalty-5d": _of(5, _failing_outside(1e9, 4.0)),
    "infinite-4d": _of(4, _failing_outside(math.inf, 3.0)),
    "tree": _tree,
    "net": _net,
    "optimizer": _optimizer,
    "rugged-choices": _rugged_choices,
    "rosenbrock-5d": _of(5, rosenbrock),
    "rosenbrock-10d": _of(10, rosenbrock),
    "rastrigin-5d": _of(5, rastrigin),
    "rastrigin-10d": _of(10, rastrigin),
    "ackley-5d": _of(5, functions.ackley_at),
    "ackley-20d": _of(20, functions.ackley_at),
    "levy-5d": _of(5, levy),
    "levy-10d": _of(10, levy),
    "sphere-40d": _of(40, sphere),
    "exploding-bowl": _of(5, exploding_bowl),
    "exploding-ellipsoid": _of(5, exploding_ellipsoid),
    "hartmann6": _hartmann,
    "boosting": _boosting,
    "bits-30": _bits(30),
    "bits-60": _bits(60),
    "order-8": _order,
}


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
    values = np.array([function(space(_RandomTrial(rng))) for _ in range(_N_TYPICAL)])
    return HardProblem(
        name=name,
        space=space,
        function=function,
        optimum=0.0,
        minimizer=minimizer,
        typical=float(np.median(values[np.isfinite(values)])),
    )


_SOURCE = Source("defined", "values of the formulas")
FAMILY = Family(
    name="hard",
    description="25 functions: plateaus, conditions, rugged, of many dimensions or magnitudes",
    problems=tuple(_MAKERS),
    sources=(_SOURCE,),
    read=_read,
    usual_source=_SOURCE.name,
)
