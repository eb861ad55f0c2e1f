"""The command line: one module per command, which parses, calls and prints.

What it needs comes with the extra ``[harness]``. It is imported when it is used, so that
``python -m harness.cli`` can say so where it is not installed.
"""

from __future__ import annotations

from typing import Any


__all__ = ["app"]


def __getattr__(name: str) -> Any:
    """Import the application when it is used."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from harness.cli.commands import app

    return app
