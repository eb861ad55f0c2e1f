"""Configuration and outcome of one trial, and the keys of all attributes.

The parameters of a running trial are stored one by one as the objective asks. A worker that is
about to evaluate a configuration therefore writes it to a system attribute of its trial at once:
the *claim*.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import json
import math
from typing import Any

from optuna.samplers import BaseSampler
from optuna.samplers import PartialFixedSampler
from optuna.study import Study
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial
from optuna.trial import TrialState

from optuna_zaps.search.choices import digested


CLAIM_KEY = "zaps:candidate"
"""System attribute: parameters of the configuration that a trial is about to evaluate."""

PHASE_KEY = "zaps:phase"
"""User attribute: why the configuration was chosen."""

MEAN_KEY = "zaps:mean"
"""User attribute: predicted value of each objective, in its own unit."""

STD_KEY = "zaps:std"
"""User attribute: predicted dispersion, as :data:`MEAN_KEY`."""

ACQUISITION_KEY = "zaps:acquisition"
"""User attribute: largest value of the acquisition."""

PROXIES_KEY = "zaps:proxies"
"""User attribute: names of the proxies that the model was given."""

CONSTRAINTS_KEY = "constraints"
"""System attribute of Optuna: values of constraints, and the prefix of others."""

FIXED_PARAMS_KEY = "fixed_params"
"""System attribute of Optuna: parameters that a trial was enqueued with."""

_LONGEST_CLAIM = 2**15
"""Most characters of a claim; MySQL's TEXT holds 65,535 bytes."""


@dataclass(frozen=True)
class Ask:
    """A trial that asks for parameters.

    Attributes:
        study: The study.
        trial: The trial.
        fixed: Parameters that a :class:`~optuna.samplers.PartialFixedSampler` around the sampler
            decides, from :func:`fixed_from_outside`.
    """

    study: Study
    trial: FrozenTrial
    fixed: Mapping[str, Any]

    @classmethod
    def of(cls, study: Study, trial: FrozenTrial, sampler: BaseSampler) -> Ask:
        """Ask of a trial of a study whose parameters a sampler chooses."""
        return cls(study, trial, fixed_from_outside(study, sampler))


def fixed_from_outside(study: Study, sampler: BaseSampler) -> dict[str, Any]:
    """Parameters that a :class:`~optuna.samplers.PartialFixedSampler` around a sampler decides.

    The inner sampler is not told their values, and those that the objective suggests last reach
    the trial too late.
    """
    fixed: dict[str, Any] = {}
    outer = study.sampler
    while isinstance(outer, PartialFixedSampler):
        fixed = {**outer._fixed_params, **fixed}
        outer = outer._base_sampler
    return fixed if outer is sampler else {}


def fixed_params(
    trial: FrozenTrial, system_attrs: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Parameters of a trial that are decided already: enqueued ones and those suggested.

    Args:
        trial: The trial.
        system_attrs: Its attributes where they were read before, by default those it holds.
    """
    attributes = trial.system_attrs if system_attrs is None else system_attrs
    return {**attributes.get(FIXED_PARAMS_KEY, {}), **trial.params}


def claimable(params: Mapping[str, Any]) -> dict[str, Any] | None:
    """Write a configuration as a claim, with digests instead of long values.

    Returns:
        ``None`` if there are so many parameters that the claim would not fit into a text column of
        a database. Two workers are then unlikely to choose the same configuration.
    """
    claim = {name: digested(value) for name, value in params.items()}
    return claim if len(json.dumps(claim, default=repr)) <= _LONGEST_CLAIM else None


def claim_in(system_attrs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Read the claim among a trial's attributes; empty if there is none, or it is no mapping."""
    claim = system_attrs.get(CLAIM_KEY)
    return claim if isinstance(claim, Mapping) else {}


def evaluated_params(trial: FrozenTrial) -> dict[str, Any]:
    """Parameters that a trial evaluates, as far as they can be known yet.

    A suggested value takes precedence over a claimed one: an outer sampler may have overruled it.
    A worker that died after its claim and before its first parameter has evaluated nothing.
    """
    if trial.state == TrialState.FAIL and not trial.params:
        return {}
    return {**claim_in(trial.system_attrs), **fixed_params(trial)}


def direction_signs(study: Study) -> tuple[float, ...]:
    """Sign of each objective: 1 if it is maximised, -1 if it is minimised."""
    return tuple(1.0 if d == StudyDirection.MAXIMIZE else -1.0 for d in study.directions)


def values_of(trial: FrozenTrial, n_objectives: int) -> Sequence[float]:
    """Values of a finished trial; empty if it failed, or was pruned before it reported any."""
    values = trial.values
    if trial.state == TrialState.FAIL or values is None or len(values) != n_objectives:
        return ()
    return () if any(map(math.isnan, values)) else values


def constraints_of(trial: FrozenTrial) -> dict[str, float]:
    """Values of a trial's constraints by name, feasible up to 0.

    Those of ``constraints_func`` are one sequence; those of ``trial.set_constraint``, which came
    with Optuna 5, an attribute each.
    """
    values = {
        str(position): float(value)
        for position, value in enumerate(trial.system_attrs.get(CONSTRAINTS_KEY) or ())
    }
    prefix = f"{CONSTRAINTS_KEY}:"
    for key, value in trial.system_attrs.items():
        if key.startswith(prefix):
            values[key.removeprefix(prefix)] = float(value)
    return values
