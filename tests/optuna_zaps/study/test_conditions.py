"""Branches of an objective: learned from its trials, and searched as one space."""

from __future__ import annotations

from collections import Counter
from typing import Any
import warnings

import optuna
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.distributions import IntDistribution
from optuna.samplers import PartialFixedSampler
from optuna.trial import TrialState
import pytest

from optuna_zaps import ZAPSSampler
from optuna_zaps.search.conditions import Condition
from optuna_zaps.search.conditions import Conditions
from optuna_zaps.search.conditions import active_params
from optuna_zaps.search.conditions import neglected_branch
from optuna_zaps.study.conditions import ConditionLearner
from optuna_zaps.study.parameters import branches


SPACE = {
    "model": CategoricalDistribution(["svm", "forest", "knn"]),
    "kernel": CategoricalDistribution(["rbf", "linear"]),
    "gamma": FloatDistribution(0, 1),
    "C": FloatDistribution(0, 1),
    "depth": IntDistribution(1, 9),
    "x": FloatDistribution(0, 1),
}
SVM = {"model": "svm", "C": 0.5, "x": 0.5}
TRIALS: list[dict[str, Any]] = [
    {**SVM, "kernel": "rbf", "gamma": 0.5},
    {**SVM, "kernel": "linear"},
    {"model": "forest", "depth": 3, "x": 0.25},
]


def learned(*trials: dict[str, Any]) -> Conditions:
    learner = ConditionLearner()
    for params in trials:
        learner.add(params, {name: SPACE[name] for name in params})
    return learner.conditions({name: SPACE[name] for name in sorted(learner.names)})


def test_nested_branches_are_told_apart() -> None:
    for trials in (TRIALS, TRIALS[::-1]):
        conditions = learned(*trials)
        # No trial had "knn": it may have anything.
        assert conditions == {
            "C": Condition("model", ("forest",)),
            "depth": Condition("model", ("svm",)),
            "kernel": Condition("model", ("forest",)),
            "gamma": Condition("kernel", ("linear",)),
        }
        assert list(conditions).index("kernel") < list(conditions).index("gamma")


def test_a_parameter_that_came_late_has_no_parent() -> None:
    assert learned({"x": 0.5}, {"x": 0.5}, {"x": 0.5, "depth": 2}) == {"depth": None}


def model(trial: optuna.Trial) -> float:
    if trial.suggest_categorical("model", ["svm", "forest", "knn"]) == "svm":
        value = trial.suggest_float("C", 0, 1)
        if trial.suggest_categorical("kernel", ["rbf", "linear"]) == "rbf":
            value += (trial.suggest_float("gamma", 0, 1) - 0.3) ** 2
        return value
    if trial.params["model"] == "forest":
        return 0.5 + abs(trial.suggest_int("depth", 1, 9) - 4)
    return 2.0


def test_a_branch_without_anything_new_is_left_alone() -> None:
    study = optuna.create_study(sampler=ZAPSSampler(seed=0))
    study.optimize(model, n_trials=60)
    counts = Counter(trial.params["model"] for trial in study.trials)
    assert counts["knn"] <= 2  # one configuration, and one trial before it was known
    assert counts["forest"] <= 11
    assert study.best_value < 1e-3


def test_each_branch_earns_its_share() -> None:
    def objective(trial: optuna.Trial) -> float:
        kind = trial.suggest_categorical("kind", ["good", "bad"])
        return trial.suggest_float(kind, 0, 1) + 10 * (kind == "bad")

    study = optuna.create_study(sampler=ZAPSSampler(seed=0))
    study.optimize(objective, n_trials=40)
    assert Counter(t.params["kind"] for t in study.trials)["bad"] >= 12


def test_what_no_parent_explains_does_not_come_again() -> None:
    def objective(trial: optuna.Trial) -> float:
        a, b = trial.suggest_int("a", 0, 3), trial.suggest_int("b", 0, 3)
        return float(a * b if (a + b) % 2 else a + trial.suggest_int("c", 0, 9))

    study = optuna.create_study(sampler=ZAPSSampler(seed=1))
    study.optimize(objective, n_trials=40)
    assert len({tuple(sorted(t.params.items())) for t in study.trials}) == 40


