"""Selection of the proxies that seed a search: ProxyFit (Section 3.1).

A greedy traversal in order of relevance admits the proxies that are not redundant. Re-selection
(:mod:`optuna_zaps.search.reselection`) shares it.

Notations:
    proxies: float array of shape (n_configurations, n_proxies), values or ranks.
    labels: float array of shape (n_configurations,), the objective f, larger is better.
    relevance: float array of shape (n_proxies,), Spearman rho(p, f).
    redundancy: float array of shape (n_proxies, n_proxies), Spearman rho(p, q).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted
from sklearn.utils.validation import validate_data

from optuna_zaps import _checks


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


class ProxyFit(SelectorMixin, BaseEstimator):  # type: ignore[misc]  # sklearn is untyped
    """Greedy anti-redundant proxy selection (Section 3.1, Algorithm 1).

    Visits the proxies in decreasing order of their absolute Spearman correlation with the labels
    and selects those that correlate below a threshold with all selected so far. It needs labels
    of many configurations, so it is meant for a space that was evaluated before: a search on
    another data set or space starts from the names that it returns.

    Args:
        n_select:
            Number of proxies to select (K = 6 in the paper). Fewer are selected where fewer
            exist or pass the filter.
        redundancy:
            Threshold tau on the absolute Spearman correlation between proxies, in (0, 1]; 0.85
            in the paper.

    Attributes:
        selected_:
            Indices of the selected columns in order of selection, shape (n_selected,).
        selected_names_:
            Their names in the same order; ``x0``, ``x1``, ... for an array without names.
        relevance_:
            Spearman correlation of each column with the labels, shape (n_features,).
        redundancy_:
            Spearman correlation between columns, shape (n_features, n_features).

    Example:
        >>> import pandas as pd
        >>> from optuna_zaps import ProxyFit
        >>> X = pd.DataFrame({"flops": [1, 2, 3, 4], "params": [2, 4, 6, 8], "snip": [1, 4, 2, 3]})
        >>> ProxyFit(n_select=2).fit(X, y=[1, 2, 3, 5]).selected_names_
        ['flops', 'snip']

    Raises:
        ValueError: At ``fit``, if ``n_select`` is below 1 or ``redundancy`` outside (0, 1].
        TypeError: At ``fit``, if ``n_select`` is no integer or ``redundancy`` no number.
    """

    def __init__(self, n_select: int = 6, redundancy: float = 0.85) -> None:
        self.n_select = n_select
        self.redundancy = redundancy

    def fit(self, X: Any, y: Any) -> ProxyFit:
        """Select columns.

        Args:
            X: Proxies, array-like or frame of shape (n_configurations, n_proxies).
            y: Labels, array-like of shape (n_configurations,), larger is better or worse: only
                the strength of the correlation counts.

        Returns:
            The fitted selector.
        """
        n_select = _checks.integer("n_select", self.n_select, least=1)
        redundancy = _checks.number("redundancy", self.redundancy)
        if not 0 < redundancy <= 1:
            raise ValueError(f"redundancy must lie in (0, 1], but got {redundancy}.")
        X, y = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2, order="F"
        )
        self.relevance_, self.redundancy_ = relevance_and_redundancy(X, np.asarray(y, np.float64))
        self.selected_ = np.asarray(
            greedy_subset(
                self.relevance_,
                self.redundancy_,
                threshold=redundancy,
                max_size=n_select,
            ),
            dtype=np.intp,
        )
        return self

    @property
    def selected_names_(self) -> list[str]:
        """Names of the selected proxies in order of selection."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return [f"x{i}" if names is None else str(names[i]) for i in self.selected_.tolist()]

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=np.bool_)
        mask[self.selected_] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


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
