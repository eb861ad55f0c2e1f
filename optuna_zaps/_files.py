"""Replacement of files in one step: a full disk or a kill leaves the old one as it was."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import os
from pathlib import Path
from typing import Any
from uuid import uuid4


def replace_file(file: Path, write: Callable[[Path], Any]) -> None:
    """Write a file under another name beside it, and rename it when it is whole.

    Args:
        file: The file, in an existing folder.
        write: Writes to a path.

    Raises:
        OSError: If it cannot be written. Nothing is left beside the old file then.
    """
    part = file.with_name(f".{file.name}.{uuid4().hex}.part")
    try:
        write(part)
        os.replace(part, file)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
