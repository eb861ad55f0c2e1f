"""Numbers of a range or grid, spelled so that Optuna accepts them, and their scale.

Optuna checks values in floating point. Of a grid low + k step it accepts a value if its quotient
(value - low) / step is within 1e-8 of a whole number; an integer is checked, and stored, as a
float. On a fine grid far from 0 the float next to low + k step fails that check for many k,
because the last digit of a float is more than 1e-8 steps. Such a value is spelled in another
rounding that passes, and where none does, a neighbour on the grid is taken.

Notations:
    k: number of steps of a value from the lowest one, as a float.
    values: floats, or Python integers where floats do not hold them exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
import math
from typing import Any
from typing import Protocol

import numpy as np
import numpy.typing as npt


FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

LARGEST_EXACT = 2**53
"""Largest magnitude up to which every integer is a float."""

_TOLERANCE = 1e-8
"""Largest deviation of k from a whole number that Optuna accepts."""

_REACH = 512
"""Most steps to a neighbour. Enough for steps of 0.001 at 1.7e9, the time in seconds, where floats
hold every 125th value of the grid exactly and few of the others well enough."""


class Numbers(Protocol):
    """Values of a numeric parameter."""

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest value."""

    @property
    def dtype(self) -> npt.DTypeLike:
        """Type of an array that holds them exactly."""

    @property
    def is_integer(self) -> bool:
        """Whether they are integers."""

    def __contains__(self, number: float) -> bool:
        """Whether a number is one of them, however it was rounded."""

    def spelling(self, number: float) -> float:
        """Snap to the grid, a number that is one of them in any rounding: 0.1 + 0.2 is 0.3."""

    def nearest(self, numbers: FloatArray) -> npt.NDArray[Any]:
        """Value near each number that Optuna accepts, as far as there is one."""

    def count(self) -> float:
        """Number of values; infinite in a continuum."""

    def all(self) -> tuple[Any, ...]:
        """All values in order; of a finite range only."""


class Interval:
    """Every float of an interval.

    Args:
        low: Lowest value.
        high: Highest value.
    """

    dtype = np.float64
    is_integer = False

    def __init__(self, low: float, high: float) -> None:
        self.ends = low, high
        self._low, self._high = low, high

    def __contains__(self, number: float) -> bool:
        return self._low <= number <= self._high

    def spelling(self, number: float) -> float:
        """See :class:`Numbers`."""
        return number

    def nearest(self, numbers: FloatArray) -> FloatArray:
        """See :class:`Numbers`."""
        return np.clip(numbers, self._low, self._high)

    def count(self) -> float:
        """See :class:`Numbers`."""
        return 1 if self._low == self._high else math.inf

    def all(self) -> tuple[Any, ...]:
        """See :class:`Numbers`."""
        assert self._low == self._high
        return (self._low,)


