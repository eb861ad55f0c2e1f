"""Locks and memory of a sampler in one process; a copy in another process starts with none."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from datetime import datetime
import threading
from typing import Any
from typing import Generic
from typing import TypeVar
from weakref import WeakKeyDictionary

from optuna.distributions import BaseDistribution
from optuna.storages import BaseStorage
from optuna.study import Study
from optuna.trial import FrozenTrial


T = TypeVar("T")


class Lock:
    """A lock that its holder may take again; a copy is free."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Lock, ())

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


class PerStudy(Generic[T]):
    """An object for each study, held as long as the study's storage; a copy has none.

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
    """Trials at the beginning of a study that have all finished and never change."""

    def __init__(self) -> None:
        self._n_trials = 0
        self._last_completed: datetime | None = None

    def is_of(self, trials: Sequence[FrozenTrial]) -> bool:
        """Whether the trials begin with these: the id of a deleted study may come again."""
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
            The trials that were read by this call, and those that remain.
        """
        start = stop = self._n_trials
        while stop < len(trials) and trials[stop].state.is_finished():
            stop += 1
        if stop > start:
            self._n_trials, self._last_completed = stop, trials[stop - 1].datetime_complete
        return trials[start:stop], trials[stop:]


def all_trials(study: Study) -> list[FrozenTrial]:
    """Read all trials of a study, and not only those of a bracket that Hyperband shows."""
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
        """All trials as of this thread's last :meth:`refresh`; after :meth:`forget`, of now."""
        known = getattr(self._local, "known", None)
        if known is None or known[0] is not study._storage or known[1] != study._study_id:
            return all_trials(study)
        trials: list[FrozenTrial] = known[2]
        return trials

    def refresh(self, study: Study) -> None:
        """Read the trials and remember them for this thread until :meth:`forget`."""
        self._local.known = (study._storage, study._study_id, all_trials(study))

    def forget(self) -> None:
        """Drop the trials of :meth:`refresh`."""
        self._local.known = None


class OwnTrials:
    """Trials that threads of this process are evaluating in ``Study.optimize``.

    They will end, whereas the workers of other running trials may have died.
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
        """Ids of these trials."""
        return {id_ for thread, id_ in list(self._of_thread.items()) if thread.is_alive()}


@dataclass
class Choice:
    """A choice of a trial.

    Attributes:
        space: Distributions that the trial is expected to ask for.
        params: The configuration chosen, ``None`` before there is one, or if none was free.
    """

    space: dict[str, BaseDistribution]
    params: dict[str, Any] | None


@dataclass
class TrialRecord:
    """Memory of one running trial.

    Attributes:
        attributes: System attributes at its beginning: later, Optuna may pass a view of them that
            reads the storage at every access. ``None`` if it began in another process.
        choices: One for each space that it chooses from.
    """

    attributes: Mapping[str, Any] | None = None
    choices: list[Choice] = field(default_factory=list)


class TrialRecords:
    """Record of each running trial of this process."""

    def __init__(self) -> None:
        self._records: PerStudy[dict[int, TrialRecord]] = PerStudy(dict)

    def __reduce__(self) -> tuple[Any, ...]:
        return (TrialRecords, ())

    def begin(self, study: Study, trial: FrozenTrial) -> None:
        """Make the record of a trial, in place of any of a deleted study with the same ids."""
        self._records[study][trial._trial_id] = TrialRecord(trial.system_attrs)

    def of(self, study: Study, trial: FrozenTrial) -> TrialRecord:
        """Record of a trial, an empty one if it began in another process."""
        return self._records[study].setdefault(trial._trial_id, TrialRecord())

    def end(self, study: Study, trial: FrozenTrial) -> None:
        """Drop the record of a trial."""
        self._records[study].pop(trial._trial_id, None)
