"""Trials of a study -> Observations; finished trials are read once."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Hashable
from collections.abc import Mapping
from collections.abc import Sequence
from copy import copy
from datetime import datetime
from typing import Any
from typing import Protocol
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from optuna.distributions import BaseDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial
from optuna.trial import TrialState

from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.choices import choice_key
from optuna_zaps.search.conditions import INACTIVE
from optuna_zaps.search.conditions import Conditions
from optuna_zaps.search.conditions import active_params
from optuna_zaps.search.observations import History
from optuna_zaps.search.observations import Observations
from optuna_zaps.search.observations import capped_labels
from optuna_zaps.search.observations import finite_labels
from optuna_zaps.search.observations import signed_labels
from optuna_zaps.study.cache import FinishedPrefix
from optuna_zaps.study.cache import PerStudy
from optuna_zaps.study.cache import all_trials
from optuna_zaps.study.notes import OneTimeWarnings
from optuna_zaps.study.parameters import parameter_of
from optuna_zaps.study.trials import CLAIM_KEY
from optuna_zaps.study.trials import constraints_of
from optuna_zaps.study.trials import direction_signs
from optuna_zaps.study.trials import evaluated_params
from optuna_zaps.study.trials import values_of


Identity: TypeAlias = Hashable
"""Key of a configuration: the index of a candidate, or the values themselves."""

_Label: TypeAlias = tuple[Identity, float, TrialState]
"""Configuration, value (larger is better), and the state of the trial."""


class Configurations(Protocol):
    """Configurations of a space, told apart by their identities."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""

    def index(self, params: Mapping[str, Any]) -> Identity | None:
        """Identity of a configuration, ``None`` for one that does not belong to the space."""


class DrawnConfigurations:
    """Configurations of a space that is not enumerated, identified by their values.

    Args:
        space: Distribution of each parameter.
        conditions: Conditions of those that some configurations lack.
    """

    def __init__(
        self, space: Mapping[str, BaseDistribution], conditions: Conditions | None = None
    ) -> None:
        self.names = tuple(space)
        self._conditions = conditions or {}
        self._parameters = {name: parameter_of(d) for name, d in space.items()}
        self._params: dict[Identity, dict[str, Any]] = {}

    def index(self, params: Mapping[str, Any]) -> Identity | None:
        """See :class:`Configurations`."""
        active = active_params(params, self._conditions) if self._conditions else params
        if active is None:
            return None
        values = {}
        for name, parameter in self._parameters.items():
            if name in active and parameter.offers(active[name]):
                values[name] = parameter.spelling(active[name])
            elif name in active or name not in self._conditions:
                return None
        identity = tuple(choice_key(values.get(name, INACTIVE)) for name in self.names)
        self._params.setdefault(identity, values)
        return identity

    def params(self, identity: Identity) -> dict[str, Any]:
        """Parameters of a configuration that was asked for before."""
        return self._params[identity]


