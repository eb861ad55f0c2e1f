"""Packages that are optional: whether one is loaded, and what to install where it is missing."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType


def loaded(module: str) -> ModuleType | None:
    """Return a module if something has imported it, as whoever holds one of its objects has."""
    return sys.modules.get(module)


def require(module: str, need: str, *, extra: str) -> None:
    """Import an optional dependency.

    Args:
        module: Name of the module.
        need: What needs it, the beginning of the message.
        extra: Extra of this distribution that brings it.

    Raises:
        ImportError: If it cannot be imported. The message says how to install it.
    """
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f'{need}: pip install "optuna-zaps[{extra}]".') from error
