"""BANANAS (White, Neiswanger and Savani, 2021): path encoding, networks, Thompson sampling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.samplers.history import finite
from harness.samplers.mlp import MLPEnsemble
from harness.samplers.mlp import MLPSettings
from harness.samplers.mutation import each_changed
from harness.samplers.mutation import existing
from harness.samplers.paths import Encoder
from harness.samplers.paths import edge_paths
from harness.samplers.paths import vertex_paths
from harness.samplers.rounds import RoundSampler
from harness.samplers.rounds import thompson_order
from harness.samplers.space import Configuration
from harness.samplers.space import SearchSpace
from harness.samplers.space import Space


ENCODINGS: dict[str, Encoder] = {
    "one-hot": Space.one_hot,
    "edge-paths": edge_paths,
    "vertex-paths": vertex_paths,
}


class BANANASSampler(RoundSampler):
    """Bayesian optimisation with an ensemble of networks over mutations of the best.

    Args:
        search_space: See :class:`~harness.samplers.base.CategoricalSampler`.
        encoding: Features of the networks: ``"one-hot"``; ``"edge-paths"`` for cells with
            operations on edges (parameters ``edge_0_1``, ...), 30 paths on NAS-Bench-201; or
            ``"vertex-paths"`` for cells with operations on vertices, 40 paths on NAS-Bench-101.
        n_startup_trials: Random configurations before the first round.
        batch_size: Evaluations of a round.
        n_candidates: Number of distinct new mutants that a round chooses from.
        n_parents: Largest number of parents. The best configuration is mutated ``n_candidates``
            times; if that gives too few new ones, so is the second best, and so on.
        mutation_probability: Probability that a parameter is mutated: 1 / 4 in the source for
            NAS-Bench-201.
        loss_scale: Median absolute deviation of the losses that the networks are trained on. The
            source trains on raw losses in percent, whose deviation on NAS-Bench-201 is 2 to 5. A
            study may be in any unit, so its values are scaled to this. With a much smaller scale
            the learning rate is too large for the differences among the best.
        n_nearest: See :class:`~harness.samplers.rea.REASampler`.
        candidates: See :class:`~harness.samplers.base.CategoricalSampler`.
        seed: See there.

    Raises:
        ValueError: If an argument is out of range.
    """

    def __init__(
        self,
        search_space: SearchSpace | None = None,
        *,
        encoding: str = "one-hot",
        n_startup_trials: int = 10,
        batch_size: int = 10,
        n_candidates: int = 100,
        n_parents: int = 5,
        mutation_probability: float = 0.25,
        loss_scale: float = 5.0,
        n_nearest: int = 8,
        candidates: pd.DataFrame | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(
            search_space,
            n_startup_trials=n_startup_trials,
            batch_size=batch_size,
            candidates=candidates,
            seed=seed,
        )
        if encoding not in ENCODINGS:
            raise ValueError(f"encoding must be one of {list(ENCODINGS)}, but got {encoding!r}.")
        if min(n_candidates, n_parents, n_nearest) < 1:
            raise ValueError(
                "n_candidates, n_parents and n_nearest must be at least 1, but got "
                f"{n_candidates}, {n_parents} and {n_nearest}."
            )
        if not 0 < mutation_probability <= 1:
            raise ValueError(
                f"mutation_probability must be in (0, 1], but got {mutation_probability}."
            )
        if loss_scale <= 0:
            raise ValueError(f"loss_scale must be positive, but got {loss_scale}.")
        self._loss_scale = loss_scale
        self._encode = ENCODINGS[encoding]
        self._n_candidates = n_candidates
        self._n_parents = n_parents
        self._mutation_probability = mutation_probability
        self._n_nearest = n_nearest

    def rank(
        self, space: Space, known: dict[Configuration, float], rng: np.random.Generator
    ) -> Sequence[Configuration]:
        """See :meth:`~harness.samplers.rounds.RoundSampler.rank`."""
        candidates = self._mutants(space, known, rng)
        if not candidates:
            return ()
        learned = finite(known)
        features = self._encode(space, list(learned))
        labels = np.fromiter(learned.values(), dtype=np.float64, count=len(learned))
        ensemble = MLPEnsemble(features.shape[1], MLPSettings(), rng)
        ensemble.fit(features, _losses(labels, self._loss_scale))
        predictions = ensemble.predict(self._encode(space, candidates))
        return [candidates[i] for i in thompson_order(-predictions, rng).tolist()]

    def _mutants(
        self, space: Space, known: dict[Configuration, float], rng: np.random.Generator
    ) -> list[Configuration]:
        mutants: dict[Configuration, None] = {}
        ranked = sorted(known, key=known.__getitem__, reverse=True)
        for parent in ranked[: self._n_parents]:
            for _ in range(self._n_candidates):
                mutant = each_changed(space, parent, self._mutation_probability, rng)
                child = existing(space, mutant, parent, self._n_nearest, rng)
                if child not in known:
                    mutants[child] = None
                if len(mutants) == self._n_candidates:
                    return list(mutants)
        return list(mutants)


def _losses(labels: npt.NDArray[np.float64], scale: float) -> npt.NDArray[np.float32]:
    """Turn labels into losses about their median, with a median absolute deviation of ``scale``.

    Deviation: the source trains on raw losses. The standard deviation would depend mostly on a few
    failures.
    """
    losses = np.median(labels) - labels
    spread = float(np.median(np.abs(losses))) or float(np.abs(losses).max()) or 1.0
    return (losses * (scale / spread)).astype(np.float32)
