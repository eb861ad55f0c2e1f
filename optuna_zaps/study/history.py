"""From a study's trials to what the search wants to know.

A worker that is about to evaluate a candidate says so in a system attribute of its trial, the
*claim*, because the parameters themselves are only stored one by one as the objective asks.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Hashable
from collections.abc import Mapping
from collections.abc import Sequence
from copy import copy
from datetime import datetime
import json
import math
from typing import Any
from typing import Protocol
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.samplers import PartialFixedSampler
from optuna.study import Study
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial
from optuna.trial import TrialState

from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.candidates import choice_key
from optuna_zaps.search.candidates import digested
from optuna_zaps.search.observations import History
from optuna_zaps.search.observations import Observations
from optuna_zaps.study.cache import FinishedPrefix
from optuna_zaps.study.cache import PerStudy
from optuna_zaps.study.cache import all_trials
from optuna_zaps.study.parameters import offers
from optuna_zaps.study.parameters import spelling


# A child of Optuna's logger, so that ``optuna.logging.set_verbosity`` reaches it.
_logger = optuna.logging.get_logger("optuna.samplers.zaps")

CLAIM_KEY = "zaps:candidate"
"""System attribute that holds the parameters of the candidate a trial is about to evaluate."""

PHASE_KEY = "zaps:phase"
"""User attribute that holds why a trial's configuration was chosen."""

CONSTRAINTS_KEY = "constraints"
"""Optuna's system attribute for the values of constraints, and the prefix of others."""

_LONGEST_CLAIM = 2**15
"""Most characters of a claim; MySQL's TEXT holds 65,535 bytes."""

_LARGEST = 1e30
"""Largest label: squares of larger ones overflow, such as those of a penalty of
``sys.float_info.max``, and trees read labels in single precision."""

Identity: TypeAlias = Hashable
"""What a configuration is known by: the index of a candidate, or the values themselves."""

_Label: TypeAlias = tuple[Identity, float, TrialState]
"""Configuration, value (larger is better), and the state of the trial."""


