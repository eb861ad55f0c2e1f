"""Optuna's storages by the URL of a database, or by the path of an SQLite or journal file."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from optuna.storages import BaseStorage
from optuna.storages import JournalStorage
from optuna.storages import RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.storages.journal import JournalFileSymlinkLock
from sqlalchemy.engine import make_url


_SQLITE = b"SQLite format 3\0"
_SQLITE_NAMES = (".db", ".sqlite", ".sqlite3")
_JOURNAL_NAMES = (".log", ".journal", ".jsonl")


def is_storage(text: str) -> bool:
    """Whether a text names a storage: a URL, or a file."""
    return "://" in text or Path(text).is_file()


def open_storage(text: str) -> BaseStorage:
    """Open a storage for reading, without making one.

    Args:
        text: URL of a database, or path of an SQLite or journal file.

    Raises:
        ValueError: If there is no such file.
        Exception: Of several types, if the storage cannot be opened.
    """
    url = text
    if "://" not in text:
        if not _is_sqlite(Path(text)):
            return _journal(text)
        url = f"sqlite:///{Path(text).resolve()}"
    parts = make_url(url)
    if parts.get_backend_name() == "sqlite" and not Path(parts.database or "").is_file():
        raise ValueError("there is no such file")
    return RDBStorage(url, skip_table_creation=True)


def to_write(text: str) -> tuple[BaseStorage, str]:
    """Open a storage for writing; make it if it is not there.

    Args:
        text: URL of a database, or path of a file. A file that is not there yet is one of SQLite
            if its name ends in ``.db``, ``.sqlite`` or ``.sqlite3``, and a journal if it ends in
            ``.log``, ``.journal`` or ``.jsonl``.

    Returns:
        The storage, and what optuna-dashboard opens it by.

    Raises:
        ValueError: If the text is neither.
        Exception: Of several types, if the storage cannot be opened.
    """
    if "://" in text:
        return RDBStorage(text), text
    path = Path(text)
    if path.is_file() and path.stat().st_size:
        is_sqlite = _is_sqlite(path)
    elif path.suffix in _SQLITE_NAMES + _JOURNAL_NAMES:
        is_sqlite = path.suffix in _SQLITE_NAMES
    else:
        raise ValueError(
            "it is no URL of a database (sqlite:///studies.db) and no file that ends in "
            f"{', '.join(_SQLITE_NAMES + _JOURNAL_NAMES)}"
        )
    if is_sqlite:
        return RDBStorage(f"sqlite:///{path}"), f"sqlite:///{path}"
    return _journal(text), text


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as opened:
        return opened.read(len(_SQLITE)) == _SQLITE


def _journal(path: str) -> WholeJournal:
    try:
        return WholeJournal(path)
    except ValueError:
        raise ValueError("it is neither a database of SQLite nor a journal of Optuna") from None


class WholeJournal(JournalStorage):
    """Journal file that can be told many things at once.

    Args:
        path: Path of the file.
    """

    def __init__(self, path: str) -> None:
        self._lock = _HeldLock(path)
        self._file = _BufferedFile(path, self._lock)
        super().__init__(self._file)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Append all that is told within the block at its end, in one piece.

        By default each call is written through to the disk, which takes most of the time. Nobody
        else writes meanwhile, so that the numbers of studies are those that the file will give.
        An exception leaves the file as it was.
        """
        with self._lock.held():
            self.get_all_studies()  # What others have written until now.
            with self._file.buffered():
                yield


class _HeldLock(JournalFileSymlinkLock):
    """Lock of a file that its holder can take again."""

    _is_held = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock within a block."""
        super().acquire()
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
            super().release()

    def acquire(self) -> bool:
        """Take the lock for one write."""
        return self._is_held or super().acquire()

    def release(self) -> None:
        """Give the lock back after one write."""
        if not self._is_held:
            super().release()


class _BufferedFile(JournalFileBackend):
    """File of a journal whose last lines may wait in memory.

    Args:
        path: Path of the file.
        lock: Its lock.
    """

    def __init__(self, path: str, lock: _HeldLock) -> None:
        super().__init__(path, lock)
        self._waiting: list[dict[str, Any]] | None = None
        self._n_in_file: int | None = None

    @contextmanager
    def buffered(self) -> Iterator[None]:
        """Let lines wait within a block, whose reader knows the whole file."""
        self._waiting, self._n_in_file = [], None
        try:
            yield
            waiting, self._waiting = self._waiting, None
            if waiting:
                super().append_logs(waiting)
        finally:
            self._waiting = None

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Append lines, or let them wait."""
        if self._waiting is None:
            super().append_logs(logs)
        else:
            self._waiting += logs

    def read_logs(self, log_number_from: int) -> Iterable[dict[str, Any]]:  # type: ignore[override]
        """Lines from a number on, those that wait included."""
        if self._waiting is None:
            return super().read_logs(log_number_from)
        if self._n_in_file is None:
            self._n_in_file = log_number_from  # The reader knows the whole file.
        return iter(self._waiting[log_number_from - self._n_in_file :])
