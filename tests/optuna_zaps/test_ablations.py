"""What an ablation of Section 4.6 leaves out is left out, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import optuna
import pandas as pd
import pytest

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


def run(n_trials: int = 14, **arguments: Any) -> optuna.Study:
    sampler = ZAPSSampler(TABLE, budget=20, seed=0, **arguments)
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
    ("features", "n_proxies", "n_encoding"),
    [("both", 2, 24), ("proxies", 2, 0), ("parameters", 0, 24)],  # 12 + 12 choices
)
def test_the_surrogate_sees_the_blocks_that_are_named(
    features: str, n_proxies: int, n_encoding: int
) -> None:
    run(features=features, surrogate=Recorder)
    layout, (n_labelled, n_columns) = Recorder.seen
    assert (layout.n_proxies, layout.n_encoding) == (n_proxies, n_encoding)
    assert (n_labelled, n_columns) == (10, n_proxies + n_encoding)


def test_only_the_surrogate_changes_with_its_features() -> None:
    studies = [run(10, features=features) for features in ("both", "proxies", "parameters")]
    starts = [[trial.params for trial in study.trials] for study in studies]
    assert starts[0] == starts[1] == starts[2]


def test_a_random_start_ignores_the_proxies_and_the_model_does_not() -> None:
    study = run(initialization="random")
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
        ({"initialization": "sobol"}, "initialization must be 'proxies' or 'random', but got 'so"),
        ({"features": "none"}, r"features must be one of \('both'.*but got 'none'"),
        ({"features": "proxies", "proxies": None}, "needs proxies, but there are none"),
        ({"features": "proxies", "budget": None}, "needs the parameters"),
    ],
)
def test_what_cannot_be_left_out_is_refused(arguments: dict[str, Any], message: str) -> None:
    space = {"a": ["x", "y"], "b": [1, 2, 3]}
    defaults: dict[str, Any] = {"proxies": lambda params: {"b": params["b"]}, "budget": 20}
    with pytest.raises(ValueError, match=message):
        ZAPSSampler(search_space=space, **(defaults | arguments))
