"""Memory of a sampler in one process; a copy in another process starts with none."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from datetime import datetime
import threading
from typing import Any
from typing import Generic
from typing import TypeVar
from weakref import WeakKeyDictionary

from optuna.storages import BaseStorage
from optuna.study import Study
from optuna.trial import FrozenTrial


T = TypeVar("T")


class Lock:
    """A lock that its holder may take again."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Lock, ())

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


class PerStudy(Generic[T]):
    """An object for each study, kept as long as the study's storage.

    Args:
        make: Makes the object of a study that has none yet.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._objects: WeakKeyDictionary[BaseStorage, dict[int, T]] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        return (PerStudy, (self._make,))

    def __getitem__(self, study: Study) -> T:
        objects = self._objects.setdefault(study._storage, {})
        if study._study_id not in objects:
            objects[study._study_id] = self._make()
        return objects[study._study_id]

    def __setitem__(self, study: Study, value: T) -> None:
        self._objects.setdefault(study._storage, {})[study._study_id] = value


class FinishedPrefix:
    """How far a study was read: its first trials, all finished, which never change."""

    def __init__(self) -> None:
        self._n_trials = 0
        self._last_completed: datetime | None = None

    def is_of(self, trials: Sequence[FrozenTrial]) -> bool:
        """Whether the trials begin with these: a deleted study's identity may come again."""
        if self._n_trials == 0:
            return True
        if len(trials) < self._n_trials:
            return False
        return trials[self._n_trials - 1].datetime_complete == self._last_completed

    def advance(
        self, trials: Sequence[FrozenTrial]
    ) -> tuple[Sequence[FrozenTrial], Sequence[FrozenTrial]]:
        """Read on, up to the first trial that has not finished.

        Args:
            trials: All trials of the study, in order of their numbers.

        Returns:
            The trials that were not read before and are now, and those that remain.
        """
        start = stop = self._n_trials
        while stop < len(trials) and trials[stop].state.is_finished():
            stop += 1
        if stop > start:
            self._n_trials, self._last_completed = stop, trials[stop - 1].datetime_complete
        return trials[start:stop], trials[stop:]


def all_trials(study: Study) -> list[FrozenTrial]:
    """Trials of a study as they are now, and not only those of a bracket that Hyperband shows."""
    return study._storage.get_all_trials(study._study_id, deepcopy=False)


class TrialsOfAsk:
    """Trials of a study, read from the storage once per ask.

    Reading them takes several SQL statements, and an ask needs them twice: for the search space
    and for the history.
    """

    def __init__(self) -> None:
        self._local = threading.local()

    def __reduce__(self) -> tuple[Any, ...]:
        return (TrialsOfAsk, ())

    def of(self, study: Study) -> list[FrozenTrial]:
        """All trials, as they were when this thread last called :meth:`refresh`."""
        known = getattr(self._local, "known", None)
        if known is None or known[0] is not study._storage or known[1] != study._study_id:
            return all_trials(study)
        trials: list[FrozenTrial] = known[2]
        return trials

    def refresh(self, study: Study) -> None:
        """Read the trials and keep them for this thread until :meth:`forget`."""
        self._local.known = (study._storage, study._study_id, all_trials(study))

    def forget(self) -> None:
        """Drop the trials that :meth:`refresh` kept."""
        self._local.known = None


class OwnTrials:
    """Trials that threads of this process are evaluating in ``Study.optimize``.

    They will end, whereas the worker of another running trial may have died.
    """

    def __init__(self) -> None:
        self._of_thread: WeakKeyDictionary[threading.Thread, int] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        return (OwnTrials, ())

    def begin(self, study: Study, trial: FrozenTrial) -> None:
        """Record the trial of this thread; the one before is over."""
        self.end()
        if study._thread_local.in_optimize_loop:
            self._of_thread[threading.current_thread()] = trial._trial_id

    def end(self) -> None:
        """Record that the trial of this thread has ended."""
        self._of_thread.pop(threading.current_thread(), None)

    def ids(self) -> set[int]:
        """Identities of these trials."""
        return {id_ for thread, id_ in list(self._of_thread.items()) if thread.is_alive()}
