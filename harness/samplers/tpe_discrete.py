"""Tree-structured Parzen estimator (Bergstra et al., 2011) for categories, as in the paper.

Notations:
    good, bad: configurations with the best gamma share of the values, and the others.
    density: l (of the good) and g (of the bad), products over parameters of smoothed shares.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.samplers.base import CategoricalSampler
from harness.samplers.history import History
from harness.samplers.space import Configuration
from harness.samplers.space import SearchSpace
from harness.samplers.space import Space


class TPEDiscreteSampler(CategoricalSampler):
    """TPE with a discrete density per parameter, without repeats.

    The best ``gamma`` share of the values and the rest give each parameter two densities over its
    choices, l and g. Of ``n_candidates`` draws from l, the untried one with the largest l / g is
    evaluated.

    Unlike :class:`optuna.samplers.TPESampler` it never repeats a configuration, models parameters
    as independent, and smooths by one prior count per choice.

    Args:
        search_space: See :class:`~harness.samplers.base.CategoricalSampler`.
        n_startup_trials: Random configurations before the first model; not stated in the paper.
        gamma: Share of the values that count as good.
        n_candidates: Number of draws from l.
        prior: Prior count of every choice.
        candidates: See :class:`~harness.samplers.base.CategoricalSampler`. A draw that does
            not exist is replaced by the nearest untried configuration.
        seed: See there.

    Raises:
        ValueError: If an argument is out of range.
    """

    def __init__(
        self,
        search_space: SearchSpace | None = None,
        *,
        n_startup_trials: int = 20,
        gamma: float = 0.25,
        n_candidates: int = 64,
        prior: float = 1.0,
        candidates: pd.DataFrame | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(search_space, candidates=candidates, seed=seed)
        if n_startup_trials < 2 or n_candidates < 1:
            raise ValueError(
                "n_startup_trials must be at least 2 and n_candidates at least 1, but got "
                f"{n_startup_trials} and {n_candidates}."
            )
        if not 0 < gamma < 1 or prior <= 0:
            raise ValueError(
                f"gamma must be between 0 and 1 and prior positive, but got {gamma} and {prior}."
            )
        self._n_startup_trials = n_startup_trials
        self._gamma = gamma
        self._n_candidates = n_candidates
        self._prior = prior

    def propose(self, space: Space, history: History, number: int) -> Configuration:
        """See :meth:`~harness.samplers.base.CategoricalSampler.propose`."""
        rng, seen = self.rng("tpe", number), history.seen
        if len(history.values) < self._n_startup_trials:
            return space.random_unseen(rng, seen)
        good, bad = split(history.values, self._gamma)
        below, above = (
            densities(configurations, space.sizes, self._prior) for configurations in (good, bad)
        )
        for draw in self._best_first(below, above, rng):
            if draw not in space:
                return self._projected(space, draw, history, rng)
            if draw not in seen:
                return draw
        return space.random_unseen(rng, seen)

    def _best_first(
        self,
        below: Sequence[npt.NDArray[np.float64]],
        above: Sequence[npt.NDArray[np.float64]],
        rng: np.random.Generator,
    ) -> list[Configuration]:
        uniform = rng.random((len(below), self._n_candidates))
        draws = [
            # Rounding may leave the last cumulated density below 1.
            np.minimum(np.searchsorted(np.cumsum(density), u, side="right"), len(density) - 1)
            for density, u in zip(below, uniform, strict=True)
        ]
        scores = np.sum(
            [
                (np.log(good) - np.log(bad))[draw]
                for good, bad, draw in zip(below, above, draws, strict=True)
            ],
            axis=0,
        )
        order = np.argsort(-scores, kind="stable")
        return list(map(tuple, np.stack(draws, axis=1)[order].tolist()))

    def _projected(
        self, space: Space, draw: Configuration, history: History, rng: np.random.Generator
    ) -> Configuration:
        seen = [
            space.row(configuration) for configuration in history.seen if configuration in space
        ]
        nearest = space.projection.nearest(draw, 1, seen, rng)
        return space.rows[int(nearest[0])] if len(nearest) else space.random(rng)


def split(
    values: dict[Configuration, float], gamma: float
) -> tuple[list[Configuration], list[Configuration]]:
    """Split off the best ``gamma`` share, rounded up; the earlier of equal values is better."""
    ranked = sorted(values, key=values.__getitem__, reverse=True)
    n_good = math.ceil(gamma * len(ranked))
    return ranked[:n_good], ranked[n_good:]


def densities(
    configurations: Sequence[Configuration], sizes: Sequence[int], prior: float
) -> list[npt.NDArray[np.float64]]:
    """Smoothed share of each choice, (count + prior) / (n + K prior), per parameter.

    Args:
        configurations: The n configurations to count.
        sizes: Number of choices of each parameter, K.
        prior: Prior count of every choice.

    Returns:
        One array of shape (K,) per parameter; each sums to 1.
    """
    codes = np.asarray(configurations, dtype=np.intp).reshape(-1, len(sizes))
    ends = np.cumsum(sizes)
    # One count for all parameters, which can be many: NAS-Bench-101 has 56.
    counts = np.bincount((codes + (ends - sizes)).ravel(), minlength=ends[-1]).astype(np.float64)
    totals = np.repeat(len(codes) + np.asarray(sizes) * prior, sizes)
    return np.split((counts + prior) / totals, ends[:-1])
