"""Search in rounds: fit a model, then evaluate a batch of its best candidates."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import islice

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.samplers.base import CategoricalSampler
from harness.samplers.history import History
from harness.samplers.history import Observation
from harness.samplers.space import Configuration
from harness.samplers.space import SearchSpace
from harness.samplers.space import Space
from optuna_zaps.search.table import split_table


class RoundSampler(CategoricalSampler):
    """Sampler with a model that is fitted at the start of each round.

    Args:
        search_space: See :class:`~harness.samplers.base.CategoricalSampler`.
        n_startup_trials: Random configurations before the first round.
        batch_size: Evaluations per round.
        candidates: See :class:`~harness.samplers.base.CategoricalSampler`.
        seed: See there.

    Raises:
        ValueError: If an argument is out of range.
    """

    def __init__(
        self,
        search_space: SearchSpace | None = None,
        *,
        n_startup_trials: int,
        batch_size: int,
        candidates: pd.DataFrame | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(search_space, candidates=candidates, seed=seed)
        if n_startup_trials < 2 or batch_size < 1:
            raise ValueError(
                "n_startup_trials must be at least 2 and batch_size at least 1, but got "
                f"{n_startup_trials} and {batch_size}."
            )
        self._n_startup_trials = n_startup_trials
        self._batch_size = batch_size
        # A cache: the ranking of the current round is a function of these observations.
        self._round: tuple[Space, tuple[Observation, ...]] | None = None
        self._ranking: Sequence[Configuration] = ()

    @abstractmethod
    def rank(
        self, space: Space, known: dict[Configuration, float], rng: np.random.Generator
    ) -> Sequence[Configuration]:
        """Rank the candidates of a round, the most promising first.

        Args:
            space: The space.
            known: Values of the configurations evaluated before the round. At least two are
                finite; the others are :data:`~harness.samplers.history.LOST`.
            rng: The round's random stream.

        Returns:
            The candidates in order.
        """

    def propose(self, space: Space, history: History, number: int) -> Configuration:
        """See :meth:`~harness.samplers.base.CategoricalSampler.propose`."""
        seen = history.seen
        n_rounds, _ = divmod(len(history.values) - self._n_startup_trials, self._batch_size)
        if n_rounds >= 0:
            n_known = self._n_startup_trials + n_rounds * self._batch_size
            for configuration in self._ranked(space, history, n_known):
                if configuration not in seen:
                    return configuration
        return space.random_unseen(self.rng("random", number), seen)

    def _ranked(self, space: Space, history: History, n_known: int) -> Sequence[Configuration]:
        known = tuple(islice(history.values.items(), n_known))
        if self._round is None or self._round[0] is not space or self._round[1] != known:
            self._ranking = ()
            if sum(bool(np.isfinite(value)) for _, value in known) > 1:
                self._ranking = self.rank(space, dict(known), self.rng("round", n_known))
            self._round = (space, known)
        return self._ranking


class ProxyRoundSampler(RoundSampler):
    """Sampler in rounds that is given proxies of every configuration.

    Args:
        proxies: Frame with a row per existing configuration: columns (or index levels) named like
            parameters, and columns of proxies.
        search_space: See :class:`~harness.samplers.base.CategoricalSampler`; by default the
            columns that are not numeric.
        n_startup_trials: See :class:`RoundSampler`.
        batch_size: See there.
        seed: See :class:`~harness.samplers.base.CategoricalSampler`.

    Raises:
        ValueError: If an argument is out of range.
    """

    def __init__(
        self,
        proxies: pd.DataFrame,
        search_space: SearchSpace | None = None,
        *,
        n_startup_trials: int,
        batch_size: int,
        seed: int | None = None,
    ) -> None:
        parameters, values = split_table(
            proxies, None if search_space is None else list(search_space)
        )
        super().__init__(
            search_space,
            n_startup_trials=n_startup_trials,
            batch_size=batch_size,
            candidates=pd.DataFrame(
                {name: column.values for name, column in parameters.columns.items()}
            ),
            seed=seed,
        )
        self._proxies = values.floats()

    def proxies_of(
        self, space: Space, configurations: Sequence[Configuration]
    ) -> npt.NDArray[np.float64]:
        """Proxies of configurations, shape (len(configurations), n_proxies)."""
        return self._proxies[[space.row(configuration) for configuration in configurations]]


def thompson_order(
    predictions: npt.NDArray[np.float64], rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Order candidates by independent Thompson sampling, the best first.

    Each candidate is drawn once from a normal distribution with the mean and the standard
    deviation of the members' predictions.

    Args:
        predictions: Array of shape (n_members, n_candidates); larger is better.
        rng: Generator of the draws.
    """
    return np.argsort(-rng.normal(predictions.mean(axis=0), predictions.std(axis=0)))
