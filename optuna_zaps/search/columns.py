"""Columns of a table, whatever library they came from."""

from __future__ import annotations

from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import math
from numbers import Integral
from numbers import Real
from typing import Any
from typing import Literal

import numpy as np
import numpy.typing as npt

from optuna_zaps.search.choices import choice_key
from optuna_zaps.search.values import is_missing
from optuna_zaps.search.values import real_number


Kind = Literal["boolean", "integer", "float", "complex", "object", "category", "other"]
"""Kind of the values of a column: of a category the values may be of any, and of ``"other"`` they
are of one type that is not of numbers, such as text or dates."""

_KINDS: dict[str, Kind] = {
    "b": "boolean",
    "i": "integer",
    "u": "integer",
    "f": "float",
    "c": "complex",
}
"""Kinds by the letters of NumPy's types; those without are ``"other"``."""


@dataclass(frozen=True)
class Column:
    """Values of a parameter or of a proxy, one for each configuration.

    Attributes:
        values: Array of shape (n_rows,), of numbers or of objects.
        kind: Kind of the values.
        dtype: Name of their type, for messages.
        missing: Value that stands for a missing one, as a parameter.
    """

    values: npt.NDArray[Any]
    kind: Kind
    dtype: str
    missing: float | None

    @classmethod
    def of_array(cls, values: npt.NDArray[Any]) -> Column:
        """Column of an array of shape (n_rows,)."""
        if values.dtype == object:
            return cls.of_objects(values.tolist())
        dtype, kind = str(values.dtype), _KINDS.get(values.dtype.kind, "other")
        if kind == "other":
            values = values.astype(object)
        return cls(values, kind, dtype, math.nan if kind == "float" else None)

    @classmethod
    def of_objects(cls, values: Sequence[Any]) -> Column:
        """Column of any values; numbers of one kind with missing ones among them are numbers."""
        types = {type(value) for value in values if not is_missing(value)}
        kind: Kind = "object"
        if types and all(issubclass(each, bool | np.bool_) for each in types):
            kind = "boolean"
        elif types and bool not in types and all(issubclass(each, Real) for each in types):
            kind = "integer" if all(issubclass(each, Integral) for each in types) else "float"
        missing = math.nan if kind == "float" else None
        return cls(np.fromiter(values, object, len(values)), kind, "object", missing)

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers, by their type alone."""
        return self.kind in ("integer", "float", "complex")

    @property
    def may_be_numbers(self) -> bool:
        """Whether the values are numbers, while their type says nothing."""
        if self.kind != "object":
            return False
        known = [value for value in self.values if not is_missing(value)]
        return bool(known) and all(
            isinstance(value, Real) and not isinstance(value, bool) for value in known
        )

    def floats(self, name: str) -> npt.NDArray[np.float64]:
        """Values of a proxy, NaN where they are missing, shape (n_rows,).

        Args:
            name: Name of the column, for the message.

        Raises:
            ValueError: If the values are no real numbers.
        """
        if self.values.dtype.kind in "biuf":
            return np.asarray(self.values, dtype=np.float64)
        holds = ""
        if self.kind not in ("complex", "other"):
            numbers = [real_number(value) for value in self.values]
            if None not in numbers:
                return np.array(numbers, dtype=np.float64)
            holds = f" and holds {self.values[numbers.index(None)]!r}"
        raise ValueError(
            f"Proxies must be real numbers, but column {name!r} has dtype {self.dtype}{holds}. "
            "Drop it, or name it in search_space if it is a parameter."
        )

    def factorized(self) -> tuple[npt.NDArray[np.intp], tuple[Any, ...]]:
        """Codes and distinct values, in order of first appearance.

        Scalars and arrays of NumPy become Python's scalars and lists. A missing value is
        :attr:`missing`, unless the column has both ``None`` and NaN.
        """
        if self.values.dtype.kind in "biuf":
            distinct, first, codes = np.unique(self.values, return_index=True, return_inverse=True)
            order = np.argsort(first)
            return np.argsort(order)[codes], tuple(distinct[order].tolist())
        codes, values = _codes_of_objects(self.values.tolist())
        if sum(map(is_missing, values)) == 1:
            values = [self.missing if is_missing(value) else value for value in values]
        return codes, tuple(values)


def _codes_of_objects(objects: Sequence[Any]) -> tuple[npt.NDArray[np.intp], list[Any]]:
    """Codes and distinct values, both ``None`` and NaN among them where there are both."""
    position: dict[Hashable, int] = {}
    values = []

    def code(value: Any) -> int:
        value = _scalar(value)
        if (key := choice_key(value)) not in position:
            position[key] = len(position)
            values.append(value)
        return position[key]

    try:
        # Objects that are equal have one code, so that each is looked at once.
        known = {value: code(value) for value in dict.fromkeys(objects)}
        codes = map(known.__getitem__, objects)
    except TypeError:  # lists have no hash
        codes = map(code, objects)
    return np.fromiter(codes, np.intp, len(objects)), values


def _scalar(value: Any) -> Any:
    """Python's own form of a value, ``None`` or NaN for a missing one."""
    if is_missing(value):
        return math.nan if isinstance(value, float | np.floating) else None
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


@dataclass(frozen=True)
class Table:
    """Columns by name.

    Attributes:
        columns: The columns, all of n_rows values.
        n_rows: Number of rows.
    """

    columns: Mapping[str, Column]
    n_rows: int

    def select(self, names: Iterable[str]) -> Table:
        """Table of some columns, in the order of their names."""
        return Table({name: self.columns[name] for name in names}, self.n_rows)

    def floats(self) -> npt.NDArray[np.float64]:
        """Values of proxies, NaN where they are missing, shape (n_rows, n_columns).

        Raises:
            ValueError: If a column does not hold real numbers.
        """
        array = np.empty((self.n_rows, len(self.columns)), dtype=np.float64, order="F")
        for position, (name, column) in enumerate(self.columns.items()):
            array[:, position] = column.floats(name)
        return array
