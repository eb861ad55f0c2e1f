"""Processes that end together: workers with their parent, and a command when it is told to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import signal
import threading
import time
from types import FrameType


_SECONDS_BETWEEN_CHECKS = 0.5


def end_with_parent(parent: int) -> None:
    """End this process soon after the one that started it did, however that ended.

    A thread checks whether this process still has its parent. Linux could send a
    signal instead (``PR_SET_PDEATHSIG``), but already when the *thread* that started this process
    ends. Windows never tells that a parent is gone, so nothing is done there.

    Args:
        parent: Number of the process that started this one, perhaps through a wrapper of the
            interpreter.
    """
    if os.name == "posix":
        threading.Thread(target=_outlast, args=(parent, os.getppid()), daemon=True).start()


def _outlast(starter: int, parent: int) -> None:
    while os.getppid() == parent and _runs(starter):
        time.sleep(_SECONDS_BETWEEN_CHECKS)
    os._exit(1)  # sys.exit would end this thread alone, and a study has nothing to clean up.


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)  # Sends nothing.
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # It is there, and another user's.
    return not _is_zombie(process)


def _is_zombie(process: int) -> bool:
    """Whether a process has ended but was not waited for; only Linux tells."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return state.rpartition(")")[2].strip().startswith("Z")


class Terminated(SystemExit):
    """Exit by SIGTERM, which a sampler's ``sys.exit`` must not be taken for."""


@contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    """Turn SIGTERM into :class:`Terminated` within a block, so that it is left as by an exception.

    By default the signal ends the process at once, and its children go on. Only the main thread
    can ask for signals: in another one nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _exit)
    try:
        yield
    finally:
        # None stands for a handler that is not Python's, which only its owner can set again.
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


def _exit(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # A second one must not interrupt the clearing up.
    raise Terminated(128 + number)