class Configurations(Protocol):
    """What tells the configurations of a space apart."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""

    def index(self, params: Mapping[str, Any]) -> Identity | None:
        """What a configuration is known by, ``None`` for one that does not belong to the space."""


class DrawnConfigurations:
    """Configurations of a space that is not enumerated, known by their values.

    Args:
        space: Distribution of each parameter.
    """

    def __init__(self, space: Mapping[str, BaseDistribution]) -> None:
        self.names = tuple(space)
        self._space = space
        self._params: dict[Identity, dict[str, Any]] = {}

    def index(self, params: Mapping[str, Any]) -> Identity | None:
        """As in :class:`Configurations`."""
        if not all(name in params and offers(d, params[name]) for name, d in self._space.items()):
            return None
        # However a value of a grid was rounded, it is one: 0.1 + 0.2 is 0.3.
        values = {name: spelling(params[name], d) for name, d in self._space.items()}
        identity = tuple(map(choice_key, values.values()))
        self._params.setdefault(identity, values)
        return identity

    def params(self, identity: Identity) -> dict[str, Any]:
        """Parameters of a configuration that was asked for before."""
        return self._params[identity]


class _Tally:
    """What a run of trials, in order of their numbers, adds up to."""

    def __init__(self, signs: tuple[float, ...]) -> None:
        self._signs = signs
        # A dictionary for its order: that in which the configurations were first tried.
        self.taken: dict[Identity, None] = {}
        self._running: dict[Identity, set[int]] = {}
        self._objectives: tuple[list[_Label], ...] = tuple([] for _ in signs)
        self._constraints: dict[str, list[_Label]] = {}
        self._successes: list[_Label] = []
        self._any_failure = False

    def unfinished(self) -> dict[Identity, set[int]]:
        """Identities of the trials on each configuration that none has evaluated to its end."""
        finished = {identity for identity, *_ in self._successes}
        return {each: trials for each, trials in self._running.items() if each not in finished}

    def copy(self) -> _Tally:
        twin = copy(self)
        assert not self._running  # A prefix has finished trials alone.
        twin.taken, twin._running = self.taken.copy(), {}
        twin._objectives = tuple(labels.copy() for labels in self._objectives)
        twin._constraints = {name: labels.copy() for name, labels in self._constraints.items()}
        twin._successes = self._successes.copy()
        return twin

    def add(self, trial: FrozenTrial, identity: Identity | None) -> None:
        if identity is None:
            return
        self.taken[identity] = None
        if not trial.state.is_finished():
            self._running.setdefault(identity, set()).add(trial._trial_id)
            return
        values = _values_of(trial, len(self._signs))
        if values:
            for labels, sign, value in zip(self._objectives, self._signs, values, strict=True):
                labels.append((identity, sign * value, trial.state))
        for name, value in constraints_of(trial).items():
            labels = self._constraints.setdefault(name, [])
            labels.append((identity, -value, trial.state))
        self._successes.append((identity, float(bool(values)), trial.state))
        self._any_failure |= not values

    def observations(self, index_of: Callable[[Any], int], n_candidates: int) -> Observations:
        """What is known of candidates.

        Args:
            index_of: Index of a configuration that was taken among the candidates.
            n_candidates: Number of candidates.
        """

        def indices(configurations: Collection[Identity]) -> npt.NDArray[np.intp]:
            return np.fromiter(map(index_of, configurations), np.intp, len(configurations))

        unavailable = np.zeros(n_candidates, dtype=np.bool_)
        unavailable[indices(self.taken)] = True

        def history(
            labels: list[_Label],
            finite: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]],
        ) -> History:
            means = _merged(labels)
            pending = indices([running for running in self._running if running not in means])
            values = np.fromiter(means.values(), np.float64, len(means))
            return History(indices(means), finite(values), unavailable, pending)

        return Observations(
            tuple(history(_comparable(labels), _finite) for labels in self._objectives),
            tuple(history(self._constraints[name], _signed) for name in sorted(self._constraints)),
            history(self._successes, _finite) if self._any_failure else None,
        )


class _Reading:
    """What was read of a study, so that no finished trial is looked up twice.

    A worker that died leaves a running trial, behind which no prefix grows: the configurations of
    finished trials beyond are remembered, since looking them up is what takes time.

    Args:
        configurations: What the trials are looked up in.
        signs: As :func:`direction_signs` has them.
        params_of: Reads the parameters that a trial evaluates, as far as they can be known.
    """

    def __init__(
        self,
        configurations: Configurations,
        signs: tuple[float, ...],
        params_of: Callable[[FrozenTrial], Mapping[str, Any]],
    ) -> None:
        self.configurations = configurations
        self._params_of = params_of
        self.tally = _Tally(signs)
        self.prefix = FinishedPrefix()
        self._beyond: dict[tuple[int, datetime | None], Identity | None] = {}

    def advance(self, trials: Sequence[FrozenTrial]) -> Sequence[FrozenTrial]:
        """Read on; the trials behind the first that has not finished."""
        finished, rest = self.prefix.advance(trials)
        for trial in finished:
            self.tally.add(trial, self.identity_of(trial))
            self._beyond.pop((trial.number, trial.datetime_complete), None)
        return rest

    def identity_of(self, trial: FrozenTrial) -> Identity | None:
        """What the configuration is known by that a trial evaluates, as far as it can be known."""
        if not trial.state.is_finished():
            return self.configurations.index(self._params_of(trial))
        key = trial.number, trial.datetime_complete
        if key not in self._beyond:
            self._beyond[key] = self.configurations.index(self._params_of(trial))
        return self._beyond[key]


class HistoryReader:
    """Reads histories, remembering the finished trials of each study.

    Args:
        read_trials: Reads the trials of a study.
    """

    def __init__(self, read_trials: Callable[[Study], Sequence[FrozenTrial]] = all_trials) -> None:
        self._read_trials = read_trials
        self._readings: PerStudy[dict[tuple[str, ...], _Reading]] = PerStudy(dict)
        self._has_warned = False

    def read(
        self, study: Study, candidates: CandidateSet, but: FrozenTrial | None
    ) -> Observations:
        """What a study's trials have shown, as seen by one of them.

        Args:
            study: The study.
            candidates: What its configurations are looked up in.
            but: The trial that asks; it does not make its own candidate unavailable.
        """
        # The index that a candidate is known by is its index among all.
        return self._tally(study, candidates, but).observations(int, len(candidates))

    def read_drawn(
        self, study: Study, configurations: DrawnConfigurations, but: FrozenTrial | None
    ) -> tuple[list[dict[str, Any]], Observations]:
        """The same of a space that is not enumerated, over what its trials have tried alone.

        Args:
            study: The study.
            configurations: What its configurations are looked up in.
            but: As for :meth:`read`.

        Returns:
            The distinct configurations that trials evaluate or evaluated, oldest first, and what
            is known of them in this order.
        """
        tally = self._tally(study, configurations, but)
        order = {identity: position for position, identity in enumerate(tally.taken)}
        seen = [configurations.params(identity) for identity in order]
        return seen, tally.observations(order.__getitem__, len(order))

    def unfinished(
        self, study: Study, configurations: Configurations, own: set[int]
    ) -> dict[Any, int]:
        """Count the trials on each configuration that none has evaluated to its end.

        Args:
            study: The study.
            configurations: What its configurations are looked up in.
            own: Identities of trials that will end; their configurations are left out.
        """
        unfinished = self._tally(study, configurations, None).unfinished()
        return {each: len(trials) for each, trials in unfinished.items() if not trials & own}

    def any_undecided(
        self, study: Study, configurations: Configurations, but: FrozenTrial
    ) -> bool:
        """Whether another trial may still choose a configuration.

        A trial chooses none once it has suggested every parameter, or has ended.
        """
        names = set(configurations.names)
        _, rest = self._split(study, configurations, but)
        return any(not t.state.is_finished() and not names <= t.params.keys() for t in rest)

    def holders(
        self,
        study: Study,
        configurations: Configurations,
        params: Mapping[str, Any],
        but: FrozenTrial,
    ) -> list[int]:
        """Numbers of the other trials on a configuration, finished ones among them.

        A trial that was quick may have claimed it and finished since the history was read.
        """
        reading, rest = self._split(study, configurations, but)
        identity = configurations.index(params)
        # The trials of the prefix came before, whatever their numbers are.
        first = [-1] if identity in reading.tally.taken else []
        return first + [t.number for t in rest if reading.identity_of(t) == identity]

    def _tally(
        self, study: Study, configurations: Configurations, but: FrozenTrial | None
    ) -> _Tally:
        reading, rest = self._split(study, configurations, but)
        tally = reading.tally.copy()
        for trial in rest:
            tally.add(trial, reading.identity_of(trial))
        return tally

    def _split(
        self, study: Study, configurations: Configurations, but: FrozenTrial | None
    ) -> tuple[_Reading, list[FrozenTrial]]:
        """What was read of a study, and the trials behind it."""
        trials = self._read_trials(study)
        readings = self._readings[study]
        known = readings.get(configurations.names)
        if (
            known is None
            or known.configurations is not configurations
            or not known.prefix.is_of(trials)
        ):
            known = _Reading(configurations, direction_signs(study), self._params_of)
            readings[configurations.names] = known
        rest = known.advance(trials)
        return known, [t for t in rest if but is None or t.number != but.number]

    def _params_of(self, trial: FrozenTrial) -> Mapping[str, Any]:
        if not isinstance(trial.system_attrs.get(CLAIM_KEY, {}), Mapping) and not self._has_warned:
            self._has_warned = True
            _logger.warning(
                f"The system attribute {CLAIM_KEY!r} of Trial#{trial.number} must map parameters "
                f"to values, but is {trial.system_attrs[CLAIM_KEY]!r}. ZAPSSampler did not write "
                "it and ignores it, and others like it."
            )
        return evaluated_params(trial)


def direction_signs(study: Study) -> tuple[float, ...]:
    """For each objective 1 if it is maximised, -1 if it is minimised."""
    return tuple(1.0 if d == StudyDirection.MAXIMIZE else -1.0 for d in study.directions)


def _values_of(trial: FrozenTrial, n_objectives: int) -> Sequence[float]:
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


def fixed_params(
    trial: FrozenTrial, system_attrs: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Parameters of a trial that are decided already: enqueued ones and those suggested.

    Args:
        trial: The trial.
        system_attrs: Its attributes where they were read before, by default those it holds.
    """
    attributes = trial.system_attrs if system_attrs is None else system_attrs
    return {**attributes.get("fixed_params", {}), **trial.params}


