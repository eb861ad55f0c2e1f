from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from optuna_zaps.search.profiles import PAPER_TREES
from optuna_zaps.search.profiles import processes
from optuna_zaps.search.profiles import trees
from optuna_zaps.surrogates import FeatureLayout
from optuna_zaps.surrogates import Surrogate
from optuna_zaps.surrogates import XGBoostEnsemble


FACTORIES = {"gaussian-process": processes, "xgboost": trees}


def made(name: str, seed: int = 0) -> Surrogate:
    return FACTORIES[name](FeatureLayout(1, (1,), (False,)), seed)


def step(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    # Both columns tell, since a tree of the ensemble may be shown only one of them.
    X = np.repeat(np.random.default_rng(0).random((n, 1)).astype(np.float32), 2, axis=1)
    return X, np.where(X[:, 0] > 0.5, 3.0, -1.0)


@pytest.mark.parametrize("name", sorted(FACTORIES))
def test_a_surrogate_learns_in_the_unit_of_the_labels(name: str) -> None:
    X, y = step()
    surrogate = made(name)
    surrogate.fit(X, y)
    mean, std = surrogate.predict(np.asarray([[0.9, 0.9], [0.1, 0.1]], dtype=np.float32))
    np.testing.assert_allclose(mean, [3.0, -1.0], atol=0.5)
    assert np.all(std >= 0)


@pytest.mark.parametrize("name", sorted(FACTORIES))
def test_what_a_surrogate_predicts_does_not_depend_on_earlier_fits(name: str) -> None:
    X = np.random.default_rng(1).random((300, 2)).astype(np.float32)
    y = X[:, 0] ** 2 - X[:, 1]
    old, fresh = made(name), made(name)
    for n in (2, 9, 14, 15, 17, 40, 52, 51, 90, 97):
        old.fit(X[:n], y[:n].astype(np.float64))
        old.predict(X)
    fresh.fit(X[:97], y[:97].astype(np.float64))
    # To the last bit: near-equal candidates must be in one order for every worker.
    for ours, theirs in zip(old.predict(X), fresh.predict(X), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", sorted(FACTORIES))
@pytest.mark.parametrize("labels", [[1.0, 1.0], [1.0, 2.0]])
def test_two_labels_suffice(name: str, labels: list[float]) -> None:
    surrogate = made(name)
    surrogate.fit(np.eye(2, dtype=np.float32), np.asarray(labels))
    mean, std = surrogate.predict(np.eye(2, dtype=np.float32))
    assert np.all(np.isfinite(mean))
    assert np.all(np.isfinite(std))


def test_the_ensembles_settings_are_the_papers() -> None:
    parameters = PAPER_TREES.parameters(seed=3)
    assert {
        "objective": "reg:squarederror",
        "tree_method": "hist",
        "max_depth": 5,
        "eta": 0.05,
        "subsample": 0.8,
        "colsample_bytree": 0.8,
        "min_child_weight": 3.0,
        "alpha": 0.1,
    }.items() <= parameters.items()
    assert (PAPER_TREES.n_members, PAPER_TREES.n_trees) == (3, 50)
    assert parameters["nthread"] == 1


def test_an_ensemble_needs_a_member() -> None:
    with pytest.raises(ValueError, match="n_members"):
        replace(PAPER_TREES, n_members=0)


def test_the_members_of_an_ensemble_differ_by_their_resamples() -> None:
    X, y = step()
    y = y + np.random.default_rng(1).normal(size=len(y))
    # All rows and columns for every tree: nothing else is random.
    settings = replace(PAPER_TREES, n_members=4, subsample=1.0, colsample_bytree=1.0)
    ensemble = XGBoostEnsemble(0, settings)
    ensemble.fit(X, y)
    _, std = ensemble.predict(X)
    assert std.min() > 1e-3


def test_an_ensemble_of_one_has_no_doubt() -> None:
    X, y = step()
    ensemble = XGBoostEnsemble(0, replace(PAPER_TREES, n_members=1))
    ensemble.fit(X, y)
    _, std = ensemble.predict(X)
    assert std.tolist() == [0.0] * len(X)
