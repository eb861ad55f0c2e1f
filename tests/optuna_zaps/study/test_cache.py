from __future__ import annotations

import gc
import pickle
import threading
import weakref

import optuna
from optuna.trial import TrialState

from optuna_zaps.study.cache import FinishedPrefix
from optuna_zaps.study.cache import Lock
from optuna_zaps.study.cache import PerStudy
from optuna_zaps.study.cache import TrialRecords
from optuna_zaps.study.cache import TrialsOfAsk


def test_a_lock_is_taken_again_by_its_holder_alone() -> None:
    lock, order = Lock(), []

    def wait() -> None:
        with lock:
            order.append("other")

    with lock, lock:
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join(0.05)
        order.append("holder")
    thread.join()
    assert order == ["holder", "other"]


def test_a_copy_of_a_held_lock_is_free() -> None:
    lock = Lock()
    with lock:
        copy = pickle.loads(pickle.dumps(lock))
        with copy:
            pass


def test_each_study_has_an_object_of_its_own_and_a_copy_starts_empty() -> None:
    storage = optuna.storages.InMemoryStorage()
    first, second = (optuna.create_study(storage=storage) for _ in range(2))
    elsewhere = optuna.create_study()  # its number in its storage is that of the first
    seen: PerStudy[list[int]] = PerStudy(list)
    for number, study in enumerate((first, second, elsewhere)):
        seen[study].append(number)
    assert [seen[study] for study in (first, second, elsewhere)] == [[0], [1], [2]]
    seen[first] = [7]
    assert seen[first] == [7]
    assert pickle.loads(pickle.dumps(seen))[first] == []


def test_an_object_goes_with_the_storage_of_its_study() -> None:
    class Remembered:
        pass

    seen: PerStudy[Remembered] = PerStudy(Remembered)
    study = optuna.create_study()
    remembered = weakref.ref(seen[study])
    assert remembered() is not None
    del study
    gc.collect()
    assert remembered() is None


def test_finished_trials_are_read_once_up_to_the_first_that_runs() -> None:
    study = optuna.create_study()
    for _ in range(4):
        study.ask()
    prefix = FinishedPrefix()

    def read() -> tuple[list[int], list[int]]:
        finished, rest = prefix.advance(study.trials)
        return [t.number for t in finished], [t.number for t in rest]

    assert read() == ([], [0, 1, 2, 3])
    study.tell(0, 1.0)
    study.tell(2, state=TrialState.FAIL)
    assert read() == ([0], [1, 2, 3])
    study.tell(1, state=TrialState.PRUNED)
    assert read() == ([1, 2], [3])
    assert read() == ([], [3])
    assert prefix.is_of(study.trials)
    assert not prefix.is_of(study.trials[:2])
    others = optuna.create_study()
    others.optimize(lambda trial: 1.0, n_trials=4)
    assert not prefix.is_of(others.trials)


def test_a_trial_has_one_record_from_its_beginning_to_its_end() -> None:
    study = optuna.create_study()
    study.enqueue_trial({"n": 3})
    study.ask()
    (trial,) = study.trials
    records = TrialRecords()
    records.begin(study, trial)
    assert records.of(study, trial).attributes == {"fixed_params": {"n": 3}}
    assert records.of(study, trial) is records.of(study, trial)
    # A copy in another process has not seen the trial begin.
    assert pickle.loads(pickle.dumps(records)).of(study, trial).attributes is None
    records.end(study, trial)
    assert records.of(study, trial).attributes is None


def test_trials_are_read_once_an_ask_and_by_each_thread_for_itself() -> None:
    study = optuna.create_study()
    trials = TrialsOfAsk()
    n_in_other_thread: list[int] = []
    trials.refresh(study)
    study.ask()
    assert len(trials.of(study)) == 0
    thread = threading.Thread(target=lambda: n_in_other_thread.append(len(trials.of(study))))
    thread.start()
    thread.join()
    assert n_in_other_thread == [1]
    assert len(trials.of(optuna.create_study())) == 0
    trials.forget()
    assert len(trials.of(study)) == 1
