"""Lies keep what they should and destroy the rest."""

from __future__ import annotations

import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution
import pandas as pd
import pytest

from harness.samplers.misled import MisledZAPSSampler
from harness.samplers.misled import lied


PROXIES = pd.DataFrame(
    {"a": np.arange(50.0), "b": np.arange(50.0) ** 2}, index=[f"row {i}" for i in range(50)]
)


def told(lie: str) -> pd.DataFrame:
    found = lied(PROXIES, lie, np.random.default_rng(0))
    assert found.index.equals(PROXIES.index)
    return found


def test_shuffled_proxies_still_agree_with_each_other() -> None:
    shuffled = told("shuffled")
    np.testing.assert_array_equal(shuffled["b"], shuffled["a"] ** 2)
    assert sorted(shuffled["a"]) == list(PROXIES["a"])
    assert (shuffled["a"] != PROXIES["a"]).mean() > 0.8


def test_permuted_proxies_agree_with_nothing() -> None:
    permuted = told("permuted")
    assert sorted(permuted["a"]) == list(PROXIES["a"])
    assert sorted(permuted["b"]) == list(PROXIES["b"])
    assert (permuted["b"] != permuted["a"] ** 2).mean() > 0.8


def test_negated_and_no_proxies() -> None:
    np.testing.assert_array_equal(told("negated"), -PROXIES)
    assert told("none").shape == (50, 0)
    with pytest.raises(ValueError, match="but got 'white'"):
        told("white")


@pytest.mark.parametrize("lie", ["none", "shuffled"])
def test_a_study_can_be_misled(lie: str) -> None:
    space = {"x": CategoricalDistribution(range(10)), "y": CategoricalDistribution(range(10))}
    table = pd.DataFrame(
        [(x, y, x + y) for x in range(10) for y in range(10)], columns=["x", "y", "sum"]
    )
    sampler = MisledZAPSSampler(table, search_space=space, lie=lie, seed=0)
    study = optuna.create_study(sampler=sampler)
    study.optimize(
        lambda trial: sum(
            trial.suggest_categorical(name, distribution.choices)
            for name, distribution in space.items()
        ),
        n_trials=20,
    )
    assert len({(trial.params["x"], trial.params["y"]) for trial in study.trials}) == 20
    assert [name for name in sampler.proxies_ if name == "sum"] == ["sum"] * (lie != "none")
