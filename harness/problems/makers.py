"""Parts of which functions with a known minimizer are made.

Notations:
    z: distance from the minimizer, float64 array of shape (n_parameters,).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import optuna

from harness.problems.functions import Params


Vector = npt.NDArray[np.float64]
Space = Callable[[optuna.trial.BaseTrial], dict[str, Any]]
Made = tuple[Space, Callable[[Params], float], Params]
"""A space, a function on it, and its minimizer."""

Maker = Callable[[str], Made]
"""Function of a name, which seeds all that is drawn."""


def rng_of(name: str) -> np.random.Generator:
    """Generator that a name seeds."""
    return np.random.default_rng([2026, *name.encode()])


def numbers(dimension: int, low: float = -5.0, high: float = 5.0) -> Space:
    """Space of floats ``x0``, ``x1``, ..."""
    return lambda trial: {
        f"x{i}": trial.suggest_float(f"x{i}", low, high) for i in range(dimension)
    }


def values(params: Params, prefix: str = "x") -> Vector:
    """Values of the parameters whose names begin with a prefix, in their order."""
    names = [name for name in params if name.startswith(prefix)]
    return np.array([params[name] for name in names], dtype=np.float64)


def shifted(dimension: int, function: Callable[[Vector], float]) -> Maker:
    """Move a function whose least value lies at the origin."""

    def make(name: str) -> Made:
        minimizer = rng_of(name).uniform(-3.0, 3.0, dimension)
        return (
            numbers(dimension),
            lambda params: float(function(values(params) - minimizer)),
            {f"x{i}": float(x) for i, x in enumerate(minimizer)},
        )

    return make
