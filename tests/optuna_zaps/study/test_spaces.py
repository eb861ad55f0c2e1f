"""Choices of every kind, and spaces that change, as code written for TPESampler has them."""

from __future__ import annotations

from collections.abc import Callable
import copy
import math
import pickle
from typing import Any
import warnings

from flat import FLAT
import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.distributions import IntDistribution
import pandas as pd
import pytest

from optuna_zaps import ZAPSSampler
from optuna_zaps.study import parameters


NAN = math.nan
Objective = Callable[[optuna.Trial], float]


def over(space: dict[str, list[Any]]) -> Objective:
    """An objective that suggests each parameter of a space and scores it by positions."""

    def objective(trial: optuna.Trial) -> float:
        total = 0
        for name, choices in space.items():
            chosen = trial.suggest_categorical(name, choices)
            total += [repr(choice) for choice in choices].index(repr(chosen))
        return float(total)

    return objective


def evaluated(study: optuna.Study) -> list[str]:
    # By repr, in which NaN equals itself and True is not 1.
    return [repr(sorted(trial.params.items())) for trial in study.trials]


def sampler(**arguments: Any) -> ZAPSSampler:
    return ZAPSSampler(**{"n_startup_trials": 3, "seed": 0, "profile": FLAT} | arguments)


def run(objective: Objective, n_trials: int, **arguments: Any) -> optuna.Study:
    study = optuna.create_study(direction="maximize", sampler=sampler(**arguments))
    study.optimize(objective, n_trials=n_trials)
    return study


MIXED = {"a": [None, True, NAN, "x", 2.5], "b": [False, None, 3]}


@pytest.mark.parametrize("given", [True, False], ids=["given", "inferred"])
@pytest.mark.parametrize("url", [None, "sqlite://"], ids=["memory", "sqlite"])
def test_none_booleans_nan_and_mixed_types(given: bool, url: str | None) -> None:
    zaps = sampler(search_space=MIXED if given else None)
    study = optuna.create_study(storage=url, sampler=zaps, direction="maximize")
    study.optimize(over(MIXED), n_trials=15)
    assert len(set(evaluated(study))) == 15
    assert study.best_params == {"a": 2.5, "b": 3}


def test_mixed_choices_in_a_table_and_in_another_order_in_the_study() -> None:
    rows = pd.DataFrame(
        [(a, b, float(i * j)) for i, a in enumerate(MIXED["a"]) for j, b in enumerate(MIXED["b"])],
        columns=["a", "b", "flops"],
    ).astype({"a": object, "b": object})
    backwards = {name: choices[::-1] for name, choices in reversed(MIXED.items())}
    study = run(over(backwards), 20, proxies=rows, search_space=MIXED)
    assert len(study.trials) == len(set(evaluated(study))) == 15


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda zaps: pickle.loads(pickle.dumps(zaps))])
def test_nan_is_known_again_in_a_copy_of_the_sampler(twin: Callable[[Any], Any]) -> None:
    zaps = sampler(search_space=MIXED)
    study = optuna.create_study(sampler=zaps)
    study.optimize(over(MIXED), n_trials=8)
    study.sampler = twin(zaps)
    study.optimize(over(MIXED), n_trials=20)
    assert len(study.trials) == len(set(evaluated(study))) == 15


@pytest.mark.parametrize("given", [True, False], ids=["given", "inferred"])
@pytest.mark.parametrize("choices", [[1, True, "a"], ["b", "b", "a"], [0.0, False, NAN, NAN]])
def test_choices_that_are_equal_are_one_choice(choices: list[Any], given: bool) -> None:
    # Optuna stores the position of the first equal choice: the others are never evaluated.
    space = {"x": choices, "y": [1, 2, 3]}
    study = run(over(space), 6, search_space=space if given else None)
    assert len(set(evaluated(study))) == 6


@pytest.mark.parametrize("given", [True, False], ids=["given", "inferred"])
@pytest.mark.parametrize(
    "choices", [[[3, 3], [5, 5]], [(3, 3), (5, 5)], [{"k": 3}, {"k": 5}]], ids=str
)
def test_choices_that_are_no_scalars(choices: list[Any], given: bool) -> None:
    # Optuna warns of them, and in memory they work with its own samplers.
    space = {"kernel": choices, "depth": [1, 2, 3, 4]}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Choices for a categorical distribution")
        study = run(over(space), 8, search_space=space if given else None)
    assert len(set(evaluated(study))) == 8


def test_choices_of_numpy_are_written_to_a_storage_as_numbers() -> None:
    space = {"width": list(np.arange(1, 4)), "rate": list(np.linspace(0, 1, 3)), "op": ["a", "b"]}
    zaps = sampler(search_space=space)
    study = optuna.create_study(storage="sqlite://", sampler=zaps)
    plain = {"width": [1, 2, 3], "rate": [0.0, 0.5, 1.0], "op": ["a", "b"]}
    study.optimize(over(plain), n_trials=20)
    assert len(study.trials) == len(set(evaluated(study))) == 18


