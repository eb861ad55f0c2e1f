"""Rank sum of surrogate and proxies in the style of ProxyBO (Shen et al., 2023).

Notations:
    reliability: share of the pairs of evaluated configurations that a score orders like their
        values, in [0, 1]; 1/2 for an uninformative score.
    weight: softmax of the reliabilities at a temperature that falls with the number of fits.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import norm
from scipy.stats import rankdata
from sklearn.ensemble import RandomForestRegressor

from harness.samplers.history import finite
from harness.samplers.rounds import ProxyRoundSampler
from harness.samplers.space import Configuration
from harness.samplers.space import SearchSpace
from harness.samplers.space import Space
from optuna_zaps.search.proxies import scaled_ranks


Floats = npt.NDArray[np.float64]

_N_LOCAL_STARTS = 10


class ProxyBOSampler(ProxyRoundSampler):
    """Sampler by the weighted sum of the ranks under a surrogate and under each proxy.

    The surrogate is a random forest on the parameters, ranked by expected improvement. Its
    reliability is that of its out-of-bag predictions (the source cross-validates in five folds,
    which needs six fits instead of one). A proxy's is measured on the same values.

    Args:
        proxies: See :class:`~harness.samplers.rounds.ProxyRoundSampler`; larger counts as
            better.
        search_space: See there.
        n_startup_trials: Random configurations before the first model.
        batch_size: Evaluations between two fits.
        n_candidates: Number of random new configurations that are ranked, together with all new
            neighbours of the ten best.
        n_trees: Trees of the forest.
        temperature: Temperature of the softmax at the first fit; later it is divided by
            1 + log(number of fits), so that the most reliable score dominates.
        seed: See :class:`~harness.samplers.base.CategoricalSampler`.

    Raises:
        ValueError: If an argument is out of range.
    """

    def __init__(
        self,
        proxies: pd.DataFrame,
        search_space: SearchSpace | None = None,
        *,
        n_startup_trials: int = 10,
        batch_size: int = 1,
        n_candidates: int = 1000,
        n_trees: int = 30,
        temperature: float = 0.05,
        seed: int | None = None,
    ) -> None:
        super().__init__(
            proxies,
            search_space,
            n_startup_trials=n_startup_trials,
            batch_size=batch_size,
            seed=seed,
        )
        if min(n_candidates, n_trees) < 1 or temperature <= 0:
            raise ValueError(
                "n_candidates and n_trees must be at least 1 and temperature positive, but got "
                f"{n_candidates}, {n_trees} and {temperature}."
            )
        self._proxies = scaled_ranks(self._proxies)
        self._n_candidates = n_candidates
        self._n_trees = n_trees
        self._temperature = temperature

    def rank(
        self, space: Space, known: dict[Configuration, float], rng: np.random.Generator
    ) -> Sequence[Configuration]:
        """See :meth:`~harness.samplers.rounds.RoundSampler.rank`."""
        candidates = self._candidates(space, known, rng)
        learned = finite(known)
        labels = np.fromiter(learned.values(), dtype=np.float64, count=len(learned))
        forest = RandomForestRegressor(
            n_estimators=self._n_trees, n_jobs=1, random_state=int(rng.integers(2**31))
        )
        encoded = space.one_hot(list(learned))
        forest.fit(encoded, labels)
        scores = np.column_stack(
            [
                expected_improvement(forest, space.one_hot(candidates), labels.max()),
                self.proxies_of(space, candidates),
            ]
        )
        reliability = np.array(
            [
                concordance(out_of_bag(forest, encoded, labels), labels),
                *(concordance(proxy, labels) for proxy in self.proxies_of(space, list(learned)).T),
            ]
        )
        n_fits = 1 + (len(known) - self._n_startup_trials) // self._batch_size
        temperature = self._temperature / (1.0 + math.log(n_fits))
        order = np.argsort(-rank_sum(scores, weights(reliability, temperature)), kind="stable")
        return [candidates[i] for i in order.tolist()]

    def _candidates(
        self, space: Space, known: dict[Configuration, float], rng: np.random.Generator
    ) -> list[Configuration]:
        found = dict.fromkeys(space.sample_unseen(self._n_candidates, known, rng))
        for best in sorted(known, key=known.__getitem__, reverse=True)[:_N_LOCAL_STARTS]:
            found |= dict.fromkeys(cell for cell in space.neighbours(best) if cell not in known)
        return list(found)


def concordance(scores: Floats, labels: Floats) -> float:
    """Share of the pairs with different labels that scores order alike; a tie counts half.

    Scores and labels have shape (n,). Without such a pair the share is 1/2.
    """
    order = np.sign(labels[:, np.newaxis] - labels)
    agreement = np.sign(scores[:, np.newaxis] - scores) * order
    n_pairs = float(np.abs(order).sum())
    return 0.5 * (1.0 + float(agreement.sum()) / n_pairs) if n_pairs else 0.5


def weights(reliability: Floats, temperature: float) -> Floats:
    """Softmax of reliabilities at a temperature, shape (n_scores,)."""
    exponentials = np.exp((reliability - reliability.max()) / temperature)
    return np.asarray(exponentials / exponentials.sum(), dtype=np.float64)


def rank_sum(scores: Floats, score_weights: Floats) -> Floats:
    """Weighted sum of the ranks of each candidate, shape (n_candidates,); larger is better.

    Args:
        scores: Array of shape (n_candidates, n_scores), larger is better; ties share a rank.
        score_weights: Array of shape (n_scores,).
    """
    return np.asarray(rankdata(scores, axis=0) @ score_weights, dtype=np.float64)


def expected_improvement(
    forest: RandomForestRegressor, features: npt.NDArray[np.float32], best: float
) -> Floats:
    """Expected improvement on the best value, with normal predictions, shape (n_candidates,)."""
    trees = np.stack([tree.predict(features) for tree in forest.estimators_])
    mean, std = trees.mean(axis=0), np.maximum(trees.std(axis=0), 1e-9)
    gain = (mean - best) / std
    # EI = s (z Phi(z) + phi(z)) with z = (m - best) / s (Jones et al., 1998, Equation 15).
    improvement = std * (gain * norm.cdf(gain) + norm.pdf(gain))
    return np.asarray(improvement, dtype=np.float64)


def out_of_bag(
    forest: RandomForestRegressor, features: npt.NDArray[np.float32], labels: Floats
) -> Floats:
    """Mean prediction of each label by the trees that did not see it, shape (n_labelled,).

    A label that every tree saw, which is rare, is predicted by the mean of all.
    """
    n = len(labels)
    unseen = np.ones((len(forest.estimators_), n), dtype=np.bool_)
    for row, rows in enumerate(forest.estimators_samples_):
        unseen[row, rows] = False
    predictions = np.stack([tree.predict(features) for tree in forest.estimators_])
    n_trees = unseen.sum(axis=0)
    mean = (predictions * unseen).sum(axis=0) / np.maximum(n_trees, 1)
    return np.asarray(np.where(n_trees > 0, mean, labels.mean()), dtype=np.float64)
