"""Finite search space of categorical parameters, or a pool of it, for the baselines.

Notations:
    configuration: tuple of the positions of its values among the choices of each parameter,
        length n_parameters; cheap to hash, whatever the types of the choices.
    codes: int array of shape (n_configurations, n_parameters), configurations of a pool by row.
    pool: the configurations that exist, if not every combination of choices does.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from functools import cached_property
from itertools import product
import math
from typing import Any

import numpy as np
import numpy.typing as npt
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
import pandas as pd

from harness.problems.projection import HammingProjection
from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.choices import Choices
from optuna_zaps.search.table import split_table


Configuration = tuple[int, ...]
SearchSpace = Mapping[str, BaseDistribution | Sequence[Any]]

_REJECTIONS = 64


class Space:
    """Configurations of categorical parameters.

    Args:
        choices: Possible values of each parameter.
        pool: Codes of the configurations that exist, shape (n_configurations, n_parameters); by
            default every combination.
    """

    def __init__(
        self, choices: Mapping[str, Sequence[Any]], pool: npt.NDArray[np.intp] | None = None
    ) -> None:
        self.choices = {name: Choices(values) for name, values in choices.items()}
        self.pool = pool

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(self.choices)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of choices of each parameter."""
        return tuple(len(values) for values in self.choices.values())

    def __len__(self) -> int:
        return math.prod(self.sizes) if self.pool is None else len(self.pool)

    def __contains__(self, configuration: Configuration) -> bool:
        return self.pool is None or configuration in self._rows

    @cached_property
    def rows(self) -> list[Configuration]:
        """All configurations: those of the pool, or every combination."""
        if self.pool is None:
            return list(product(*map(range, self.sizes)))
        return list(map(tuple, self.pool.tolist()))

    @cached_property
    def _rows(self) -> dict[Configuration, int]:
        return {configuration: row for row, configuration in enumerate(self.rows)}

    def row(self, configuration: Configuration) -> int:
        """Position of a configuration in :attr:`rows`."""
        return self._rows[configuration]

    def configuration(self, params: Mapping[str, Any]) -> Configuration | None:
        """Look up the configuration of a trial's parameters; further parameters are ignored.

        Returns:
            The configuration; ``None`` if a parameter is missing or has a value that is no choice.
        """
        codes = []
        for name, values in self.choices.items():
            if name not in params:
                return None
            code = values.position(params[name])
            if code is None:
                return None
            codes.append(code)
        return tuple(codes)

    def params(self, configuration: Configuration) -> dict[str, Any]:
        """Parameters of a configuration."""
        return {
            name: values[code]
            for (name, values), code in zip(self.choices.items(), configuration, strict=True)
        }

    @cached_property
    def projection(self) -> HammingProjection:
        """Projection of any combination of choices to the nearest configurations."""
        return HammingProjection(np.asarray(self.rows) if self.pool is None else self.pool)

    def random(self, rng: np.random.Generator) -> Configuration:
        """Draw a configuration uniformly."""
        if self.pool is not None:
            return self.rows[int(rng.integers(len(self.pool)))]
        return tuple(rng.integers(self.sizes).tolist())

    def random_unseen(
        self, rng: np.random.Generator, seen: Collection[Configuration]
    ) -> Configuration:
        """Draw uniformly from the configurations not seen yet; from all if all were."""
        for _ in range(_REJECTIONS):
            configuration = self.random(rng)
            if configuration not in seen:
                return configuration
        # So many rejections mean that most of the space was seen, hence that it is small.
        unseen = [configuration for configuration in self.rows if configuration not in seen]
        return unseen[int(rng.integers(len(unseen)))] if unseen else self.random(rng)

    def sample_unseen(
        self, n: int, seen: Collection[Configuration], rng: np.random.Generator
    ) -> list[Configuration]:
        """Draw ``n`` distinct configurations not seen yet, or all that are left."""
        left = [configuration for configuration in self.rows if configuration not in seen]
        chosen = rng.choice(len(left), size=min(n, len(left)), replace=False)
        return [left[i] for i in chosen.tolist()]

    def neighbours(self, configuration: Configuration) -> list[Configuration]:
        """List configurations that differ in one parameter, in order of parameter and choice."""
        return [
            neighbour
            for position, size in enumerate(self.sizes)
            for code in range(size)
            if code != configuration[position]
            if (neighbour := replaced(configuration, position, code)) in self
        ]

    def one_hot(self, configurations: Sequence[Configuration]) -> npt.NDArray[np.float32]:
        """Encode configurations one-hot, shape (len(configurations), total number of choices)."""
        codes = np.asarray(configurations, dtype=np.intp).reshape(-1, len(self.sizes))
        blocks = [codes[:, [i]] == np.arange(size) for i, size in enumerate(self.sizes)]
        return np.hstack(blocks).astype(np.float32)


def replaced(configuration: Configuration, position: int, code: int) -> Configuration:
    """Replace one parameter's choice in a configuration."""
    return (*configuration[:position], code, *configuration[position + 1 :])


def make_space(search_space: SearchSpace | None, candidates: pd.DataFrame | None) -> Space | None:
    """Make the space that a sampler's arguments describe.

    Args:
        search_space: Categorical distribution, or sequence of choices, of each parameter.
        candidates: The configurations that exist, one per row, in columns named like parameters;
            other columns are ignored if there is a ``search_space``.

    Returns:
        The space, or ``None`` if both are ``None``.

    Raises:
        ValueError: If the space is empty, a parameter is missing from the table, or the table
            repeats a configuration or has a value that ``search_space`` does not offer.
        TypeError: If a parameter is not categorical.
    """
    choices = None if search_space is None else _choices(search_space)
    if candidates is None:
        return None if choices is None else Space(choices)
    if candidates.empty:
        raise ValueError("candidates must have at least one row, but is empty.")
    names = list(candidates.columns) if choices is None else list(choices)
    missing = [name for name in names if name not in candidates.columns]
    if missing:
        raise ValueError(
            f"candidates must have a column for each parameter, but {missing} are missing from "
            f"its columns {list(candidates.columns)}."
        )
    parameters, _ = split_table(candidates, names)
    table = CandidateSet.from_columns(parameters.columns, choices)
    return Space(table.choices, table.codes)


def categorical(space: Mapping[str, BaseDistribution]) -> dict[str, BaseDistribution]:
    """Select the categorical parameters with more than one choice."""
    return {
        name: distribution
        for name, distribution in space.items()
        if isinstance(distribution, CategoricalDistribution) and not distribution.single()
    }


def _choices(search_space: SearchSpace) -> dict[str, tuple[Any, ...]]:
    if not search_space:
        raise ValueError("search_space must have at least one parameter, but is empty.")
    choices = {}
    for name, values in search_space.items():
        if isinstance(values, CategoricalDistribution):
            choices[name] = tuple(values.choices)
        elif isinstance(values, Sequence) and not isinstance(values, str):
            choices[name] = tuple(CategoricalDistribution(values).choices)
        else:
            raise TypeError(
                "search_space must map each name to a CategoricalDistribution or a sequence of "
                f"choices, but got {values!r} for {name!r}."
            )
    return choices
