"""Penalties: one bad value for every failed run, whose size means nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import optuna
import pytest

from optuna_zaps import Profile
from optuna_zaps import ZAPSSampler
from optuna_zaps.search.observations import without_penalties


@pytest.mark.parametrize(
    ("labels", "raised"),
    [
        # The others range over 2: a penalty is farther than 6 below -3.
        ([-9.1, -3.0, -9.1, -1.0, -2.0], [-3.0, -3.0, -3.0, -1.0, -2.0]),
        ([-9.0, -3.0, -9.0, -1.0, -2.0], [-9.0, -3.0, -9.0, -1.0, -2.0]),
        # Two kinds of failures, each with a penalty of its own.
        ([-1e9, -1e6, -3.0, -1e6, -1e9, -1.0], [-3.0, -3.0, -3.0, -3.0, -3.0, -1.0]),
        # One bad label may be a measurement; and one good label has no range.
        ([-1e9, -3.0, -1.0], [-1e9, -3.0, -1.0]),
        ([-1e9, -1e9, -1.0], [-1e9, -1e9, -1.0]),
        ([-1e9, -1e9, -1.0, -1.0], [-1e9, -1e9, -1.0, -1.0]),
        ([-5.0, -5.0, -5.0], [-5.0, -5.0, -5.0]),
        ([], []),
    ],
)
def test_repeated_labels_far_below_all_others_are_raised(
    labels: list[float], raised: list[float]
) -> None:
    assert without_penalties(np.array(labels, dtype=np.float64), 3.0).tolist() == raised


def test_no_label_is_raised_without_a_gap_that_makes_it_a_penalty() -> None:
    for labels in ([-1e9, -1e9, -1.0, -2.0], [-1e9, -1e9, -1.0, -1.0]):
        assert without_penalties(np.array(labels), math.inf).tolist() == labels
    assert Profile.paper(budget=20).outcomes.penalty_gap == math.inf


def bowl_in_a_box(trial: optuna.Trial, penalty: float) -> float:
    """Bowl that most of the space is not part of."""
    x = np.array([trial.suggest_float(f"x{i}", -5.0, 5.0) for i in range(4)]) - [1, -2, 0.5, 2]
    return float(np.square(x).sum()) if np.abs(x).max() < 3.5 else penalty


def bowl_on_a_grid(trial: optuna.Trial, penalty: float) -> float:
    """Bowl on a thousand configurations of integers, of which an eighth is no failure."""
    x = np.array([trial.suggest_int(f"x{i}", 0, 9) for i in range(3)]) - [2, 7, 4]
    return float(np.square(x).sum()) if np.abs(x).max() < 3 else penalty


@pytest.mark.parametrize("objective", [bowl_in_a_box, bowl_on_a_grid])
def test_the_size_of_a_penalty_does_not_matter(objective: Any) -> None:
    def trials_of(penalty: float) -> optuna.Study:
        study = optuna.create_study(sampler=ZAPSSampler(seed=3))
        study.optimize(lambda trial: objective(trial, penalty), n_trials=60)
        return study

    large, huge = trials_of(1e6), trials_of(1e12)
    n_failed = sum(trial.value == 1e6 for trial in large.trials)
    assert 5 < n_failed < 55
    assert [trial.params for trial in large.trials] == [trial.params for trial in huge.trials]
    # Infinity is a penalty, too, and its size is no number.
    assert large.best_value == trials_of(math.inf).best_value
    assert large.best_value < 0.01
