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
from optuna_zaps._grids import numbers_of
from optuna_zaps.candidates import MAX_CANDIDATES
from optuna_zaps.candidates import CandidateSet
from optuna_zaps.candidates import choice_key
from optuna_zaps.candidates import is_missing


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


def is_enumerable(space: Mapping[str, BaseDistribution]) -> bool:
    """Whether the space is small enough to hold every configuration."""
    return 0 < len(space) and size(space) <= MAX_CANDIDATES


def choices_of(space: Mapping[str, BaseDistribution]) -> dict[str, tuple[Any, ...]]:
    """Values of each parameter of a finite space."""
    return {name: values_of(distribution) for name, distribution in space.items()}


def places_of(space: Mapping[str, BaseDistribution]) -> dict[str, list[float]]:
    """The places in [0, 1] of the values of each parameter of a finite space that is a number."""
    return {
        name: Scale(distribution).places(values_of(distribution)).tolist()
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
    if isinstance(distribution, CategoricalDistribution):
        # Most are found so, in far less time.
        with contextlib.suppress(ValueError):
            return distribution.choices[distribution.choices.index(value)]
        key, missing = choice_key(value), is_missing(value)
        # A table does not tell None from NaN: its missing value is the one that the study offers.
        for is_same in (lambda c: choice_key(c) == key, lambda c: missing and is_missing(c)):
            for choice in filter(is_same, distribution.choices):
                return choice
        offer = str(list(distribution.choices))
    else:
        number = _number(value, distribution)
        if number is not None and number in numbers_of(distribution):
            return number
        offer = str(distribution)
    raise ValueError(
        f"The candidates of ZAPSSampler include {name}={value!r}, but the study offers only "
        f"{offer} for {name!r}. Leave it out of the proxy table and search_space, or add the "
        "choice to the study."
    )


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
    """The scale of a numeric distribution, linear or logarithmic, as the interval [0, 1].

    Args:
        distribution: A float or integer distribution.
    """

    def __init__(self, distribution: BaseDistribution) -> None:
        assert isinstance(distribution, FloatDistribution | IntDistribution)
        self.numbers = numbers_of(distribution)
        self._log = distribution.log
        self._low, self._high = self._transformed(
            np.array([distribution.low, distribution.high], dtype=np.float64)
        )

    def places(self, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Place of each value, 0 for the lowest and 1 for the highest."""
        transformed = self._transformed(np.asarray(values, dtype=np.float64))
        return np.asarray(
            (transformed - self._low) / ((self._high - self._low) or 1.0), dtype=np.float64
        )

    def values(self, places: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        """The value of the distribution nearest to each place; see :class:`Numbers`."""
        values = self._low + places * (self._high - self._low)
        return self.numbers.nearest(np.exp(values) if self._log else values)

    def _transformed(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.asarray(np.log(values)) if self._log else values


def offers(distribution: BaseDistribution, value: Any) -> bool:
    """Whether a distribution has a value."""
    try:
        served("", value, distribution)
    except ValueError:
        return False
    return True


def spelling(value: Any, distribution: BaseDistribution) -> Any:
    """The one spelling for all roundings of a value that a distribution has."""
    if isinstance(distribution, CategoricalDistribution):
        return value
    return numbers_of(distribution).spelling(value)


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
