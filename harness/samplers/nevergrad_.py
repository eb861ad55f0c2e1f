"""Nevergrad's optimisers as an Optuna sampler (Bennet, Doerr et al., 2021: NGOpt)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nevergrad as ng
import numpy as np
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.distributions import IntDistribution
from optuna.samplers import BaseSampler
from optuna.samplers import RandomSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import Study
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial
from optuna.trial import TrialState


class NevergradSampler(BaseSampler):
    """Sampler that asks an optimiser of Nevergrad, and tells it each value.

    Parameters that all trials have in common are the optimiser's; others, and those of the first
    trial, are drawn at random. It knows what its own trials were told, not those of other workers.

    Args:
        budget: Number of trials, from which NGOpt chooses its method.
        optimizer: Name of an optimiser in Nevergrad's registry.
        seed: Seed.
    """

    def __init__(
        self, *, budget: int | None = None, optimizer: str = "NGOpt", seed: int | None = None
    ) -> None:
        self._budget = budget
        self._name = optimizer
        self._seed = seed
        self._random_sampler = RandomSampler(seed)
        self._inferred = IntersectionSearchSpace()
        self._space: dict[str, BaseDistribution] = {}
        self._optimizer: Any = None
        self._asked: dict[int, Any] = {}

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """See :meth:`optuna.samplers.BaseSampler.infer_relative_search_space`."""
        if len(study.directions) > 1:
            raise ValueError("NevergradSampler must have one objective, but got several.")
        return self._inferred.calculate(study)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """See :meth:`optuna.samplers.BaseSampler.sample_relative`."""
        if not search_space:
            return {}
        if search_space != self._space:
            self._begin(search_space)
        candidate = self._optimizer.ask()
        self._asked[trial._trial_id] = candidate
        return {name: _value(search_space[name], each) for name, each in candidate.value.items()}

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """See :meth:`optuna.samplers.BaseSampler.sample_independent`."""
        return self._random_sampler.sample_independent(
            study, trial, param_name, param_distribution
        )

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """See :meth:`optuna.samplers.BaseSampler.after_trial`."""
        candidate = self._asked.pop(trial._trial_id, None)
        if candidate is not None and values is not None:
            sign = 1.0 if study.direction == StudyDirection.MINIMIZE else -1.0
            self._optimizer.tell(candidate, sign * values[0])

    def _begin(self, space: dict[str, BaseDistribution]) -> None:
        """Make an optimiser for another space than before."""
        parameters = ng.p.Dict(**{name: _parameter(each) for name, each in space.items()})
        parameters.random_state = np.random.RandomState(self._seed)
        self._optimizer = ng.optimizers.registry[self._name](parameters, budget=self._budget)
        self._space = dict(space)
        self._asked.clear()


def _parameter(distribution: BaseDistribution) -> Any:
    match distribution:
        case CategoricalDistribution(choices=choices):
            return ng.p.Choice(choices)
        case FloatDistribution(low=low, high=high) | IntDistribution(low=low, high=high):
            if low == high:
                return ng.p.Choice([low])
            scale = ng.p.Log if distribution.log else ng.p.Scalar
            return scale(lower=low, upper=high)
        case _:
            raise TypeError(f"NevergradSampler does not know the distribution {distribution!r}.")


def _value(distribution: BaseDistribution, value: Any) -> Any:
    """Value of a parameter, of its type and on its grid."""
    if isinstance(distribution, CategoricalDistribution):
        return value
    assert isinstance(distribution, FloatDistribution | IntDistribution)
    low, step = distribution.low, distribution.step
    if step is not None:
        value = low + step * round((value - low) / step)
    value = min(max(value, low), distribution.high)
    return int(value) if isinstance(distribution, IntDistribution) else float(value)
