"""The finite set of configurations that a search chooses from (paper, Section 3: the space A).

Notations:
    codes: int array of shape (n_candidates, n_parameters); ``codes[i, j]`` is the position of
        candidate ``i``'s value among the choices of parameter ``j``.
    encoding: float32 array of shape (n_candidates, n_features), the structure e(a) of
        Section 3.4: one-hot for unordered parameters, the place in [0, 1] for numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
from functools import cached_property
import hashlib
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array


MAX_CANDIDATES = 2**18
"""Largest space that is enumerated, in configurations (an 8 MiB table of 32-byte rows)."""


_LONG = 64
"""Longest text of a choice that is known by itself rather than by its digest."""

_DIGEST = "sha256"


class _NaN:
    """Stands for NaN among choices; a class, so that it stays one object in a pickle."""


class Choices(tuple[Any, ...]):
    """The possible values of a parameter.

    Their keys and positions are found once for all candidate sets that share them.
    """

    @cached_property
    def keys(self) -> tuple[Hashable, ...]:
        """:func:`choice_key` of each."""
        return tuple(map(choice_key, self))

    @cached_property
    def offer(self) -> frozenset[Hashable]:
        """The keys in no order."""
        return frozenset(self.keys)

    @cached_property
    def positions(self) -> dict[Hashable, int]:
        """Position of each by its key."""
        return {key: position for position, key in enumerate(self.keys)}

    @cached_property
    def missing(self) -> int | None:
        """Position of ``None`` or NaN, ``None`` if neither is among them."""
        return next((i for i, value in enumerate(self) if is_missing(value)), None)

    def position(self, value: Any) -> int | None:
        """Position of a value, ``None`` if it is none of them.

        ``None`` and NaN stand for each other where only one of them is offered: a table does not
        tell them apart.
        """
        position = self.positions.get(choice_key(value))
        return self.missing if position is None and is_missing(value) else position


class CandidateSet:
    """Configurations by index, and the way back from parameters to the index.

    Args:
        choices:
            The possible values of each parameter, in the order that ``codes`` refers to.
        codes:
            Array of shape (n_candidates, n_parameters) of positions in ``choices``.
        places:
            For each parameter whose choices are numbers the place of each of them in [0, 1], on
            the scale on which differences matter: its one numeric feature. The other parameters
            are encoded one-hot.
        drop_repeated:
            Whether a configuration that equals an earlier one is left out, rather than an error.

    Raises:
        ValueError: If two candidates are the same configuration, or there is none.
    """

    def __init__(
        self,
        choices: Mapping[str, Sequence[Any]],
        codes: npt.NDArray[np.integer[Any]],
        *,
        places: Mapping[str, npt.ArrayLike] | None = None,
        drop_repeated: bool = False,
    ) -> None:
        self.choices = {
            name: values if isinstance(values, Choices) else Choices(values)
            for name, values in choices.items()
        }
        self.codes = np.ascontiguousarray(codes, dtype=np.intp)
        self.places = {
            name: np.asarray(values, dtype=np.float64) for name, values in (places or {}).items()
        }
        self._is_grid = False
        assert self.codes.ndim == 2
        assert self.codes.shape[1] == len(self.choices)
        if len(self.codes) == 0:
            raise ValueError("There must be at least one candidate, but got none.")
        self._weights = _weights([len(values) for values in self.choices.values()])
        self._names = _names(self.codes, self._weights)
        if drop_repeated:
            first = np.sort(np.unique(self._names, return_index=True)[1])
            self.codes, self._names = self.codes[first], self._names[first]
        elif n_repeated := len(self.codes) - len(np.unique(self._names)):
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
        places: Mapping[str, npt.ArrayLike] | None = None,
    ) -> CandidateSet:
        """All combinations of the choices, the last parameter varying fastest."""
        sizes = [len(values) for values in choices.values()]
        codes = np.indices(sizes, dtype=np.intp).reshape(len(sizes), -1).T
        candidates = cls(choices, codes, places=places)
        candidates._is_grid = True
        return candidates

    def __getstate__(self) -> dict[str, Any]:
        """Return what makes the set anew; a grid is told by its choices alone."""
        most = max(len(values) for values in self.choices.values())
        return {
            "choices": {name: tuple(values) for name, values in self.choices.items()},
            "codes": None if self._is_grid else self.codes.astype(np.min_scalar_type(most)),
            "places": self.places,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state["codes"] is None:
            self.__dict__.update(vars(self.grid(state["choices"], places=state["places"])))
        else:
            CandidateSet.__init__(self, **state)

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        choices: Mapping[str, Sequence[Any]] | None = None,
        *,
        places: Mapping[str, npt.ArrayLike] | None = None,
    ) -> CandidateSet:
        """One candidate for each row of a frame whose columns are the parameters.

        Args:
            frame:
                Frame of shape (n_candidates, n_parameters).
            choices:
                Possible values of each parameter. By default those that occur, in order of first
                appearance.
            places:
                As for the class.

        Raises:
            ValueError: If a value is not among the choices, or a configuration occurs twice.
        """
        occurring, codes = {}, np.empty(frame.shape, dtype=np.intp)
        for column, name in enumerate(frame.columns):
            codes[:, column], occurring[name] = _factorized(frame[name])
        if choices is None:
            return cls(occurring, codes, places=places)
        offered = {name: Choices(values) for name, values in choices.items()}
        for column, (name, values) in enumerate(offered.items()):
            translation = []
            for code, value in enumerate(occurring[name]):
                position = values.position(value)
                if position is None:
                    row = int((codes[:, column] == code).argmax())
                    raise ValueError(
                        f"Row {row} has {name}={value!r}, but the search space offers only "
                        f"{list(values)} for {name!r}."
                    )
                translation.append(position)
            codes[:, column] = np.asarray(translation)[codes[:, column]]
        return cls(offered, codes, places=places)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(self.choices)

    # A pool of candidates lives for one trial, which seldom looks anything up in it.
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
    def encoding(self) -> npt.NDArray[np.float32]:
        """Array of shape (n_candidates, n_features); see the module's notations."""
        # Columns next to each other in memory, since a fit selects columns.
        encoding = np.zeros((len(self), sum(self.widths)), dtype=np.float32, order="F")
        rows, start = np.arange(len(self)), 0
        for column, (name, width) in enumerate(zip(self.choices, self.widths, strict=True)):
            code = self.codes[:, column]
            if name in self.places:
                encoding[:, start] = self.places[name][code]
            else:
                encoding[rows, start + code] = 1.0
            start += width
        return encoding

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of columns of the encoding that each parameter has."""
        return tuple(
            1 if name in self.places else len(values) for name, values in self.choices.items()
        )

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Whether each parameter is encoded as a number."""
        return tuple(name in self.places for name in self.choices)

    @property
    def kinds(self) -> tuple[int, ...]:
        """For each column of the encoding the number of its choice.

        Parameters that offer the same choices, in any order, share numbers, as the edges of a
        cell share operations. -1 where no other parameter offers the same, and for numbers.
        """
        # Numbers are left out first: drawn from a range, they are thousands of choices.
        unordered = {n: choices for n, choices in self.choices.items() if n not in self.places}
        n_offering = Counter(choices.offer for choices in unordered.values())
        numbers: dict[frozenset[Hashable], dict[Hashable, int]] = {}
        kinds: list[int] = []
        for name, choices in self.choices.items():
            if name not in unordered:
                kinds.append(-1)
            elif n_offering[choices.offer] == 1:
                kinds += [-1] * len(choices)
            else:
                if choices.offer not in numbers:
                    start = sum(map(len, numbers.values()))
                    numbers[choices.offer] = {k: start + i for i, k in enumerate(choices.keys)}
                kinds += map(numbers[choices.offer].__getitem__, choices.keys)
        return tuple(kinds)

    def neighbourhood_mean(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Mean over the neighbours of each candidate, those that differ in one parameter.

        Args:
            values: Array of shape (n_candidates, n_columns).

        Returns:
            Array of the same shape; a candidate without a neighbour has its own values.
        """
        total = np.zeros_like(values)
        count = np.zeros((len(self), 1))
        for column, weight in enumerate(self._weights):
            # The name without this parameter is that of the line of all that differ in it alone.
            place = self.codes[:, column].astype(np.uint64) * weight
            lines, line = np.unique(self._names - place, return_inverse=True)
            member = csr_array(
                (np.ones(len(self)), line, np.arange(len(self) + 1)), (len(self), len(lines))
            )
            total += member @ (member.T @ values) - values
            size = np.bincount(line)  # of each line
            count += (size[line] - 1.0)[:, np.newaxis]
        return np.where(count > 0, total / np.maximum(count, 1.0), values)

    def params(self, candidate: int) -> dict[str, Any]:
        """Parameters of a candidate."""
        return {
            name: values[code]
            for (name, values), code in zip(
                self.choices.items(), self.codes[candidate].tolist(), strict=True
            )
        }

    def index(self, params: Mapping[str, Any]) -> int | None:
        """Candidate with these parameters; further parameters are ignored.

        Returns:
            ``None`` if a parameter is missing or no candidate has these values.
        """
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
        """Mask of shape (n_candidates,) of the candidates that have the fixed values."""
        mask = np.ones(len(self), dtype=np.bool_)
        for column, name in enumerate(self.choices):
            if name in fixed:
                position = self._position(name, fixed[name])
                mask &= self.codes[:, column] == (-1 if position is None else position)
        return mask

    def frame(self, candidates: npt.NDArray[np.intp] | None = None) -> pd.DataFrame:
        """Parameters as a frame, one row per candidate, all of them by default."""
        codes = self.codes if candidates is None else self.codes[candidates]
        return pd.DataFrame(
            {
                name: pd.Series([values[code] for code in codes[:, column].tolist()], dtype=object)
                for column, (name, values) in enumerate(self.choices.items())
            }
        )

    @cached_property
    def _numbers(self) -> dict[str, npt.NDArray[np.float64]]:
        """Choices of the parameters that are numbers, as floats."""
        return {name: np.asarray(self.choices[name], dtype=np.float64) for name in self.places}

    def _position(self, name: str, value: Any) -> int | None:
        position = self.choices[name].position(value)
        if position is None and name in self.places and isinstance(value, int | float):
            # A float on a grid reaches us rounded in more than one way: low + k * step.
            distance = np.abs(self._numbers[name] - value)
            nearest = int(distance.argmin())
            return nearest if distance[nearest] < 1e-12 * (1 + abs(value)) else None
        return position


def choice_key(value: Any) -> Any:
    """Hashable stand-in that equals itself for NaN, as Optuna compares choices.

    A list equals a tuple: storages return either as a list. What is long is known by its digest.
    """
    if type(value) in (int, bool) or (type(value) is str and len(value) <= _LONG):
        return value  # most are, and are asked for often
    if isinstance(value, float) and math.isnan(value):
        return _NaN
    if isinstance(value, Mapping) and value.keys() == {_DIGEST}:
        return (_DIGEST, value[_DIGEST])
    key: Any = value
    if isinstance(value, list | tuple):
        key = tuple(choice_key(item) for item in value)
    elif not isinstance(value, Hashable):
        key = repr(value)
    if isinstance(key, str | tuple) and len(text := repr(key)) > _LONG + 2:
        return (_DIGEST, hashlib.sha256(text.encode()).hexdigest())
    return key


def digested(value: Any) -> Any:
    """A value, or, if that is long, what stands for it among choices and is short as JSON."""
    key = choice_key(value)
    if isinstance(key, tuple) and len(key) == 2 and key[0] == _DIGEST:
        return {_DIGEST: key[1]}
    return value


def is_missing(value: Any) -> bool:
    """Whether pandas takes a value for a missing one."""
    missing = pd.isna(value)
    return isinstance(missing, bool) and missing  # of a list it says so for each item


def _weights(sizes: Sequence[int]) -> npt.NDArray[np.uint64]:
    """What a position counts for, for each parameter, in the number that names a configuration.

    That of the mixed radix, where it fits into 64 bits. Beyond, a random odd number: then two of
    the candidates share a name with a chance of about 10^-7 for a million of them.
    """
    if math.prod(sizes) < 2**63:
        strides = [math.prod(sizes[column + 1 :]) for column in range(len(sizes))]
        return np.array(strides, dtype=np.uint64)
    rng = np.random.default_rng(0)
    return rng.integers(2**63, size=len(sizes), dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def _names(codes: npt.NDArray[np.intp], weights: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The number that names each configuration, modulo 2^64, shape (n_candidates,)."""
    return np.asarray(codes.astype(np.uint64) @ weights, dtype=np.uint64)


def _factorized(column: pd.Series[Any]) -> tuple[npt.NDArray[np.intp], tuple[Any, ...]]:
    """Codes and distinct values, in order of first appearance.

    Scalars and arrays of NumPy become Python's scalars and lists. A missing value in a column
    that is not of floats is ``None``, unless the column has both ``None`` and NaN.
    """
    values = column.to_numpy(dtype=object)
    codes = _codes(values)
    distinct = values[np.unique(codes, return_index=True)[1]].tolist()
    n_missing = sum(map(is_missing, distinct))
    dtype = column.cat.categories.dtype if hasattr(column, "cat") else column.dtype
    missing = math.nan if pd.api.types.is_float_dtype(dtype) else None
    return codes, tuple(
        _scalar(value, missing if n_missing == 1 or not isinstance(value, float) else math.nan)
        for value in distinct
    )


def _codes(values: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Number of each value among the distinct ones, in order of first appearance."""
    with contextlib.suppress(TypeError):
        codes = pd.factorize(values, use_na_sentinel=False)[0]
        if len({isinstance(value, float) for value in values[pd.isna(values)]}) < 2:
            return codes
    # pandas finds no hash of lists, and takes None and NaN for one.
    keys = (
        choice_key(value if isinstance(value, float) else _scalar(value, None)) for value in values
    )
    return pd.factorize(np.fromiter(keys, object, len(values)), use_na_sentinel=False)[0]


def _scalar(value: Any, missing: float | None) -> Any:
    if is_missing(value):
        return missing
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value
