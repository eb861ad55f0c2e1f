"""Constraints that a proxy predicts exactly, as a limit on the number of weights.

Notations:
    label of a constraint: see :mod:`optuna_zaps.search.observations`; feasible from 0 on.
    side: 1 for a candidate that is known to be feasible, -1 for one that is known not to be.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from optuna_zaps.search.observations import History


FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]


_ROUNDING = 1e-6
"""Largest distance from a straight line, in units of the range of the labels, that may be due to
rounding, as of weights counted in millions with six digits."""


def known_sides(values: FloatArray, history: History, n_ordered: int, n_on_line: int) -> IntArray:
    """Side of each candidate by the proxies that tell the labels of a constraint.

    Where the labels lie on a straight line over a proxy, so do those of all candidates. Where a
    proxy at least orders the labels, that of a candidate lies between those of its neighbours in
    the order: it is feasible where both are, and infeasible where neither is. Where several
    proxies order them, by chance all but one, only what they agree on is known.

    Args:
        values: Proxies, shape (n_candidates, n_proxies), NaN where they are missing.
        history: Labels of the constraint.
        n_ordered: Fewest distinct values of a proxy and of the labels that show an order.
        n_on_line: Fewest distinct values of a proxy and of the labels that show a line.

    Returns:
        Array of shape (n_candidates,), 0 where the side is not known.

    Example:
        The constraint holds up to a proxy of 4 or 5: nobody knows that of the last candidate.

        >>> labelled, labels = np.arange(4), np.array([3.0, 1.0, -1.0, -2.0])
        >>> history = History(labelled, labels, np.zeros(7, dtype=bool))
        >>> values = np.array([[1.0], [4.0], [5.0], [9.0], [0.0], [10.0], [4.5]])
        >>> known_sides(values, history, n_ordered=4, n_on_line=4).tolist()
        [1, 1, -1, -1, 1, -1, 0]
    """
    sides = []
    for column in values.T:
        on_line = _sides_on_line(column, history, n_on_line)
        if on_line is not None:
            return on_line
        for proxy in (column, -column):
            known = ~np.isnan(proxy[history.labelled])
            at, labels = proxy[history.labelled][known], history.labels[known]
            order = np.lexsort((labels, at))
            at, labels = at[order], labels[order]
            if _n_distinct(at, labels) >= n_ordered and np.all(np.diff(labels) >= 0):
                sides.append(_sides(proxy, at, labels))
    if not sides:
        return np.zeros(len(values), dtype=np.intp)
    lowest, highest = np.min(sides, axis=0), np.max(sides, axis=0)
    return np.asarray(np.where(lowest == highest, lowest, 0), dtype=np.intp)


def _n_distinct(proxy: FloatArray, labels: FloatArray) -> int:
    return min(len(np.unique(proxy)), len(np.unique(labels)))


def _sides_on_line(proxy: FloatArray, history: History, n_on_line: int) -> IntArray | None:
    """Side of each candidate if the labels lie on a line, 0 where it crosses the border.

    Args:
        proxy: Proxy of each candidate, shape (n_candidates,).
        history: Labels of the constraint.
        n_on_line: As for :func:`known_sides`.
    """
    at = proxy[history.labelled]
    known = np.isfinite(at)
    at, labels = at[known], history.labels[known]
    if _n_distinct(at, labels) < n_on_line:
        return None
    # The line through the outermost labels: y = y0 + (x - x0) (y1 - y0) / (x1 - x0).
    low, high = at.argmin(), at.argmax()
    slope = (labels[high] - labels[low]) / (at[high] - at[low])
    tolerance = _ROUNDING * np.ptp(labels)
    if np.abs(labels[low] + slope * (at - at[low]) - labels).max() > tolerance:
        return None
    expected = labels[low] + slope * (proxy - at[low])
    sides = np.where(np.abs(expected) > tolerance, np.sign(expected), 0.0)
    return np.asarray(np.where(np.isnan(proxy), 0.0, sides), dtype=np.intp)


def _sides(proxy: FloatArray, at: FloatArray, labels: FloatArray) -> IntArray:
    """Side of each candidate by the neighbours in the order of one proxy.

    Args:
        proxy: Proxy of each candidate, shape (n_candidates,).
        at: Proxies of the labels, increasing, shape (n_labelled,).
        labels: The labels, none of which is smaller than the one before.
    """
    first, last = np.searchsorted(at, proxy, "left"), np.searchsorted(at, proxy, "right")
    bordered = np.concatenate([[-np.inf], labels, [np.inf]])
    # Among equal proxies the smallest label and the largest; else the neighbours.
    least = bordered[np.where(first < last, first + 1, first)]
    most = bordered[np.where(first < last, last, first + 1)]
    sides = np.where(least >= 0, 1, np.where(most < 0, -1, 0))
    return np.asarray(np.where(np.isnan(proxy), 0, sides), dtype=np.intp)
