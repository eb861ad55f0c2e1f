"""Between Optuna's distributions and the choices and axes of the search.

Each type of distribution has one class here, a :class:`Parameter`; all else that the sampler does
is the same for every type. To add a type is to add its class to :data:`_TYPES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
from decimal import Decimal
import math
from typing import Any
from typing import Protocol

import numpy as np
import numpy.typing as npt
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.distributions import IntDistribution

from optuna_zaps import _checks
from optuna_zaps import _optional
from optuna_zaps.search.candidates import MAX_CANDIDATES
from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.choices import Choices
from optuna_zaps.search.choices import choice_key
from optuna_zaps.search.conditions import INACTIVE
from optuna_zaps.search.conditions import INACTIVE_COORDINATE
from optuna_zaps.search.conditions import Conditions
from optuna_zaps.search.encoding import MAX_CELLS
from optuna_zaps.search.pool import Axis
from optuna_zaps.search.pool import NumericAxis
from optuna_zaps.search.pool import UnorderedAxis
from optuna_zaps.search.values import is_missing
from optuna_zaps.study.grids import LARGEST_EXACT
from optuna_zaps.study.grids import FloatGrid
from optuna_zaps.study.grids import IntegerGrid
from optuna_zaps.study.grids import Interval
from optuna_zaps.study.grids import LargeIntegerGrid
from optuna_zaps.study.grids import Numbers
from optuna_zaps.study.grids import Scale


SearchSpace = Mapping[str, BaseDistribution | Sequence[Any]]
"""Distribution or choices of each parameter, as a user passes them."""

NOTHING = object()
"""Stands for no value where any value, ``None`` too, may be a choice."""


class Parameter(Protocol):
    """A parameter with a distribution of one type."""

    @property
    def offer(self) -> Any:
        """Values in a form to be shown to a person."""

    @property
    def n_columns(self) -> float:
        """Number of columns that encode it if every value that needs one has its own."""

    def count(self) -> float:
        """Number of values; infinite if it is continuous."""

    def all(self) -> tuple[Any, ...]:
        """Distinct values, in order; of a finite parameter only."""

    def offers(self, value: Any) -> bool:
        """Whether the distribution has a value."""

    def find(self, value: Any) -> Any:
        """Return a value as the distribution spells it, :data:`NOTHING` if it does not have it."""

    def spelling(self, value: Any) -> Any:
        """Snap to the grid, a value that it has in any rounding: 0.1 + 0.2 is 0.3."""

    def coordinates(self) -> list[float] | None:
        """Coordinates in [0, 1] of :meth:`all`, ``None`` if the values have no order."""

    def axis(self, drawn: BaseDistribution) -> Axis:
        """Axis of the unit cube.

        Args:
            drawn: Distribution of the values that are drawn, a part of the parameter's.
        """

    def union(self, other: BaseDistribution) -> BaseDistribution | None:
        """Distribution that has the values of both, ``None`` if they are different parameters."""


class _Categorical:
    def __init__(self, distribution: CategoricalDistribution) -> None:
        self._choices = distribution.choices

    @property
    def offer(self) -> Any:
        return list(self._choices)

    @property
    def n_columns(self) -> float:
        return self.count()

    def count(self) -> float:
        return len(self.all())

    def all(self) -> tuple[Any, ...]:
        # Optuna takes True and 1, which are equal, for the first of them: one configuration.
        distinct: dict[Any, Any] = {}
        for choice in self._choices:
            distinct.setdefault(choice_key(choice), choice)
        return tuple(distinct.values())

    def offers(self, value: Any) -> bool:
        return self.find(value) is not NOTHING

    def find(self, value: Any) -> Any:
        # Most values are found this way, in far less time.
        with contextlib.suppress(ValueError):
            return self._choices[self._choices.index(value)]
        key, missing = choice_key(value), is_missing(value)
        # A table does not tell None from NaN: its missing value is the one that the study offers.
        for is_same in (lambda c: choice_key(c) == key, lambda c: missing and is_missing(c)):
            for choice in filter(is_same, self._choices):
                return choice
        return NOTHING

    def spelling(self, value: Any) -> Any:
        return value

    def coordinates(self) -> list[float] | None:
        return None

    def axis(self, drawn: BaseDistribution) -> Axis:
        del drawn
        return UnorderedAxis(self.all())

    def union(self, other: BaseDistribution) -> BaseDistribution | None:
        del other
        return None


class _Number:
    """A float or an integer.

    Args:
        distribution: Its distribution.
        numbers: Its values.
    """

    type: type[int | float]
    n_columns = 1.0

    def __init__(
        self, distribution: FloatDistribution | IntDistribution, numbers: Numbers
    ) -> None:
        self.offer: Any = distribution
        self.numbers = numbers
        self._log = distribution.log

    @property
    def scale(self) -> Scale:
        return Scale(self.numbers, log=self._log)

    def count(self) -> float:
        return self.numbers.count()

    def all(self) -> tuple[Any, ...]:
        return self.numbers.all()

    def offers(self, value: Any) -> bool:
        return self.find(value) is not NOTHING

    def find(self, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return NOTHING
        # Neither infinity is an integer, nor is every integer small enough for a float.
        with contextlib.suppress(OverflowError, ValueError):
            number = self.type(value)
            if number == value and math.isfinite(number) and number in self.numbers:
                return number
        return NOTHING

    def spelling(self, value: Any) -> Any:
        return self.numbers.spelling(value)

    def coordinates(self) -> list[float] | None:
        coordinates: list[float] = self.scale.coordinates(self.all()).tolist()
        return coordinates

    def axis(self, drawn: BaseDistribution) -> Axis:
        return NumericAxis(self.scale, scale_of(drawn))


class _Float(_Number):
    type = float

    def __init__(self, distribution: FloatDistribution) -> None:
        low, high, step = distribution.low, distribution.high, distribution.step
        super().__init__(
            distribution, Interval(low, high) if step is None else FloatGrid(low, high, step)
        )
        self._distribution = distribution

    def union(self, other: BaseDistribution) -> BaseDistribution | None:
        one = self._distribution
        if not isinstance(other, FloatDistribution) or one.log != other.log:
            return None
        low, high = min(one.low, other.low), max(one.high, other.high)
        return FloatDistribution(low, high, log=one.log, step=_common_step(one, other))


class _Integer(_Number):
    type = int

    def __init__(self, distribution: IntDistribution) -> None:
        low, high, step = distribution.low, distribution.high, distribution.step
        if max(-low, high) <= LARGEST_EXACT:
            numbers = IntegerGrid(low, high, step)
        else:
            numbers = LargeIntegerGrid(low, high, step, distribution._contains)
        super().__init__(distribution, numbers)
        self._distribution = distribution

    def union(self, other: BaseDistribution) -> BaseDistribution | None:
        one = self._distribution
        if not isinstance(other, IntDistribution) or one.log != other.log:
            return None
        low, high = min(one.low, other.low), max(one.high, other.high)
        step = math.gcd(one.step, other.step, one.low - other.low)
        return IntDistribution(low, high, log=one.log, step=step)


def _common_step(one: FloatDistribution, other: FloatDistribution) -> float | None:
    """Step of a grid that has the values of both, ``None`` if that is not the grid of either."""
    if one.step is None or one.step != other.step:
        return None
    offset = Decimal(str(one.low)) - Decimal(str(other.low))
    return one.step if offset % Decimal(str(one.step)) == 0 else None


_TYPES: dict[type[BaseDistribution], Any] = {
    CategoricalDistribution: _Categorical,
    FloatDistribution: _Float,
    IntDistribution: _Integer,
}


def parameter_of(distribution: BaseDistribution) -> Parameter:
    """Parameter with a distribution."""
    for type_, make in _TYPES.items():
        if isinstance(distribution, type_):
            parameter: Parameter = make(distribution)
            return parameter
    raise TypeError(
        f"ZAPSSampler knows the distributions {[type_.__name__ for type_ in _TYPES]}, but got "
        f"{distribution!r}."
    )


def scale_of(distribution: BaseDistribution) -> Scale:
    """Scale of a numeric distribution."""
    parameter = parameter_of(distribution)
    assert isinstance(parameter, _Number)
    return parameter.scale


def normalized(search_space: SearchSpace) -> dict[str, BaseDistribution]:
    """Give each parameter a distribution; a sequence is one of categorical choices.

    Raises:
        ValueError: If the space is empty or a parameter has no choice.
        TypeError: If it is no mapping, a name is no text, or a parameter has neither a
            distribution nor a sequence.
    """
    if not isinstance(search_space, Mapping):
        raise TypeError(
            "search_space must map each name to a distribution or a sequence of choices, as "
            "{'op': ['conv', 'pool']}, but got "
            f"{search_space!r} of type {type(search_space).__name__}."
        )
    if not search_space:
        raise ValueError("search_space must have at least one parameter, but is empty.")
    return {_text(name): _distribution(name, given) for name, given in search_space.items()}


def _text(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(
            "search_space must name each parameter by a string, as a study does, but got "
            f"{name!r} of type {type(name).__name__}."
        )
    return name


def _distribution(name: str, given: Any) -> BaseDistribution:
    if isinstance(given, BaseDistribution):
        return given
    choices = _checks.listed(given)
    if choices is None:
        raise TypeError(
            "search_space must map each name to a distribution or a sequence of choices, but got "
            f"{given!r} for {name!r}."
        )
    if not choices:
        raise ValueError(f"search_space must have a choice for each name, but {name!r} has none.")
    return CategoricalDistribution([_storable(choice) for choice in choices])


def _storable(choice: Any) -> Any:
    """Turn a scalar of NumPy or pandas, which no storage can write, into Python's own."""
    pandas = _optional.loaded("pandas")
    if pandas is not None and choice is pandas.NA:
        return None
    return choice.item() if isinstance(choice, np.generic) else choice


