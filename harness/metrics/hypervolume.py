"""Hypervolume: how much of a front of two objectives a study found.

Notations:
    losses: float64 array of shape (n, 2), both minimised.
    front: the points that no other dominates.
    hypervolume: area between a set of points and a reference point that they dominate, after the
        losses were scaled so that the ideal point of the true front is (0, 0) and its nadir, the
        worst of the front in each objective, is (1, 1). The reference point is (1.1, 1.1), so that
        the ends of the front count (Ishibuchi et al., 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from harness.metrics.metric import Floats
from harness.metrics.metric import Metric
from harness.metrics.metric import Quantity
from harness.metrics.metric import held
from harness.metrics.snapshot import Snapshot
from harness.problems.problem import TradeoffProblem


REFERENCE = (1.1, 1.1)


def front(losses: Floats) -> npt.NDArray[np.intp]:
    """Rows that no other dominates, by increasing first loss; of equal points the first row.

    Example:
        >>> front(np.array([[2.0, 2.0], [1.0, 3.0], [3.0, 1.0], [2.0, 3.0], [1.0, 3.0]])).tolist()
        [1, 0, 2]
    """
    order = np.lexsort((losses[:, 1], losses[:, 0]))
    second = losses[order, 1]
    least_before = np.concatenate([[np.inf], np.minimum.accumulate(second)[:-1]])
    return np.asarray(order[second < least_before], dtype=np.intp)


def hypervolume(losses: Floats, reference: tuple[float, float]) -> float:
    """Area that points dominate, up to a reference point.

    Args:
        losses: Shape (n, 2); points that do not dominate the reference add nothing.
        reference: The reference point.

    Example:
        >>> hypervolume(np.array([[1.0, 2.0], [2.0, 1.0]]), (3.0, 3.0))  # 2 x 1 and 1 x 2 less 1
        3.0
    """
    inside = losses[(losses < np.asarray(reference)).all(axis=1)]
    points = inside[front(inside)]
    # Along the front, sum over i of (r1 - x_i) (y_{i-1} - y_i), with y_0 = r2.
    heights = -np.diff(points[:, 1], prepend=reference[1])
    return float(((reference[0] - points[:, 0]) * heights).sum())


def scaled(losses: Floats) -> Floats:
    """Losses in units of the front: (0, 0) its ideal point, (1, 1) its nadir.

    Raises:
        ValueError: If the front is a single point in one of the objectives.
    """
    best = losses[front(losses)]
    ideal, nadir = best.min(axis=0), best.max(axis=0)
    if (ideal == nadir).any():
        raise ValueError(
            "The two objectives must conflict, but one configuration is the best in both."
        )
    return np.asarray((losses - ideal) / (nadir - ideal), dtype=np.float64)


@dataclass(frozen=True)
class _Truth:
    """The scaled losses of a problem, its front and the hypervolume of that."""

    losses: Floats
    front: frozenset[int]
    volume: float


@lru_cache
def _truth(problem: TradeoffProblem) -> _Truth:
    losses = scaled(problem.losses)
    return _Truth(losses, frozenset(front(losses).tolist()), hypervolume(losses, REFERENCE))


def _numbers(snapshot: Snapshot, problem: TradeoffProblem) -> tuple[float, int]:
    truth = _truth(problem)
    found = truth.losses[list(snapshot.evaluated)]
    share = 100.0 * hypervolume(found, REFERENCE) / truth.volume
    return share, len(truth.front.intersection(snapshot.evaluated))


def _curve(snapshot: Snapshot, problem: TradeoffProblem) -> Floats:
    truth = _truth(problem)
    found = truth.losses[list(snapshot.steps)]
    volumes = [hypervolume(found[: n + 1], REFERENCE) for n in range(len(found))]
    return held(100.0 * np.asarray(volumes) / truth.volume, snapshot.budget, before=0.0)


METRIC = Metric(
    (
        Quantity(
            "hypervolume",
            "%",
            "hypervolume %",
            "Hypervolume in percent of that of the true front.",
            larger_is_better=True,
            digits=2,
            spread=True,
        ),
        Quantity(
            "on_front",
            "configurations",
            "on the front",
            "Number of evaluated configurations that are on the true front.",
            larger_is_better=True,
        ),
    ),
    _curve,
    _numbers,
)
