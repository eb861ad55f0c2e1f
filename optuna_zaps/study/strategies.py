"""Strategies of a sampler: its space is given, or inferred from the trials of each study.

A given space is chosen from at a trial's first parameter, in `sample_independent`. An inferred one
is chosen from at once, in `sample_relative`, where Optuna asks for the space first; only a space
whose ranges have changed waits for the parameters that the trial really asks for.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Hashable
from collections.abc import Mapping
from typing import Any
from typing import NamedTuple
from typing import Protocol

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study
from optuna.trial import TrialState

from optuna_zaps._randomness import stream
from optuna_zaps.search.conditions import Conditions
from optuna_zaps.search.table import HOW_TO_NAME
from optuna_zaps.search.table import UserTable
from optuna_zaps.study import parameters
from optuna_zaps.study.cache import Choice
from optuna_zaps.study.cache import PerStudy
from optuna_zaps.study.chooser import Chooser
from optuna_zaps.study.chooser import Chosen
from optuna_zaps.study.chooser import Exhausted
from optuna_zaps.study.inferred_space import InferredSpaces
from optuna_zaps.study.notes import Notes
from optuna_zaps.study.notes import logger
from optuna_zaps.study.parameters import NOTHING
from optuna_zaps.study.spaces import CandidateSpace
from optuna_zaps.study.spaces import DrawnSpace
from optuna_zaps.study.spaces import Searches
from optuna_zaps.study.spaces import Spaces
from optuna_zaps.study.trials import Ask


class Strategy(Protocol):
    """Decides which parameters of a trial are chosen, and from which space."""

    @property
    def space(self) -> CandidateSpace | None:
        """Latest space, ``None`` if none is known yet."""

    def space_of(self, study: Study) -> CandidateSpace:
        """Space of a study after its trials.

        Raises:
            ValueError: If it is not known yet.
        """

    def relative_space(self, ask: Ask) -> dict[str, BaseDistribution]:
        """Search space that is chosen from before the trial asks for any parameter."""

    def sample_relative(
        self, ask: Ask, search_space: Mapping[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Values of parameters of that space, as far as they are chosen now."""

    def sample_independent(self, ask: Ask, param_name: str, distribution: BaseDistribution) -> Any:
        """Value of a parameter that the trial asks for; ``NOTHING`` if it is not chosen here."""

    def after_trial(self, ask: Ask, state: TrialState) -> None:
        """Draw the consequences of a trial's end."""


