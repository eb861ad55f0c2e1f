"""Checks of arguments, made at the boundary rather than where they are first used."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import inspect
from numbers import Real
import operator
import os
from pathlib import Path
from typing import Any
import warnings

import numpy as np


MAX_SEED = 2**32 - 1
"""Largest seed that NumPy's ``RandomState`` takes, and so every sampler of Optuna."""


class NotAnIntegerError(TypeError, ValueError):
    """Error for a count that is no integer, as 10.5 or NaN trials.

    Both a TypeError and a ValueError, as scikit-learn's ``InvalidParameterError``: 10.5 has a
    wrong type, and is a wrong value to someone who counts in floats.
    """


def integer(name: str, value: Any, *, least: int | None = None, most: int | None = None) -> int:
    """Return an argument as a Python integer; NumPy's integers are taken, booleans are not.

    Args:
        name: Name of the argument, for the messages.
        value: The argument.
        least: Smallest value, if there is one.
        most: Largest value, if there is one.

    Raises:
        NotAnIntegerError: If the value is no integer.
        ValueError: If it is too small or too large.
    """
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise NotAnIntegerError(
            f"{name} must be an integer, but got {value!r} of type {type(value).__name__}."
        ) from None
    if least is not None and number < least:
        bound = "not be negative" if least == 0 else f"be at least {least}"
        raise ValueError(f"{name} must {bound}, but got {number}.")
    if most is not None and number > most:
        raise ValueError(f"{name} must be at most {most}, but got {number}.")
    return number


def number(name: str, value: Any) -> float:
    """Return an argument as a Python float; NumPy's numbers are taken, booleans are not.

    Raises:
        TypeError: If it is no real number.
    """
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(
            f"{name} must be a number, but got {value!r} of type {type(value).__name__}."
        )
    return float(value)


def boolean(name: str, value: Any) -> bool:
    """Return an argument as a Python boolean.

    Raises:
        TypeError: If it is none.
    """
    if not isinstance(value, bool | np.bool_):
        raise TypeError(
            f"{name} must be True or False, but got {value!r} of type {type(value).__name__}."
        )
    return bool(value)


def function(name: str, value: Any, expected: str) -> None:
    """Check that an argument can be called.

    Args:
        name: Name of the argument, for the message.
        value: The argument.
        expected: Description of a valid argument.

    Raises:
        TypeError: If it cannot be called.
    """
    if not callable(value):
        raise TypeError(
            f"{name} must be {expected}, but got {value!r} of type {type(value).__name__}."
        )


def takes(function: Callable[..., Any], n_arguments: int) -> bool:
    """Whether a function can be called with a number of positional arguments.

    Assumed of functions whose signature Python does not know.
    """
    try:
        inspect.signature(function).bind(*[None] * n_arguments)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def listed(value: Any) -> list[Any] | None:
    """Return a one-dimensional sequence as a list, ``None`` for anything else.

    Text and bytes count as one value; a set has no order to rely on.
    """
    if isinstance(value, str | bytes | bytearray):
        return None
    if isinstance(value, Sequence):
        return list(value)
    if hasattr(value, "__array__"):
        # The type object turns numbers of a fixed width into Python's own.
        array = np.asarray(value, dtype=object)
        return list(array) if array.ndim == 1 else None
    return None


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the user's line that led here."""
    warnings.warn(message, category, stacklevel=_level_of_the_user())


def _level_of_the_user() -> int:
    """Stack level, seen from the caller, of the first frame outside this package."""
    package = str(Path(__file__).parent) + os.sep
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1
    return level
