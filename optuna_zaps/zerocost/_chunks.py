"""Finished chunks of a scored space, in memory or in a directory that outlives the process.

Notations:
    start: Row at which a chunk begins.
    key: Digests of all that decides the values, by the name of what they are of.
    note: The file ``fingerprint.json``, which holds the key.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import asdict
from dataclasses import dataclass
from dataclasses import field
import json
from pathlib import Path
from uuid import uuid4

import pandas as pd

from optuna_zaps import _checks
from optuna_zaps._files import replace_file
from optuna_zaps.zerocost._identity import digest


REASONS = "_reasons"
"""Column with the reason of each NaN, as JSON by proxy."""

_CHECKSUM = "sha256"
_MOST_NAMED = 5


@dataclass
class _Note:
    """Content of the note.

    Attributes:
        key: The key without what changes.
        changing: Names of what the builder or the loss changes themselves as they run, such as a
            counter of calls: these decide nothing, or no run could be taken up again.
        token: Marks the chunks that belong to the note.
    """

    key: dict[str, str]
    changing: list[str] = field(default_factory=list)
    token: str = field(default_factory=lambda: uuid4().hex)

    def differences(self, key: Mapping[str, str]) -> list[str]:
        """Names of what another key has different."""
        names = (self.key.keys() | key.keys()) - set(self.changing)
        return sorted(name for name in names if self.key.get(name) != key.get(name))


class Chunks:
    """Finished chunks by their start.

    Nothing is stored before a chunk is written as ``sound``: until then the call itself may be
    the mistake. A chunk is renamed into place when it is whole; a file that is damaged all the
    same is told of and counts as missing.

    Args:
        path:
            Directory, None to keep the chunks in memory.
        sizes:
            Number of rows of each chunk, by its start.
        columns:
            Names of the columns.
        key:
            Function that returns the key.

    Warns:
        UserWarning: One warning that names the damaged files.

    Raises:
        ValueError: If the directory holds chunks of another key.
    """

    def __init__(
        self,
        path: Path | str | None,
        sizes: Mapping[int, int],
        columns: Sequence[str],
        key: Callable[[], Mapping[str, str]],
    ) -> None:
        self._frames: dict[int, pd.DataFrame] = {}
        self._unsaved: list[int] = []
        self._columns = [*columns, REASONS]
        self._note: _Note | None = None
        self._directory = None if path is None else Path(path)
        self._current_key = key
        if self._directory is not None:
            self._directory.mkdir(parents=True, exist_ok=True)
            self._key = dict(key())
            self._load(sizes)

    def has(self, start: int) -> bool:
        """Whether a chunk is finished."""
        return start in self._frames

    def write(self, start: int, frame: pd.DataFrame, *, sound: bool) -> None:
        """Keep a chunk."""
        self._frames[start] = frame
        if self._directory is None:
            return
        self._unsaved.append(start)
        if self._note is None and sound:
            self._note = self._adopted()
        while self._note is not None and self._unsaved:
            self._save(self._unsaved.pop(), self._note.token)

    def leave_out_changes(self) -> None:
        """Take out of the stored key what differs from before the run, which changed it."""
        if self._directory is None or self._note is None:
            return
        changed = _Note(self._key).differences(self._current_key())
        if not set(changed) <= set(self._note.changing):
            self._note.changing = sorted({*self._note.changing, *changed})
            for name in changed:
                self._note.key.pop(name, None)
            self._write_note(self._note)

    def read(self) -> pd.DataFrame:
        """All chunks, in the order of their rows."""
        return pd.concat([self._frames[start] for start in sorted(self._frames)])

    def _load(self, sizes: Mapping[int, int]) -> None:
        damaged = []
        files = {start: file for start in sizes if (file := self._file(start)).exists()}
        try:
            self._note = self._read_note()
        except ValueError as error:
            damaged.append(f"{self._note_file} ({error})")
        if self._note is not None:
            self._refuse_another(self._note)
            for start, file in files.items():
                try:
                    self._frames[start] = self._loaded(start, sizes[start], self._note.token)
                # A damaged parquet file fails in many ways, down to the codec's own errors.
                except Exception as error:
                    damaged.append(f"{file} ({type(error).__name__}: {error})")
        elif files and not damaged:
            damaged.append(f"{self._note_file} (it is missing, though there are chunks)")
        if damaged:
            _checks.warn(
                f"Damaged files are not used and their content is computed again: "
                f"{'; '.join(damaged)}."
            )

    def _adopted(self) -> _Note:
        """Note of another process that is there by now, or a new one."""
        try:
            note = self._read_note()
        except ValueError:
            note = None
        if note is None:
            note = _Note(self._key)
            self._write_note(note)
        else:
            self._refuse_another(note)
        return note

    def _refuse_another(self, note: _Note) -> None:
        found = note.differences(self._key)
        if found:
            more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
            raise ValueError(
                f"{self._directory} must hold chunks of the same configurations, proxies, seed, "
                "batch, builder, loss, device, data type, versions and chunk_size, but holds "
                f"others: different are {', '.join(found[:_MOST_NAMED])}{more}. Name another "
                "path, or remove it."
            )

    @property
    def _note_file(self) -> Path:
        assert self._directory is not None
        return self._directory / "fingerprint.json"

    def _file(self, start: int) -> Path:
        assert self._directory is not None
        return self._directory / f"chunk-{start:09d}.parquet"

    def _read_note(self) -> _Note | None:
        """The note, None if there is none.

        Raises:
            ValueError: If it is damaged.
        """
        try:
            content = json.loads(self._note_file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except RecursionError as error:
            raise ValueError("nested too deeply") from error
        if not isinstance(content, dict):
            raise ValueError(f"it must hold a mapping, but holds a {type(content).__name__}")
        if content.pop(_CHECKSUM, None) != digest(content):
            raise ValueError("its checksum is wrong")
        return _Note(**content)

    def _write_note(self, note: _Note) -> None:
        content = asdict(note)
        text = json.dumps({**content, _CHECKSUM: digest(content)}, indent=1)
        replace_file(self._note_file, lambda part: part.write_text(text, encoding="utf-8"))

    def _loaded(self, start: int, n_rows: int, token: str) -> pd.DataFrame:
        frame = pd.read_parquet(self._file(start))
        expected = frame.attrs.pop(_CHECKSUM, None)
        if list(frame.columns) != self._columns or len(frame) != n_rows:
            raise ValueError(
                f"it must have {n_rows} rows and the columns {self._columns}, but has "
                f"{len(frame)} rows and the columns {list(frame.columns)}"
            )
        if expected != _checksum(start, token, frame):
            raise ValueError("its checksum is wrong, or it belongs to another run")
        return frame

    def _save(self, start: int, token: str) -> None:
        frame = self._frames[start].copy()
        frame.attrs[_CHECKSUM] = _checksum(start, token, frame)
        replace_file(self._file(start), frame.to_parquet)


def _checksum(start: int, token: str, frame: pd.DataFrame) -> str:
    return digest((start, token, repr(frame.to_dict("list"))))
