"""Encoding of configurations as numbers (Section 3.4: the structure e(a)).

Notations:
    codes: int array of shape (n_candidates, n_parameters); ``codes[i, j]`` is the position of
        candidate ``i``'s value among the choices of parameter ``j``.
    matrix: float32 array of shape (n_candidates, n_columns): one-hot for unordered parameters,
        the coordinate in [0, 1] for numbers. A parameter of too many choices for that has a
        column for each that was tried, in a pool, or is encoded by the digits of their positions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from collections.abc import Mapping
from collections.abc import Sequence
from functools import cached_property
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from optuna_zaps.search.choices import Choices


MAX_CELLS = 2**24
"""Largest encoding of a candidate set, in numbers (64 MiB): room for 64 columns of the most
candidates that are enumerated."""

MAX_POOL_COLUMNS = MAX_CELLS // 2**12
"""Most columns of the encoding of a pool, whatever the number of candidates in it."""


class _Block(NamedTuple):
    """Columns that encode a parameter, or one digit of it.

    Attributes:
        parameter: Number of the parameter.
        width: Number of columns.
        coordinates: Of a number, the coordinate in [0, 1] of each choice.
        columns: Of too many choices, the column of each, counted from the first of the block.
    """

    parameter: int
    width: int
    coordinates: npt.NDArray[np.float64] | None
    columns: npt.NDArray[np.intp] | None = None

    @property
    def is_one_hot(self) -> bool:
        """Whether each choice has a column of its own."""
        return self.coordinates is None and self.columns is None


class Encoding:
    """Encoding of a set of candidates.

    Args:
        choices: Possible values of each parameter.
        codes: Candidates, see the module's notations.
        coordinates: Coordinate in [0, 1] of each choice of the parameters that are numbers.
        n_seen: Of a pool, number of candidates, the first, that have been tried; else ``None``.
    """

    def __init__(
        self,
        choices: Mapping[str, Choices],
        codes: npt.NDArray[np.intp],
        coordinates: Mapping[str, npt.NDArray[np.float64]],
        n_seen: int | None,
    ) -> None:
        self._choices = choices
        self._codes = codes
        self._coordinates = coordinates
        self._n_seen = n_seen

    @cached_property
    def _blocks(self) -> tuple[_Block, ...]:
        """Blocks of columns, parameter by parameter."""
        is_pool = self._n_seen is not None
        n_columns = MAX_POOL_COLUMNS if is_pool else MAX_CELLS // len(self._codes)
        sizes = [
            len(values) for name, values in self._choices.items() if name not in self._coordinates
        ]
        share = _fair_share(sizes, n_columns - len(self._coordinates))
        blocks: list[_Block] = []
        for parameter, (name, values) in enumerate(self._choices.items()):
            if name in self._coordinates:
                blocks.append(_Block(parameter, 1, self._coordinates[name]))
            elif len(values) <= share:
                blocks.append(_Block(parameter, len(values), None))
            elif is_pool:
                seen = self._codes[: self._n_seen, parameter]
                columns = columns_of_seen(seen, len(values), share)
                blocks.append(_Block(parameter, share, None, columns))
            else:
                # A choice that hardly occurs twice tells nothing about another candidate.
                share_of_digits = share if 2 * len(values) <= len(self._codes) else 1
                blocks += [
                    _Block(parameter, width, None, columns)
                    for width, columns in digits(len(values), share_of_digits)
                ]
        return tuple(blocks)

    @cached_property
    def matrix(self) -> npt.NDArray[np.float32]:
        """Array of shape (n_candidates, n_columns); see the module's notations."""
        # Columns next to each other in memory, since a fit selects columns.
        matrix = np.zeros((len(self._codes), sum(self.widths)), dtype=np.float32, order="F")
        rows, start = np.arange(len(self._codes)), 0
        for block in self._blocks:
            code = self._codes[:, block.parameter]
            if block.coordinates is not None:
                matrix[:, start] = block.coordinates[code]
            else:
                column = code if block.columns is None else block.columns[code]
                matrix[rows, start + column] = 1.0
            start += block.width
        return matrix

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of columns of each block: a parameter, or a digit of one."""
        return tuple(block.width for block in self._blocks)

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Whether each block is a number."""
        return tuple(block.coordinates is not None for block in self._blocks)

    @property
    def shared_choices(self) -> tuple[int, ...]:
        """Number of the choice of each column, shape (n_columns,).

        Parameters that offer the same choices, in any order, share numbers, as the edges of a
        cell share operations. The number is -1 where no other parameter offers the same choices,
        for numbers, and where a column is no choice.
        """
        all_choices = list(self._choices.values())
        # Numbers are left out first: drawn from a range, they are thousands of choices.
        one_hot = [all_choices[b.parameter] for b in self._blocks if b.is_one_hot]
        n_offering = Counter(choices.offer for choices in one_hot)
        numbers: dict[frozenset[Hashable], dict[Hashable, int]] = {}
        shared: list[int] = []
        for block in self._blocks:
            choices = all_choices[block.parameter]
            if not block.is_one_hot or n_offering[choices.offer] == 1:
                shared += [-1] * block.width
            else:
                if choices.offer not in numbers:
                    start = sum(map(len, numbers.values()))
                    numbers[choices.offer] = {k: start + i for i, k in enumerate(choices.keys)}
                shared += map(numbers[choices.offer].__getitem__, choices.keys)
        return tuple(shared)


def _fair_share(sizes: Sequence[int], total: int) -> int:
    """Most columns of a parameter, such that all together have at most a total."""
    left = total
    for n_smaller, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - n_smaller)
        if size > share:
            return max(share, 1)
        left -= size
    return max(sizes, default=1)


def columns_of_seen(
    seen: npt.NDArray[np.intp], n_choices: int, width: int
) -> npt.NDArray[np.intp]:
    """Column of each choice: one each for those that were seen, and the last for all others.

    This loses nothing against a column for each, since a choice without a label is like any other
    such choice. Once more were seen than there are columns, some share.

    Args:
        seen: Positions of the choices that were tried, oldest first.
        n_choices: Number of choices.
        width: Number of columns.

    Returns:
        Array of shape (n_choices,).
    """
    columns = np.full(n_choices, width - 1)
    distinct, first = np.unique(seen, return_index=True)
    in_order = distinct[np.argsort(first)]
    columns[in_order] = np.arange(len(in_order)) % max(width - 1, 1)
    return columns


def digits(n_choices: int, share: int) -> list[tuple[int, npt.NDArray[np.intp]]]:
    """Widths of the fewest digits of a position that fit, and each position's digits.

    Choices that differ then share some digits, but not all. Where even binary digits do not fit,
    choices next to each other share a column.

    Args:
        n_choices: Number of choices.
        share: Most columns in all.
    """
    n_digits, base = 1, n_choices
    while n_digits * base > share and base > 2:
        n_digits += 1
        base = math.ceil(n_choices ** (1 / n_digits))
    positions = np.arange(n_choices)
    if n_digits * base > share:
        return [(share, positions * share // n_choices)]
    return [(base, positions // base**power % base) for power in reversed(range(n_digits))]
