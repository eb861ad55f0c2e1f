"""Life of a study in one process; test_sampler.py has the plain cases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import sys
from typing import Any
import warnings

from flat import FLAT
from histories import history_of
import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution
from optuna.samplers import PartialFixedSampler
from optuna.samplers import RandomSampler
from optuna.trial import TrialState
import pytest

from optuna_zaps import ZAPSSampler


SPACE: dict[str, list[Any]] = {"op": list("abcde"), "act": list("wxyz"), "width": [8, 16, 32]}
SIZE = 60


def suggest(trial: optuna.Trial) -> dict[str, Any]:
    return {name: trial.suggest_categorical(name, choices) for name, choices in SPACE.items()}


def value(params: dict[str, Any]) -> float:
    return float(sum(SPACE[name].index(chosen) for name, chosen in params.items()))


def objective(trial: optuna.Trial) -> float:
    return value(suggest(trial))


def sampler(**arguments: Any) -> ZAPSSampler:
    return ZAPSSampler(
        **{"search_space": SPACE, "n_startup_trials": 6, "seed": 0, "profile": FLAT} | arguments
    )


GIVEN_AND_INFERRED = pytest.mark.parametrize("space", [SPACE, None], ids=["given", "inferred"])


def study_with(zaps: optuna.samplers.BaseSampler, **arguments: Any) -> optuna.Study:
    return optuna.create_study(**{"direction": "maximize", "sampler": zaps} | arguments)


def evaluated(study: optuna.Study) -> list[tuple[Any, ...]]:
    return [tuple(trial.params[name] for name in SPACE) for trial in study.trials]


# --- objectives --------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [sys.float_info.max, 1e200, 1e40, -1e200])
@pytest.mark.parametrize("profile", ["anytime", "anytime+trees"])
def test_penalties_too_large_to_compute_with(penalty: float, profile: str) -> None:
    # Code that was written for TPE returns such numbers for what must not be chosen.
    study = study_with(sampler(profile=profile), direction="minimize")
    study.optimize(
        lambda trial: penalty if objective(trial) > 3 else objective(trial), n_trials=20
    )
    assert len(set(evaluated(study))) == 20
    assert np.all(np.isfinite(study.sampler.rank(study)[["mean", "std"]].to_numpy(np.float64)))


@pytest.mark.parametrize("profile", ["anytime", "anytime+trees"])
def test_nothing_but_infinite_values(profile: str) -> None:
    study = study_with(sampler(profile=profile))
    study.optimize(lambda trial: objective(trial) * float("inf") + float("inf"), n_trials=20)
    assert len(set(evaluated(study))) == 20


def test_nothing_but_failures() -> None:
    study = study_with(sampler())
    study.optimize(lambda trial: float("nan") if suggest(trial) else 0.0, n_trials=20)
    assert {trial.state for trial in study.trials} == {TrialState.FAIL}
    assert len(set(evaluated(study))) == 20


def test_nothing_but_pruned_trials_with_and_without_a_value() -> None:
    def pruned(trial: optuna.Trial) -> float:
        suggest(trial)
        if trial.number % 2:
            trial.report(float("nan") if trial.number % 3 else 1.0, step=0)
        raise optuna.TrialPruned

    study = study_with(sampler())
    study.optimize(pruned, n_trials=20)
    assert {trial.state for trial in study.trials} == {TrialState.PRUNED}
    assert len(set(evaluated(study))) == 20


def test_a_pruned_value_counts_for_no_more_than_the_median() -> None:
    study = study_with(sampler())
    for result in (1.0, 2.0, 9.0):
        study.optimize(lambda trial, result=result: result + 0 * objective(trial), n_trials=1)

    def pruned(trial: optuna.Trial) -> float:
        suggest(trial)
        trial.report(5.0 if trial.number == 3 else 0.5, step=0)
        raise optuna.TrialPruned

    study.optimize(pruned, n_trials=2)
    assert history_of(study, SPACE).labels.tolist() == [1.0, 2.0, 9.0, 2.0, 0.5]


def test_the_median_of_infinite_values_of_both_signs() -> None:
    study = study_with(sampler(profile="anytime"), direction="minimize")
    for result in (float("inf"), -float("inf")):
        study.optimize(lambda trial, result=result: result + 0 * objective(trial), n_trials=1)

    def pruned(trial: optuna.Trial) -> float:
        suggest(trial)
        trial.report(5.0, step=0)
        raise optuna.TrialPruned

    study.optimize(pruned, n_trials=8)
    assert len(set(evaluated(study))) == 10


# --- the order of things -----------------------------------------------------------------------


@GIVEN_AND_INFERRED
def test_more_asks_than_configurations_before_any_tell(space: dict[str, list[Any]] | None) -> None:
    study = study_with(sampler(search_space=space))
    if space is None:
        study.optimize(objective, n_trials=1)  # the space is known from a finished trial on
    trials = [study.ask() for _ in range(SIZE - len(study.trials) + 4)]
    values = [objective(trial) for trial in trials]
    assert len(set(evaluated(study)[:SIZE])) == SIZE
    for trial, result in reversed(list(zip(trials, values, strict=True))):
        study.tell(trial, result)
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE] * (SIZE + 4)


def test_trials_are_told_by_number_and_failed_in_another_order() -> None:
    study = study_with(sampler(profile=None))
    rng = np.random.default_rng(0)
    running: list[optuna.Trial] = []
    for _ in range(40):
        trial = study.ask()
        suggest(trial)
        running.append(trial)
        while len(running) > 4:
            done = running.pop(int(rng.integers(len(running))))
            if done.number % 5 == 0:
                study.tell(done.number, state=TrialState.FAIL)
            else:
                study.tell(done.number, value(done.params))
    assert len(set(evaluated(study))) == 40


def test_parameters_are_suggested_by_turns_in_two_trials() -> None:
    study = study_with(sampler())
    for _ in range(10):
        pair = study.ask(), study.ask()
        for name, choices in SPACE.items():
            for trial in pair:
                trial.suggest_categorical(name, choices)
        for trial in pair:
            study.tell(trial, value(trial.params))
    assert len(set(evaluated(study))) == 20


def test_asking_with_fixed_distributions() -> None:
    study = study_with(sampler())
    distributions = {name: CategoricalDistribution(choices) for name, choices in SPACE.items()}
    for _ in range(20):
        trial = study.ask(distributions)
        study.tell(trial, value(trial.params))
    assert len(set(evaluated(study))) == 20


@GIVEN_AND_INFERRED
def test_the_study_is_stopped_and_goes_on(space: dict[str, list[Any]] | None) -> None:
    def stopping(trial: optuna.Trial) -> float:
        if trial.number in (3, 11):
            trial.study.stop()
        return objective(trial)

    study = study_with(sampler(search_space=space))
    for n_trials in (4, 12, 30):
        study.optimize(stopping, n_trials=30 - len(study.trials))
        assert len(study.trials) == n_trials
    assert len(set(evaluated(study)[1:])) == 29


def test_an_objective_that_raises_ends_the_study_and_loses_nothing() -> None:
    def raising(trial: optuna.Trial) -> float:
        result = objective(trial)
        if trial.number in (2, 9):
            raise OSError("disk full")
        return result

    study = study_with(sampler())
    for _ in range(2):
        with pytest.raises(OSError, match="disk full"):
            study.optimize(raising, n_trials=20)
    study.optimize(raising, n_trials=100)
    assert len(study.trials) == len(set(evaluated(study))) == SIZE


@pytest.mark.parametrize(
    "arguments",
    [{}, {"search_space": None}, {"search_space": None, "group": True}],
    ids=["given", "inferred", "groups"],
)
def test_a_study_created_anew_under_an_old_identity_is_not_mistaken_for_it(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    # SQLite gives the numbers of a deleted study, and of its trials, to the next one.
    storage = optuna.storages.get_storage(f"sqlite:///{tmp_path / 'study.db'}")
    zaps = sampler(**arguments)
    first = study_with(zaps, storage=storage)
    first.optimize(objective, n_trials=12)
    first.enqueue_trial({"op": "e"})
    unfinished = suggest(first.ask())  # and this trial never ends
    optuna.delete_study(study_name=first.study_name, storage=storage)

    if not arguments:
        second = study_with(zaps, storage=storage)
        second.optimize(objective, n_trials=20)
        again = study_with(sampler())
        again.optimize(objective, n_trials=20)
        assert evaluated(second) == evaluated(again)
        assert second.trials[12].params != unfinished
    else:
        second = study_with(zaps, storage=storage)
        second.optimize(
            lambda trial: trial.suggest_int("n", 1, 5) * trial.suggest_int("m", 1, 4), n_trials=16
        )
        assert len({(t.params["n"], t.params["m"]) for t in second.trials[1:]}) == 15
    assert second._storage is first._storage
    assert second._study_id == first._study_id
    assert second.trials[12]._trial_id == 13
    assert isinstance(storage, optuna.storages._CachedStorage)
    storage._backend.engine.dispose()


# --- exhaustion --------------------------------------------------------------------------------


def test_a_trial_that_waits_is_evaluated_before_the_study_stops() -> None:
    study = study_with(sampler())
    study.optimize(objective, n_trials=SIZE - 1)
    again = dict(study.trials[0].params)
    for _ in range(2):
        study.enqueue_trial(again)
    study.optimize(objective, n_trials=10)
    assert len(study.trials) == SIZE + 2  # one of its own comes last
    assert len(set(evaluated(study))) == SIZE


@pytest.mark.parametrize(
    ("waiting", "n_trials"),
    [
        ([{"n": 0}, {"n": 1}, {"n": 2}, {"n": 0}, {"n": 1}], 5),  # at once nothing new is left
        ([{"n": 2}] * 5, 7),
        ([{}] * 5, 5),
    ],
    ids=["each", "one", "any"],
)
def test_all_that_waits_is_evaluated_before_the_study_stops(
    waiting: list[dict[str, int]], n_trials: int
) -> None:
    study = study_with(sampler(search_space={"n": [0, 1, 2]}))
    for params in waiting:
        study.enqueue_trial(params)
    study.optimize(lambda trial: trial.suggest_categorical("n", [0, 1, 2]), n_trials=20)
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE] * n_trials
    for params, trial in zip(waiting, study.trials, strict=False):
        assert params.items() <= trial.params.items()
    assert {trial.params["n"] for trial in study.trials} == {0, 1, 2}


def test_an_inferred_space_that_is_exhausted_is_no_reason_to_stop() -> None:
    study = study_with(sampler(search_space=None))
    study.optimize(objective, n_trials=SIZE + 5)
    assert len(study.trials) == SIZE + 5
    assert len(set(evaluated(study)[:SIZE])) == SIZE


def test_eight_threads_evaluate_nothing_twice() -> None:
    study = study_with(sampler(profile=None))
    study.optimize(objective, n_trials=48, n_jobs=8)
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE] * 48
    assert len(set(evaluated(study))) == 48


# --- other parts of Optuna ---------------------------------------------------------------------


@pytest.fixture
def _experimental() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        yield


@pytest.mark.usefixtures("_experimental")
@GIVEN_AND_INFERRED
def test_parameters_fixed_in_the_middle_of_a_study(space: dict[str, list[Any]] | None) -> None:
    zaps = sampler(search_space=space)
    study = study_with(zaps)
    study.optimize(objective, n_trials=10)
    study.sampler = PartialFixedSampler({"op": "c"}, zaps)
    study.optimize(objective, n_trials=6)
    study.sampler = zaps
    study.optimize(objective, n_trials=20)
    assert {trial.params["op"] for trial in study.trials[10:16]} == {"c"}
    assert len(set(evaluated(study)[1:])) == 35


@pytest.mark.usefixtures("_experimental")
@GIVEN_AND_INFERRED
def test_parameters_fixed_late_in_a_study(space: dict[str, list[Any]] | None) -> None:
    zaps = sampler(search_space=space)
    study = study_with(zaps)
    study.optimize(objective, n_trials=40)
    free = SIZE // 3 - sum(width == 16 for _, _, width in evaluated(study))
    assert free > 3
    # The objective suggests "width" last, when the others are chosen.
    study.sampler = PartialFixedSampler({"width": 16}, zaps)
    study.optimize(objective, n_trials=free)
    assert {width for _, _, width in evaluated(study)[40:]} == {16}
    assert len(set(evaluated(study)[1:])) == 39 + free


@pytest.mark.usefixtures("_experimental")
def test_the_study_stops_when_nothing_is_left_of_what_is_not_fixed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    inner = PartialFixedSampler({"act": "x", "op": "b"}, sampler())
    study = study_with(PartialFixedSampler({"act": "w"}, inner))
    study.optimize(objective, n_trials=10)
    assert sorted(evaluated(study)) == [("b", "w", width) for width in (8, 16, 32)]
    trial = study.ask()
    suggest(trial)
    assert study.trials[-1].user_attrs == {"zaps:phase": "repetition"}
    (record,) = caplog.records
    assert record.message.startswith("Every configuration that agrees with the parameters that")


@pytest.mark.usefixtures("_experimental")
def test_a_value_is_fixed_that_no_candidate_has() -> None:
    zaps = sampler(search_space={**SPACE, "width": [8, 16]})
    study = study_with(PartialFixedSampler({"width": 32}, zaps))
    study.optimize(objective, n_trials=20)
    # As with an enqueued value of the kind: the rest goes to the independent sampler.
    assert {width for _, _, width in evaluated(study)} == {32}
    assert len(study.trials) == 20
    assert all("zaps:phase" not in trial.user_attrs for trial in study.trials)


@pytest.mark.usefixtures("_experimental")
def test_a_partial_fixed_sampler_for_what_is_outside_the_space() -> None:
    outside = PartialFixedSampler({"rate": 0.25}, RandomSampler(seed=0))
    study = study_with(sampler(independent_sampler=outside, warn_independent_sampling=False))
    study.optimize(
        lambda trial: (
            objective(trial) + trial.suggest_float("rate", 0, 1) + trial.suggest_int("n", 1, 9)
        ),
        n_trials=20,
    )
    assert {trial.params["rate"] for trial in study.trials} == {0.25}
    assert len(set(evaluated(study))) == 20


@pytest.mark.parametrize("pruner", [
    optuna.pruners.HyperbandPruner(max_resource=9),
    optuna.pruners.MedianPruner(n_startup_trials=2),
    optuna.pruners.SuccessiveHalvingPruner(),
], ids=lambda pruner: type(pruner).__name__)  # fmt: skip
@GIVEN_AND_INFERRED
def test_pruners(pruner: optuna.pruners.BasePruner, space: dict[str, list[Any]] | None) -> None:
    def stepwise(trial: optuna.Trial) -> float:
        result = objective(trial)
        for step in range(1, 10):
            trial.report(result * step, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return result

    study = study_with(sampler(search_space=space), pruner=pruner)
    study.optimize(stepwise, n_trials=40)
    assert {TrialState.PRUNED, TrialState.COMPLETE} == {trial.state for trial in study.trials}
    # Hyperband shows a sampler the trials of one bracket, of which an inferred space needs one.
    assert len(set(evaluated(study))) >= (40 if space is not None else 36)


def test_a_copy_of_a_study_goes_on_alike() -> None:
    study = study_with(sampler(profile=None))
    study.optimize(objective, n_trials=14)
    running = study.ask()
    suggest(running)  # a copied study copies it as running
    storage = optuna.storages.InMemoryStorage()
    optuna.copy_study(
        from_study_name=study.study_name,
        from_storage=study._storage,
        to_storage=storage,
        to_study_name="copy",
    )
    copied = optuna.load_study(study_name="copy", storage=storage, sampler=sampler(profile=None))
    assert evaluated(copied) == evaluated(study)
    for each in (study, copied):
        each.optimize(objective, n_trials=8)
    assert evaluated(copied) == evaluated(study)


def test_a_sampler_that_takes_over_from_another_and_hands_over() -> None:
    study = study_with(RandomSampler(seed=0))
    study.optimize(objective, n_trials=10)
    seen = set(evaluated(study))
    study.sampler = sampler()
    study.optimize(objective, n_trials=10)
    assert len(set(evaluated(study))) == len(seen) + 10
    study.sampler = optuna.samplers.TPESampler(seed=0)
    study.optimize(objective, n_trials=10)
    seen = set(evaluated(study))
    study.sampler = sampler(seed=7)
    study.optimize(objective, n_trials=10)
    assert len(set(evaluated(study))) == len(seen) + 10


def test_it_goes_on_after_a_grid_sampler() -> None:
    study = study_with(optuna.samplers.GridSampler(SPACE, seed=0))
    study.optimize(objective, n_trials=10)
    study.sampler = sampler()
    study.optimize(objective, n_trials=10)
    assert len(set(evaluated(study))) == 20


@GIVEN_AND_INFERRED
def test_enqueued_values_that_the_study_does_not_offer(
    space: dict[str, list[Any]] | None,
) -> None:
    study = study_with(sampler(search_space=space))
    study.optimize(objective, n_trials=5)
    study.enqueue_trial({"op": "b", "unheard of": 3})
    study.enqueue_trial({"width": 16, "op": "e"})
    study.optimize(objective, n_trials=10)
    assert study.trials[5].params["op"] == "b"
    assert (study.trials[6].params["op"], study.trials[6].params["width"]) == ("e", 16)
    assert len(set(evaluated(study)[1:])) == 14


def test_a_part_that_is_enqueued_more_often_than_it_has_configurations() -> None:
    study = study_with(sampler())
    for _ in range(14):
        study.enqueue_trial({"op": "a"})
    study.optimize(objective, n_trials=14)
    # Of op = "a" there are 12 configurations: two trials repeat one.
    assert len(set(evaluated(study))) == 12
    study.optimize(objective, n_trials=100)
    assert len(set(evaluated(study))) == SIZE
    assert len(study.trials) == SIZE + 2
