"""Base of the baselines: turns a study into a history, and a configuration into values."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.samplers import BaseSampler
from optuna.samplers import RandomSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import Study
from optuna.trial import FrozenTrial
from optuna.trial import TrialState
import pandas as pd

from harness.samplers.history import History
from harness.samplers.history import HistoryReader
from harness.samplers.space import Configuration
from harness.samplers.space import SearchSpace
from harness.samplers.space import Space
from harness.samplers.space import categorical
from harness.samplers.space import make_space
from optuna_zaps._randomness import stream
from optuna_zaps.study.cache import Lock
from optuna_zaps.study.cache import PerStudy


class CategoricalSampler(BaseSampler, ABC):
    """Sampler of categorical parameters that decides from the study's trials alone.

    A subclass proposes a configuration as a function of the history, the trial's number and the
    seed, so a new object in another process continues like this one. Parameters that are not
    categorical, and studies of several objectives, are sampled at random. Trials that failed or
    were pruned count as tried and as worse than all others; in a trial that has some parameters
    fixed, the others are those of the proposal.

    Args:
        search_space: Categorical distribution, or sequence of choices, of each parameter. By
            default it is inferred from the study's trials, the first of which is then random.
        candidates: The configurations that exist, one per row, if not every combination does.
            No others are proposed.
        seed: Seed of all random decisions; by default a new one for each object.

    Raises:
        ValueError: If the seed is negative, or the space is not valid (see
            :func:`~harness.samplers.space.make_space`).
    """

    def __init__(
        self,
        search_space: SearchSpace | None = None,
        *,
        candidates: pd.DataFrame | None = None,
        seed: int | None = None,
    ) -> None:
        if seed is not None and seed < 0:
            raise ValueError(f"seed must not be negative, but got {seed}.")
        self._seed = int(np.random.default_rng().integers(2**63)) if seed is None else seed
        self._space = make_space(search_space, candidates)
        self._space_is_given = self._space is not None
        self._inferred = PerStudy(partial(IntersectionSearchSpace, include_pruned=True))
        self._random_sampler = RandomSampler(seed)
        self._reader = HistoryReader()
        self._lock = Lock()
        self._proposals: PerStudy[dict[int, dict[str, Any]]] = PerStudy(dict)

    @abstractmethod
    def propose(self, space: Space, history: History, number: int) -> Configuration:
        """Choose the configuration of a trial.

        Args:
            space: The space.
            history: The study's history.
            number: The trial's number, which gives each worker another :meth:`rng`.

        Returns:
            The configuration.
        """

    def rng(self, phase: str, number: int) -> np.random.Generator:
        """Random stream of one decision."""
        return stream(self._seed, phase, number)

    def reseed_rng(self) -> None:
        """Reseed the random sampler; proposals depend on the seed and the history alone."""
        self._random_sampler.reseed_rng()

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """See :meth:`optuna.samplers.BaseSampler.infer_relative_search_space`.

        If the space was given, return {} and choose in :meth:`sample_independent`, so that a
        study may list choices in another order.
        """
        if self._space_is_given or study._is_multi_objective():
            return {}
        with self._lock:
            return categorical(self._inferred[study].calculate(study))

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """See :meth:`optuna.samplers.BaseSampler.sample_relative`."""
        ours = {} if study._is_multi_objective() else categorical(search_space)
        params = {
            name: self._random_sampler.sample_independent(study, trial, name, distribution)
            for name, distribution in search_space.items()
            if name not in ours
        }
        if not ours:
            return params
        with self._lock:
            space = self._inferred_space(ours)
            history = self._reader.read(study, space, trial)
            return params | space.params(self.propose(space, history, trial.number))

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """See :meth:`optuna.samplers.BaseSampler.sample_independent`."""
        space = self._space
        if (
            not self._space_is_given
            or space is None
            or param_name not in space.choices
            or not isinstance(param_distribution, CategoricalDistribution)
            or study._is_multi_objective()
        ):
            return self._random_sampler.sample_independent(
                study, trial, param_name, param_distribution
            )
        with self._lock:
            proposals = self._proposals[study]
            if trial._trial_id not in proposals:
                history = self._reader.read(study, space, trial)
                proposal = self.propose(space, history, trial.number)
                proposals[trial._trial_id] = space.params(proposal)
            value = proposals[trial._trial_id][param_name]
        # The study's own spelling of the choice; if it has none, Optuna's error lists its choices.
        return param_distribution.choices[int(param_distribution.to_internal_repr(value))]

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """See :meth:`optuna.samplers.BaseSampler.after_trial`."""
        with self._lock:
            self._proposals[study].pop(trial._trial_id, None)

    def _inferred_space(self, distributions: dict[str, BaseDistribution]) -> Space:
        space = make_space(distributions, None)
        assert space is not None
        if self._space is None or self._space.choices != space.choices:
            self._space = space
        return self._space
