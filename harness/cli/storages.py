"""Errors of storages, without their passwords."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from harness.run.passwords import hidden
from harness.run.passwords import without_passwords


@contextmanager
def storage_errors(storage: str, what: str, *types: type[Exception]) -> Iterator[None]:
    """Turn errors of a storage into a message without its password."""
    try:
        yield
    except types as error:
        reason = without_passwords(str(error.__cause__ or error), storage)
        # Without the error behind it, which may show the password.
        raise typer.BadParameter(
            f"The storage {hidden(storage)!r} cannot be {what}: {reason}"
        ) from None
