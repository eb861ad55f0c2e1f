"""Numbers of a distribution, spelled so that Optuna accepts them.

Optuna checks values in floating point. Of a grid low + k step it accepts what has a quotient
(value - low) / step within 1e-8 of a whole number; an integer it checks, and stores, as a float.
On a fine grid far from 0 the float next to low + k step fails that check for many k, because the
last digit of a float is more than 1e-8 steps. Such a value is spelled in another rounding that
passes, and where none does, a neighbour on the grid is taken.

Notations:
    k: number of steps of a value from the lowest one, as a float.
    values: floats, or Python integers where floats do not hold them exactly.
"""

from __future__ import annotations

from decimal import Decimal
import math
from typing import Any
from typing import Protocol

import numpy as np
import numpy.typing as npt
from optuna.distributions import BaseDistribution
from optuna.distributions import FloatDistribution
from optuna.distributions import IntDistribution


FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_LARGEST_EXACT = 2**53
"""Up to here every integer is a float."""

_TOLERANCE = 1e-8
"""Largest deviation of k from a whole number that Optuna accepts."""

_REACH = 512
"""Most steps to a neighbour. Enough for steps of 0.001 at 1.7e9, the time in seconds, where floats
hold every 125th value of the grid exactly and few of the others well enough."""


class Numbers(Protocol):
    """The values of a numeric distribution."""

    @property
    def dtype(self) -> npt.DTypeLike:
        """Type of an array that holds them exactly."""

    def __contains__(self, number: float) -> bool:
        """Whether a number is one of them, however it was rounded."""

    def spelling(self, number: float) -> float:
        """The one spelling that stands for all roundings of a number that is one of them."""

    def nearest(self, numbers: FloatArray) -> npt.NDArray[Any]:
        """For each number a value near it that Optuna accepts, as far as there is one."""

    def count(self) -> float:
        """Number of values; infinite in a continuum."""

    def all(self) -> tuple[Any, ...]:
        """All of them, in order, where they can be counted."""


class Interval:
    """Every float of an interval.

    Args:
        distribution: A distribution without steps.
    """

    dtype = np.float64

    def __init__(self, distribution: FloatDistribution) -> None:
        self._low, self._high = distribution.low, distribution.high

    def __contains__(self, number: float) -> bool:
        return self._low <= number <= self._high

    def spelling(self, number: float) -> float:
        """As in :class:`Numbers`."""
        return number

    def nearest(self, numbers: FloatArray) -> FloatArray:
        """As in :class:`Numbers`."""
        return np.clip(numbers, self._low, self._high)

    def count(self) -> float:
        """As in :class:`Numbers`."""
        return 1 if self._low == self._high else math.inf

    def all(self) -> tuple[Any, ...]:
        """As in :class:`Numbers`."""
        assert self._low == self._high
        return (self._low,)


class FloatGrid:
    """Floats at equal distances.

    Args:
        distribution: A distribution of floats with steps.
    """

    dtype = np.float64

    def __init__(self, distribution: FloatDistribution) -> None:
        assert distribution.step is not None
        self._low, self._high, self._step = distribution.low, distribution.high, distribution.step
        self._start, self._width = Decimal(str(self._low)), Decimal(str(self._step))

    def __contains__(self, number: float) -> bool:
        if not self._low <= number <= self._high:
            return False
        k = (number - self._low) / self._step
        # More than Optuna where floats are too coarse: its own samplers return such values.
        last_digits = (math.ulp(number) + math.ulp(self._low)) / self._step + math.ulp(k)
        return math.isfinite(k) and abs(k - round(k)) <= _TOLERANCE + 2 * last_digits

    def spelling(self, number: float) -> float:
        """As in :class:`Numbers`."""
        return float(self._spelled(self._steps(np.array([number], dtype=np.float64)))[0])

    def nearest(self, numbers: FloatArray) -> FloatArray:
        """As in :class:`Numbers`."""
        steps, position = np.unique(self._steps(numbers), return_inverse=True)
        return self._spelled(self._accepted_steps(steps))[position]

    def count(self) -> float:
        """As in :class:`Numbers`."""
        n_steps = (Decimal(str(self._high)) - self._start) / self._width
        # Binary floats would lose the last point of a grid such as 0.1, 0.2, 0.3, and decimals
        # that of steps of a third; Optuna is as lenient about what lies on a grid.
        return int(n_steps + Decimal("1e-8")) + 1

    def all(self) -> tuple[Any, ...]:
        """As in :class:`Numbers`."""
        values = self._spelled(np.arange(self.count(), dtype=np.float64)).tolist()
        return tuple(dict.fromkeys(values))

    def _steps(self, numbers: FloatArray) -> FloatArray:
        """The k of the grid value next to each number."""
        return np.rint((numbers - self._low) / self._step)

    def _spelled(self, steps: FloatArray) -> FloatArray:
        """The value of each k, in a rounding that Optuna accepts if there is one."""
        # Added up in decimal, as a study spells it: 0.1 + 2 * 0.1 is 0.3.
        decimals = [float(self._start + self._width * int(k)) for k in steps.tolist()]
        values = np.clip(np.array(decimals, dtype=np.float64), self._low, self._high)
        for other in (
            self._summed(steps), np.nextafter(values, -np.inf), np.nextafter(values, np.inf)
        ):  # fmt: skip
            refused = ~self._accepted(values)
            if not refused.any():
                break
            values = np.where(refused & self._accepted(other), other, values)
        return values

    def _summed(self, steps: FloatArray) -> FloatArray:
        """The value of each k as Optuna's own samplers add it up."""
        return np.clip(self._low + steps * self._step, self._low, self._high)

    def _accepted(self, values: FloatArray) -> BoolArray:
        """Whether Optuna takes each number for a value of the grid."""
        k = (values - self._low) / self._step
        on_grid = np.abs(k - np.rint(k)) < _TOLERANCE
        return np.asarray(on_grid & (self._low <= values) & (values <= self._high))

    def _accepted_steps(self, steps: FloatArray) -> FloatArray:
        """For each k itself, or the nearest within reach whose value Optuna accepts."""
        steps = steps.copy()
        left = np.flatnonzero(~self._accepted(self._spelled(steps)))
        for distance in range(1, _REACH + 1):
            for shift in (distance, -distance):
                if len(left) == 0:
                    return steps
                near = steps[left] + shift
                # What leaves the grid is clipped to an end of it, which is no neighbour.
                inside = (near >= 0) & (self._low + near * self._step <= self._high)
                found = inside & self._accepted(self._summed(near))
                steps[left[found]] = near[found]
                left = left[~found]
        return steps


