"""Packages that are optional: whether one is loaded, and what to install where it is missing."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType


def loaded(module: str) -> ModuleType | None:
    """Return a module if something has imported it, as whoever holds one of its objects has."""
    return sys.modules.get(module)


def require(module: str, need: str, *, install: str) -> None:
    """Import an optional dependency.

    Args:
        module: Name of the module.
        need: What needs it, the beginning of the message.
        install: Arguments of pip that bring it, and no more than it needs.

    Raises:
        ImportError: If it cannot be imported. The message says how to install it.
    """
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{need}: pip install {install}.") from error
