"""Penalties that begin at 0 at the border of what is feasible, and grow steeply."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import optuna
import pytest

from optuna_zaps import ZAPSSampler
from optuna_zaps.search.observations import History
from optuna_zaps.search.observations import Observations
from optuna_zaps.search.penalties import PenaltySettings
from optuna_zaps.search.ramps import RampSettings


SETTINGS = RampSettings(
    n_first=16,
    growth=0.2,
    n_last=100,
    n_good=6,
    share=1 / 8,
    jump=50.0,
    most_within=4.0,
    least_spread=0.2,
)


def ramp(n: int, weight: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels of a bowl in a ball with a ramp around it, their points and which are outside."""
    points = np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 3))
    radius = np.sqrt(np.square(points).sum(axis=1))
    violation = np.maximum(radius - 0.8, 0.0)
    return -(radius**2 + weight * violation), points, violation > 0


@pytest.mark.parametrize("seed", range(5))
def test_labels_keep_their_order_and_ramps_their_distance(seed: int) -> None:
    labels, points, _ = ramp(60, 1e4, seed)
    reduced = SETTINGS.reduced(labels, points)
    assert np.argsort(reduced).tolist() == np.argsort(labels).tolist()
    is_kept = reduced == labels
    assert 6 <= is_kept.sum() < 60
    assert labels[is_kept].min() > labels[~is_kept].max()
    assert reduced.min() == pytest.approx(labels[is_kept].min() - np.ptp(labels[is_kept]))


@pytest.mark.parametrize("seed", range(5))
def test_the_weight_of_a_violation_does_not_matter(seed: int) -> None:
    labels, points, is_outside = ramp(60, 1e5, seed)
    heavy = ramp(60, 1e9, seed)[0]
    reduced = SETTINGS.reduced(labels, points)
    assert reduced[is_outside].max() < reduced[~is_outside].min()
    np.testing.assert_allclose(SETTINGS.reduced(heavy, points), reduced)


def test_equal_ramps_stay_equal() -> None:
    labels, points, _ = ramp(60, 1e4, 0)
    labels = np.maximum(labels, np.median(labels))
    reduced = SETTINGS.reduced(labels, points)
    assert reduced.min() < labels[reduced == labels].min()
    assert (reduced == reduced.min()).tolist() == (labels == labels.min()).tolist()


def test_no_good_label_is_taken_for_a_ramp() -> None:
    good, ramps = -np.arange(8.0), -1e4 * np.arange(1.0, 9.0)
    labels, points = np.append(ramps, good), np.linspace(0.0, 1.0, 16)[:, np.newaxis] % 0.4
    assert SETTINGS.reduced(labels, points)[8:].tolist() == good.tolist()
    assert SETTINGS.reduced(labels, points)[0] == -7 - 7 / 8


FUNCTIONS = {
    "bowl": lambda r: r**2,
    "cone": lambda r: r,
    "exploding": lambda r: np.expm1(2 * r),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_without_penalties_keep_their_labels(name: str) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        # As a search does, half of the points come nearer to the best.
        points = rng.uniform(-5.0, 5.0, (80, 5))
        points[40:] *= np.geomspace(1.0, 0.05, 40)[:, np.newaxis]
        labels = -FUNCTIONS[name](np.sqrt(np.square(points).sum(axis=1)))
        assert SETTINGS.reduced(labels, points).tolist() == labels.tolist()


def test_the_best_labels_of_a_search_that_has_converged_are_no_feasible_region() -> None:
    labels, points, is_outside = ramp(60, 1e4, 0)
    points[~is_outside] *= 0.01
    assert SETTINGS.reduced(labels, points).tolist() == labels.tolist()


def test_a_ramp_stays_one_while_the_search_converges() -> None:
    labels, points, _ = ramp(60, 1e4, 0)
    rng = np.random.default_rng(1)
    latest = points[labels.argmax()] + rng.normal(0.0, 1e-4, (60, 3))
    converging = -1e-6 * rng.random(60)
    reduced = SETTINGS.reduced(np.append(labels, converging), np.vstack([points, latest]))
    assert reduced[60:].tolist() == converging.tolist()
    is_kept = reduced[:60] == labels
    assert is_kept.tolist() == (SETTINGS.reduced(labels, points) == labels).tolist()
    assert not is_kept.all()


def test_few_good_labels_are_no_feasible_region() -> None:
    good, ramps = -np.arange(8.0), -1e4 * np.arange(1.0, 9.0)
    labels, points = np.append(ramps, good), np.linspace(0.0, 1.0, 16)[:, np.newaxis] % 0.4
    assert replace(SETTINGS, n_good=8).reduced(labels, points)[0] > -1e4
    assert replace(SETTINGS, n_good=9).reduced(labels, points).tolist() == labels.tolist()


def test_few_labels_and_those_without_numbers_tell_nothing() -> None:
    labels, points, _ = ramp(60, 1e4, 0)
    assert SETTINGS.reduced(labels[:15], points[:15]).tolist() == labels[:15].tolist()
    assert SETTINGS.reduced(labels, points[:, :0]).tolist() == labels.tolist()


def test_points_are_those_of_the_labelled_candidates() -> None:
    labels, points, _ = ramp(60, 1e4, 0)
    penalties = PenaltySettings(gap_of_equal=3.0, gap=1e9, n_oldest=16, ramps=SETTINGS)
    order = np.random.default_rng(2).permutation(60)
    candidates = np.empty_like(points)
    candidates[order] = points
    observed = Observations((History(order, labels, np.zeros(60, dtype=np.bool_)),))
    expected = SETTINGS.reduced(labels, points)
    assert expected.tolist() != labels.tolist()
    reduced = observed.without_penalties(penalties, candidates)
    assert reduced.objectives[0].labels.tolist() == expected.tolist()
    unchanged = observed.without_penalties(penalties)
    assert unchanged.objectives[0].labels.tolist() == labels.tolist()


CENTRE = np.array([1.0, -2.0, 0.5, 2.0, -1.0])


def test_a_steep_ramp_does_not_hide_the_rest() -> None:
    def objective(trial: optuna.Trial) -> float:
        x = np.array([trial.suggest_float(f"x{i}", -5.0, 5.0) for i in range(5)])
        violation = np.maximum(np.abs(x - CENTRE) - 3.0, 0).sum()
        return float(np.square(x - CENTRE).sum() + 1e4 * violation)

    best = []
    for seed in range(5):
        study = optuna.create_study(sampler=ZAPSSampler(seed=seed))
        study.optimize(objective, n_trials=80)
        best.append(study.best_value)
    assert np.median(best) < 0.02  # TPE .3; .07 where ramps are taken as they are
