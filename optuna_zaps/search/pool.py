"""Candidates of a space that cannot be enumerated: drawn, and drawn again as labels arrive.

A pool holds the configurations evaluated so far, points spread over the whole space, and points
near known configurations. Its size is bounded, so that a choice from 10^12 configurations, or from
a continuum, costs no more than one from a few thousand.

Notations:
    points: float64 array of shape (n_points, n_parameters) in the unit cube. A number's
        coordinate is its position on its own scale, linear or logarithmic; choice ``k`` of ``n``
        is the interval from ``k / n`` to ``(k + 1) / n``.
    axis: one coordinate of the unit cube and the parameter that it stands for.
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

from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.choices import Choices
from optuna_zaps.search.conditions import INACTIVE
from optuna_zaps.search.conditions import INACTIVE_COORDINATE
from optuna_zaps.search.conditions import Conditions


FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

Values = npt.NDArray[Any]
"""Values of a parameter: positions among choices without order, or the numbers themselves."""

_MAX_GRID = 2**12
"""Largest number of values that all become choices; of more, only those of each pool do."""

_MIN_SHARE = 0.1
"""Smallest share of a number's whole range that is encoded on the scale of the whole."""

_FARTHEST = 1e6
"""Largest distance of an encoded number from the drawn range, in units of that range: larger ones
overflow when squared, and carry no information."""


@dataclass(frozen=True)
class PoolSettings:
    """Size and spread of a pool.

    Attributes:
        n_planned: Points of a scrambled Sobol sequence over the whole space, a power of 2, in the
            first pool, from which the initial evaluations are planned.
        n_global: Number of such points in each later pool, a power of 2.
        n_local: Points near known ones, which take turns.
        n_centres: Most known ones that do so, the best; ``None`` for all.
        n_labels: Most labels of a fit over a pool, so that its time does not grow with the cube
            of their number.
        min_step: Smallest standard deviation of a local step of a number, in units of its range.
        max_step: Largest standard deviation of such a step.
        n_of_branch: Fewest configurations of each branch before the search leaves it alone.
    """

    n_planned: int
    n_global: int
    n_local: int
    n_centres: int | None
    n_labels: int
    min_step: float
    max_step: float
    n_of_branch: int


