"""A ProxyBO-style rank sum of surrogate and proxies (Shen et al., 2023).

Notations:
    reliability: share of the pairs of evaluated configurations that a score puts in the order of
        their values, in [0, 1]; 1/2 for a score that knows nothing.
    weight: softmax of the reliabilities at a temperature that falls as evidence grows.
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
    """The candidate with the best weighted sum of ranks by a surrogate and by each proxy.

    The surrogate is a random forest on the parameters, ranked by expected improvement. Its
    reliability is that of its out-of-bag predictions (five-fold cross-validation in the source:
    as honest, and one fit instead of six). A proxy's is measured on the same values.

    Args:
        proxies: See :class:`~harness.samplers.rounds.ProxyRoundSampler`; larger is taken as
            better.
        search_space: See there.
        n_startup_trials: Random configurations before the first model.
        batch_size: Evaluations between two fits.
        n_candidates: Random new configurations that are ranked, beside all new neighbours of the
            ten best.
        n_trees: Trees of the forest.
        temperature: Of the softmax at the first fit; later it is divided by 1 + log of the number
            of fits, so that the most reliable takes over.
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
    """Share of the pairs with different labels that scores put in order; a tie counts half.

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
    """Expected improvement on the best value if trees spread normally, (n_candidates,)."""
    trees = np.stack([tree.predict(features) for tree in forest.estimators_])
    mean, std = trees.mean(axis=0), np.maximum(trees.std(axis=0), 1e-9)
    gain = (mean - best) / std
    improvement = std * (gain * norm.cdf(gain) + norm.pdf(gain))
    return np.asarray(improvement, dtype=np.float64)


def out_of_bag(
    forest: RandomForestRegressor, features: npt.NDArray[np.float32], labels: Floats
) -> Floats:
    """Mean prediction of each label by the trees that did not see it, shape (n_labelled,).

    One that every tree saw, which is rare, gets the mean of the labels.
    """
    n = len(labels)
    unseen = np.ones((len(forest.estimators_), n), dtype=np.bool_)
    for row, rows in enumerate(forest.estimators_samples_):
        unseen[row, rows] = False
    predictions = np.stack([tree.predict(features) for tree in forest.estimators_])
    n_trees = unseen.sum(axis=0)
    mean = (predictions * unseen).sum(axis=0) / np.maximum(n_trees, 1)
    return np.asarray(np.where(n_trees > 0, mean, labels.mean()), dtype=np.float64)
