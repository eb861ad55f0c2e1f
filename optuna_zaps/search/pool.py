"""Candidates of a space that cannot be enumerated: drawn, and drawn again as labels arrive.

A pool holds what was evaluated, points spread over the whole space, and points near configurations
that are known. Its size is bounded, so that a choice from 10^12 configurations, or from a
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
from typing import NamedTuple
from typing import Protocol

import numpy as np
import numpy.typing as npt
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.distributions import IntDistribution
from scipy.stats import qmc

from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.candidates import Choices
from optuna_zaps.study import parameters


FloatArray = npt.NDArray[np.float64]

_Values = npt.NDArray[Any]
"""Values of a parameter: positions among choices without order, or the numbers themselves."""

_MAX_GRID = 2**12
"""Most values of a number that are all kept, rather than those of each pool found in it."""

_MIN_SHARE = 0.1
"""Smallest share of a number's whole range that keeps the scale of the whole."""

_FARTHEST = 1e6
"""Largest distance of a feature from the range that is drawn, in units of that range: larger
ones overflow when squared, and tell nothing."""


@dataclass(frozen=True)
class PoolSettings:
    """Size and spread of a pool.

    Attributes:
        n_global: Points of a scrambled Sobol sequence over the whole space, a power of 2.
        n_global_alike: The same where nothing tells far points apart, as in a space without
            numbers and proxies: there a point that shares little with those seen is like any
            other, and seldom chosen.
        n_local: Points near known ones, which take turns. Those of the best eight alone would do
            worse: a pool then holds little of what may turn out to be as good.
        n_labels: Most labels that a fit over a pool takes, so that its time does not grow with
            the cube of their number.
        min_step: Smallest standard deviation of a local step of a number, in units of its range.
        max_step: Largest.
    """

    n_global: int = 1024
    n_global_alike: int = 256
    n_local: int = 1024
    n_labels: int = 256
    min_step: float = 0.005
    max_step: float = 0.3


class Pool:
    """Draws candidate sets from a space.

    Args:
        space: Distribution of each parameter.
        settings: Size and spread.
        ranges: Narrower distributions of some numbers, from which alone points are drawn. The
            unit cube stands for these; what was seen outside them has places outside the cube.
    """

    def __init__(
        self,
        space: Mapping[str, BaseDistribution],
        settings: PoolSettings | None = None,
        *,
        ranges: Mapping[str, BaseDistribution] | None = None,
    ) -> None:
        self.space = dict(space)
        self.settings = settings or PoolSettings()
        ranges = ranges or {}
        self._axes = [_axis(d, ranges.get(name, d)) for name, d in self.space.items()]

    def spread(self, rng: np.random.Generator) -> CandidateSet:
        """Points over the whole space alone, in the order of the sequence."""
        drawn = self._sobol(rng, self.settings.n_global)
        values = [axis.values(drawn[:, i]) for i, axis in enumerate(self._axes)]
        return self._candidates(values, 0)

    def draw(
        self,
        seen: Sequence[Mapping[str, Any]],
        incumbents: Sequence[int],
        rng: np.random.Generator,
        fixed: Mapping[str, Any] | None = None,
        *,
        spread: np.random.Generator | None = None,
    ) -> CandidateSet:
        """What was seen, in its order, and after it points over the space and near known ones.

        Args:
            seen: Distinct configurations.
            incumbents: Positions in ``seen`` of those to look around, the best first.
            rng: Draws the points.
            fixed: Values that every drawn point has.
            spread: Draws the points over the space, in the place of ``rng``, where they are to be
                the same again for the sake of their proxies.
        """
        axes = dict(zip(self.space, self._axes, strict=True))
        known = [axis.known([params[name] for params in seen]) for name, axis in axes.items()]
        centres = np.empty((len(incumbents), len(axes)))
        for column, axis in enumerate(self._axes):
            # An incumbent outside the range is replaced by the nearest point within.
            centres[:, column] = np.clip(axis.points(known[column][list(incumbents)]), 0.0, 1.0)
        alike = spread is None and not any(isinstance(axis, _Number) for axis in self._axes)
        n_global = self.settings.n_global_alike if alike else self.settings.n_global
        drawn = np.vstack([self._sobol(spread or rng, n_global), self._near(centres, rng)])
        values = []
        for column, (name, axis) in enumerate(axes.items()):
            if fixed and name in fixed:
                value = parameters.spelling(fixed[name], self.space[name])
                new = np.repeat(axis.known([value]), len(drawn))
            else:
                new = axis.values(drawn[:, column])
            values.append(np.concatenate([known[column], new]))
        return self._candidates(values, len(seen))

    def _sobol(self, rng: np.random.Generator, n_points: int) -> FloatArray:
        sequence = qmc.Sobol(len(self._axes), scramble=True, seed=rng)
        return np.asarray(sequence.random(n_points), dtype=np.float64)

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

    def _candidates(self, values: Sequence[_Values], n_seen: int) -> CandidateSet:
        choices, places = {}, {}
        codes = np.empty((len(values[0]), len(self._axes)), dtype=np.intp)
        for column, (name, axis) in enumerate(zip(self.space, self._axes, strict=True)):
            choices[name], codes[:, column], place = axis.coded(values[column])
            if place is not None:
                places[name] = place
        return CandidateSet(choices, codes, places=places, drop_repeated=True, n_seen=n_seen)