class Scale(Protocol):
    """Scale of a number, linear or logarithmic, as the interval [0, 1]."""

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest value."""

    @property
    def dtype(self) -> npt.DTypeLike:
        """Type of an array that holds the values exactly: object for integers beyond 2^53."""

    @property
    def is_integer(self) -> bool:
        """Whether the values are integers."""

    def n_values(self) -> float:
        """Number of values; infinite in a continuum."""

    def all_values(self) -> tuple[Any, ...]:
        """All values in order; of a finite scale only."""

    def coordinates(self, values: npt.ArrayLike) -> FloatArray:
        """Coordinate of each value, 0 for the lowest and 1 for the highest."""

    def values(self, coordinates: FloatArray) -> Values:
        """Value nearest to each coordinate."""


class Coded(NamedTuple):
    """Values as positions among choices.

    Attributes:
        choices: The choices.
        codes: Position of each value among them, shape (n_values,).
        coordinates: Encoding of each choice if they are numbers, shape (n_choices,).
    """

    choices: Choices
    codes: npt.NDArray[np.intp]
    coordinates: FloatArray | None


class Axis(Protocol):
    """One coordinate of the unit cube and the parameter that it stands for."""

    is_numeric: bool

    @property
    def n_choices(self) -> int:
        """Number of choices without order; 0 of a number."""

    def known(self, values: Sequence[Any]) -> Values:
        """Values as an array, shape (n_values,)."""

    def points(self, known: Values) -> FloatArray:
        """Coordinates of values; those of numbers outside the drawn range lie outside [0, 1]."""

    def moved(self, points: FloatArray, steps: FloatArray, elsewhere: FloatArray) -> FloatArray:
        """Coordinates after a step each.

        Args:
            points: Coordinates before, shape (n_points,).
            steps: Signed lengths, for numbers.
            elsewhere: Uniform numbers in [0, 1) that choose a jump, for choices without order.
        """

    def values(self, points: FloatArray) -> Values:
        """Values at coordinates."""

    def coded(self, values: Values) -> Coded:
        """Values as positions among choices."""


def snapped(axis: Axis, points: FloatArray) -> FloatArray:
    """Coordinates of the values of an axis nearest to coordinates in [0, 1]."""
    return axis.points(axis.values(points))


class UnorderedAxis:
    """Axis of a parameter whose choices have no order.

    Args:
        choices: The distinct choices.
    """

    is_numeric = False

    def __init__(self, choices: Sequence[Any]) -> None:
        self._choices = Choices(choices)

    @property
    def n_choices(self) -> int:
        """See :class:`Axis`."""
        return len(self._choices)

    def known(self, values: Sequence[Any]) -> Values:
        """See :class:`Axis`."""
        return np.array([self._choices.position(value) for value in values], dtype=np.intp)

    def points(self, known: Values) -> FloatArray:
        """See :class:`Axis`; a choice is in the middle of its interval."""
        return np.asarray((known + 0.5) / len(self._choices), dtype=np.float64)

    def moved(self, points: FloatArray, steps: FloatArray, elsewhere: FloatArray) -> FloatArray:
        """See :class:`Axis`; each other choice is equally likely."""
        del steps
        n = len(self._choices)
        jump = (1 + np.floor(elsewhere * (n - 1))) / n
        return np.asarray((points + jump) % 1.0, dtype=np.float64)

    def values(self, points: FloatArray) -> Values:
        """See :class:`Axis`."""
        n = len(self._choices)
        return np.minimum(points * n, n - 1).astype(np.intp)

    def coded(self, values: Values) -> Coded:
        """See :class:`Axis`."""
        return Coded(self._choices, values, None)


class NumericAxis:
    """Axis of a number.

    Args:
        scale: Scale of all values.
        drawn: Scale of the values that are drawn, a part of them; of all by default. The interval
            [0, 1] stands for these.
    """

    is_numeric = True

    def __init__(self, scale: Scale, drawn: Scale | None = None) -> None:
        self._drawn = drawn or scale
        self._encoded = scale
        self._dtype, self._is_integer = scale.dtype, scale.is_integer
        low, high = scale.coordinates(self._drawn.ends)
        if 0 < high - low < _MIN_SHARE:
            # Within so small a part of the scale no model would tell values apart.
            self._encoded = self._drawn
        # Smaller steps than this would not leave a value of a grid.
        self._min_step = 1 / max(self._drawn.n_values() - 1, 1)
        self._grid: Choices | None = None
        if scale.n_values() <= _MAX_GRID and scale.dtype == np.float64:
            self._grid = Choices(scale.all_values())
            self._coordinates = self._encoding(self._grid)
            values = np.asarray(self._grid, dtype=np.float64)
            self._borders = (values[1:] + values[:-1]) / 2

    @property
    def n_choices(self) -> int:
        """See :class:`Axis`."""
        return 0

    def known(self, values: Sequence[Any]) -> Values:
        """See :class:`Axis`."""
        return np.asarray(values, dtype=self._dtype)

    def points(self, known: Values) -> FloatArray:
        """See :class:`Axis`."""
        return self._drawn.coordinates(known)

    def moved(self, points: FloatArray, steps: FloatArray, elsewhere: FloatArray) -> FloatArray:
        """See :class:`Axis`; a step across an end is reflected there."""
        del elsewhere
        steps = np.sign(steps) * np.maximum(np.abs(steps), self._min_step)
        # Clipped instead of reflected, the ends themselves would fill the pool.
        folded = np.abs(points + steps) % 2.0
        return np.asarray(np.where(folded > 1.0, 2.0 - folded, folded), dtype=np.float64)

    def values(self, points: FloatArray) -> Values:
        """See :class:`Axis`."""
        return self._drawn.values(points)

    def coded(self, values: Values) -> Coded:
        """See :class:`Axis`."""
        if self._grid is not None:
            codes = np.searchsorted(self._borders, values)
            return Coded(self._grid, codes, self._coordinates)
        distinct, codes = np.unique(values, return_inverse=True)
        numbers = map(int, distinct.tolist()) if self._is_integer else distinct.tolist()
        return Coded(Choices(numbers), codes, self._encoding(distinct))

    def _encoding(self, values: npt.ArrayLike) -> FloatArray:
        return np.clip(self._encoded.coordinates(values), -_FARTHEST, _FARTHEST)


class Pool:
    """Draws candidate sets from a space.

    Args:
        axes: Axis of each parameter.
        settings: Size and spread.
        conditions: Conditions of the parameters that some configurations lack.
    """

    def __init__(
        self,
        axes: Mapping[str, Axis],
        settings: PoolSettings,
        conditions: Conditions | None = None,
    ) -> None:
        self.settings = settings
        self.conditions = conditions or {}
        self._axes = dict(axes)
        self._column = {name: column for column, name in enumerate(self._axes)}

    def spread(self, rng: np.random.Generator) -> CandidateSet:
        """Candidates over the whole space alone, in the order of the Sobol sequence."""
        drawn = self._sobol(rng, self.settings.n_planned)
        values = [axis.values(drawn[:, i]) for i, axis in enumerate(self._axes.values())]
        return self._candidates(values, self._inactive(values), 0)

    def draw(
        self,
        seen: Sequence[Mapping[str, Any]],
        incumbents: Sequence[int],
        rng: np.random.Generator,
        fixed: Mapping[str, Any] | None = None,
        *,
        spread: np.random.Generator | None = None,
    ) -> CandidateSet:
        """Seen configurations in their order, then points over the space and near known ones.

        Args:
            seen: Distinct configurations, without inactive parameters.
            incumbents: Positions in ``seen`` of those near which points are drawn, best first.
            rng: Draws the points.
            fixed: Values that every drawn point has, unless they are inactive there.
            spread: Draws the points over the space instead of ``rng``, where they are to be equal
                from pool to pool for the sake of their proxies.
        """
        fixed = fixed or {}
        incumbents = incumbents[: self.settings.n_centres]
        inactive = np.zeros((len(seen), len(self._axes)), dtype=np.bool_)
        for name in self.conditions:
            inactive[:, self._column[name]] = [name not in params for params in seen]
        known = []
        for name, axis in self._axes.items():
            of_active = axis.known([params[name] for params in seen if name in params])
            if name in self.conditions:
                # Any value stands for that of an inactive parameter.
                of_all = np.repeat(axis.values(np.full(1, 0.5)), len(seen)).astype(of_active.dtype)
                of_all[~inactive[:, self._column[name]]] = of_active
                of_active = of_all
            known.append(of_active)
        centres = np.empty((len(incumbents), len(self._axes)))
        for column, axis in enumerate(self._axes.values()):
            # An incumbent outside the range is replaced by the nearest point within.
            centres[:, column] = np.clip(axis.points(known[column][list(incumbents)]), 0.0, 1.0)
        everywhere = self._sobol(spread or rng, self.settings.n_global)
        drawn = np.vstack([everywhere, self._near(centres, inactive[list(incumbents)], rng)])
        new = [
            np.repeat(axis.known([fixed[name]]), len(drawn))
            if name in fixed
            else axis.values(drawn[:, column])
            for column, (name, axis) in enumerate(self._axes.items())
        ]
        values = [np.concatenate(parts) for parts in zip(known, new, strict=True)]
        return self._candidates(values, np.vstack([inactive, self._inactive(new)]), len(seen))

    def resized(self, settings: PoolSettings) -> Pool:
        """Pool of the same space with other settings."""
        return Pool(self._axes, settings, self.conditions)

    def points_of(self, seen: Sequence[Mapping[str, Any]]) -> FloatArray:
        """Points of configurations without inactive parameters, (n_seen, n_parameters)."""
        points = np.empty((len(seen), len(self._axes)))
        for column, (name, axis) in enumerate(self._axes.items()):
            points[:, column] = axis.points(axis.known([params[name] for params in seen]))
        return points

    def candidates_at(self, points: FloatArray) -> CandidateSet:
        """Distinct candidates with the values at points, in their order."""
        values = [axis.values(points[:, i]) for i, axis in enumerate(self._axes.values())]
        return self._candidates(values, self._inactive(values), 0)

    def _sobol(self, rng: np.random.Generator, n_points: int) -> FloatArray:
        from scipy.stats import qmc

        sequence = qmc.Sobol(len(self._axes), scramble=True, seed=rng)
        return np.asarray(sequence.random(n_points), dtype=np.float64)

    def _near(
        self, centres: FloatArray, inactive: BoolArray, rng: np.random.Generator
    ) -> FloatArray:
        """Points that differ from a centre in one parameter or a few, by small steps and large.

        Args:
            centres: Centres, shape (n_centres, n_parameters).
            inactive: Mask of their inactive parameters, likewise: none of the few.
            rng: Draws the points.
        """
        n_parameters = len(self._axes)
        if len(centres) == 0:
            return np.empty((0, n_parameters))
        settings = self.settings
        shape = (settings.n_local, n_parameters)
        turns = np.arange(settings.n_local) % len(centres)
        points, inactive = centres[turns], inactive[turns]
        changed = rng.random(shape) < min(1.0, 2.0 / n_parameters)
        changed[np.arange(len(points)), rng.integers(n_parameters, size=len(points))] = True
        low, high = np.log(settings.min_step), np.log(settings.max_step)
        steps = np.exp(rng.uniform(low, high, size=(len(points), 1))) * rng.normal(size=shape)
        elsewhere = rng.random(shape)
        if self.conditions:
            # A step of an inactive parameter would change nothing.
            lot = np.where(inactive, np.inf, rng.random(shape))
            n_active = n_parameters - inactive.sum(axis=1, keepdims=True)
            changed = (lot < 2.0 / n_active) | (lot == lot.min(axis=1, keepdims=True))
        for column, axis in enumerate(self._axes.values()):
            moved = axis.moved(points[:, column], steps[:, column], elsewhere[:, column])
            points[:, column] = np.where(changed[:, column], moved, points[:, column])
        if self.conditions:
            # A step into another branch ends anywhere in it.
            points = np.where(inactive, rng.random(shape), points)
        return points

    def _inactive(self, values: Sequence[Values]) -> BoolArray:
        """Mask of the inactive parameters of drawn configurations, (n_points, n_parameters)."""
        inactive = np.zeros((len(values[0]), len(values)), dtype=np.bool_)
        for name, condition in self.conditions.items():
            if condition is not None:
                parent = self._column[condition.parent]
                excluded = self._axes[condition.parent].known(condition.inactive)
                inactive[:, self._column[name]] = inactive[:, parent] | np.isin(
                    values[parent], excluded
                )
        return inactive

    def _candidates(
        self, values: Sequence[Values], inactive: BoolArray, n_seen: int
    ) -> CandidateSet:
        choices, coordinates = {}, {}
        codes = np.empty((len(values[0]), len(self._axes)), dtype=np.intp)
        for column, (name, axis) in enumerate(self._axes.items()):
            choices[name], codes[:, column], of_choices = axis.coded(values[column])
            if name in self.conditions:
                codes[inactive[:, column], column] = len(choices[name])
                choices[name] = Choices((*choices[name], INACTIVE))
                if of_choices is not None:
                    of_choices = np.append(of_choices, INACTIVE_COORDINATE)
            if of_choices is not None:
                coordinates[name] = of_choices
        self._settle(codes, [len(of_name) - 1 for of_name in choices.values()], n_seen)
        return CandidateSet(
            choices,
            codes,
            coordinates=coordinates,
            drop_repeated=True,
            n_seen=n_seen,
            conditions=self.conditions,
        )

    def _settle(self, codes: npt.NDArray[np.intp], last: Sequence[int], n_seen: int) -> None:
        """Deactivate what no parent explains where that gives a seen configuration.

        An objective that asks for parameters one after the other, and stopped there once, stops
        there again.

        Args:
            codes: Candidates, those seen first; changed.
            last: Position of the last choice of each parameter.
            n_seen: Number of seen ones.
        """
        unexplained = np.array(
            [name in self.conditions and self.conditions[name] is None for name in self._axes]
        )
        if not unexplained.any():
            return
        lacking = (codes[:n_seen] == np.array(last)) & unexplained
        for pattern in np.unique(lacking[lacking.any(axis=1)], axis=0):
            others = np.ascontiguousarray(codes[:, ~pattern])
            stopped = {row.tobytes() for row in others[:n_seen][(lacking == pattern).all(axis=1)]}
            for candidate in range(n_seen, len(codes)):
                if others[candidate].tobytes() in stopped:
                    codes[candidate, pattern] = np.array(last)[pattern]
