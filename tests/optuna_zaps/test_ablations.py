"""Ablations of Section 4.6 leave out what they say, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import optuna
import pandas as pd
import pytest

from optuna_zaps import Profile
from optuna_zaps import ZAPSSampler
from optuna_zaps.search.initial_design import uniform_plan
from optuna_zaps.surrogates import FeatureLayout


TABLE = pd.DataFrame(
    [(f"a{i}", f"b{j}", 12 * i + j, (7 * i + 5 * j) % 11) for i in range(12) for j in range(12)],
    columns=["a", "b", "size", "noise"],
)


class Recorder:
    """A surrogate that predicts nothing and remembers what it was shown."""

    seen: tuple[FeatureLayout, tuple[int, ...]]

    def __init__(self, layout: FeatureLayout, seed: int) -> None:
        self.layout = layout

    def fit(self, X: npt.NDArray[np.float32], y: npt.NDArray[np.float64]) -> None:
        Recorder.seen = (self.layout, X.shape)

    def predict(self, X: npt.NDArray[np.float32]) -> tuple[Any, Any]:
        return np.zeros(len(X)), np.ones(len(X))


def run(profile: str, n_trials: int = 14) -> optuna.Study:
    return run_profile(Profile.from_name(profile, budget=20), n_trials)


def run_profile(profile: Profile, n_trials: int = 14) -> optuna.Study:
    sampler = ZAPSSampler(TABLE, profile=profile, seed=0)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(
        lambda trial: float(
            int(trial.suggest_categorical("a", list(TABLE["a"].unique()))[1:])
            + int(trial.suggest_categorical("b", list(TABLE["b"].unique()))[1:])
        ),
        n_trials=n_trials,
    )
    return study


@pytest.mark.parametrize(
    ("profile", "n_proxies", "n_encoding"),
    [("paper", 2, 24), ("paper+proxies-only", 2, 0), ("paper+parameters-only", 0, 24)],
)
def test_the_surrogate_sees_the_blocks_that_are_named(
    profile: str, n_proxies: int, n_encoding: int
) -> None:
    run_profile(Profile.from_name(profile, budget=20).with_surrogate(Recorder))
    layout, (n_labelled, n_columns) = Recorder.seen
    assert (layout.n_proxies, layout.n_encoding) == (n_proxies, n_encoding)  # 12 + 12 choices
    assert (n_labelled, n_columns) == (10, n_proxies + n_encoding)


def test_only_the_surrogate_changes_with_its_features() -> None:
    names = ("paper", "paper+proxies-only", "paper+parameters-only")
    studies = [run(name, n_trials=10) for name in names]
    starts = [[trial.params for trial in study.trials] for study in studies]
    assert starts[0] == starts[1] == starts[2]


def test_a_random_start_ignores_the_proxies_and_the_model_does_not() -> None:
    study = run("paper+random-start")
    phases = [trial.user_attrs["zaps:phase"] for trial in study.trials]
    assert phases == ["random"] * 10 + ["model"] * 4
    assert "size" in study.trials[-1].user_attrs["zaps:proxies"]


def test_a_uniform_start_is_uniform() -> None:
    rng = np.random.default_rng(0)
    plans = np.stack([uniform_plan(10, 4, rng).candidates for _ in range(2_000)])
    assert all(len(set(plan)) == 4 for plan in plans.tolist())
    counts = np.bincount(plans.ravel(), minlength=10)
    # Binomial with p = 0.4: 800 expected, a standard deviation of 22.
    assert np.all(np.abs(counts - 800) < 4.5 * 22)
    assert len(uniform_plan(3, 9, rng)) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"profile": "paper+sobol"}, r"variations among \['trees', .* but got 'paper\+sobol'"),
        ({"profile": "paper+proxies-only", "proxies": None}, "needs proxies, but there are none"),
        ({"profile": "anytime+proxies-only", "budget": None}, "needs the parameters"),
    ],
)
def test_what_cannot_be_left_out_is_refused(arguments: dict[str, Any], message: str) -> None:
    space = {"a": ["x", "y"], "b": [1, 2, 3]}
    defaults: dict[str, Any] = {"proxies": lambda params: {"b": params["b"]}, "budget": 20}
    with pytest.raises(ValueError, match=message):
        ZAPSSampler(search_space=space, **(defaults | arguments))


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("anytime+processes", "anytime"),
        ("anytime+random-start+trees", "anytime+trees+random-start"),
    ],
)
def test_variations_have_no_order(name: str, same: str) -> None:
    assert Profile.from_name(name) == Profile.from_name(same)


def test_models_and_schedules_go_together_in_any_way() -> None:
    anytime, paper = Profile.anytime(), Profile.paper(100)
    trees = Profile.from_name("anytime+trees")
    processes = Profile.from_name("paper+processes", budget=100)
    assert (processes.schedule, processes.model) == (paper.schedule, anytime.model)
    assert trees.model == paper.model
    assert (trees.schedule.n_startup, trees.n_startup_without_proxies) == (20, 20)
    assert Profile.from_name("paper+trees", budget=100) == paper


def test_features_of_another_name_are_refused() -> None:
    with pytest.raises(ValueError, match=r"features must be one of \('both'.*but got 'none'"):
        replace(Profile.anytime().model, features="none")
