"""Between Optuna's distributions and the choices of a candidate set."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import math
from typing import Any

import numpy as np
import numpy.typing as npt
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.distributions import IntDistribution
import pandas as pd

from optuna_zaps import _checks
from optuna_zaps.search.candidates import MAX_CANDIDATES
from optuna_zaps.search.candidates import MAX_CELLS
from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.candidates import choice_key
from optuna_zaps.search.candidates import is_missing
from optuna_zaps.search.pool import Axis
from optuna_zaps.search.pool import NumericAxis
from optuna_zaps.search.pool import UnorderedAxis
from optuna_zaps.study.grids import numbers_of


_NOTHING = object()
"""Stands for no value where any value may be a choice."""

SearchSpace = Mapping[str, BaseDistribution | Sequence[Any]]


def normalized(search_space: SearchSpace) -> dict[str, BaseDistribution]:
    """A distribution for each parameter; a sequence is one of categorical choices.

    Raises:
        ValueError: If the space is empty or a parameter has no choice.
        TypeError: If it is no mapping, a name is no text, or a parameter has neither a
            distribution nor a sequence.
    """
    if not isinstance(search_space, Mapping):
        raise TypeError(
            "search_space must map each name to a distribution or a sequence of choices, but got "
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
    """The distribution of one parameter of a user's space."""
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
    """A choice as Python has it: scalars of NumPy and pandas are no JSON, as a storage writes."""
    if choice is pd.NA:
        return None
    return choice.item() if isinstance(choice, np.generic) else choice


def size(space: Mapping[str, BaseDistribution]) -> float:
    """Number of configurations; infinite if a parameter is continuous."""
    counts = [n_values(distribution) for distribution in space.values()]
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
    n_columns = sum(
        n_values(d) if isinstance(d, CategoricalDistribution) else 1 for d in space.values()
    )
    # A pool tells apart what was tried, where all configurations would have to share columns:
    # with three parameters of 64 choices it is much the better one. But a single parameter has
    # nothing to tell apart.
    is_narrow = len(space) == 1 or n_candidates * n_columns <= MAX_CELLS
    return with_proxies or is_narrow


def choices_of(space: Mapping[str, BaseDistribution]) -> dict[str, tuple[Any, ...]]:
    """Values of each parameter of a finite space."""
    return {name: values_of(distribution) for name, distribution in space.items()}


def places_of(space: Mapping[str, BaseDistribution]) -> dict[str, list[float]]:
    """The places in [0, 1] of the values of each parameter of a finite space that is a number."""
    return {
        name: Scale(distribution).coordinates(values_of(distribution)).tolist()
        for name, distribution in space.items()
        if not isinstance(distribution, CategoricalDistribution)
    }


def grid(space: Mapping[str, BaseDistribution]) -> CandidateSet:
    """Every configuration of an enumerable space."""
    return CandidateSet.grid(choices_of(space), places=places_of(space))


def served(name: str, value: Any, distribution: BaseDistribution) -> Any:
    """A candidate's value as the distribution that asks for it spells it.

    Raises:
        ValueError: If the distribution does not offer the value.
    """
    offered = _offered(value, distribution)
    if offered is _NOTHING:
        offer: Any = distribution
        if isinstance(distribution, CategoricalDistribution):
            offer = list(distribution.choices)
        raise ValueError(
            f"The candidates of ZAPSSampler include {name}={value!r}, but the study offers only "
            f"{offer} for {name!r}. Leave it out of the proxy table and search_space, or add the "
            "choice to the study."
        )
    return offered


def offers(distribution: BaseDistribution, value: Any) -> bool:
    """Whether a distribution has a value."""
    return _offered(value, distribution) is not _NOTHING


def _offered(value: Any, distribution: BaseDistribution) -> Any:
    """A value as a distribution spells it, ``_NOTHING`` if it does not have it."""
    if not isinstance(distribution, CategoricalDistribution):
        number = _number(value, distribution)
        return _NOTHING if number is None or number not in numbers_of(distribution) else number
    # Most are found so, in far less time.
    with contextlib.suppress(ValueError):
        return distribution.choices[distribution.choices.index(value)]
    key, missing = choice_key(value), is_missing(value)
    # A table does not tell None from NaN: its missing value is the one that the study offers.
    for is_same in (lambda c: choice_key(c) == key, lambda c: missing and is_missing(c)):
        for choice in filter(is_same, distribution.choices):
            return choice
    return _NOTHING


