"""Arguments of TPESampler that the sampler takes as well, and the TPE that it falls back to."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import sys
from typing import Any
import warnings

import numpy as np
import optuna
from optuna.exceptions import ExperimentalWarning
from optuna.samplers import BaseSampler
from optuna.samplers import TPESampler
from optuna.trial import FrozenTrial

from optuna_zaps import _checks


_DEFAULTS: dict[str, Any] = {
    "n_ei_candidates": 24,
    "gamma": getattr(sys.modules[TPESampler.__module__], "default_gamma", None),
    "weights": getattr(sys.modules[TPESampler.__module__], "default_weights", None),
    "prior_weight": 1.0,
    "consider_prior": True,
    "consider_magic_clip": True,
    "consider_endpoints": False,
    "categorical_distance_func": None,
}
"""Defaults of Optuna 4, as configuration files spell them out; those of Optuna 5 are None."""


def check_always_on(**arguments: bool | None) -> None:
    """Check arguments that switch on what the sampler always does.

    Raises:
        TypeError: If one is neither a boolean nor ``None``.
    """
    for name, value in arguments.items():
        if value is not None:
            _checks.boolean(name, value)


def warn_of_no_effect(**arguments: Any) -> None:
    """Warn once of all arguments that tune TPE and differ from TPE's defaults."""
    given = [
        name
        for name, value in arguments.items()
        if value is not None and not np.array_equal(value, _DEFAULTS[name])
    ]
    if given:
        _checks.warn(
            f"ZAPSSampler takes {', '.join(given)} so that code written for TPESampler runs, but "
            "what tunes TPE has no effect here. Leave it out to avoid this warning."
        )


def check_constraints(
    constraints_func: Callable[[FrozenTrial], Sequence[float]] | None,
) -> None:
    """Check that it is a function, and warn of it where Optuna's own samplers do."""
    if constraints_func is None:
        return
    _checks.function("constraints_func", constraints_func, "a function of a finished trial")
    if hasattr(optuna.Trial, "set_constraint"):
        _checks.warn(
            "`constraints_func` has been deprecated in Optuna v5.0.0, whose samplers will lose it "
            "in v7.0.0. Use `optuna.trial.Trial.set_constraint` instead.",
            FutureWarning,
        )


def independent_sampler(
    sampler: BaseSampler | None, seed: int | None, n_startup_trials: int | None
) -> BaseSampler:
    """Return the sampler of parameters outside the space, by default a multivariate TPE.

    Raises:
        TypeError: If it is no sampler.
    """
    if sampler is None:
        return _multivariate_tpe(seed, n_startup_trials)
    if not isinstance(sampler, BaseSampler):
        raise TypeError(
            "independent_sampler must be a sampler, such as optuna.samplers.RandomSampler(), but "
            f"got {sampler!r} of type {type(sampler).__name__}."
        )
    return sampler


def _multivariate_tpe(seed: int | None, n_startup_trials: int | None) -> TPESampler:
    with warnings.catch_warnings():
        # multivariate is experimental in Optuna 4 and the default in 5.
        warnings.simplefilter("ignore", ExperimentalWarning)
        return TPESampler(
            seed=seed,
            multivariate=True,
            n_startup_trials=10 if n_startup_trials is None else n_startup_trials,
        )