class _Tally:
    """Sums over a run of trials, in order of their numbers.

    Args:
        signs: Sign of each objective; see :func:`~optuna_zaps.study.trials.direction_signs`.
    """

    def __init__(self, signs: tuple[float, ...]) -> None:
        self._signs = signs
        # A dictionary for its order, that of the first trial of each configuration.
        self.taken: dict[Identity, None] = {}
        self._running: dict[Identity, set[int]] = {}
        self._objectives: tuple[list[_Label], ...] = tuple([] for _ in signs)
        self._constraints: dict[str, list[_Label]] = {}
        self._successes: list[_Label] = []
        self._any_failure = False

    def unfinished(self) -> dict[Identity, set[int]]:
        """Ids of the running trials of each configuration that no trial has finished."""
        finished = {identity for identity, *_ in self._successes}
        return {each: trials for each, trials in self._running.items() if each not in finished}

    def copy(self) -> _Tally:
        """Copy the tally of a prefix, which has finished trials alone."""
        assert not self._running
        twin = copy(self)
        twin.taken, twin._running = self.taken.copy(), {}
        twin._objectives = tuple(labels.copy() for labels in self._objectives)
        twin._constraints = {name: labels.copy() for name, labels in self._constraints.items()}
        twin._successes = self._successes.copy()
        return twin

    def add(self, trial: FrozenTrial, identity: Identity | None) -> None:
        """Add a trial, unless its configuration is unknown."""
        if identity is None:
            return
        self.taken[identity] = None
        if not trial.state.is_finished():
            self._running.setdefault(identity, set()).add(trial._trial_id)
            return
        values = values_of(trial, len(self._signs))
        if values:
            for labels, sign, value in zip(self._objectives, self._signs, values, strict=True):
                labels.append((identity, sign * value, trial.state))
        for name, value in constraints_of(trial).items():
            labels = self._constraints.setdefault(name, [])
            labels.append((identity, -value, trial.state))
        self._successes.append((identity, float(bool(values)), trial.state))
        self._any_failure |= not values

    def observations(self, index_of: Callable[[Any], int], n_candidates: int) -> Observations:
        """Observations of candidates.

        Args:
            index_of: Index among the candidates of a configuration that was taken.
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
            tuple(history(_capped(labels), finite_labels) for labels in self._objectives),
            tuple(
                history(self._constraints[name], signed_labels)
                for name in sorted(self._constraints)
            ),
            history(self._successes, finite_labels) if self._any_failure else None,
        )


class _StudyTrials:
    """Trials of one study, of which no finished one is looked up twice.

    A worker that died leaves a running trial, behind which no prefix grows: the configurations of
    finished trials beyond it are remembered, since looking them up takes the time.

    Args:
        configurations: Looks the configurations up.
        signs: Sign of each objective.
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
        """Read on; return the trials from the first unfinished one on."""
        finished, rest = self.prefix.advance(trials)
        for trial in finished:
            self.tally.add(trial, self.identity_of(trial))
            self._beyond.pop((trial.number, trial.datetime_complete), None)
        return rest

    def identity_of(self, trial: FrozenTrial) -> Identity | None:
        """Identity of the configuration that a trial evaluates, as far as it can be known."""
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
        warnings: Takes warnings.
    """

    def __init__(
        self,
        read_trials: Callable[[Study], Sequence[FrozenTrial]] = all_trials,
        warnings: OneTimeWarnings | None = None,
    ) -> None:
        self._read_trials = read_trials
        self._warnings = warnings or OneTimeWarnings()
        self._known: PerStudy[dict[tuple[str, ...], _StudyTrials]] = PerStudy(dict)

    def read(
        self, study: Study, candidates: CandidateSet, excluding: FrozenTrial | None
    ) -> Observations:
        """Read the observations of enumerated candidates.

        Args:
            study: The study.
            candidates: Looks the configurations up.
            excluding: The trial that asks; it does not make its own candidate unavailable.
        """
        # The identity of a candidate is its index among all.
        return self._tally(study, candidates, excluding).observations(int, len(candidates))

    def read_drawn(
        self, study: Study, configurations: DrawnConfigurations, excluding: FrozenTrial | None
    ) -> tuple[list[dict[str, Any]], Observations]:
        """Like :meth:`read`, restricted to configurations already tried.

        Args:
            study: The study.
            configurations: Looks the configurations up.
            excluding: As for :meth:`read`.

        Returns:
            The distinct configurations that trials evaluate or evaluated, oldest first, and the
            observations of them in this order.
        """
        tally = self._tally(study, configurations, excluding)
        order = {identity: position for position, identity in enumerate(tally.taken)}
        seen = [configurations.params(identity) for identity in order]
        return seen, tally.observations(order.__getitem__, len(order))

    def unfinished(
        self, study: Study, configurations: Configurations, own: set[int]
    ) -> dict[Any, int]:
        """Count the running trials of each configuration that no trial has finished.

        Args:
            study: The study.
            configurations: Looks the configurations up.
            own: Ids of trials that will end; their configurations are left out.
        """
        unfinished = self._tally(study, configurations, None).unfinished()
        return {each: len(trials) for each, trials in unfinished.items() if not trials & own}

    def any_undecided(
        self, study: Study, configurations: Configurations, excluding: FrozenTrial
    ) -> bool:
        """Whether another trial may still choose a configuration.

        A trial chooses none once it has suggested every parameter, or has ended.
        """
        names = set(configurations.names)
        _, rest = self._split(study, configurations, excluding)
        return any(not t.state.is_finished() and not names <= t.params.keys() for t in rest)

    def holders(
        self,
        study: Study,
        configurations: Configurations,
        params: Mapping[str, Any],
        excluding: FrozenTrial,
    ) -> list[int]:
        """Numbers of the other trials on a configuration, finished ones among them.

        A quick trial may have claimed it and finished since the history was read.
        """
        known, rest = self._split(study, configurations, excluding)
        identity = configurations.index(params)
        # Trials of the prefix precede any that runs, whatever their numbers are.
        finished = [-1] if identity in known.tally.taken else []
        return finished + [t.number for t in rest if known.identity_of(t) == identity]

    def _tally(
        self, study: Study, configurations: Configurations, excluding: FrozenTrial | None
    ) -> _Tally:
        known, rest = self._split(study, configurations, excluding)
        tally = known.tally.copy()
        for trial in rest:
            tally.add(trial, known.identity_of(trial))
        return tally

    def _split(
        self, study: Study, configurations: Configurations, excluding: FrozenTrial | None
    ) -> tuple[_StudyTrials, list[FrozenTrial]]:
        """Read the finished trials at the beginning, and return the others beside them."""
        trials = self._read_trials(study)
        all_known = self._known[study]
        known = all_known.get(configurations.names)
        if (
            known is None
            or known.configurations is not configurations
            or not known.prefix.is_of(trials)
        ):
            known = _StudyTrials(configurations, direction_signs(study), self._params_of)
            all_known[configurations.names] = known
        rest = known.advance(trials)
        return known, [t for t in rest if excluding is None or t.number != excluding.number]

    def _params_of(self, trial: FrozenTrial) -> Mapping[str, Any]:
        if not isinstance(trial.system_attrs.get(CLAIM_KEY, {}), Mapping):
            self._warnings.once(
                CLAIM_KEY,
                f"The system attribute {CLAIM_KEY!r} of Trial#{trial.number} must map parameters "
                f"to values, but is {trial.system_attrs[CLAIM_KEY]!r}. ZAPSSampler did not write "
                "it and ignores it, and others like it.",
            )
        return evaluated_params(trial)


def _capped(labels: list[_Label]) -> list[_Label]:
    """Cap the labels of pruned trials; before any trial completed they have no meaning."""
    identities = [identity for identity, *_ in labels]
    states = [state for *_, state in labels]
    if TrialState.COMPLETE not in states:
        return []
    values = capped_labels(
        np.array([value for _, value, _ in labels]),
        is_complete=np.array([state == TrialState.COMPLETE for state in states]),
        is_pruned=np.array([state == TrialState.PRUNED for state in states]),
    )
    return list(zip(identities, values.tolist(), states, strict=True))


def _merged(labels: list[_Label]) -> dict[Identity, float]:
    """Average the labels of each configuration, in the order of their first trials."""
    values: dict[Identity, list[float]] = {}
    for identity, value, _ in labels:
        values.setdefault(identity, []).append(value)
    return {identity: sum(known) / len(known) for identity, known in values.items()}