class _Coded(NamedTuple):
    """Choices, the position among them of each value, and their places if they are numbers."""

    choices: Choices
    codes: npt.NDArray[np.intp]
    places: FloatArray | None


class _Axis(Protocol):
    """One coordinate of the unit cube and the distribution that it stands for."""

    def known(self, values: Sequence[Any]) -> _Values:
        """Values as an array, shape (n_values,)."""

    def points(self, known: _Values) -> FloatArray:
        """Their coordinates."""

    def moved(self, points: FloatArray, steps: FloatArray, elsewhere: FloatArray) -> FloatArray:
        """Coordinates after a step each, or where they jump to if steps mean nothing."""

    def values(self, points: FloatArray) -> _Values:
        """The values at coordinates."""

    def coded(self, values: _Values) -> _Coded:
        """Values as positions among choices."""


class _Unordered:
    """The coordinate of a parameter whose choices have no order."""

    def __init__(self, distribution: CategoricalDistribution) -> None:
        self._choices = Choices(parameters.values_of(distribution))

    def known(self, values: Sequence[Any]) -> _Values:
        return np.array([self._choices.position(value) for value in values], dtype=np.intp)

    def points(self, known: _Values) -> FloatArray:
        return np.asarray((known + 0.5) / len(self._choices), dtype=np.float64)

    def moved(self, points: FloatArray, steps: FloatArray, elsewhere: FloatArray) -> FloatArray:
        del steps
        n = len(self._choices)
        jump = (1 + np.floor(elsewhere * (n - 1))) / n
        return np.asarray((points + jump) % 1.0, dtype=np.float64)

    def values(self, points: FloatArray) -> _Values:
        n = len(self._choices)
        return np.minimum(points * n, n - 1).astype(np.intp)

    def coded(self, values: _Values) -> _Coded:
        return _Coded(self._choices, values, None)


class _Number:
    """The coordinate of a number.

    Args:
        distribution: Distribution of all values.
        drawn: Distribution of the values that are drawn, a part of it.
    """

    def __init__(
        self,
        distribution: FloatDistribution | IntDistribution,
        drawn: FloatDistribution | IntDistribution,
    ) -> None:
        self._scale, self._feature = parameters.Scale(drawn), parameters.Scale(distribution)
        numbers = self._feature.numbers
        self._dtype = numbers.dtype
        low, high = self._feature.places([drawn.low, drawn.high])
        if 0 < high - low < _MIN_SHARE:
            # Within so small a part of the scale no model would tell values apart.
            self._feature = self._scale
        self._whole = isinstance(distribution, IntDistribution)
        # Smaller steps than this would not leave a value of a grid.
        self._min_step = 1 / max(parameters.n_values(drawn) - 1, 1)
        self._grid: Choices | None = None
        if numbers.count() <= _MAX_GRID and numbers.dtype == np.float64:
            self._grid = Choices(numbers.all())
            self._places = self._placed(self._grid)
            values = np.asarray(self._grid, dtype=np.float64)
            self._borders = (values[1:] + values[:-1]) / 2

    def known(self, values: Sequence[Any]) -> _Values:
        return np.asarray(values, dtype=self._dtype)

    def points(self, known: _Values) -> FloatArray:
        return self._scale.places(known)

    def moved(self, points: FloatArray, steps: FloatArray, elsewhere: FloatArray) -> FloatArray:
        del elsewhere
        steps = np.sign(steps) * np.maximum(np.abs(steps), self._min_step)
        # Reflected at the ends: clipped, the ends themselves would fill the pool.
        folded = np.abs(points + steps) % 2.0
        return np.asarray(np.where(folded > 1.0, 2.0 - folded, folded), dtype=np.float64)

    def values(self, points: FloatArray) -> _Values:
        return self._scale.values(points)

    def coded(self, values: _Values) -> _Coded:
        if self._grid is not None:
            return _Coded(self._grid, np.searchsorted(self._borders, values), self._places)
        distinct, codes = np.unique(values, return_inverse=True)
        numbers = map(int, distinct.tolist()) if self._whole else distinct.tolist()
        return _Coded(Choices(numbers), codes, self._placed(distinct))

    def _placed(self, values: npt.ArrayLike) -> FloatArray:
        """Features of values."""
        return np.clip(self._feature.places(values), -_FARTHEST, _FARTHEST)


def _axis(distribution: BaseDistribution, drawn: BaseDistribution) -> _Axis:
    if isinstance(distribution, CategoricalDistribution):
        return _Unordered(distribution)
    assert isinstance(distribution, FloatDistribution | IntDistribution)
    assert isinstance(drawn, FloatDistribution | IntDistribution)
    return _Number(distribution, drawn)
