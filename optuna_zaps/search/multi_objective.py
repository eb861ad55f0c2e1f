"""Worth of evaluating a candidate where there are several objectives.

Another acquisition is a class with the method of :class:`JointAcquisition`, named in a profile
(:mod:`optuna_zaps.search.profiles`).

Notations:
    unit: the labels of each objective are shifted and scaled so that the worst of the front is 0
        and the best 1, or less where the front is short
        (:class:`~optuna_zaps.search.outcomes.Front`).
    hypervolume: volume of the points between a reference point and some point of a set.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt


FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class JointPrediction:
    """Predictions of all objectives, and what is known of them, in units of the front.

    Attributes:
        mean: Predicted labels of the candidates, shape (n_candidates, n_objectives).
        std: Their spread, likewise.
        bound: Their optimistic estimates
            (:meth:`~optuna_zaps.search.acquisition.Acquisition.bound`), likewise.
        labels: Labels so far, shape (n_labelled, n_objectives).
        front: Labels that no other feasible ones dominate, shape (n_front, n_objectives).
    """

    mean: FloatArray
    std: FloatArray
    bound: FloatArray
    labels: FloatArray
    front: FloatArray


class JointAcquisition(Protocol):
    """A measure of how much an evaluation is worth to all objectives."""

    def score(self, predicted: JointPrediction, rng: np.random.Generator) -> FloatArray:
        """Score candidates; the best is proposed.

        Args:
            predicted: Predictions of the candidates.
            rng: Draws what is random.

        Returns:
            Array of shape (n_candidates,), larger is better.
        """


@dataclass(frozen=True)
class RandomScalarization:
    """Hypervolume scalarisation by a random direction (Golovin and Zhang, 2020).

    Attributes:
        margin: Distance of the reference point beyond the worst of the front.
    """

    margin: float

    def score(self, predicted: JointPrediction, rng: np.random.Generator) -> FloatArray:
        """See :class:`JointAcquisition`; its expectation over directions is the hypervolume."""
        # u, uniform on the positive part of the sphere; min_i (b_i - r_i) / u_i
        direction = np.abs(rng.normal(size=predicted.bound.shape[1]))
        distance = (predicted.bound + self.margin) / direction
        return np.asarray(distance.min(axis=1), dtype=np.float64)


@dataclass(frozen=True)
class ExpectedHypervolumeImprovement:
    """Expected growth of the hypervolume, exact for independent objectives (Yang et al., 2019).

    The reference point lies beyond the worst of the front, so that the front is filled. While the
    front is shorter than its unit in some objective, it lies by turns of two labels beyond that of
    all labels, so that the front is extended: what is worse than the whole front in one objective
    may be of use in another.

    Attributes:
        margin: Distance of the reference point beyond these.
        n_scored: Most candidates whose expectation is computed, those whose bound lies farthest
            beyond the front.
        max_boxes: Most boxes of a decomposition. Their number grows with the front to the power
            of half the number of objectives.
        otherwise: Acquisition where there would be more boxes.
    """

    margin: float
    n_scored: int
    max_boxes: int
    otherwise: JointAcquisition

    def score(self, predicted: JointPrediction, rng: np.random.Generator) -> FloatArray:
        """See :class:`JointAcquisition`.

        Candidates without an expectation have the distance by which their bound misses an
        improvement, negative.
        """
        is_short = (np.ptp(predicted.front, axis=0) < 1).any()
        # Of two, since constraints change from trial to trial between their mean and their bound.
        extends = is_short and len(predicted.labels) // 2 % 2 == 1
        seen = predicted.labels if extends else predicted.front
        reference = seen.min(axis=0) - self.margin
        front = predicted.front - reference
        boxes = undominated_boxes(front, self.max_boxes)
        if boxes is None:
            return self.otherwise.score(predicted, rng)
        beyond = _distance_beyond(front, predicted.bound - reference)
        n_scored = min(self.n_scored, len(beyond))
        chosen = np.argpartition(-beyond, n_scored - 1)[:n_scored]
        mean, std = predicted.mean[chosen] - reference, predicted.std[chosen]
        expected = expected_improvement(mean, std, *boxes)
        score = np.minimum(beyond, 0.0)
        score[chosen] = np.where(expected > 0, expected, score[chosen])
        return score


def undominated_boxes(
    front: FloatArray, max_boxes: int | None = None
) -> tuple[FloatArray, FloatArray] | None:
    """Decompose the positive points that no point of a front dominates into disjoint boxes.

    From the box of all points the part that a point of the front dominates is cut out, then that
    of the next one.

    Args:
        front: Positive points, shape (n_front, n_objectives).
        max_boxes: Largest number of boxes, none by default.

    Returns:
        Lower and upper corners, each of shape (n_boxes, n_objectives), the latter infinite at the
        border. ``None`` if there would be more boxes.

    Example:
        >>> lower, upper = undominated_boxes(np.array([[1.0, 2.0], [2.0, 1.0]]))
        >>> lower.tolist()
        [[0.0, 2.0], [2.0, 0.0], [1.0, 1.0]]
        >>> upper.tolist()
        [[1.0, inf], [inf, inf], [2.0, inf]]
    """
    n_objectives = front.shape[1]
    lower = np.zeros((1, n_objectives))
    upper = np.full((1, n_objectives), np.inf)
    # Largest first: 375 boxes instead of up to 3,557 for 100 points of three objectives.
    for point in front[np.argsort(-front.prod(axis=1), kind="stable")]:
        cut = (lower < point).all(axis=1)
        parts = [(lower[~cut], upper[~cut])]
        low, high = lower[cut], upper[cut]
        for i in range(n_objectives):
            # Of what is left, the part beyond the point in objective i stays.
            stays = high[:, i] > point[i]
            beyond = low[stays]
            beyond[:, i] = point[i]
            parts.append((beyond, high[stays]))
            high = high.copy()
            high[:, i] = np.minimum(high[:, i], point[i])
        lower, upper = map(np.concatenate, zip(*parts, strict=True))
        if max_boxes is not None and len(lower) > max_boxes:
            return None
    return lower, upper


def expected_improvement(
    mean: FloatArray, std: FloatArray, lower: FloatArray, upper: FloatArray
) -> FloatArray:
    """Expected growth of the hypervolume by each candidate, shape (n_candidates,).

    Args:
        mean: Predicted labels, shape (n_candidates, n_objectives).
        std: Their spread, likewise.
        lower: Lower corners of boxes of points that are not dominated, positive ones.
        upper: Their upper corners.
    """
    # With l, u the corners of a box and f the normal label of a candidate, the part of the box
    # that the candidate would dominate has a length of E[min(f, u) - l]+ = e(l) - e(u) in each
    # objective, and, these being independent, their product as its expected volume.
    volume = np.ones((len(mean), len(lower)))
    for i in range(mean.shape[1]):
        corners, column = np.unique(
            np.concatenate([lower[:, i], upper[:, i]]), return_inverse=True
        )
        excess = _expected_excess(mean[:, i], std[:, i], corners)
        below, above = column[: len(lower)], column[len(lower) :]
        volume *= np.maximum(excess[:, below] - excess[:, above], 0.0)
    return np.asarray(volume.sum(axis=1), dtype=np.float64)


def _expected_excess(mean: FloatArray, std: FloatArray, corners: FloatArray) -> FloatArray:
    """e(t) = E[max(f - t, 0)] of normal f, shape (n_candidates, n_corners); 0 at infinity."""
    from scipy.special import ndtr

    std = np.maximum(std, 1e-12)[:, np.newaxis]
    finite = np.isfinite(corners)
    z = (mean[:, np.newaxis] - corners[finite]) / std
    # e(t) = sigma (z Phi(z) + phi(z)) with z = (mu - t) / sigma
    excess = np.zeros((len(mean), len(corners)))
    excess[:, finite] = std * (z * ndtr(z) + np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi))
    return excess


def _distance_beyond(front: FloatArray, points: FloatArray) -> FloatArray:
    """Distance by which each point is an improvement, negative where it is none.

    The largest shift of all objectives for the worse after which the point would still add to
    the hypervolume, shape (n_points,).
    """
    # Beyond the reference point, 0, in every objective, beyond each point of the front in one.
    distance = points.min(axis=1)
    for point in front:
        np.minimum(distance, (points - point).max(axis=1), out=distance)
    return np.asarray(distance, dtype=np.float64)
