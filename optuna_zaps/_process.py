"""What a sampler keeps in one process: copied to another, it starts anew there."""

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
