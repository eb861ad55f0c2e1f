"""Trials of a study -> Observations; finished trials are read once."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Iterable
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


IntArray = npt.NDArray[np.intp]

Identity: TypeAlias = int
"""Number of a configuration: the index of a candidate, or one in the order of first mention."""


class Configurations(Protocol):
    """Configurations of a space, told apart by their identities."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""

    def index(self, params: Mapping[str, Any]) -> Identity | None:
        """Identity of a configuration, ``None`` for one that does not belong to the space."""


class DrawnConfigurations:
    """Configurations of a space that is not enumerated, numbered as they are first asked for.

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
        self._numbers: dict[Hashable, Identity] = {}
        self._params: list[dict[str, Any]] = []

    def __len__(self) -> int:
        return len(self._params)

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
        key = tuple(choice_key(values.get(name, INACTIVE)) for name in self.names)
        identity = self._numbers.setdefault(key, len(self._params))
        if identity == len(self._params):
            self._params.append(values)
        return identity

    def params(self, identity: Identity) -> dict[str, Any]:
        """Parameters of a configuration that was asked for before."""
        return self._params[identity]


class _Labels:
    """Values of one outcome, larger is better, trial by trial."""

    def __init__(self) -> None:
        self.identities: list[Identity] = []
        self._values: list[float] = []
        self._states: list[TrialState] = []
        self._n_completed = 0

    def copy(self) -> _Labels:
        """Copy to which further trials are added."""
        twin = copy(self)
        twin.identities, twin._values = self.identities.copy(), self._values.copy()
        twin._states = self._states.copy()
        return twin

    def add(self, identity: Identity, value: float, state: TrialState) -> None:
        """Add the value of a trial."""
        self.identities.append(identity)
        self._values.append(value)
        self._states.append(state)
        self._n_completed += state == TrialState.COMPLETE

    def capped(self) -> _Labels:
        """Cap the labels of pruned trials; before any trial completed they have no meaning."""
        if self._n_completed == len(self._states):
            return self
        if not self._n_completed:
            return _Labels()
        twin = self.copy()
        twin._values = capped_labels(
            np.array(self._values),
            is_complete=np.array([state == TrialState.COMPLETE for state in self._states]),
            is_pruned=np.array([state == TrialState.PRUNED for state in self._states]),
        ).tolist()
        return twin

    def merged(self) -> tuple[IntArray, npt.NDArray[np.float64]]:
        """Average the labels of each configuration, in the order of their first trials.

        Returns:
            Configurations and labels, both of shape (n_configurations,).
        """
        identities = np.array(self.identities, dtype=np.intp)
        values = np.array(self._values, dtype=np.float64)
        if len(set(self.identities)) == len(identities):
            return identities, values
        _, first, row = np.unique(identities, return_index=True, return_inverse=True)
        order = np.argsort(first)
        means = np.bincount(row, values) / np.bincount(row)
        return identities[first[order]], means[order]


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
        self._objectives = tuple(_Labels() for _ in signs)
        self._constraints: dict[str, _Labels] = {}
        self._successes = _Labels()
        self._any_failure = False

    def unfinished(self) -> dict[Identity, set[int]]:
        """Ids of the running trials of each configuration that no trial has finished."""
        finished = set(self._successes.identities)
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
                labels.add(identity, sign * value, trial.state)
        for name, value in constraints_of(trial).items():
            self._constraints.setdefault(name, _Labels()).add(identity, -value, trial.state)
        self._successes.add(identity, float(bool(values)), trial.state)
        self._any_failure |= not values

    def observations(
        self, n_candidates: int, index_of: Callable[[IntArray], IntArray] = lambda each: each
    ) -> Observations:
        """Observations of candidates.

        Args:
            n_candidates: Number of candidates.
            index_of: Indices among the candidates of configurations that were taken; their own
                numbers by default.
        """

        def indices(configurations: Iterable[Identity]) -> IntArray:
            return index_of(np.array(list(configurations), dtype=np.intp))

        unavailable = np.zeros(n_candidates, dtype=np.bool_)
        unavailable[indices(self.taken)] = True

        def history(
            labels: _Labels, finite: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]
        ) -> History:
            labelled, values = labels.merged()
            known = set(labels.identities)
            pending = indices(running for running in self._running if running not in known)
            return History(index_of(labelled), finite(values), unavailable, pending)

        return Observations(
            tuple(history(labels.capped(), finite_labels) for labels in self._objectives),
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
        return self._tally(study, candidates, excluding).observations(len(candidates))

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
        taken = list(tally.taken)
        positions = np.empty(len(configurations), dtype=np.intp)
        positions[taken] = np.arange(len(taken))
        seen = list(map(configurations.params, taken))
        return seen, tally.observations(len(taken), positions.__getitem__)

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
