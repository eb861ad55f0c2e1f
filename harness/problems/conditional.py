"""Functions of conditional parameters: models with steps before, layers of a net, optimizers."""

from __future__ import annotations

import math
from typing import Any

import optuna

from harness.problems.functions import Params
from harness.problems.makers import Made
from harness.problems.makers import rng_of


def tree(name: str) -> Made:
    """Make four families with 2 to 5 numbers each, and three steps before with 0 to 2 each."""
    rng = rng_of(name)
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


def net(name: str) -> Made:
    """Make a net of one to five layers, each with a width and a dropout of its own."""
    rng = rng_of(name)
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


def optimizer(name: str) -> Made:
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
