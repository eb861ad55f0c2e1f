"""Files that are replaced at once, and folders that are checked before studies are run."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
import os
from pathlib import Path
import tempfile

from optuna_zaps._files import replace_file


def write_whole(path: Path, content: bytes | str) -> None:
    """Replace a file at once, so that a full disk or a kill leaves the old one as it was.

    Args:
        path: The file. Its folders are made, and a link is followed. Its permissions are those of
            any new file, so that the umask of a shared folder counts.
        content: New content; text is encoded as UTF-8.

    Raises:
        OSError: If it cannot be written. Nothing is left beside the old file then.
    """
    file = Path(os.path.realpath(path))
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, partial(_write_through, content))


def _write_through(content: bytes | str, path: Path) -> None:
    """Write a new file down to the disk."""
    with path.open("xb") as opened:
        opened.write(content.encode() if isinstance(content, str) else content)
        opened.flush()
        os.fsync(opened.fileno())


def check_writable(directory: Path, names: Iterable[str] = ()) -> None:
    """Check that a folder can be written before studies are run; leave it as it was.

    Args:
        directory: The folder. One that is not there yet is tried where it will be made.
        names: Files that will be written there.

    Raises:
        ValueError: If the folder cannot be made or written, or a name is that of a folder.
    """
    whole = directory.absolute()
    there = next(path for path in (whole, *whole.parents) if os.path.lexists(path))
    try:
        with tempfile.NamedTemporaryFile(dir=there, suffix=".tmp") as probe:
            probe.write(b"\0")  # A full disk still takes an empty file.
    except OSError as error:
        raise ValueError(
            f"The folder {directory} must be one that can be written, but: {error}. Nothing was "
            "run. Name another folder, or change its permissions."
        ) from error
    for name in names:
        if (directory / name).is_dir():
            raise ValueError(
                f"{directory / name} must be a file that can be replaced, but is a folder. "
                "Nothing was run. Move it away, or name another folder."
            )