def _number(value: Any, distribution: BaseDistribution) -> int | float | None:
    """A number of the type that a numeric distribution has, ``None`` for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Neither infinity is an integer, nor is every integer small enough for a float.
    with contextlib.suppress(OverflowError, ValueError):
        number = int(value) if isinstance(distribution, IntDistribution) else float(value)
        return number if number == value and math.isfinite(number) else None
    return None


class Scale:
    """Scale of a numeric distribution, linear or logarithmic, as the interval [0, 1].

    Args:
        distribution: A float or integer distribution.
    """

    def __init__(self, distribution: BaseDistribution) -> None:
        assert isinstance(distribution, FloatDistribution | IntDistribution)
        self._numbers = numbers_of(distribution)
        self._log = distribution.log
        self.ends = distribution.low, distribution.high
        self.dtype = self._numbers.dtype
        self.is_integer = isinstance(distribution, IntDistribution)
        self._low, self._high = self._transformed(np.array(self.ends, dtype=np.float64))

    def n_values(self) -> float:
        """Number of values; infinite in a continuum."""
        return self._numbers.count()

    def all_values(self) -> tuple[Any, ...]:
        """All values in order; of a finite scale only."""
        return self._numbers.all()

    def coordinates(self, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Coordinate of each value, 0 for the lowest and 1 for the highest."""
        transformed = self._transformed(np.asarray(values, dtype=np.float64))
        return np.asarray(
            (transformed - self._low) / ((self._high - self._low) or 1.0), dtype=np.float64
        )

    def values(self, coordinates: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        """Value of the distribution nearest to each coordinate; see :class:`Numbers`."""
        values = self._low + coordinates * (self._high - self._low)
        return self._numbers.nearest(np.exp(values) if self._log else values)

    def _transformed(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.asarray(np.log(values)) if self._log else values


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
    return {name: _axis(d, ranges.get(name, d)) for name, d in space.items()}


def _axis(distribution: BaseDistribution, drawn: BaseDistribution) -> Axis:
    if isinstance(distribution, CategoricalDistribution):
        return UnorderedAxis(values_of(distribution))
    return NumericAxis(Scale(distribution), Scale(drawn))


def spelling(value: Any, distribution: BaseDistribution) -> Any:
    """The one spelling for all roundings of a value that a distribution has."""
    if isinstance(distribution, CategoricalDistribution):
        return value
    return numbers_of(distribution).spelling(value)


def same(one: BaseDistribution | None, other: BaseDistribution) -> bool:
    """Whether two distributions are equal, at once where nothing in them is NaN.

    Optuna compares choice by choice, which takes a tenth of a second for 100,000.
    """
    return type(one) is type(other) and (one.__dict__ == other.__dict__ or one == other)


def same_space(one: Mapping[str, BaseDistribution], other: Mapping[str, BaseDistribution]) -> bool:
    """Whether two spaces have the same parameters with equal distributions."""
    return one.keys() == other.keys() and all(same(d, other[name]) for name, d in one.items())


def n_values(distribution: BaseDistribution) -> float:
    """Number of values of a parameter; infinite if it is continuous."""
    if isinstance(distribution, CategoricalDistribution):
        return len(_distinct(distribution))
    return numbers_of(distribution).count()


def values_of(distribution: BaseDistribution) -> tuple[Any, ...]:
    """Distinct values of a finite parameter, in order."""
    if isinstance(distribution, CategoricalDistribution):
        return _distinct(distribution)
    return numbers_of(distribution).all()


def _distinct(distribution: CategoricalDistribution) -> tuple[Any, ...]:
    """The choices without those that equal an earlier one, as ``True`` equals 1.

    Optuna takes both for the first, so that they are one configuration.
    """
    distinct: dict[Any, Any] = {}
    for choice in distribution.choices:
        distinct.setdefault(choice_key(choice), choice)
    return tuple(distinct.values())
