"""Selection of the proxies that seed a search: the traversal of ProxyFit (Section 3.1).

A greedy traversal in order of relevance admits the proxies that are not redundant. Re-selection
(:mod:`optuna_zaps.search.reselection`) and the estimator :class:`~optuna_zaps.ProxyFit`
(:mod:`optuna_zaps.search.estimator`) share it.

Notations:
    proxies: float array of shape (n_configurations, n_proxies), values or ranks.
    labels: float array of shape (n_configurations,), the objective f, larger is better.
    relevance: float array of shape (n_proxies,), Spearman rho(p, f).
    redundancy: float array of shape (n_proxies, n_proxies), Spearman rho(p, q).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]


def spearman(columns: FloatArray) -> FloatArray:
    """Spearman correlation of every pair of columns, with average ranks for ties.

    Args:
        columns: Array of shape (n_rows, n_columns).

    Returns:
        Array of shape (n_columns, n_columns); a constant column correlates 0 with everything,
        itself included.
    """
    from scipy.stats import rankdata

    return _correlation(rankdata(columns, axis=0))


def _correlation(columns: FloatArray) -> FloatArray:
    unit = standardized(columns)
    return np.asarray(np.clip(unit.T @ unit, -1.0, 1.0))


def standardized(columns: FloatArray) -> FloatArray:
    """Shift and scale columns to mean 0 and length 1; a constant one becomes 0.

    Args:
        columns: Array of shape (n_rows, n_columns).
    """
    centred = columns - columns.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    return np.asarray(centred / np.where(norms > 0, norms, 1.0))


def relevance_and_redundancy(
    proxies: FloatArray, labels: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Spearman correlation of the proxies with the labels, and with each other."""
    correlation = spearman(np.column_stack([proxies, labels]))
    return correlation[:-1, -1], correlation[:-1, :-1]


def greedy_subset(
    relevance: FloatArray,
    redundancy: FloatArray,
    *,
    threshold: float,
    max_size: int,
    mrmr_min_size: int | None = None,
) -> list[int]:
    """Visit the proxies in order of relevance (Algorithms 1 and 2).

    Args:
        relevance:
            Array of shape (n_proxies,); its sign is ignored.
        redundancy:
            Array of shape (n_proxies, n_proxies); its sign is ignored.
        threshold:
            A proxy is admitted while its redundancy with every admitted one is below this (tau).
        max_size:
            The traversal ends at this many.
        mrmr_min_size:
            From this many on, the traversal also ends at the first proxy that adds more
            redundancy than relevance: J(p | S) < 0, Eq. 2. ``None`` never does.

    Returns:
        Admitted proxies in order of decreasing relevance; ties keep their given order.
    """
    relevance, redundancy = np.abs(relevance), np.abs(redundancy)
    subset: list[int] = []
    for proxy in np.argsort(-relevance, kind="stable").tolist():
        if len(subset) == max_size:  # Alg. 1, line 7; Alg. 2, line 7
            break
        overlap = redundancy[proxy, subset]
        if mrmr_min_size is not None and len(subset) >= max(1, mrmr_min_size):
            if relevance[proxy] - overlap.mean() < 0:  # Alg. 2, line 7; Eq. 2
                break
        if np.all(overlap < threshold):  # Alg. 1, line 4; Alg. 2, line 8
            subset.append(proxy)
    return subset


@dataclass(frozen=True)
class ConsensusSettings:
    """Settings of a selection without labels.

    Attributes:
        n_select: Most proxies that are selected.
        redundancy: Threshold tau.
    """

    n_select: int
    redundancy: float


def consensus_subset(ranks: FloatArray, settings: ConsensusSettings) -> list[int]:
    """ProxyFit without a single label.

    The traversal of Algorithm 1 with the *consensus* of a proxy, its mean absolute Spearman
    correlation with the other proxies, instead of its correlation with the labels: agreement of
    many proxies stems more likely from the quality that all were made to measure than from their
    errors. Not in the paper.

    Args:
        ranks: Average ranks of the proxies, shape (n_configurations, n_proxies).
        settings: How many to select.

    Returns:
        Indices of at most ``n_select`` proxies in decreasing order of consensus.
    """
    similarity = np.abs(_correlation(ranks))
    consensus = (similarity.sum(axis=1) - 1.0) / max(len(similarity) - 1, 1)
    return greedy_subset(
        consensus, similarity, threshold=settings.redundancy, max_size=settings.n_select
    )
