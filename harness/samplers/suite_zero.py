"""BANANAS of NAS-Bench-Suite-Zero (Krishnakumar et al., 2022): boosted trees on proxies.

It replaces the networks of BANANAS by one surrogate of all thirteen zero-cost proxies and the
encoding; its candidates are random configurations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.samplers.history import finite
from harness.samplers.rounds import ProxyRoundSampler
from harness.samplers.rounds import thompson_order
from harness.samplers.space import Configuration
from harness.samplers.space import SearchSpace
from harness.samplers.space import Space


class SuiteZeroBANANASSampler(ProxyRoundSampler):
    """Trees on proxies and one-hot parameters choose ten of a hundred random configurations.

    Args:
        proxies: See :class:`~harness.samplers.rounds.ProxyRoundSampler`.
        search_space: See there.
        n_startup_trials: Random configurations before the first round.
        batch_size: Evaluations per round.
        n_candidates: Number of random new configurations that a round chooses from.
        n_members: Models of the ensemble, whose spread Thompson sampling uses. Each tree is fitted
            to a random 80 % of the labels; in the source to all, so that the members are equal
            and do not explore.
        n_trees: Trees of each model.
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
        batch_size: int = 10,
        n_candidates: int = 100,
        n_members: int = 3,
        n_trees: int = 100,
        seed: int | None = None,
    ) -> None:
        super().__init__(
            proxies,
            search_space,
            n_startup_trials=n_startup_trials,
            batch_size=batch_size,
            seed=seed,
        )
        if min(n_candidates, n_members, n_trees) < 1:
            raise ValueError(
                "n_candidates, n_members and n_trees must be at least 1, but got "
                f"{n_candidates}, {n_members} and {n_trees}."
            )
        self._n_candidates = n_candidates
        self._n_members = n_members
        self._n_trees = n_trees

    def rank(
        self, space: Space, known: dict[Configuration, float], rng: np.random.Generator
    ) -> Sequence[Configuration]:
        """See :meth:`~harness.samplers.rounds.RoundSampler.rank`."""
        # Slow to import, and only this sampler needs it.
        from xgboost import XGBRegressor  # noqa: PLC0415

        candidates = space.sample_unseen(self._n_candidates, known, rng)
        learned = finite(known)
        features, labels = self._features(space, list(learned)), list(learned.values())
        predictions = [
            XGBRegressor(
                n_estimators=self._n_trees,
                subsample=0.8,
                random_state=int(rng.integers(2**31)),
                n_jobs=1,
            )
            .fit(features, labels)
            .predict(self._features(space, candidates))
            for _ in range(self._n_members)
        ]
        order = thompson_order(np.asarray(predictions, dtype=np.float64), rng)
        return [candidates[i] for i in order.tolist()]

    def _features(
        self, space: Space, configurations: Sequence[Configuration]
    ) -> npt.NDArray[np.float32]:
        proxies = self.proxies_of(space, configurations).astype(np.float32)
        return np.hstack([proxies, space.one_hot(configurations)])