def size(space: Mapping[str, BaseDistribution]) -> float:
    """Number of configurations; infinite if a parameter is continuous."""
    counts = [parameter_of(distribution).count() for distribution in space.values()]
    # Not every product of integers is small enough to be multiplied by infinity.
    return math.inf if math.inf in counts else math.prod(counts)


def is_enumerable(space: Mapping[str, BaseDistribution], *, with_proxies: bool = False) -> bool:
    """Whether every configuration is held, rather than a pool of them drawn for each trial.

    Args:
        space: Distribution of each parameter.
        with_proxies: Whether there is a function of proxies, which is then called once for each.
    """
    n_candidates = size(space)
    if not space or n_candidates > MAX_CANDIDATES:
        return False
    n_columns = sum(parameter_of(distribution).n_columns for distribution in space.values())
    # A pool tells apart what was tried, where all configurations would have to share columns:
    # with three parameters of 64 choices it is much the better one. But a single parameter has
    # nothing to tell apart.
    is_narrow = len(space) == 1 or n_candidates * n_columns <= MAX_CELLS
    return with_proxies or is_narrow


def choices_of(space: Mapping[str, BaseDistribution]) -> dict[str, tuple[Any, ...]]:
    """Values of each parameter of a finite space."""
    return {name: parameter_of(distribution).all() for name, distribution in space.items()}


