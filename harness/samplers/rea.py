"""Regularised evolution (Real et al., 2019: Regularized evolution for image classifier search)."""

from __future__ import annotations

import pandas as pd

from harness.samplers.base import CategoricalSampler
from harness.samplers.history import History
from harness.samplers.mutation import existing
from harness.samplers.mutation import one_changed
from harness.samplers.space import Configuration
from harness.samplers.space import SearchSpace
from harness.samplers.space import Space


REPEATS = ("reenter", "random")


class REASampler(CategoricalSampler):
    """Evolution that drops the oldest: the winner of a tournament has a child with one mutation.

    The population is the latest ``population_size`` trials.

    Args:
        search_space: See :class:`~harness.samplers.base.CategoricalSampler`.
        population_size: 50 in the paper, 100 in the source publication, 10 in NAS-Bench-201's.
        tournament_size: Members drawn, with replacement, for a tournament: 10 in the paper.
        repeats: Treatment of a child that was evaluated before. ``"reenter"`` proposes it again,
            so that it enters the population as in the source; on a table the repeat need not be
            charged. ``"random"`` replaces it by a random configuration, as the paper does on
            NAS-Bench-101.
        n_nearest: If not every combination exists (``candidates``), a mutant that does not is
            replaced by a uniform draw from this many nearest that do, excluding its parent
            (paper, Section 4.2).
        candidates: See :class:`~harness.samplers.base.CategoricalSampler`.
        seed: See there.

    Raises:
        ValueError: If an argument is out of range.

    Note:
        After as many repeats in a row as the population has members, a random configuration is
        proposed: a population of one configuration and its neighbours could repeat forever.
    """

    def __init__(
        self,
        search_space: SearchSpace | None = None,
        *,
        population_size: int = 50,
        tournament_size: int = 10,
        repeats: str = "reenter",
        n_nearest: int = 8,
        candidates: pd.DataFrame | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(search_space, candidates=candidates, seed=seed)
        if min(population_size, tournament_size, n_nearest) < 1:
            raise ValueError(
                "population_size, tournament_size and n_nearest must be at least 1, but got "
                f"{population_size}, {tournament_size} and {n_nearest}."
            )
        if repeats not in REPEATS:
            raise ValueError(f"repeats must be one of {REPEATS}, but got {repeats!r}.")
        self._population_size = population_size
        self._tournament_size = tournament_size
        self._repeats = repeats
        self._n_nearest = n_nearest

    def propose(self, space: Space, history: History, number: int) -> Configuration:
        """See :meth:`~harness.samplers.base.CategoricalSampler.propose`."""
        rng = self.rng("rea", number)
        population = history.observations[-self._population_size :]
        if (
            len(population) < self._population_size
            or history.n_repeats_in_a_row >= self._population_size
        ):
            return space.random_unseen(rng, history.seen)
        drawn = rng.integers(len(population), size=self._tournament_size)
        parent, _ = max((population[i] for i in drawn.tolist()), key=lambda member: member[1])
        mutant = one_changed(space, parent, rng)
        child = existing(space, mutant, parent, self._n_nearest, rng)
        if self._repeats == "random" and child in history.seen:
            return space.random_unseen(rng, history.seen)
        return child
