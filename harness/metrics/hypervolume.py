"""Hypervolume: how much of a front of several objectives a study found.

Notations:
    losses: float64 array of shape (n, n_objectives), all minimised.
    front: the points that no other dominates.
    hypervolume: volume between a set of points and a reference point that they dominate, after the
        losses were scaled so that the ideal point of the true front is (0, ..., 0) and its nadir,
        the worst of the front in each objective, is (1, ..., 1). The reference point is
        (1.1, ..., 1.1), so that the ends of the front count (Ishibuchi et al., 2018).
    true front: that of all configurations, or of all that any study of a comparison saw where
        they cannot be listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from harness.metrics.best import losses_of
from harness.metrics.metric import Floats
from harness.metrics.metric import Metric
from harness.metrics.metric import Quantity
from harness.metrics.metric import held
from harness.metrics.snapshot import Snapshot
from harness.problems.problem import TradeoffProblem


REFERENCE = 1.1
"""Each coordinate of the reference point."""


def front(losses: Floats) -> npt.NDArray[np.intp]:
    """Rows that no other dominates, by increasing first loss; of equal points the first row.

    Rows with an infinite loss, which broke a limit or failed, are not among them.

    Example:
        >>> front(np.array([[2.0, 2.0], [1.0, 3.0], [3.0, 1.0], [2.0, 3.0], [1.0, 3.0]])).tolist()
        [1, 0, 2]
    """
    finite = np.flatnonzero(np.isfinite(losses).all(axis=1))
    order = finite[np.lexsort(losses[finite].T[::-1])]
    if losses.shape[1] == 2:
        second = losses[order, 1]
        least_before = np.concatenate([[np.inf], np.minimum.accumulate(second)])[:-1]
        return np.asarray(order[second < least_before], dtype=np.intp)
    rows: list[int] = []
    for row in order:  # Only a row that comes before may dominate.
        if not (losses[rows] <= losses[row]).all(axis=1).any():
            rows.append(int(row))
    return np.asarray(rows, dtype=np.intp)


def hypervolume(losses: Floats, reference: Sequence[float]) -> float:
    """Volume that points dominate, up to a reference point.

    Args:
        losses: Shape (n, n_objectives); points that do not dominate the reference add nothing.
        reference: The reference point, length n_objectives.

    Example:
        >>> hypervolume(np.array([[1.0, 2.0], [2.0, 1.0]]), (3.0, 3.0))  # 2 x 1 and 1 x 2 less 1
        3.0
    """
    inside = losses[(losses < np.asarray(reference)).all(axis=1)]
    points = inside[front(inside)]
    if len(reference) == 2:
        # Along the front, sum over i of (r1 - x_i) (y_{i-1} - y_i), with y_0 = r2.
        heights = -np.diff(points[:, 1], prepend=reference[1])
        return float(((reference[0] - points[:, 0]) * heights).sum())
    if len(reference) == 3:
        return _volume(points, np.asarray(reference, dtype=np.float64))
    # Slices along the last objective (While et al., 2006): sum over i of (z_{i+1} - z_i) times the
    # volume of the first i points in the other objectives, with z_{n+1} = r_m.
    points = points[np.argsort(points[:, -1], kind="stable")]
    heights = np.diff(points[:, -1], append=reference[-1])
    slices = (
        height * hypervolume(points[: n + 1, :-1], reference[:-1])
        for n, height in enumerate(heights)
        if height > 0
    )
    return float(sum(slices))


def _volume(points: Floats, reference: Floats) -> float:
    """Volume that points of three objectives dominate, all of them below the reference."""
    x, y = np.sort(points[:, 0]), np.sort(points[:, 1])
    # Least z that is dominated in the cell between neighbours x_i, x_{i+1} and y_j, y_{j+1}.
    least = np.full((len(x), len(y)), reference[2])
    cells = np.searchsorted(x, points[:, 0]), np.searchsorted(y, points[:, 1])
    np.minimum.at(least, cells, points[:, 2])
    least = np.minimum.accumulate(np.minimum.accumulate(least, axis=0), axis=1)
    # Sum over the cells of (x_{i+1} - x_i) (y_{j+1} - y_j) (r_3 - z_ij), with x_{n+1} = r_1 and
    # y_{n+1} = r_2.
    widths, depths = np.diff(x, append=reference[0]), np.diff(y, append=reference[1])
    return float(widths @ (reference[2] - least) @ depths)


@dataclass(frozen=True)
class _Truth:
    """Front of a problem, its scale, and its hypervolume once scaled."""

    ideal: Floats
    span: Floats
    front: frozenset[tuple[float, ...]]
    reference: tuple[float, ...]
    volume: float

    def scaled(self, losses: Floats) -> Floats:
        """Losses in units of the front: 0 at its ideal point, 1 at its nadir."""
        return np.asarray((losses - self.ideal) / self.span, dtype=np.float64)


def truth_of(losses: Floats) -> _Truth:
    """Front of all losses and its scale.

    An objective in which the front is one point has the span of all losses.
    """
    best = losses[front(losses)]
    if not len(best):  # Nothing that was seen meets the limits.
        n = losses.shape[1]
        return _Truth(np.zeros(n), np.ones(n), frozenset(), (REFERENCE,) * n, 0.0)
    ideal, nadir = best.min(axis=0), best.max(axis=0)
    worst = losses[np.isfinite(losses).all(axis=1)].max(axis=0)
    span = np.where(nadir > ideal, nadir - ideal, worst - ideal)
    span = np.where(span > 0, span, 1.0)
    reference = (REFERENCE,) * losses.shape[1]
    volume = hypervolume((best - ideal) / span, reference)
    return _Truth(ideal, span, frozenset(map(tuple, best.tolist())), reference, volume)


@lru_cache
def _truth(problem: TradeoffProblem) -> _Truth:
    return truth_of(problem.losses)


def _numbers(snapshot: Snapshot, problem: TradeoffProblem) -> tuple[float, int]:
    truth = _truth(problem)
    found = losses_of(snapshot.result, problem)[list(snapshot.evaluated)]
    volume = hypervolume(truth.scaled(found), truth.reference)
    return _share(volume, truth), len(truth.front.intersection(map(tuple, found.tolist())))


def _curve(snapshot: Snapshot, problem: TradeoffProblem) -> Floats:
    truth = _truth(problem)
    found = truth.scaled(losses_of(snapshot.result, problem)[list(snapshot.steps)])
    volumes: list[float] = []
    best = np.empty((0, found.shape[1]))
    for point in found:
        if (best <= point).all(axis=1).any() or not np.isfinite(point).all():
            volumes.append(volumes[-1] if volumes else 0.0)
            continue
        best = np.vstack([best[~(best >= point).all(axis=1)], point])
        volumes.append(_share(hypervolume(best, truth.reference), truth))
    return held(np.asarray(volumes), snapshot.budget, before=0.0)


def _share(volume: float, truth: _Truth) -> float:
    return 100.0 * volume / truth.volume if truth.volume else 0.0


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