class FloatGrid:
    """Floats at equal distances.

    Args:
        low: Lowest value.
        high: Highest value.
        step: Distance between neighbours.
    """

    dtype = np.float64
    is_integer = False

    def __init__(self, low: float, high: float, step: float) -> None:
        self.ends = low, high
        self._low, self._high, self._step = low, high, step
        self._start, self._width = Decimal(str(self._low)), Decimal(str(self._step))

    def __contains__(self, number: float) -> bool:
        if not self._low <= number <= self._high:
            return False
        k = (number - self._low) / self._step
        # More lenient than Optuna where floats are coarse: its own samplers return such values.
        last_digits = (math.ulp(number) + math.ulp(self._low)) / self._step + math.ulp(k)
        return math.isfinite(k) and abs(k - round(k)) <= _TOLERANCE + 2 * last_digits

    def spelling(self, number: float) -> float:
        """See :class:`Numbers`."""
        return float(self._spelled(self._steps(np.array([number], dtype=np.float64)))[0])

    def nearest(self, numbers: FloatArray) -> FloatArray:
        """See :class:`Numbers`."""
        steps, position = np.unique(self._steps(numbers), return_inverse=True)
        return self._spelled(self._accepted_steps(steps))[position]

    def count(self) -> float:
        """See :class:`Numbers`."""
        n_steps = (Decimal(str(self._high)) - self._start) / self._width
        # Binary floats would lose the last point of a grid such as 0.1, 0.2, 0.3, and decimals
        # that of steps of a third; Optuna is as lenient about what lies on a grid.
        return int(n_steps + Decimal("1e-8")) + 1

    def all(self) -> tuple[Any, ...]:
        """See :class:`Numbers`."""
        values = self._spelled(np.arange(self.count(), dtype=np.float64)).tolist()
        return tuple(dict.fromkeys(values))

    def _steps(self, numbers: FloatArray) -> FloatArray:
        """Compute the k of the grid value next to each number."""
        return np.rint((numbers - self._low) / self._step)

    def _spelled(self, steps: FloatArray) -> FloatArray:
        """Compute the value of each k, in a rounding that Optuna accepts if there is one."""
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
        """Compute the value of each k as Optuna's own samplers do."""
        return np.clip(self._low + steps * self._step, self._low, self._high)

    def _accepted(self, values: FloatArray) -> BoolArray:
        """Whether Optuna accepts each number as a value of the grid."""
        k = (values - self._low) / self._step
        on_grid = np.abs(k - np.rint(k)) < _TOLERANCE
        return np.asarray(on_grid & (self._low <= values) & (values <= self._high))

    def _accepted_steps(self, steps: FloatArray) -> FloatArray:
        """Replace each k of a value that Optuna refuses by the nearest one that it accepts."""
        steps = steps.copy()
        left = np.flatnonzero(~self._accepted(self._spelled(steps)))
        for distance in range(1, _REACH + 1):
            for shift in (distance, -distance):
                if len(left) == 0:
                    return steps
                near = steps[left] + shift
                # Beyond an end, a number would be clipped to that end, which is no neighbour.
                inside = (near >= 0) & (self._low + near * self._step <= self._high)
                found = inside & self._accepted(self._summed(near))
                steps[left[found]] = near[found]
                left = left[~found]
        return steps


class IntegerGrid:
    """Integers at equal distances, all of which are floats.

    Args:
        low: Lowest value.
        high: Highest value.
        step: Distance between neighbours.
    """

    dtype: npt.DTypeLike = np.float64
    is_integer = True

    def __init__(self, low: int, high: int, step: int) -> None:
        self.ends = low, high
        self._low, self._high, self._step = low, high, step

    def __contains__(self, number: float) -> bool:
        return self._low <= number <= self._high and (number - self._low) % self._step == 0

    def spelling(self, number: float) -> int:
        """See :class:`Numbers`."""
        return int(number)

    def nearest(self, numbers: FloatArray) -> npt.NDArray[Any]:
        """See :class:`Numbers`."""
        low, step = float(self._low), float(self._step)
        return np.clip(low + np.rint((numbers - low) / step) * step, low, float(self._high))

    def count(self) -> int:
        """See :class:`Numbers`."""
        return (self._high - self._low) // self._step + 1

    def all(self) -> tuple[Any, ...]:
        """See :class:`Numbers`."""
        return tuple(range(self._low, self._high + 1, self._step))


