"""Choice of the proxies that a surrogate is given, once there are labels (Section 3.3).

Notations:
    proxies: float array of shape (n_labelled, n_proxies), values or ranks.
    labels: float array of shape (n_labelled,), the objective f, larger is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from optuna_zaps.search.proxy_fit import greedy_subset
from optuna_zaps.search.proxy_fit import relevance_and_redundancy
from optuna_zaps.search.proxy_fit import standardized


FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]


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
        """Target size k for this many labels."""
        # Alg. 2, line 1
        return max(self.min_size, min(self.max_size, n_labelled // 15 + 4))

    def select(
        self, proxies: FloatArray, labels: FloatArray, rng: np.random.Generator
    ) -> IntArray:
        """See :class:`Selector` and :func:`reselect`."""
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
    """Settings of a test that keeps every proxy, or none.

    None where they show no relation with the labels.

    Not in the paper.

    Attributes:
        level: Level of significance of :func:`permutation_p_value`.
        n_permutations: Permutations of the test.
        min_labels: Fewest labels that are tested; with fewer every proxy counts as honest.
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
        """See :class:`Selector`."""
        everything = np.arange(proxies.shape[1], dtype=np.intp)
        if len(labels) < self.min_labels:
            return everything
        p_value = permutation_p_value(proxies, labels, rng, n_permutations=self.n_permutations)
        return everything if p_value <= self.level else everything[:0]


def permutation_p_value(
    proxies: FloatArray, labels: FloatArray, rng: np.random.Generator, *, n_permutations: int
) -> float:
    """Probability that chance alone relates some proxy to the labels this closely.

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
    from scipy.stats import rankdata

    # Spearman's rho is the product of standardized ranks.
    proxy_ranks = standardized(rankdata(proxies, axis=0))
    label_ranks = standardized(rankdata(labels)[:, np.newaxis])[:, 0]
    permuted = rng.permuted(np.tile(label_ranks, (n_permutations, 1)), axis=1)
    seen = np.abs(label_ranks @ proxy_ranks).max()
    by_chance = np.abs(permuted @ proxy_ranks).max(axis=1)
    return float((1 + np.count_nonzero(by_chance >= seen - 1e-12)) / (1 + n_permutations))