@pytest.mark.filterwarnings("ignore:The distribution is specified by")
def test_a_grid_of_thirds_has_its_last_value() -> None:
    """In decimals three times a third, as Python spells it, is less than 1."""
    space = {"x": FloatDistribution(-0.3, 0.7, step=1 / 3)}
    study = optuna.create_study(sampler=ZAPSSampler(search_space=space, seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", -0.3, 0.7, step=1 / 3), n_trials=9)
    assert sorted(t.value for t in study.trials) == pytest.approx([-0.3, 1 / 30, 11 / 30, 0.7])


@pytest.mark.parametrize("given", [True, False], ids=["given", "inferred"])
def test_parameters_with_a_single_value(given: bool) -> None:
    space = {"only": ["a"], "op": ["b", "c", "d"], "one": [1], "width": [8, 16, 32]}
    study = run(over(space), 9, search_space=space if given else None)
    assert len(set(evaluated(study))) == 9


def test_nothing_but_single_values() -> None:
    space = {"only": ["a"], "one": [1]}
    assert len(run(over(space), 3).trials) == 3
    # Of a given space nothing is left after the first.
    assert len(run(over(space), 3, search_space=space).trials) == 1


def test_a_neighbour_off_the_grid_is_not_taken_for_a_candidate() -> None:
    grid = parameters.grid({"n": IntDistribution(100_000, 100_010, step=2)})
    assert grid.index({"n": 100_004}) == 2
    assert grid.index({"n": 100_001}) is None


@pytest.mark.parametrize("foreign", ["few", None, [3, 4]], ids=str)
@pytest.mark.parametrize(
    "distribution",
    [IntDistribution(1, 5), FloatDistribution(1, 2, step=0.25)],
    ids=["int", "float"],
)
def test_trials_that_had_no_number_where_the_space_has_one(
    foreign: Any, distribution: IntDistribution | FloatDistribution
) -> None:
    space = {"n": distribution, "m": [1, 2, 3]}
    study = optuna.create_study(sampler=sampler(search_space=space))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Choices for a categorical distribution")
        study.add_trial(
            optuna.trial.create_trial(
                params={"n": foreign, "m": 1},
                distributions={
                    "n": CategoricalDistribution([foreign, "many"]),
                    "m": CategoricalDistribution([1, 2, 3]),
                },
                value=1.0,
            )
        )

    def objective(trial: optuna.Trial) -> float:
        n = trial._suggest("n", distribution)
        return float(n * trial.suggest_categorical("m", [1, 2, 3]))

    study.optimize(objective, n_trials=15)
    assert len(set(evaluated(study)[1:])) == 15


# --- spaces that change ------------------------------------------------------------------------


def test_a_parameter_that_comes_later_and_one_that_goes() -> None:
    def early(trial: optuna.Trial) -> float:
        return float(trial.suggest_int("a", 1, 6) + trial.suggest_int("b", 1, 3))

    def late(trial: optuna.Trial) -> float:
        return float(trial.suggest_int("a", 1, 6) * trial.suggest_int("c", 1, 4))

    study = run(early, 10)
    study.optimize(late, n_trials=6)
    trials = study.trials
    assert len({(t.params["a"], t.params["b"]) for t in trials[:10]}) == 10
    # Now only "a" is in every trial. All six values of it were evaluated, so that others come
    # from the independent sampler, as they would with TPE.
    assert all(1 <= t.params["a"] <= 6 and 1 <= t.params["c"] <= 4 for t in trials[10:])


def test_a_range_that_is_widened_narrowed_and_moved() -> None:
    ranges = [(1, 4), (1, 8), (2, 3), (20, 24)]

    def objective(trial: optuna.Trial) -> float:
        low, high = ranges[trial.number // 8]
        return float(trial.suggest_int("n", low, high) + trial.suggest_categorical("m", [1, 2, 3]))

    study = run(objective, 32)
    for trial in study.trials:
        low, high = ranges[trial.number // 8]
        assert low <= trial.params["n"] <= high


@pytest.mark.parametrize("seed", range(4))
def test_no_configuration_of_a_branch_comes_again(
    seed: int,
) -> None:
    def conditional(trial: optuna.Trial) -> float:
        op = trial.suggest_categorical("op", list("abcde"))
        width = trial.suggest_categorical("width", [8, 16, 32])
        if op in "ab":
            return width * trial.suggest_int("rate", 0, 5)
        return width + trial.suggest_int("depth", 1, 4)

    study = run(conditional, 48, seed=seed)
    trials = study.trials
    assert all(("rate" in t.params) == (t.params["op"] in "ab") for t in trials)
    assert all(("depth" in t.params) == (t.params["op"] in "cde") for t in trials)
    # The first trial is the independent sampler's. Of the 2 * 3 * 6 + 3 * 3 * 4 configurations
    # none comes again, but for the values of a branch before any trial has shown it.
    assert all("zaps:phase" in trial.user_attrs for trial in trials[1:])
    assert len({tuple(sorted(t.params.items())) for t in trials}) == 48


# --- one sampler for two studies ---------------------------------------------------------------


@pytest.mark.parametrize("other", ["b", "c"])
@pytest.mark.parametrize("url", [None, "sqlite://"], ids=["memory", "sqlite"])
def test_one_sampler_learns_the_space_of_each_of_two_studies(
    caplog: pytest.LogCaptureFixture, url: str | None, other: str
) -> None:
    zaps = sampler()
    first = optuna.create_study(storage=url, sampler=zaps)
    storage = None if url is None else first._storage
    second = optuna.create_study(storage=storage, sampler=zaps)
    spaces = {"a": range(5), "b": range(3)}, {"a": range(4), other: range(4)}
    for _ in range(6):  # in turns
        for study, space in zip((first, second), spaces, strict=True):
            study.optimize(over({k: list(v) for k, v in space.items()}), n_trials=2)
    for study in (first, second):
        assert len(set(evaluated(study))) == 12
        assert all("zaps:phase" in trial.user_attrs for trial in study.trials[2:])
    assert not caplog.records  # of neither is a first trial outside the space
