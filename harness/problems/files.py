"""Files of the directory that the environment variable ``ZAPS_DATA_DIR`` names."""

from __future__ import annotations

from functools import partial
import os
from pathlib import Path

from harness.problems.family import Source


_VARIABLE = "ZAPS_DATA_DIR"


def data_file(name: str) -> Path | None:
    """Path of a file of the directory, ``None`` if it is not there."""
    directory = os.environ.get(_VARIABLE)
    path = Path(directory).expanduser().resolve() / name if directory else None
    return path if path and path.is_file() else None


def how_to_have(name: str) -> str:
    """Advice for a person who does not have a file, as a clause."""
    directory = os.environ.get(_VARIABLE)
    return (
        f"{name} must lie in the directory of the environment variable {_VARIABLE}, which is "
        f"{repr(directory) if directory else 'not set'}"
    )


def source(name: str, description: str, *, file: str) -> Source:
    """Source whose numbers are a file of the directory."""
    return Source(
        name,
        f"{description}; {file} in ${_VARIABLE}",
        lambda: data_file(file) is not None,
        partial(how_to_have, file),
    )
