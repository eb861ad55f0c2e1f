"""Which proxies to listen to: ProxyFit (Section 3.1) and re-selection (Section 3.3).

Both are one greedy traversal in order of relevance that admits what is not redundant; they differ
in the labels they see, and in when they stop.

Notations:
    proxies: float array of shape (n_configurations, n_proxies), values or ranks.
    labels: float array of shape (n_configurations,), the objective f, larger is better.
    relevance: float array of shape (n_proxies,), Spearman rho(p, f).
    redundancy: float array of shape (n_proxies, n_proxies), Spearman rho(p, q).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from typing import Protocol

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
    standardized = _standardized(columns)
    return np.asarray(np.clip(standardized.T @ standardized, -1.0, 1.0))


def _standardized(columns: FloatArray) -> FloatArray:
    """Columns of mean 0 and length 1; a constant one becomes 0."""
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
    """The traversal that Algorithms 1 and 2 share.

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
    and keeps those that correlate below a threshold with all that were kept. It needs labels of
    many configurations, so it is meant for a space that was evaluated before: the names it
    returns are what a search on another data set or space starts from.

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


class Selector(Protocol):
    """Chooses the proxies that a surrogate is given."""

    def select(
        self, proxies: FloatArray, labels: FloatArray, rng: np.random.Generator
    ) -> IntArray:
        """Indices of the chosen proxies, the most important first; none is a possible answer.

        Args:
            proxies: Array of shape (n_labelled, n_proxies).
            labels: Array of shape (n_labelled,).
            rng: Source of everything random.
        """


@dataclass(frozen=True)
class ReselectionSettings:
    """Settings of the bootstrapped re-selection (Section 3.3).

    Attributes:
        n_resamples: Bootstrap resamples B_boot.
        min_size: Smallest subset k_min.
        max_size: Largest subset k_max.
        redundancy: Threshold tau.
    """

    n_resamples: int
    min_size: int
    max_size: int
    redundancy: float

    def __post_init__(self) -> None:
        if self.n_resamples < 1:
            raise ValueError(f"n_resamples must be at least 1, but got {self.n_resamples}.")
        if not 1 <= self.min_size <= self.max_size:
            raise ValueError(
                "min_size and max_size must satisfy 1 <= min_size <= max_size, but got "
                f"{self.min_size} and {self.max_size}."
            )

    def subset_size(self, n_labelled: int) -> int:
        """Target size k for this many labels (Alg. 2, line 1)."""
        return max(self.min_size, min(self.max_size, n_labelled // 15 + 4))

    def select(
        self, proxies: FloatArray, labels: FloatArray, rng: np.random.Generator
    ) -> IntArray:
        """As in :class:`Selector`, by :func:`reselect`."""
        return reselect(proxies, labels, rng, self)


def reselect(
    proxies: FloatArray,
    labels: FloatArray,
    rng: np.random.Generator,
    settings: ReselectionSettings,
) -> IntArray:
    """Bootstrapped online re-selection (Section 3.3, Algorithm 2).

    Args:
        proxies: Array of shape (n_labelled, n_proxies).
        labels: Array of shape (n_labelled,).
        rng: Draws the resamples.
        settings: Number of resamples, sizes and threshold.

    Returns:
        The k proxies with most votes, of shape (min(k, n_proxies),), in order of votes.
    """
    n_labelled, n_proxies = proxies.shape
    votes = np.zeros(n_proxies)
    strength = np.zeros(n_proxies)
    for _ in range(settings.n_resamples):
        resample = rng.integers(n_labelled, size=n_labelled)
        relevance, redundancy = relevance_and_redundancy(proxies[resample], labels[resample])
        subset = greedy_subset(
            relevance,
            redundancy,
            threshold=settings.redundancy,
            max_size=settings.max_size,
            mrmr_min_size=settings.min_size,
        )
        votes[subset] += 1  # Alg. 2, line 10
        strength += np.abs(relevance)
    # Deviation: the paper leaves ties between votes open; the stronger proxy over all resamples
    # goes first.
    order = np.lexsort((-strength, -votes))
    return np.asarray(order[: settings.subset_size(n_labelled)], dtype=np.intp)


@dataclass(frozen=True)
class ScreeningSettings:
    """Every proxy, or none where they show no relation with the labels.

    Not in the paper.

    Attributes:
        level: Level of significance of :func:`permutation_p_value`.
        n_permutations: Permutations of the test.
        min_labels: With fewer labels every proxy counts as honest: so few prove little.
    """

    level: float
    n_permutations: int
    min_labels: int

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ValueError(f"level must lie in (0, 1), but got {self.level}.")
        if self.n_permutations < 1 / self.level - 1:
            raise ValueError(
                f"n_permutations must be at least {int(np.ceil(1 / self.level - 1))} for a level "
                f"of {self.level}, but got {self.n_permutations}."
            )

    def select(
        self, proxies: FloatArray, labels: FloatArray, rng: np.random.Generator
    ) -> IntArray:
        """As in :class:`Selector`."""
        everything = np.arange(proxies.shape[1], dtype=np.intp)
        if len(labels) < self.min_labels:
            return everything
        p_value = permutation_p_value(proxies, labels, rng, n_permutations=self.n_permutations)
        return everything if p_value <= self.level else everything[:0]


def permutation_p_value(
    proxies: FloatArray, labels: FloatArray, rng: np.random.Generator, *, n_permutations: int
) -> float:
    """How often chance alone relates some proxy to the labels as closely as is seen.

    The statistic is the largest absolute Spearman correlation of any proxy with the labels, so
    the p-value holds for all proxies together, whatever they have in common (Westfall and Young,
    1993).

    Args:
        proxies: Array of shape (n_labelled, n_proxies).
        labels: Array of shape (n_labelled,).
        rng: Draws the permutations.
        n_permutations: Number K of permutations of the labels.

    Returns:
        (1 + number of permutations that reach the statistic) / (1 + K), in (0, 1].
    """
    proxy_ranks = _standardized(rankdata(proxies, axis=0))
    label_ranks = _standardized(rankdata(labels)[:, np.newaxis])[:, 0]
    permuted = rng.permuted(np.tile(label_ranks, (n_permutations, 1)), axis=1)
    seen = np.abs(label_ranks @ proxy_ranks).max()
    by_chance = np.abs(permuted @ proxy_ranks).max(axis=1)
    return float((1 + np.count_nonzero(by_chance >= seen - 1e-12)) / (1 + n_permutations))


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