def test_a_resumed_study_of_branches_goes_on_as_the_one_that_ran() -> None:
    whole = optuna.create_study(sampler=ZAPSSampler(seed=3))
    whole.optimize(model, n_trials=24)
    resumed = optuna.create_study(sampler=ZAPSSampler(seed=3))
    resumed.add_trials(whole.trials[:20])
    resumed.optimize(model, n_trials=4)
    assert [t.params for t in resumed.trials] == [t.params for t in whole.trials]


def test_a_fixed_parameter_of_a_branch_leaves_the_others_open() -> None:
    zaps = ZAPSSampler(seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        fixed = PartialFixedSampler({"kernel": "linear"}, zaps)
    study = optuna.create_study(sampler=fixed)
    study.optimize(model, n_trials=20)
    assert {t.params["model"] for t in study.trials} == {"svm", "forest", "knn"}
    assert {t.params.get("kernel") for t in study.trials} == {"linear", None}


def test_proxies_are_asked_for_active_parameters_alone() -> None:
    asked: list[dict[str, Any]] = []

    def proxies(params: dict[str, Any]) -> dict[str, float]:
        asked.append(params)
        return {"size": float(len(str(params)))}

    study = optuna.create_study(sampler=ZAPSSampler(proxies, seed=0))
    study.optimize(model, n_trials=16)
    latest = [params for params in asked[-500:] if params["model"] == "knn"]
    assert not any("depth" in params for params in latest)
    ranking = study.sampler.rank(study)
    assert ranking.loc[ranking["model"] == "forest", "C"].isna().all()


@pytest.mark.parametrize("state", [TrialState.FAIL, TrialState.PRUNED])
def test_trials_that_end_early_do_not_stop_the_search_of_branches(state: TrialState) -> None:
    def objective(trial: optuna.Trial) -> float:
        value = model(trial)
        if trial.number % 5 == 2:
            raise optuna.TrialPruned if state == TrialState.PRUNED else ValueError
        return value

    study = optuna.create_study(sampler=ZAPSSampler(seed=0))
    study.optimize(objective, n_trials=40, catch=ValueError)
    assert study.best_value < 0.1


def test_a_finite_space_is_enumerated_branch_by_branch() -> None:
    space = {
        "kernel": CategoricalDistribution(["rbf", "linear"]),
        "depth": IntDistribution(1, 9),
        "degree": IntDistribution(2, 4),
        "model": CategoricalDistribution(["svm", "forest", "knn"]),
    }
    conditions = {
        "kernel": Condition("model", ("forest", "knn")),
        "depth": Condition("model", ("svm", "knn")),
        "degree": Condition("kernel", ("linear",)),
    }
    candidates = branches(space, conditions, with_proxies=False)
    assert candidates is not None
    # svm: rbf with 3 degrees, or linear; forest: 9 depths; knn.
    assert len(candidates) == 3 + 1 + 9 + 1
    for candidate in range(len(candidates)):
        params = candidates.params(candidate)
        assert active_params(params, conditions) == params
        # A claim may have more, from before a condition was known.
        assert candidates.index({"degree": 3, "depth": 2, "kernel": "rbf", **params}) == candidate
    assert candidates.index({"model": "svm"}) is None
    assert candidates.matching({"kernel": "linear"}).sum() == 1 + 9 + 1
    assert branches(space, {**conditions, "degree": None}, with_proxies=False) is None


def test_the_branch_of_the_fewest_trials_is_neglected_within_a_branch_of_its_own() -> None:
    choices = {"model": ["svm", "forest"], "kernel": ["rbf", "linear"]}
    conditions = {"kernel": Condition("model", ("forest",))}
    seen = [{"model": "svm", "kernel": "rbf"}, {"model": "forest"}]
    linear = {"kernel": "linear", "model": "svm"}
    assert neglected_branch(choices, choices, conditions, seen, 1) == linear
    assert neglected_branch(choices, choices, conditions, [*seen, linear], 1) == {}
    assert neglected_branch(choices, ["model"], conditions, seen[:1], 1) == {"model": "forest"}
