"""What a sampler keeps in one process: copied to another, it starts anew there."""

from __future__ import annotations

from collections.abc import Callable
import threading
from typing import Any
from typing import Generic
from typing import TypeVar
from weakref import WeakKeyDictionary

from optuna.storages import BaseStorage
from optuna.study import Study


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