class LargeIntegerGrid(IntegerGrid):
    """Integers at equal distances, some of which no float holds exactly.

    A storage keeps the nearest float of a parameter, so that integers of one float are one value.

    Args:
        low: Lowest value.
        high: Highest value.
        step: Distance between neighbours.
        accepts: Whether Optuna accepts a float as one of the values.
    """

    dtype = np.object_

    def __init__(self, low: int, high: int, step: int, accepts: Callable[[float], bool]) -> None:
        super().__init__(low, high, step)
        self._accepts = accepts

    def __contains__(self, number: float) -> bool:
        if not float(self._low) <= float(number) <= float(self._high):
            return False
        rest = (_stored(number) - self._low) % self._step
        return min(rest, self._step - rest) <= self._last_digit(number)

    def spelling(self, number: float) -> int:
        """See :class:`Numbers`."""
        # Half a step more, rounded down: the nearest of the grid.
        k = (2 * (_stored(number) - self._low) + self._step) // (2 * self._step)
        return min(max(self._low + k * self._step, self._low), self._high)

    def nearest(self, numbers: FloatArray) -> npt.NDArray[Any]:
        """See :class:`Numbers`."""
        distinct, position = np.unique(numbers, return_inverse=True)
        values = np.empty(len(distinct), dtype=np.object_)
        values[:] = [self._accepted(self.spelling(number)) for number in distinct.tolist()]
        return values[position]

    def all(self) -> tuple[Any, ...]:
        """See :class:`Numbers`."""
        distinct: dict[float, int] = {}
        for value in super().all():
            if value == float(value):
                distinct[float(value)] = value
            distinct.setdefault(float(value), value)
        return tuple(distinct.values())

    def _accepted(self, value: int) -> int:
        """Replace a value by a neighbour that Optuna accepts, if possible one that is a float."""
        if value == float(value) and self._accepts(float(value)):
            return value
        digit = self._last_digit(value)
        coarse = self._step * (digit // math.gcd(digit, self._step))
        # Optuna subtracts the lowest value as a float, and the difference is to be exact.
        below = value - (value - _stored(self._low)) % coarse
        # From a power of 2 on, as 2^53, no float may be on the grid: odd values are none.
        power = 2 ** (abs(value).bit_length() - 1) if value else 1
        denser = power - 1 - (power - 1 - self._low) % self._step
        near = tuple(value - k * self._step for k in range(1, 9))
        for numbers in ((value, below, below + coarse), (below - coarse,), near, (denser,)):
            spelled = [
                each
                for number in numbers
                for each in (_stored(number), self.spelling(number))
                if self._low <= each <= self._high and (each - self._low) % self._step == 0
            ]
            accepted = [each for each in spelled if self._accepts(float(each))]
            if accepted:
                return next((each for each in accepted if each == float(each)), accepted[0])
        return value

    def _last_digit(self, number: float) -> int:
        """Distance between floats where Optuna subtracts the lowest value from a number."""
        return max(int(math.ulp(max(abs(number), abs(self._low), number - self._low))), 1)


class Scale:
    """Scale of numbers, linear or logarithmic, as the interval [0, 1].

    Args:
        numbers: The numbers.
        log: Whether the scale is logarithmic.
    """

    def __init__(self, numbers: Numbers, *, log: bool) -> None:
        self._numbers, self._log = numbers, log
        self.ends, self.dtype, self.is_integer = numbers.ends, numbers.dtype, numbers.is_integer
        self._low, self._high = self._transformed(np.array(self.ends, dtype=np.float64))

    def n_values(self) -> float:
        """Number of values; infinite in a continuum."""
        return self._numbers.count()

    def all_values(self) -> tuple[Any, ...]:
        """All values in order; of a finite scale only."""
        return self._numbers.all()

    def coordinates(self, values: npt.ArrayLike) -> FloatArray:
        """Coordinate of each value, 0 for the lowest and 1 for the highest."""
        transformed = self._transformed(np.asarray(values, dtype=np.float64))
        return np.asarray(
            (transformed - self._low) / ((self._high - self._low) or 1.0), dtype=np.float64
        )

    def values(self, coordinates: FloatArray) -> npt.NDArray[Any]:
        """Value nearest to each coordinate that Optuna accepts; see :class:`Numbers`."""
        values = self._low + coordinates * (self._high - self._low)
        return self._numbers.nearest(np.exp(values) if self._log else values)

    def _transformed(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.log(values)) if self._log else values


def _stored(number: float) -> int:
    """Return an integer as a storage keeps it."""
    return int(float(number))
