"""Candidates of a space that cannot be enumerated: drawn, and drawn again as labels arrive.

A pool holds what was evaluated, points spread over the whole space, and points near the best
configurations known. Its size is bounded, so that a choice from 10^12 configurations, or from a
continuum, costs no more than one from a few thousand.

Notations:
    points: float64 array of shape (n_points, n_parameters) in the unit cube. A number's
        coordinate is its place on its own scale, linear or logarithmic; choice ``k`` of ``n`` is
        the interval from ``k / n`` to ``(k + 1) / n``.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.distributions import IntDistribution
from scipy.stats import qmc

from optuna_zaps import _space
from optuna_zaps.candidates import CandidateSet
from optuna_zaps.candidates import choice_key


FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PoolSettings:
    """Size and spread of a pool.

    Attributes:
        n_global: Points of a scrambled Sobol sequence over the whole space, a power of 2.
        n_local: Points near the best ones.
        n_incumbents: How many of the best have points near them.
        n_labels: Most labels that a fit over a pool takes, so that its time does not grow with
            the cube of their number.
        min_step: Smallest standard deviation of a local step of a number, in units of its range.
        max_step: Largest.
    """

    n_global: int = 1024
    n_local: int = 1024
    n_incumbents: int = 8
    n_labels: int = 256
    min_step: float = 0.005
    max_step: float = 0.3


class Pool:
    """Draws candidate sets from a space.

    Args:
        space: Distribution of each parameter.
        settings: Size and spread.
    """

    def __init__(
        self, space: Mapping[str, BaseDistribution], settings: PoolSettings | None = None
    ) -> None:
        self.space = dict(space)
        self.settings = settings or PoolSettings()
        self._axes = [_Axis(distribution) for distribution in self.space.values()]

    def spread(self, rng: np.random.Generator) -> CandidateSet:
        """Points over the whole space alone, in the order of the sequence."""
        return self._candidates(
            np.empty((0, len(self._axes))), [[] for _ in self._axes], self._sobol(rng)
        )

    def draw(
        self,
        seen: Sequence[Mapping[str, Any]],
        incumbents: Sequence[int],
        rng: np.random.Generator,
        fixed: Mapping[str, Any] | None = None,
        *,
        spread: np.random.Generator | None = None,
    ) -> CandidateSet:
        """What was seen, in its order, and after it points over the space and near the best.

        Args:
            seen: Distinct configurations.
            incumbents: Positions in ``seen`` of those to look around, the best first.
            rng: Draws the points.
            fixed: Values that every drawn point has.
            spread: Draws the points over the space, in the place of ``rng``.
        """
        values = [[params[name] for params in seen] for name in self.space]
        points = np.empty((len(seen), len(self._axes)))
        for column, axis in enumerate(self._axes):
            points[:, column] = axis.points(values[column])
        drawn = np.vstack([self._sobol(spread or rng), self._near(points[list(incumbents)], rng)])
        for column, (name, axis) in enumerate(zip(self.space, self._axes, strict=True)):
            if fixed and name in fixed:
                drawn[:, column] = axis.points([fixed[name]])
        return self._candidates(points, values, drawn)

    def _sobol(self, rng: np.random.Generator) -> FloatArray:
        sequence = qmc.Sobol(len(self._axes), scramble=True, seed=rng)
        return np.asarray(sequence.random(self.settings.n_global), dtype=np.float64)

    def _near(self, centres: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Points that differ from a centre in one parameter or a few, by small steps and large."""
        n_parameters = len(self._axes)
        if len(centres) == 0:
            return np.empty((0, n_parameters))
        settings = self.settings
        shape = (settings.n_local, n_parameters)
        points = centres[np.arange(settings.n_local) % len(centres)]
        changed = rng.random(shape) < min(1.0, 2.0 / n_parameters)
        changed[np.arange(len(points)), rng.integers(n_parameters, size=len(points))] = True
        low, high = np.log(settings.min_step), np.log(settings.max_step)
        steps = np.exp(rng.uniform(low, high, size=(len(points), 1))) * rng.normal(size=shape)
        elsewhere = rng.random(shape)
        for column, axis in enumerate(self._axes):
            moved = axis.moved(points[:, column], steps[:, column], elsewhere[:, column])
            points[:, column] = np.where(changed[:, column], moved, points[:, column])
        return points

    def _candidates(
        self, seen: FloatArray, values: Sequence[Sequence[Any]], drawn: FloatArray
    ) -> CandidateSet:
        choices, places = {}, {}
        codes = np.empty((len(seen) + len(drawn), len(self._axes)), dtype=np.intp)
        for column, (name, axis) in enumerate(zip(self.space, self._axes, strict=True)):
            choices[name], codes[:, column] = axis.coded(values[column], drawn[:, column])
            if axis.scale is not None:
                places[name] = axis.scale.places(choices[name]).tolist()
        _, first = np.unique(codes, axis=0, return_index=True)
        return CandidateSet(choices, codes[np.sort(first)], places=places)


class _Axis:
    """One coordinate of the unit cube and the distribution that it stands for."""

    def __init__(self, distribution: BaseDistribution) -> None:
        self.scale: _space.Scale | None = None
        self._whole = isinstance(distribution, IntDistribution)
        if isinstance(distribution, CategoricalDistribution):
            self._choices = _space.values_of(distribution)
            self._positions = {choice_key(c): k for k, c in enumerate(self._choices)}
            return
        self.scale = _space.Scale(distribution)
        # Smaller steps than this would not leave a value of a grid.
        self._min_step = 1.0 / max(_space.n_values(distribution) - 1, 1)

    def points(self, values: Sequence[Any]) -> FloatArray:
        """Coordinates of values, shape (n_values,)."""
        if self.scale is not None:
            return self.scale.places(values)
        positions = np.array([self._positions[choice_key(v)] for v in values], dtype=np.float64)
        return np.asarray((positions + 0.5) / len(self._choices), dtype=np.float64)

    def moved(self, points: FloatArray, steps: FloatArray, elsewhere: FloatArray) -> FloatArray:
        """Coordinates after a step each; a choice jumps to any other."""
        if self.scale is None:
            n = len(self._choices)
            jump = (1 + np.floor(elsewhere * (n - 1))) / n
            return np.asarray((points + jump) % 1.0, dtype=np.float64)
        steps = np.sign(steps) * np.maximum(np.abs(steps), self._min_step)
        # Reflected at the ends: clipped, the ends themselves would fill the pool.
        folded = np.abs(points + steps) % 2.0
        return np.asarray(np.where(folded > 1.0, 2.0 - folded, folded), dtype=np.float64)

    def coded(
        self, seen: Sequence[Any], drawn: FloatArray
    ) -> tuple[tuple[Any, ...], npt.NDArray[np.intp]]:
        """Choices, and the position among them of each value seen and of each coordinate drawn."""
        if self.scale is None:
            n = len(self._choices)
            known = np.array([self._positions[choice_key(v)] for v in seen], dtype=np.intp)
            codes = np.minimum(drawn * n, n - 1).astype(np.intp)
            return self._choices, np.concatenate([known, codes])
        values = np.concatenate([np.asarray(seen, dtype=np.float64), self.scale.values(drawn)])
        distinct, codes = np.unique(values, return_inverse=True)
        numbers = map(int, distinct.tolist()) if self._whole else distinct.tolist()
        return tuple(numbers), codes
