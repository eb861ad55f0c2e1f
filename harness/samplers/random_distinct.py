"""Random search without replacement."""

from __future__ import annotations

from harness.samplers.base import CategoricalSampler
from harness.samplers.history import History
from harness.samplers.space import Configuration
from harness.samplers.space import Space


class RandomDistinctSampler(CategoricalSampler):
    """Random search without repeats: each trial is uniform over the untried configurations.

    After B trials the expected share found of any set is B / N, of N configurations.

    Args:
        search_space: See :class:`~harness.samplers.base.CategoricalSampler`.
        candidates: See there.
        seed: See there.
    """

    def propose(self, space: Space, history: History, number: int) -> Configuration:
        """See :meth:`~harness.samplers.base.CategoricalSampler.propose`."""
        return space.random_unseen(self.rng("random", number), history.seen)
