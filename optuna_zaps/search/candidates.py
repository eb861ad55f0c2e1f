"""Finite set of configurations that a search chooses from (Section 3: the space A).

Notations:
    codes: int array of shape (n_candidates, n_parameters); ``codes[i, j]`` is the position of
        candidate ``i``'s value among the choices of parameter ``j``.
    name: uint64 number of a configuration, a weighted sum of its codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from functools import cached_property
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from optuna_zaps.search.choices import Choices
from optuna_zaps.search.columns import Column
from optuna_zaps.search.conditions import INACTIVE
from optuna_zaps.search.conditions import Conditions
from optuna_zaps.search.conditions import active_params
from optuna_zaps.search.encoding import Encoding


MAX_CANDIDATES = 2**18
"""Largest space that is enumerated, in configurations (an 8 MiB table of 32-byte rows)."""


class CandidateSet:
    """Configurations by index, and the way back from parameters to the index.

    Args:
        choices:
            The possible values of each parameter, in the order that ``codes`` refers to.
        codes:
            Array of shape (n_candidates, n_parameters) of positions in ``choices``.
        coordinates:
            For each parameter whose choices are numbers the coordinate of each choice in [0, 1],
            on the scale on which differences matter: its column of the encoding. The other
            parameters are encoded one-hot.
        drop_repeated:
            Whether a configuration that equals an earlier one is left out, rather than an error.
        n_seen:
            Of a pool, number of candidates, the first, that have been tried. The encoding of a
            pool has at most :data:`~optuna_zaps.search.encoding.MAX_POOL_COLUMNS` columns; by
            default the candidates are no pool, and there are as many columns as
            :data:`~optuna_zaps.search.encoding.MAX_CELLS` allows.
        conditions:
            Conditions of the parameters that some candidates lack. These have ``INACTIVE`` as
            their last choice.

    Raises:
        ValueError: If two candidates are the same configuration, or there is none.
    """

    def __init__(
        self,
        choices: Mapping[str, Sequence[Any]],
        codes: npt.NDArray[np.integer[Any]],
        *,
        coordinates: Mapping[str, npt.ArrayLike] | None = None,
        drop_repeated: bool = False,
        n_seen: int | None = None,
        conditions: Conditions | None = None,
    ) -> None:
        self.choices = {
            name: values if isinstance(values, Choices) else Choices(values)
            for name, values in choices.items()
        }
        self.codes = np.ascontiguousarray(codes, dtype=np.intp)
        self.coordinates = {
            name: np.asarray(values, dtype=np.float64)
            for name, values in (coordinates or {}).items()
        }
        self.conditions = conditions or {}
        self._is_grid = False
        assert self.codes.ndim == 2
        assert self.codes.shape[1] == len(self.choices)
        if len(self.codes) == 0:
            raise ValueError("There must be at least one candidate, but got none.")
        self._n_seen = n_seen
        self._weights = _weights([len(values) for values in self.choices.values()])
        self._names = _names(self.codes, self._weights)
        # Sorting is far faster than `np.unique`, which has to find their positions.
        ordered = np.sort(self._names)
        n_repeated = int((ordered[1:] == ordered[:-1]).sum())
        if n_repeated and drop_repeated:
            first = np.sort(np.unique(self._names, return_index=True)[1])
            self.codes, self._names = self.codes[first], self._names[first]
        elif n_repeated:
            repeated = self.params(self._first_duplicate())
            raise ValueError(
                f"Every configuration must occur once, but {repeated} occurs again "
                f"({n_repeated} duplicates in all)."
            )

    @classmethod
    def grid(
        cls,
        choices: Mapping[str, Sequence[Any]],
        *,
        coordinates: Mapping[str, npt.ArrayLike] | None = None,
    ) -> CandidateSet:
        """All combinations of the choices, the last parameter varying fastest."""
        sizes = [len(values) for values in choices.values()]
        codes = np.indices(sizes, dtype=np.intp).reshape(len(sizes), -1).T
        candidates = cls(choices, codes, coordinates=coordinates)
        candidates._is_grid = True
        return candidates

    def __getstate__(self) -> dict[str, Any]:
        """Return the arguments of the set; of a grid, its choices are enough."""
        most = max(len(values) for values in self.choices.values())
        return {
            "choices": {name: tuple(values) for name, values in self.choices.items()},
            "codes": None if self._is_grid else self.codes.astype(np.min_scalar_type(most)),
            "coordinates": self.coordinates,
            "n_seen": self._n_seen,
            "conditions": self.conditions,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state["codes"] is None:
            self.__dict__.update(
                vars(self.grid(state["choices"], coordinates=state["coordinates"]))
            )
        else:
            CandidateSet.__init__(self, **state)

    @classmethod
    def from_columns(
        cls,
        columns: Mapping[str, Column],
        choices: Mapping[str, Sequence[Any]] | None = None,
        *,
        coordinates: Mapping[str, npt.ArrayLike] | None = None,
    ) -> CandidateSet:
        """One candidate for each row of a table of the parameters.

        Args:
            columns:
                Values of each parameter, all of shape (n_candidates,).
            choices:
                Possible values of each parameter. By default those that occur, in order of first
                appearance.
            coordinates:
                See the class.

        Raises:
            ValueError: If a value is not among the choices, or a configuration occurs twice.
        """
        found = {name: column.factorized() for name, column in columns.items()}
        if choices is None:
            choices = {name: occurring for name, (_, occurring) in found.items()}
        offered = {name: Choices(values) for name, values in choices.items()}
        codes = np.empty((len(next(iter(found.values()))[0]), len(offered)), dtype=np.intp)
        for parameter, (name, values) in enumerate(offered.items()):
            own, occurring = found[name]
            positions = [values.position(value) for value in occurring]
            if None in positions:
                unknown = positions.index(None)
                raise ValueError(
                    f"Row {int((own == unknown).argmax())} has {name}={occurring[unknown]!r}, but "
                    f"the search space offers only {list(values)} for {name!r}."
                )
            codes[:, parameter] = np.asarray(positions)[own]
        return cls(offered, codes, coordinates=coordinates)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(self.choices)

    # Lazily: a pool lives for one trial, which seldom needs the index.
    @cached_property
    def _index(self) -> dict[int, int]:
        """Row by the number that names the configuration."""
        return {name: row for row, name in enumerate(self._names.tolist())}

    def _first_duplicate(self) -> int:
        # The dictionary keeps the last row of equal ones, so a row that it maps elsewhere repeats.
        return next(
            row for row, name in enumerate(self._names.tolist()) if self._index[name] != row
        )

    @cached_property
    def _encoded(self) -> Encoding:
        return Encoding(self.choices, self.codes, self.coordinates, self._n_seen)

    @property
    def encoding(self) -> npt.NDArray[np.float32]:
        """Array of shape (n_candidates, n_columns), see :mod:`optuna_zaps.search.encoding`."""
        return self._encoded.matrix

    @property
    def widths(self) -> tuple[int, ...]:
        """See :attr:`Encoding.widths`."""
        return self._encoded.widths

    @property
    def numeric(self) -> tuple[bool, ...]:
        """See :attr:`Encoding.numeric`."""
        return self._encoded.numeric

    @property
    def shared_choices(self) -> tuple[int, ...]:
        """See :attr:`Encoding.shared_choices`."""
        return self._encoded.shared_choices

    def neighbourhood_mean(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Mean over the neighbours of each candidate, which differ from it in one parameter.

        Args:
            values: Array of shape (n_candidates, n_columns).

        Returns:
            Array of the same shape; a candidate without a neighbour has its own values.
        """
        from scipy.sparse import csr_array

        total = np.zeros_like(values)
        count = np.zeros((len(self), 1))
        for column, weight in enumerate(self._weights):
            # Candidates that differ in this parameter alone lie on a line: they share the name
            # without its part.
            own = self.codes[:, column].astype(np.uint64) * weight
            lines, line = np.unique(self._names - own, return_inverse=True)
            member = csr_array(
                (np.ones(len(self)), line, np.arange(len(self) + 1)), (len(self), len(lines))
            )
            total += member @ (member.T @ values) - values
            size = np.bincount(line)  # of each line
            count += (size[line] - 1.0)[:, np.newaxis]
        return np.where(count > 0, total / np.maximum(count, 1.0), values)

    def params(self, candidate: int) -> dict[str, Any]:
        """Parameters of a candidate, without those that are inactive."""
        values = (
            (name, choices[code])
            for (name, choices), code in zip(
                self.choices.items(), self.codes[candidate].tolist(), strict=True
            )
        )
        return {name: value for name, value in values if value is not INACTIVE}

    def index(self, params: Mapping[str, Any]) -> int | None:
        """Candidate with these parameters; further and inactive parameters are ignored.

        Returns:
            ``None`` if a parameter is missing or no candidate has these values.
        """
        if self.conditions:
            active = active_params(params, self.conditions)
            if active is None:
                return None
            params = {**dict.fromkeys(self.conditions, INACTIVE), **active}
        key = 0
        for name, weight in zip(self.choices, self._weights.tolist(), strict=True):
            if name not in params:
                return None
            position = self._position(name, params[name])
            if position is None:
                return None
            key += weight * position
        return self._index.get(key % 2**64)

    def matching(self, fixed: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
        """Mask of shape (n_candidates,) of the candidates that have the fixed values.

        A fixed value of a parameter that is inactive changes nothing.
        """
        mask = np.ones(len(self), dtype=np.bool_)
        for column, name in enumerate(self.choices):
            if name in fixed:
                position = self._position(name, fixed[name])
                codes = self.codes[:, column]
                fits = codes == (-1 if position is None else position)
                if name in self.conditions:
                    fits |= codes == len(self.choices[name]) - 1
                mask &= fits
        return mask

    def columns(self, candidates: npt.NDArray[np.intp] | None = None) -> dict[str, list[Any]]:
        """Values of each parameter, NaN where it is inactive.

        Args:
            candidates: Which, by default all.
        """
        codes = self.codes if candidates is None else self.codes[candidates]
        return {
            name: [values[code] for code in codes[:, parameter].tolist()]
            for parameter, (name, choices) in enumerate(self.choices.items())
            for values in [[math.nan if c is INACTIVE else c for c in choices]]
        }

    @cached_property
    def _numbers(self) -> dict[str, npt.NDArray[np.float64]]:
        """Choices of the parameters that are numbers, as floats."""
        return {
            name: np.asarray(self.choices[name], dtype=np.float64) for name in self.coordinates
        }

    def _position(self, name: str, value: Any) -> int | None:
        position = self.choices[name].position(value)
        if position is None and name in self.coordinates and isinstance(value, int | float):
            # A float on a grid reaches us rounded in more than one way: low + k * step.
            distance = np.abs(self._numbers[name] - value)
            nearest = int(np.nanargmin(distance))
            return nearest if distance[nearest] < 1e-12 * (1 + abs(value)) else None
        return position


def _weights(sizes: Sequence[int]) -> npt.NDArray[np.uint64]:
    """Per-parameter weights of a position in the number that names a configuration.

    Those of the mixed radix, where it fits into 64 bits. Beyond, random odd numbers: then two of
    a million candidates share a name with a probability of about 10^-7.
    """
    if math.prod(sizes) < 2**63:
        strides = [math.prod(sizes[column + 1 :]) for column in range(len(sizes))]
        return np.array(strides, dtype=np.uint64)
    rng = np.random.default_rng(0)
    return rng.integers(2**63, size=len(sizes), dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def _names(codes: npt.NDArray[np.intp], weights: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Number that names each configuration, modulo 2^64, shape (n_candidates,)."""
    return np.asarray(codes.astype(np.uint64) @ weights, dtype=np.uint64)
