from __future__ import annotations

from dataclasses import replace
import math

import numpy as np
import pytest

from optuna_zaps.search.multi_objective import ExpectedHypervolumeImprovement
from optuna_zaps.search.multi_objective import JointAcquisition
from optuna_zaps.search.multi_objective import JointPrediction
from optuna_zaps.search.multi_objective import RandomScalarization
from optuna_zaps.search.multi_objective import expected_improvement
from optuna_zaps.search.multi_objective import undominated_boxes


CORNER = np.array([[1.0, 2.0], [2.0, 1.0]])


def ehvi(n_scored: int = 256, max_boxes: int = 2048) -> ExpectedHypervolumeImprovement:
    """Improvement counted from 1 beyond the worst of the front, for the corner from (0, 0) on."""
    return ExpectedHypervolumeImprovement(1.0, n_scored, max_boxes, RandomScalarization(0.1))


def certain(means: list[list[float]]) -> JointPrediction:
    """Predictions beside a front of (1, 2) and (2, 1) without any doubt."""
    mean = np.array(means)
    return JointPrediction(mean, np.zeros_like(mean), mean, CORNER, CORNER)


def scores(acquisition: JointAcquisition, means: list[list[float]]) -> np.ndarray:
    return acquisition.score(certain(means), np.random.default_rng(3))


def fronts(n_objectives: int, n_points: int, *, ties: bool) -> np.ndarray:
    """A front of positive points, with equal coordinates if ``ties``."""
    rng = np.random.default_rng(n_objectives)
    points = np.abs(rng.normal(size=(n_points, n_objectives))) + 0.1
    points /= np.linalg.norm(points, axis=1)[:, np.newaxis]
    if ties:
        points = np.ceil(4 * points)
    dominated = [
        any((other >= point).all() and (other > point).any() for other in points)
        for point in points
    ]
    return points[~np.array(dominated)]


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n_objectives", [2, 3, 4])
def test_every_point_that_is_not_dominated_lies_in_one_box(n_objectives: int, ties: bool) -> None:
    front = fronts(n_objectives, 30, ties=ties)
    boxes = undominated_boxes(front)
    assert boxes is not None
    lower, upper = boxes
    points = np.random.default_rng(1).uniform(0, 1.5 * front.max(), size=(500, n_objectives))
    dominated = (points[:, np.newaxis] <= front).all(axis=2).any(axis=1)
    inside = (points[:, np.newaxis] > lower) & (points[:, np.newaxis] <= upper)
    assert inside.all(axis=2).sum(axis=1).tolist() == (~dominated).astype(int).tolist()


@pytest.mark.parametrize("n_objectives", [2, 3, 4])
def test_the_expected_improvement_is_the_mean_of_those_of_drawn_labels(n_objectives: int) -> None:
    boxes = undominated_boxes(fronts(n_objectives, 8, ties=False))
    assert boxes is not None
    mean, std = np.linspace(0.5, 0.7, n_objectives), np.linspace(0.2, 0.4, n_objectives)
    (expected,) = expected_improvement(mean[np.newaxis], std[np.newaxis], *boxes)
    labels = np.random.default_rng(2).normal(mean, std, size=(40_000, n_objectives))
    gains = expected_improvement(labels, np.zeros_like(labels), *boxes)
    assert expected == pytest.approx(gains.mean(), rel=0.05)


def test_what_is_certain_gains_the_area_that_it_adds() -> None:
    # (3, 0.5) adds (3 - 2) x 0.5 and (2, 2) the corner between the points; (1, 1) is dominated.
    means = [[3.0, 0.5], [2.0, 2.0], [1.0, 1.0]]
    assert scores(ehvi(), means) == pytest.approx([0.5, 1.0, 0.0])


@pytest.mark.parametrize(("n_labels", "is_turn"), [(3, True), (4, False), (5, False), (6, True)])
def test_the_reference_lies_beyond_the_front_and_while_it_is_short_beyond_all_labels_by_turns(
    n_labels: int, is_turn: bool
) -> None:
    def scored(front: np.ndarray) -> np.ndarray:
        labels = np.vstack([front, np.full((n_labels - 2, 2), [0.5, -0.4])])
        mean = np.array([[2.0, -0.05], [0.3, 0.3], [2.0, -0.7]])
        predicted = JointPrediction(mean, np.zeros_like(mean), mean, labels, front)
        return replace(ehvi(), margin=0.1).score(predicted, np.random.default_rng(0))

    # From (-0.1, -0.1) on, (1, 0) and (0, 1) leave 1 x 0.05 of (2, -0.05), and 0.3 x 0.3 of
    # (0.3, 0.3); (2, -0.7) is beyond it by 0.6.
    assert scored(np.eye(2)) == pytest.approx([0.05, 0.09, -0.6])
    # (1, 0) and (0, 0.8) are shorter than their unit in the second objective. From (-0.1, -0.5)
    # on, they leave 1 x 0.45 of (2, -0.05), and (2, -0.7) is beyond it by 0.2.
    short = [0.45, 0.09, -0.2] if is_turn else [0.05, 0.09, -0.6]
    assert scored(np.array([[1.0, 0.0], [0.0, 0.8]])) == pytest.approx(short)


def test_where_nothing_improves_the_nearest_to_an_improvement_is_the_best() -> None:
    # Steps of 0.1 and 0.5 in the second objective, and of 0.3 to the reference point.
    means = [[1.5, 0.9], [1.5, 0.5], [5.0, -0.3]]
    assert scores(ehvi(), means) == pytest.approx([-0.1, -0.5, -0.3])


def test_the_farthest_bounds_beyond_the_front_are_scored() -> None:
    # Of the area of 2.5 x 2.5 the front has 3.
    means = [[2.0, 2.0], [2.5, 2.5], [1.0, 1.0]]
    assert scores(ehvi(n_scored=1), means) == pytest.approx([0.0, 3.25, 0.0])


def test_too_many_boxes_are_left_to_another_acquisition() -> None:
    means = [[2.0, 2.0], [3.0, 1.0]]
    random = scores(RandomScalarization(0.1), means)
    assert scores(ehvi(max_boxes=2), means).tolist() == random.tolist()
    # Three boxes are as many as two points leave.
    assert scores(ehvi(max_boxes=3), means).tolist() == scores(ehvi(), means).tolist()


def test_a_random_direction_finds_each_candidate_by_its_angle() -> None:
    # From the reference, (-0.1, -0.1), on, (0.01, 0.01) is (0.11, 0.11), and (2, -0.05) is
    # (2.1, 0.05): in units of a direction (u, v) 0.11 / u and 0.11 / v, 2.1 / u and 0.05 / v. The
    # second is better where u / v > 0.11 / 0.05. Angles of directions are uniform in a quarter
    # circle.
    predicted = certain([[0.01, 0.01], [2.0, -0.05]])
    rng = np.random.default_rng(0)
    chosen = [RandomScalarization(0.1).score(predicted, rng).argmax() for _ in range(2000)]
    expected = 1 - math.atan(0.11 / 0.05) / (math.pi / 2)  # 0.27
    assert np.mean(chosen) == pytest.approx(expected, abs=0.03)
