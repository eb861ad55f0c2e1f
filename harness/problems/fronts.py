"""Functions of several objectives whose fronts are known, all minimised.

- ``zdt1``: two objectives of ten floats (Zitzler, Deb and Thiele, 2000). The front is
  f2 = 1 - sqrt(f1), where all floats but the first are at their lower end.
- ``dtlz2``: three objectives of seven floats (Deb, Thiele, Laumanns and Zitzler, 2002). The front
  is the part of the unit sphere whose points have no negative coordinate, where all floats but
  the first two are 0.5.

Notations:
    x: float64 array of shape (n_parameters,) in [0, 1].
    front: points of the true front, shape (n_points, n_objectives).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
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
from harness.problems.makers import Vector
from harness.problems.makers import numbers
from harness.problems.makers import values


Floats = npt.NDArray[np.float64]

_N_POINTS = 40
"""Number of points along each side of a front of three objectives."""


@dataclass(frozen=True, eq=False)
class FrontProblem:
    """Functions of the same floats in [0, 1] that conflict.

    Attributes:
        name: Name of the functions.
        dimension: Number of floats.
        function: Values of the objectives.
        losses: Points of the true front, shape (n_points, n_objectives).
    """

    name: str
    dimension: int
    function: Callable[[Vector], tuple[float, ...]]
    losses: Floats
    kind = Kind.TRADEOFF
    notes = ()
    table = None  # Configurations cannot be listed.

    @property
    def text(self) -> str:
        """Text by which it is found, e.g. ``"fronts/zdt1"``."""
        return FAMILY.text(self.name, _SOURCE.name)

    @property
    def objectives(self) -> tuple[str, ...]:
        """Names of the objectives."""
        return tuple(f"f{i}" for i in range(1, self.losses.shape[1] + 1))

    @property
    def directions(self) -> list[StudyDirection]:
        """All minimised."""
        return [StudyDirection.MINIMIZE] * self.losses.shape[1]

    @property
    def fingerprint(self) -> str:
        """Name, number of floats and the values in a corner and on a diagonal."""
        values = [self.function(np.full(self.dimension, x)) for x in (0.0, 0.3, 1.0)]
        return f"{self.name} {self.dimension} {values!r}"

    def suggest(self, trial: optuna.trial.BaseTrial) -> dict[str, Any]:
        """Let the study's sampler choose a configuration."""
        return numbers(self.dimension, 0.0, 1.0)(trial)

    def begin(self, seed: int) -> NumberedEvaluations:
        """Begin a study; nothing here is random."""
        return NumberedEvaluations(lambda params: Measurement(self.function(values(params))))


def zdt1(x: Vector) -> tuple[float, float]:
    """First problem of Zitzler, Deb and Thiele."""
    g = 1 + 9 * float(x[1:].mean())
    return float(x[0]), g * (1 - math.sqrt(float(x[0]) / g))


def dtlz2(x: Vector) -> tuple[float, float, float]:
    """Second problem of Deb, Thiele, Laumanns and Zitzler, with three objectives."""
    radius = 1 + float(((x[2:] - 0.5) ** 2).sum())
    polar, azimuth = (x[:2] * math.pi / 2).tolist()
    return (
        radius * math.cos(polar) * math.cos(azimuth),
        radius * math.cos(polar) * math.sin(azimuth),
        radius * math.sin(polar),
    )


def _zdt1_front() -> Floats:
    first = np.linspace(0, 1, _N_POINTS**2)
    return np.column_stack([first, 1 - np.sqrt(first)])


def _dtlz2_front() -> Floats:
    # Points of the simplex of equal distances, moved to the sphere: no corner of it is crowded.
    i, j = np.triu_indices(_N_POINTS)
    simplex = np.column_stack([i, j - i, _N_POINTS - 1 - j]).astype(np.float64)
    return np.asarray(simplex / np.linalg.norm(simplex, axis=1, keepdims=True), dtype=np.float64)


FRONTS = {
    problem.name: problem
    for problem in (
        FrontProblem("zdt1", 10, zdt1, _zdt1_front()),
        FrontProblem("dtlz2", 7, dtlz2, _dtlz2_front()),
    )
}


def _read(name: str, source: str) -> FrontProblem:
    return FRONTS[name]


_SOURCE = Source("defined", "values of the formulas")
FAMILY = Family(
    name="fronts",
    description="two functions of several objectives with known fronts",
    problems=tuple(FRONTS),
    sources=(_SOURCE,),
    read=_read,
    usual_source=_SOURCE.name,
)
