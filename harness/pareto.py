"""How much of a front of two objectives a study found.

Notations:
    losses: float64 array of shape (n, 2), both minimised.
    front: the points that no other dominates.
    hypervolume: area between a set of points and a reference point that they dominate, after the
        losses were scaled so that the ideal point of the true front is (0, 0) and its nadir, the
        worst of the front in each objective, is (1, 1). The reference point is (1.1, 1.1), so that
        the ends of the front count (Ishibuchi et al., 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.experiment import CellResult
from harness.problems.tradeoffs import Tradeoff
from harness.readings import benchmark_key
from harness.readings import keyed
from harness.readings import read_off
from harness.statistics import GROUP


Floats = npt.NDArray[np.float64]

REFERENCE = 1.1
COLUMNS = (*GROUP, "sampler", "seed", "hypervolume", "on_front", "repeat_share", "cpu_seconds")


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


def summarize(
    results: Sequence[CellResult], problems: Sequence[Tradeoff], budget: int
) -> pd.DataFrame:
    """How much of the true front each study found within a budget.

    Args:
        results: Finished studies on the problems.
        problems: The problems.
        budget: What counts of each study, in the unit of its own budget.

    Returns:
        One row per study with the columns of :data:`COLUMNS`: ``hypervolume`` in percent of that
        of the true front, ``on_front`` the number of evaluated configurations that are on the
        true front, ``repeat_share`` in percent, ``cpu_seconds`` those of the sampler.
    """
    by_key = keyed(problems)
    points = {key: scaled(problem.losses) for key, problem in by_key.items()}
    reference = (REFERENCE, REFERENCE)
    whole = {key: hypervolume(losses, reference) for key, losses in points.items()}
    fronts = {key: set(front(losses).tolist()) for key, losses in points.items()}
    rows: list[dict[str, Any]] = []
    for reading in read_off(results, [budget]):
        key = benchmark_key(reading.result)
        found = points[key][list(reading.evaluated)]
        rows.append(
            {
                **reading.identity,
                "hypervolume": 100.0 * hypervolume(found, reference) / whole[key],
                "on_front": len(fronts[key].intersection(reading.evaluated)),
                "repeat_share": 100.0 * (1.0 - len(reading.evaluated) / reading.n_asks),
                "cpu_seconds": reading.cpu_seconds,
            }
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))
