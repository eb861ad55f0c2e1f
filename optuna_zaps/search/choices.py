"""Values of a parameter without order, and the keys by which they are compared."""

from __future__ import annotations

from collections.abc import Hashable
from collections.abc import Mapping
from functools import cached_property
import hashlib
import math
from typing import Any

import numpy as np

from optuna_zaps.search.values import is_missing


_LONG = 64
"""Longest text of a choice that is its own key; the key of a longer one is a digest."""

_DIGEST = "sha256"


class _NaN:
    """Key of NaN among choices; a class, so that it stays one object in a pickle."""


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
        """Keys of the choices, in no order."""
        return frozenset(self.keys)

    @cached_property
    def positions(self) -> dict[Hashable, int]:
        """Position of each by its key."""
        return {key: position for position, key in enumerate(self.keys)}

    @cached_property
    def missing(self) -> int | None:
        """Position of ``None`` or NaN, ``None`` if neither is a choice."""
        return next((i for i, value in enumerate(self) if is_missing(value)), None)

    def position(self, value: Any) -> int | None:
        """Position of a value, ``None`` if it is no choice.

        ``None`` and NaN stand for each other where only one of them is offered: a table does not
        tell them apart.
        """
        position = self.positions.get(choice_key(value))
        return self.missing if position is None and is_missing(value) else position


def choice_key(value: Any) -> Any:
    """Make a hashable key of a value, which equals itself for NaN, as Optuna compares choices.

    A list equals a tuple: storages return either as a list. The key of a long value is a digest.
    """
    kind = type(value)
    is_short = kind in (int, bool) or (kind is str and len(value) <= _LONG)
    if is_short or (kind is float and not math.isnan(value)):
        return value  # most are, and are asked for often
    if isinstance(value, float | np.floating) and math.isnan(value):
        return _NaN
    if isinstance(value, Mapping) and value.keys() == {_DIGEST}:
        return (_DIGEST, value[_DIGEST])
    key: Any = value
    if isinstance(value, list | tuple):
        key = tuple(choice_key(item) for item in value)
    try:
        hash(key)
    except TypeError:
        key = repr(key)
    if isinstance(key, str | tuple) and len(text := repr(key)) > _LONG + 2:
        return (_DIGEST, hashlib.sha256(text.encode()).hexdigest())
    return key


def digested(value: Any) -> Any:
    """Return a value, or a digest in a mapping if its JSON would be long."""
    key = choice_key(value)
    if isinstance(key, tuple) and len(key) == 2 and key[0] == _DIGEST:
        return {_DIGEST: key[1]}
    return value