class GivenSpaceStrategy:
    """Strategy of a space that is given, by a table or by distributions.

    A study may list choices in another order than the space, so the whole configuration is chosen
    at the first parameter that the trial asks for.

    Args:
        space: The space.
        chooser: Chooses configurations.
        notes: Takes warnings.
        seed: Seed of repetitions.
        proxy_columns: Names of columns of a table that were taken for proxies.
    """

    def __init__(
        self,
        space: CandidateSpace,
        chooser: Chooser,
        notes: Notes,
        seed: int,
        proxy_columns: Collection[str] = (),
    ) -> None:
        self.space = space
        self._chooser = chooser
        self._notes = notes
        self._seed = seed
        self._proxy_columns = proxy_columns
        # Candidates free after the latest choice, less those that others may have taken since.
        self._n_free: PerStudy[int] = PerStudy(int)

    @classmethod
    def of_table(
        cls,
        table: UserTable,
        space: Mapping[str, BaseDistribution] | None,
        searches: Searches,
        chooser: Chooser,
        notes: Notes,
    ) -> GivenSpaceStrategy:
        """Strategy of the rows of a proxy table; see :meth:`Spaces.of_table`."""
        enumerated = Spaces(searches).of_table(table, space)
        proxies = enumerated.search.primary.proxies
        columns = () if proxies is None else proxies.names
        return cls(enumerated, chooser, notes, searches.seed, columns)

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = self.space, self._chooser, self._notes, self._seed, self._proxy_columns
        return (GivenSpaceStrategy, arguments)

    def space_of(self, study: Study) -> CandidateSpace:
        """See :class:`Strategy`."""
        del study
        return self.space

    def relative_space(self, ask: Ask) -> dict[str, BaseDistribution]:
        """See :class:`Strategy`; if the space was given, ``sample_independent`` chooses."""
        del ask
        return {}

    def sample_relative(
        self, ask: Ask, search_space: Mapping[str, BaseDistribution]
    ) -> dict[str, Any]:
        """See :class:`Strategy`."""
        del ask, search_space
        return {}

    def sample_independent(self, ask: Ask, param_name: str, distribution: BaseDistribution) -> Any:
        """See :class:`Strategy`."""
        if param_name not in self.space.search.primary.candidates.choices:
            self._refuse_proxy_as_parameter(param_name)
            self._notes.warn_of_independent(ask.trial, param_name)
            return NOTHING
        choices = self._chooser.record(ask).choices
        if not choices:
            self._chooser.trials.refresh(ask.study)
            choices.append(Choice({}, self._choose(ask)))
            self._chooser.trials.forget()
        params = choices[0].params
        if params is None or param_name not in params:
            return NOTHING
        return parameters.offered(param_name, params[param_name], distribution)

    def after_trial(self, ask: Ask, state: TrialState) -> None:
        """See :class:`Strategy`; stops the study if every configuration was evaluated."""
        if state == TrialState.COMPLETE:
            self._notes.warn_of_unused(ask.trial, self.space.search.primary.candidates.names)
        if self.space.is_exhaustible and ask.study._thread_local.in_optimize_loop:
            # A trial whose parameters were all enqueued took a candidate unasked.
            self._n_free[ask.study] -= 1
            if self._n_free[ask.study] <= 0 and self._chooser.is_used_up(ask, self.space):
                logger.info(
                    "Every configuration was evaluated or is being evaluated; the study stops."
                )
                ask.study.stop()

    def _choose(self, ask: Ask) -> dict[str, Any] | None:
        chosen = self._chooser.choose(ask, self.space)
        if isinstance(chosen, Chosen):
            self._n_free[ask.study] = chosen.n_free
            return chosen.params
        if isinstance(chosen, Exhausted):
            self._n_free[ask.study] = 0
            return self._repeated(ask, chosen)
        return None

    def _repeated(self, ask: Ask, exhausted: Exhausted) -> dict[str, Any]:
        """Repeat a configuration, first those of running trials, whose workers may have died."""
        abandoned, candidates = exhausted.abandoned, exhausted.candidates
        repeated = "those that have not ended" if abandoned else "one"
        self._notes.warn_of_repetition(ask.study, repeated, is_whole=exhausted.is_whole)
        if abandoned:
            candidate = exhausted.least_abandoned()
        else:
            rng = stream(self._seed, "exhausted", ask.trial.number)
            candidate = int(rng.choice(np.flatnonzero(exhausted.matching)))
        params = candidates.params(candidate)
        return self._chooser.repeat(ask, params, is_claimed=bool(abandoned))

    def _refuse_proxy_as_parameter(self, param_name: str) -> None:
        if param_name in self._proxy_columns:
            raise ValueError(
                f"The study suggests {param_name!r}, which is a numeric column of the proxy table "
                f"and was taken for a proxy. Name the parameters by {HOW_TO_NAME}."
            )


class _KnownSpace(NamedTuple):
    """A space, and the facts that it was made of."""

    distributions: dict[str, BaseDistribution]
    conditions: Conditions
    space: CandidateSpace


