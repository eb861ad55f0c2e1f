from __future__ import annotations

from grids import GRID
from grids import history
import optuna
from optuna.trial import TrialState

from harness.samplers.history import LOST
from harness.samplers.history import HistoryReader
from harness.samplers.space import Space


def told(study: optuna.Study, x: int, y: int, outcome: float | TrialState) -> None:
    study.enqueue_trial({"x": x, "y": y})
    trial = study.ask()
    for name in GRID:
        trial.suggest_categorical(name, GRID[name])
    if isinstance(outcome, TrialState):
        study.tell(trial, state=outcome)
    else:
        study.tell(trial, outcome)


def test_values_are_larger_the_better_and_failures_are_lost() -> None:
    study = optuna.create_study(direction="minimize")
    told(study, 1, 1, 2.5)
    told(study, 2, 0, TrialState.FAIL)
    told(study, 3, 0, TrialState.PRUNED)
    told(study, 1, 1, 2.0)
    grid = Space(GRID)
    running = study.ask({"x": optuna.distributions.CategoricalDistribution(GRID["x"])})
    asking = study.ask()
    reader = HistoryReader()
    for _ in range(2):  # the second time from the cache
        read = reader.read(study, grid, study._storage.get_trial(asking._trial_id))
        assert read.observations == [
            ((1, 1), -2.5),
            ((2, 0), LOST),
            ((3, 0), LOST),
            ((1, 1), -2.0),
        ]
        assert read.values == {(1, 1): -2.0, (2, 0): LOST, (3, 0): LOST}
        assert read.n_repeats_in_a_row == 1
        assert read.pending == frozenset()  # y of the running trial is not known yet
    running.suggest_categorical("y", GRID["y"])
    read = reader.read(study, grid, study._storage.get_trial(asking._trial_id))
    assert read.pending == {(running.params["x"], running.params["y"])}
    assert read.seen == {(1, 1), (2, 0), (3, 0)} | read.pending


def test_repeats_are_counted_back_from_the_latest_trial() -> None:
    a, b = ((0, 0), 1.0), ((0, 1), 2.0)
    assert history(a, b).n_repeats_in_a_row == 0
    assert history(a, b, a, b).n_repeats_in_a_row == 2
    assert history(a, a, b).n_repeats_in_a_row == 0


def test_a_deleted_study_leaves_nothing_behind() -> None:
    storage = optuna.storages.InMemoryStorage()
    reader, grid = HistoryReader(), Space(GRID)
    for x in (1, 2):
        study = optuna.create_study(storage=storage, study_name="s")
        told(study, x, 0, 1.0)
        read = reader.read(study, grid, study._storage.get_trial(study.ask()._trial_id))
        assert read.observations == [((x, 0), -1.0)]
        optuna.delete_study(study_name="s", storage=storage)