class IntegerGrid:
    """Integers at equal distances, all of which are floats.

    Args:
        distribution: A distribution of integers.
    """

    dtype: npt.DTypeLike = np.float64

    def __init__(self, distribution: IntDistribution) -> None:
        self._low, self._high, self._step = distribution.low, distribution.high, distribution.step

    def __contains__(self, number: float) -> bool:
        return self._low <= number <= self._high and (number - self._low) % self._step == 0

    def spelling(self, number: float) -> int:
        """As in :class:`Numbers`."""
        return int(number)

    def nearest(self, numbers: FloatArray) -> npt.NDArray[Any]:
        """As in :class:`Numbers`."""
        low, step = float(self._low), float(self._step)
        return np.clip(low + np.rint((numbers - low) / step) * step, low, float(self._high))

    def count(self) -> int:
        """As in :class:`Numbers`."""
        return (self._high - self._low) // self._step + 1

    def all(self) -> tuple[Any, ...]:
        """As in :class:`Numbers`."""
        return tuple(range(self._low, self._high + 1, self._step))


class LargeIntegerGrid(IntegerGrid):
    """Integers at equal distances, some of which no float holds exactly.

    A storage keeps the nearest float of a parameter, so that what has the same float is one value.

    Args:
        distribution: A distribution of integers.
    """

    dtype = np.object_

    def __init__(self, distribution: IntDistribution) -> None:
        super().__init__(distribution)
        self._distribution = distribution

    def __contains__(self, number: float) -> bool:
        if not float(self._low) <= float(number) <= float(self._high):
            return False
        rest = (_stored(number) - self._low) % self._step
        return min(rest, self._step - rest) <= self._last_digit(number)

    def spelling(self, number: float) -> int:
        """As in :class:`Numbers`."""
        # Half a step more, rounded down: the nearest of the grid.
        k = (2 * (_stored(number) - self._low) + self._step) // (2 * self._step)
        return min(max(self._low + k * self._step, self._low), self._high)

    def nearest(self, numbers: FloatArray) -> npt.NDArray[Any]:
        """As in :class:`Numbers`."""
        distinct, position = np.unique(numbers, return_inverse=True)
        values = np.empty(len(distinct), dtype=np.object_)
        values[:] = [self._accepted(self.spelling(number)) for number in distinct.tolist()]
        return values[position]

    def all(self) -> tuple[Any, ...]:
        """As in :class:`Numbers`."""
        distinct: dict[float, int] = {}
        for value in super().all():
            if value == float(value):
                distinct[float(value)] = value
            distinct.setdefault(float(value), value)
        return tuple(distinct.values())

    def _accepted(self, value: int) -> int:
        """A value, or a neighbour that Optuna accepts; best one that a storage keeps as it is."""
        if value == float(value) and self._distribution._contains(float(value)):
            return value
        digit = self._last_digit(value)
        coarse = self._step * (digit // math.gcd(digit, self._step))
        # Optuna subtracts the lowest value as a float, and the difference is to be exact.
        below = value - (value - _stored(self._low)) % coarse
        for numbers in ((value, below, below + coarse), (below - coarse,)):
            spelled = [
                each
                for number in numbers
                for each in (_stored(number), self.spelling(number))
                if self._low <= each <= self._high and (each - self._low) % self._step == 0
            ]
            accepted = [each for each in spelled if self._distribution._contains(float(each))]
            if accepted:
                return next((each for each in accepted if each == float(each)), accepted[0])
        return value

    def _last_digit(self, number: float) -> int:
        """Distance between floats where Optuna subtracts the lowest value from a number."""
        return max(int(math.ulp(max(abs(number), abs(self._low), number - self._low))), 1)


def numbers_of(distribution: BaseDistribution) -> Numbers:
    """The values of a numeric distribution."""
    if isinstance(distribution, IntDistribution):
        exact = max(-distribution.low, distribution.high) <= _LARGEST_EXACT
        return IntegerGrid(distribution) if exact else LargeIntegerGrid(distribution)
    assert isinstance(distribution, FloatDistribution)
    return Interval(distribution) if distribution.step is None else FloatGrid(distribution)


def _stored(number: float) -> int:
    """An integer as a storage keeps it."""
    return int(float(number))