class InferredSpaceStrategy:
    """Strategy of a space that is inferred from the finished trials of a study.

    Args:
        spaces: Makes spaces.
        chooser: Chooses configurations.
        notes: Takes warnings.
        independent_sampler: Samples where an inferred space is exhausted.
    """

    def __init__(
        self, spaces: Spaces, chooser: Chooser, notes: Notes, independent_sampler: BaseSampler
    ) -> None:
        self._spaces = spaces
        self._chooser = chooser
        self._notes = notes
        self._independent_sampler = independent_sampler
        self._inferred = InferredSpaces(chooser.trials.of)
        self._known: dict[Hashable, _KnownSpace] = {}
        self.space: CandidateSpace | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = self._spaces, self._chooser, self._notes, self._independent_sampler
        return (InferredSpaceStrategy, arguments)

    def space_of(self, study: Study) -> CandidateSpace:
        """See :class:`Strategy`."""
        return self._space_within(study, self._inferred_space(study))

    def relative_space(self, ask: Ask) -> dict[str, BaseDistribution]:
        """See :class:`Strategy`."""
        self._chooser.trials.refresh(ask.study)
        return self._inferred_space(ask.study)

    def sample_relative(
        self, ask: Ask, search_space: Mapping[str, BaseDistribution]
    ) -> dict[str, Any]:
        """See :class:`Strategy`; a space whose ranges have changed waits for the parameters."""
        choices = self._chooser.record(ask).choices = []
        chosen: dict[str, Any] | None = None
        if search_space:
            space = self._with_fixed(ask, search_space)
            if not space.keys() & self._inferred.changing(ask.study):
                chosen = self._choose(ask, space, dict(search_space))
            choices.append(Choice(space, chosen))
        self._chooser.trials.forget()
        return {
            name: parameters.offered(name, chosen[name], distribution)
            for name, distribution in search_space.items()
            if chosen is not None and name in chosen
        }

    def sample_independent(self, ask: Ask, param_name: str, distribution: BaseDistribution) -> Any:
        """See :class:`Strategy`."""
        choices = self._chooser.record(ask).choices
        choice = next((each for each in choices if param_name in each.space), None)
        if choice is None:
            if self._inferred.is_left_out(ask.study, param_name):
                self._notes.warn_of_left_out(ask.study, param_name)
            return NOTHING
        is_expected = parameters.same(choice.space[param_name], distribution)
        if choice.params is None or not is_expected:
            choice.space[param_name] = distribution
            choice.params = self._choose_again(ask, choice)
        if param_name not in choice.params:
            return NOTHING
        return parameters.parameter_of(distribution).find(choice.params[param_name])

    def after_trial(self, ask: Ask, state: TrialState) -> None:
        """See :class:`Strategy`.

        An exhausted space is no reason to stop the study: the next trial may widen it.
        """
        del state
        if self.space is not None:
            self._chooser.withdraw_unused(ask)

    def _choose_again(self, ask: Ask, choice: Choice) -> dict[str, Any]:
        """Choose a configuration at a parameter whose range is not the expected one."""
        fixed = {**ask.fixed, **ask.trial.params}
        asked = {name: d for name, d in choice.space.items() if name not in fixed}
        self._chooser.trials.refresh(ask.study)
        params = self._choose(ask, choice.space, asked)
        self._chooser.trials.forget()
        return params

    def _choose(
        self,
        ask: Ask,
        space: dict[str, BaseDistribution],
        asked: dict[str, BaseDistribution],
    ) -> dict[str, Any]:
        """Choose a configuration, or let the independent sampler do so.

        Args:
            ask: The trial.
            space: Distributions that the trial is expected to ask for.
            asked: Those of them that are not decided yet.
        """
        self.space = self._space_within(ask.study, space)
        chosen = self._chooser.choose(ask, self.space)
        if isinstance(chosen, Chosen):
            return chosen.params
        if isinstance(chosen, Exhausted):
            if chosen.abandoned:
                params = chosen.candidates.params(chosen.least_abandoned())
                return self._chooser.repeat(ask, params, is_claimed=True)
            # Other parameters of the objective still tell further trials apart.
            self._warn_of_exhaustion(ask.study, is_whole=chosen.is_whole)
        undecided = {name: d for name, d in asked.items() if not d.single()}
        return self._independent_sampler.sample_relative(ask.study, ask.trial, undecided)

    def _inferred_space(self, study: Study) -> dict[str, BaseDistribution]:
        """Parameters of which the study's trials have had more than one value to choose."""
        known = self._inferred.known(study)
        united = self._inferred.united(study, known)
        return {name: d for name, d in known.items() if not united[name].single()}

    def _with_fixed(
        self, ask: Ask, search_space: Mapping[str, BaseDistribution]
    ) -> dict[str, BaseDistribution]:
        """Search space with the parameters that an outer sampler fixes.

        They are no part of the search space, but of the configurations.
        """
        if not ask.fixed:
            return dict(search_space)
        inferred = self._inferred_space(ask.study).items()
        known = {name: d for name, d in inferred if name in search_space or name in ask.fixed}
        return {**known, **search_space}

    def _space_within(self, study: Study, space: dict[str, BaseDistribution]) -> CandidateSpace:
        """Space that proposes within the latest ranges, and learns from trials with others too."""
        if not space:
            raise ValueError(
                "The search space is read from the finished trials of the study, but they have no "
                "parameter in common, or there is none. Pass search_space=, or run a trial first."
            )
        united = self._inferred.united(study, space)
        conditions = self._inferred.conditions(study, space)
        ranges = {name: d for name, d in space.items() if not parameters.same(d, united[name])}
        known = self._known_space(united, conditions, has_ranges=bool(ranges))
        if ranges:
            assert isinstance(known, DrawnSpace)
            return known.within(ranges)
        return known

    def _known_space(
        self, space: dict[str, BaseDistribution], conditions: Conditions, *, has_ranges: bool
    ) -> CandidateSpace:
        """Space of distributions, made anew only where one of them or a condition has changed."""
        key = frozenset(space), has_ranges
        known = self._known.get(key)
        if (
            known is None
            or known.conditions != conditions
            or not parameters.same_space(known.distributions, space)
        ):
            make = self._spaces.drawn if has_ranges else self._spaces.of
            known = _KnownSpace(dict(space), conditions, make(space, conditions))
            self._known[key] = known
        return known.space

    def _warn_of_exhaustion(self, study: Study, *, is_whole: bool) -> None:
        if self._notes.has_to_say_of_inferred(study):
            self._notes.warn_of_exhaustion(
                study,
                is_whole=is_whole,
                is_latest_range=bool(self._inferred.changing(study)),
            )
