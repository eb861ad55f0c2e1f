"""Penalties: one bad value for every failed run, whose size means nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import optuna
import pytest

from optuna_zaps import Profile
from optuna_zaps import ZAPSSampler
from optuna_zaps.search.penalties import PenaltySettings


SETTINGS = PenaltySettings(gap_of_equal=3.0, gap=100.0, n_oldest=5)


@pytest.mark.parametrize(
    ("labels", "raised"),
    [
        # The others range over 2: a penalty is farther than 6 below -3.
        ([-9.1, -3.0, -9.1, -1.0, -2.0], [-3.0, -3.0, -3.0, -1.0, -2.0]),
        ([-9.0, -3.0, -9.0, -1.0, -2.0], [-9.0, -3.0, -9.0, -1.0, -2.0]),
        # Two kinds of failures, each with a penalty of its own.
        ([-1e9, -1e6, -3.0, -1e6, -1e9, -1.0], [-3.0, -3.0, -3.0, -3.0, -3.0, -1.0]),
        # Penalties that differ keep their order, within once the range of the others below these.
        ([-500.0, -3.0, -400.0, -1.0, -2.0, -450.0], [-5.0, -3.0, -3.0, -1.0, -2.0, -4.0]),
        # The others range over 2: the best penalty must be farther than 200 below -3.
        ([-202.0, -3.0, -250.0, -1.0, -2.0], [-202.0, -3.0, -250.0, -1.0, -2.0]),
        ([-204.0, -3.0, -250.0, -1.0, -2.0], [-3.0, -3.0, -5.0, -1.0, -2.0]),
        # The largest gap of labels over many magnitudes is next to the worst.
        ([-1e9, -1e6, -1e3, -3.0, -1.0], [-1e9, -1e6, -1e3, -3.0, -1.0]),
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
    assert SETTINGS.reduced(np.array(labels, dtype=np.float64)).tolist() == raised


def test_differing_penalties_are_told_by_the_oldest_labels_alone() -> None:
    """A search has found a basin, and its latest labels are close to each other."""
    oldest, latest = [-4.0, -7.0, -5.0, -6.0, -8.0], [-0.001, -0.0011, -0.0012]
    assert SETTINGS.reduced(np.array(oldest + latest)).tolist() == oldest + latest
    assert SETTINGS.reduced(np.array(latest)).tolist() == latest
    told = SETTINGS.reduced(np.array([-4e6, -1.0, -3e6, -2.0, -0.5, -5e6, -3e6]))
    # The others range from -2 to -0.5; penalties from 3e6 to 5e6.
    assert told.tolist() == [-2.75, -1.0, -2.0, -2.0, -0.5, -3.5, -2.0]


def test_the_papers_profile_takes_labels_as_they_are() -> None:
    assert Profile.paper(budget=20).outcomes.penalties is None


CENTRE = np.array([1.0, -2.0, 0.5, 2.0, -1.0])


def bowl_in_a_box(trial: optuna.Trial, penalty: float) -> float:
    """Bowl that most of the space is not part of."""
    x = np.array([trial.suggest_float(f"x{i}", -5.0, 5.0) for i in range(4)]) - CENTRE[:4]
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


def test_penalties_by_the_violation_of_a_limit_do_not_hide_the_rest() -> None:
    def objective(trial: optuna.Trial) -> float:
        x = np.array([trial.suggest_float(f"x{i}", -5.0, 5.0) for i in range(5)])
        violation = np.maximum(np.abs(x - CENTRE) - 3.5, 0).sum()
        return 1e6 + 1e5 * violation if violation else float(np.square(x - CENTRE).sum())

    best = []
    for seed in range(3):
        study = optuna.create_study(sampler=ZAPSSampler(seed=seed))
        study.optimize(objective, n_trials=80)
        best.append(study.best_value)
    assert np.median(best) < 0.1  # TPE .3; 1.1 where the size of a penalty counts