def fixed_from_outside(study: Study, sampler: BaseSampler) -> dict[str, Any]:
    """Parameters of which :class:`~optuna.samplers.PartialFixedSampler` around a sampler decides.

    Nothing tells the inner sampler their values, and those that the objective suggests last are
    in the trial too late.
    """
    fixed: dict[str, Any] = {}
    outer = study.sampler
    while isinstance(outer, PartialFixedSampler):
        fixed = {**outer._fixed_params, **fixed}
        outer = outer._base_sampler
    return fixed if outer is sampler else {}


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

    What the objective suggested counts for more than what was claimed: an outer sampler may have
    overruled a value. A worker that died after its claim and before its first parameter has
    evaluated nothing.
    """
    if trial.state == TrialState.FAIL and not trial.params:
        return {}
    return {**claim_in(trial.system_attrs), **fixed_params(trial)}


def _comparable(labels: list[_Label]) -> list[_Label]:
    """Cap the labels of pruned trials at the median of the completed ones.

    A pruned trial's value comes from an unfinished training: that it is worse than the median is
    what pruners hold against it. Before any trial completed it has no meaning.
    """
    complete = [value for _, value, state in labels if state == TrialState.COMPLETE]
    if len(complete) == len(labels):
        return labels
    if not complete:
        return []
    median = float(np.median(_finite(np.asarray(complete))))
    return [
        (identity, min(value, median) if state == TrialState.PRUNED else value, state)
        for identity, value, state in labels
    ]


def _merged(labels: list[_Label]) -> dict[Identity, float]:
    """Average the labels of each configuration, in the order of their first trials."""
    values: dict[Identity, list[float]] = {}
    for identity, value, _ in labels:
        values.setdefault(identity, []).append(value)
    return {identity: sum(known) / len(known) for identity, known in values.items()}


def _finite(labels: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Infinite labels become the best or worst finite one; huge ones count as infinite."""
    labels = np.where(np.isnan(labels), -np.inf, labels)
    finite = labels[np.abs(labels) <= _LARGEST]
    if len(finite) == len(labels):
        return labels
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    return np.clip(labels, low, high)


def _signed(labels: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Infinite labels of a constraint become huge ones of their sign, which is what counts."""
    return np.clip(np.where(np.isnan(labels), -np.inf, labels), -_LARGEST, _LARGEST)