def coordinates_of(space: Mapping[str, BaseDistribution]) -> dict[str, list[float]]:
    """Coordinates in [0, 1] of the values of each number of a finite space."""
    coordinates = {name: parameter_of(d).coordinates() for name, d in space.items()}
    return {name: values for name, values in coordinates.items() if values is not None}


def grid(space: Mapping[str, BaseDistribution]) -> CandidateSet:
    """Enumerate every configuration of a space."""
    return CandidateSet.grid(choices_of(space), coordinates=coordinates_of(space))


def branches(
    space: Mapping[str, BaseDistribution], conditions: Conditions, *, with_proxies: bool
) -> CandidateSet | None:
    """Enumerate every configuration of a space whose parameters are not always active.

    Args:
        space: Distribution of each parameter.
        conditions: Conditions of those that some configurations lack.
        with_proxies: As for :func:`is_enumerable`.

    Returns:
        ``None`` where there are too many, or it is not known of each which parameters it has.
    """
    found = {name: parameter_of(d) for name, d in space.items()}
    if None in conditions.values() or any(p.count() > MAX_CANDIDATES for p in found.values()):
        return None
    n_columns = sum(parameter.n_columns for parameter in found.values())
    most = MAX_CANDIDATES if with_proxies else min(MAX_CANDIDATES, MAX_CELLS // int(n_columns))
    choices: dict[str, Choices] = {}
    codes: dict[str, npt.NDArray[np.intp]] = {}
    n_candidates = 1
    for name in (*(name for name in space if name not in conditions), *conditions):
        values = Choices(found[name].all())
        condition = conditions.get(name)
        inactive = np.zeros(n_candidates, dtype=np.bool_)
        if condition is not None:
            parent, excluded = condition.parent, {INACTIVE, *condition.keys}
            inactive = np.isin(
                codes[parent],
                [code for code, key in enumerate(choices[parent].keys) if key in excluded],
            )
        n_branch = np.where(inactive, 1, len(values))
        n_candidates = int(n_branch.sum())
        if n_candidates > most:
            return None
        # Each configuration so far branches into one for each value.
        rows = np.repeat(np.arange(len(n_branch)), n_branch)
        codes = {known: of_known[rows] for known, of_known in codes.items()}
        codes[name] = np.arange(n_candidates) - (np.cumsum(n_branch) - n_branch)[rows]
        choices[name] = values
        if condition is not None:
            choices[name] = Choices((*values, INACTIVE))
            codes[name][inactive[rows]] = len(values)
    coordinates = {
        name: [*values, INACTIVE_COORDINATE] if name in conditions else values
        for name, values in coordinates_of(space).items()
    }
    return CandidateSet(
        {name: choices[name] for name in space},
        np.stack([codes[name] for name in space], axis=1),
        coordinates=coordinates,
        conditions=conditions,
    )


def axes_of(
    space: Mapping[str, BaseDistribution],
    ranges: Mapping[str, BaseDistribution] | None = None,
) -> dict[str, Axis]:
    """Axes of the unit cube for the parameters of a space.

    Args:
        space: Distribution of each parameter.
        ranges: Narrower distributions of some numbers, from which alone points are drawn.
    """
    ranges = ranges or {}
    return {name: parameter_of(d).axis(ranges.get(name, d)) for name, d in space.items()}


def offered(name: str, value: Any, distribution: BaseDistribution) -> Any:
    """Return a candidate's value as the distribution that asks for it spells it.

    Raises:
        ValueError: If the distribution does not offer the value.
    """
    parameter = parameter_of(distribution)
    found = parameter.find(value)
    if found is NOTHING:
        raise ValueError(
            f"The candidates of ZAPSSampler include {name}={value!r}, but the study offers only "
            f"{parameter.offer} for {name!r}. Leave it out of the proxy table and search_space, "
            "or add the choice to the study."
        )
    return found


def union(one: BaseDistribution, other: BaseDistribution) -> BaseDistribution | None:
    """Distribution that has the values of both.

    Returns:
        ``None`` where Optuna takes the two for different parameters: of another type or scale, or
        of other choices.
    """
    return parameter_of(one).union(other)


def same(one: BaseDistribution | None, other: BaseDistribution) -> bool:
    """Whether two distributions are equal, at once where nothing in them is NaN.

    Optuna compares choice by choice, which takes a tenth of a second for 100,000.
    """
    return type(one) is type(other) and (one.__dict__ == other.__dict__ or one == other)


def same_space(one: Mapping[str, BaseDistribution], other: Mapping[str, BaseDistribution]) -> bool:
    """Whether two spaces have the same parameters with equal distributions."""
    return one.keys() == other.keys() and all(same(d, other[name]) for name, d in one.items())
