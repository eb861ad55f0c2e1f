"""Candidates that a trial chooses from: all configurations of a space, or some drawn from it.

Either space turns the trials of a study into a search over candidates and observations of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
import math
from typing import Any
from typing import Protocol

import numpy as np
import numpy.typing as npt
from optuna.distributions import BaseDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial

from optuna_zaps._randomness import stream
from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.columns import Table
from optuna_zaps.search.conditions import NO_CONDITIONS
from optuna_zaps.search.conditions import Conditions
from optuna_zaps.search.conditions import neglected_branch
from optuna_zaps.search.local_search import LocalProposals
from optuna_zaps.search.local_search import LocalSearch
from optuna_zaps.search.observations import History
from optuna_zaps.search.observations import Observations
from optuna_zaps.search.outcomes import JointSearch
from optuna_zaps.search.pool import Axis
from optuna_zaps.search.pool import Pool
from optuna_zaps.search.profiles import Profile
from optuna_zaps.search.profiles import Situation
from optuna_zaps.search.proxies import ProxyTable
from optuna_zaps.search.proxy_function import RememberedProxies
from optuna_zaps.search.search import Proposal
from optuna_zaps.search.search import ZAPSSearch
from optuna_zaps.search.table import HOW_TO_NAME
from optuna_zaps.search.table import UserTable
from optuna_zaps.search.table import split_table
from optuna_zaps.study import parameters
from optuna_zaps.study.history import Configurations
from optuna_zaps.study.history import DrawnConfigurations
from optuna_zaps.study.history import HistoryReader


BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

_MOST_BRANCHES = 8
"""Most values of a number each of which is a branch that earns a share."""


@dataclass(frozen=True)
class Searches:
    """Makes searches over candidates with the settings of a sampler.

    Attributes:
        profile: Way to search.
        seed: Seed of everything random.
        initial_proxies: Names of the proxies that seed the initialisation.
        is_pool: Whether the candidates are pools drawn from one space.
    """

    profile: Profile
    seed: int
    initial_proxies: Sequence[str] | None = None
    is_pool: bool = False

    def over(self, candidates: CandidateSet, proxies: ProxyTable | None) -> JointSearch:
        """Make a search over candidates."""
        situation = Situation(
            with_proxies=proxies is not None and len(proxies.names) > 0,
            with_numbers=any(candidates.numeric),
            is_pool=self.is_pool,
        )
        settings = self.profile.adapted(situation)
        search = ZAPSSearch(
            candidates, proxies, settings, seed=self.seed, initial_proxies=self.initial_proxies
        )
        return JointSearch(search, self.seed, self.profile.outcomes)

    def over_pools(self) -> Searches:
        """Searches over pools, whose models remember their fits from pool to pool."""
        return replace(self, profile=self.profile.for_pools(), is_pool=True)

    def pool(
        self, axes: Mapping[str, Axis], conditions: Conditions, *, with_proxies: bool
    ) -> Pool:
        """Make the pool of a space that cannot be enumerated.

        Args:
            axes: Axis of each parameter.
            conditions: Conditions of those that some configurations lack.
            with_proxies: Whether there is a function of proxies.
        """
        with_numbers = any(axis.is_numeric for axis in axes.values())
        situation = Situation(with_proxies, with_numbers, is_pool=True)
        return Pool(axes, self.profile.adapted(situation).pool, conditions)

    def local(self, axes: Mapping[str, Axis]) -> LocalSearch | None:
        """Make the local search of a space, ``None`` if there is none.

        Args:
            axes: Axis of each parameter.
        """
        settings = self.profile.local
        if settings is None or not any(axis.is_numeric for axis in axes.values()):
            return None
        return LocalSearch(tuple(axes.values()), settings, self.seed)

    def refuse_to_lack_proxies(self) -> None:
        """Refuse settings that need proxies, where there are none.

        Raises:
            ValueError: If initial proxies are named, or the model is given proxies alone.
        """
        if self.initial_proxies is not None:
            raise ValueError(
                f"initial_proxies names {list(self.initial_proxies)}, but there are no proxies to "
                "choose from: pass proxies=."
            )
        if self.profile.needs_proxies:
            self.profile.adapted(Situation(with_proxies=False, with_numbers=False))


class Proposer(Protocol):
    """A search as far as one trial needs it."""

    @property
    def candidates(self) -> CandidateSet:
        """Candidates that it chooses from."""

    def propose(
        self, observations: Observations, number: int, allowed: BoolArray | None = None
    ) -> Proposal | None:
        """Choose a candidate; see :meth:`JointSearch.propose`."""


class CandidateSpace(Protocol):
    """A space and its search."""

    @property
    def search(self) -> JointSearch:
        """Latest search."""

    @property
    def configurations(self) -> Configurations:
        """Configurations of the space."""

    @property
    def is_exhaustible(self) -> bool:
        """Whether the candidates are all configurations of the space."""

    def view(
        self,
        study: Study,
        reader: HistoryReader,
        trial: FrozenTrial | None,
        fixed: Mapping[str, Any],
    ) -> tuple[JointSearch, Observations]:
        """Make the search that chooses for a trial, and read its observations.

        Args:
            study: The study.
            reader: Reads the history.
            trial: The trial that asks; its own claim does not count.
            fixed: Parameters of the trial that are decided already.
        """

    def proposer(
        self,
        study: Study,
        reader: HistoryReader,
        trial: FrozenTrial,
        fixed: Mapping[str, Any],
    ) -> tuple[Proposer, Observations]:
        """Like :meth:`view`, but the search may know the best candidates for this trial alone."""


class EnumeratedSpace:
    """All configurations of a space.

    Args:
        search: A search over them.
    """

    is_exhaustible = True

    def __init__(self, search: JointSearch) -> None:
        self.search = search
        self.configurations: Configurations = search.primary.candidates

    def __reduce__(self) -> tuple[Any, ...]:
        return (EnumeratedSpace, (self.search,))

    def view(
        self,
        study: Study,
        reader: HistoryReader,
        trial: FrozenTrial | None,
        fixed: Mapping[str, Any],
    ) -> tuple[JointSearch, Observations]:
        """See :class:`CandidateSpace`."""
        del fixed
        observed = reader.read(study, self.search.primary.candidates, trial)
        return self.search, observed.without_penalties(self.search.penalties)

    proposer = view


class DrawnSpace:
    """Configurations drawn from a space that cannot be enumerated.

    The initial evaluations are planned over a first pool. After them each trial has a pool of its
    own, which depends on the history and the seed alone.

    Args:
        space: Distribution of each parameter.
        searches: Makes a search over each pool.
        function: Proxies of a configuration.
        conditions: Conditions of the parameters that some configurations lack.
    """

    is_exhaustible = False

    def __init__(
        self,
        space: Mapping[str, BaseDistribution],
        searches: Searches,
        function: RememberedProxies | None,
        conditions: Conditions,
    ) -> None:
        self._space = dict(space)
        self._conditions = conditions
        self._searches = searches
        self._seed = searches.seed
        self._function = function
        self._ranges: Mapping[str, BaseDistribution] = {}
        axes = parameters.axes_of(space)
        self._pool = searches.pool(axes, conditions, with_proxies=function is not None)
        self._drawn = DrawnConfigurations(space, conditions)
        self.configurations: Configurations = self._drawn
        parents = sorted({c.parent for c in conditions.values() if c is not None})
        self._parents = parameters.choices_of({name: space[name] for name in parents})
        # Close values of a number of many tell about each other, and need no share of their own.
        self._branching = [
            name
            for name in parents
            if len(self._parents[name]) <= _MOST_BRANCHES
            or parameters.parameter_of(space[name]).coordinates() is None
        ]
        # Proxies are of the whole space, and conditional parameters of no one box.
        is_plain = function is None and not conditions
        self._local = searches.local(axes) if is_plain else None
        self._is_number = [axis.is_numeric for axis in axes.values()]
        self._known_points: tuple[Sequence[Mapping[str, Any]], FloatArray]
        self._known_points = [], np.empty((0, len(space)))
        self._reference: ProxyTable | None = None
        self._planning: JointSearch | None = None
        self._latest: JointSearch | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = self._space, self._searches, self._function, self._conditions
        return (DrawnSpace, arguments)

    @property
    def search(self) -> JointSearch:
        """See :class:`CandidateSpace`."""
        return self._latest or self.planning_search()

    def planning_search(self) -> JointSearch:
        """Search over the first pool, whose beginning is the plan of a study."""
        if self._planning is None:
            self._planning = self._search_over(self._pool.spread(stream(self._seed, "pool")))
        return self._planning

    def within(self, ranges: Mapping[str, BaseDistribution]) -> DrawnSpace:
        """Space with the same history that proposes only configurations in narrower ranges.

        Args:
            ranges: Distributions of some parameters, each a part of that of the space.
        """
        twin = object.__new__(type(self))
        vars(twin).update(vars(self), _ranges=ranges)
        return twin

    def view(
        self,
        study: Study,
        reader: HistoryReader,
        trial: FrozenTrial | None,
        fixed: Mapping[str, Any],
    ) -> tuple[JointSearch, Observations]:
        """See :class:`CandidateSpace`."""
        if self._is_planned(trial, fixed):
            planning = self.planning_search()
            return planning, reader.read(study, planning.candidates, trial)
        seen, observed = self._seen(study, reader, trial)
        return self._pool_after(seen, observed, trial, fixed)

    def proposer(
        self,
        study: Study,
        reader: HistoryReader,
        trial: FrozenTrial,
        fixed: Mapping[str, Any],
    ) -> tuple[Proposer, Observations]:
        """See :class:`CandidateSpace`."""
        if self._is_planned(trial, fixed):
            return self.view(study, reader, trial, fixed)
        seen, observed = self._seen(study, reader, trial)
        if (
            self._local is not None
            and self._local.settings.is_turn(len(seen), len(observed.labelled))
            and replace(observed, success=None).are_of_one_outcome
            and self._local.settings.bears(observed)
            and not observed.are_alike
            and not self._ranges
            and not fixed.keys() & self._space.keys()
        ):
            proposals, unavailable = self._found_locally(self._local, seen, observed.objectives[0])
            if not unavailable.all():
                return proposals, Observations((History.of_unavailable(unavailable),))
        return self._pool_after(seen, observed, trial, fixed)

    def _seen(
        self, study: Study, reader: HistoryReader, trial: FrozenTrial | None
    ) -> tuple[Sequence[Mapping[str, Any]], Observations]:
        """Configurations that have been seen, and their outcomes."""
        seen, observed = reader.read_drawn(study, self._drawn, trial)
        # The front of several objectives is made of labels that are good for one of them.
        points = self._numbers_of(seen) if len(observed.objectives) == 1 else None
        return seen, observed.without_penalties(self.search.penalties, points)

    def _numbers_of(self, seen: Sequence[Mapping[str, Any]]) -> FloatArray | None:
        """Numbers of seen configurations in the unit cube, of a space without conditions."""
        if self._conditions:
            return None
        return self._points_of(seen)[:, self._is_number]

    def _is_planned(self, trial: FrozenTrial | None, fixed: Mapping[str, Any]) -> bool:
        """Whether a trial is one of the initial evaluations."""
        return (
            trial is not None
            and trial.number < self.planning_search().primary.n_startup
            and None not in self._conditions.values()
            and not self._ranges
            and not fixed.keys() & self._space.keys()
        )

    def _found_locally(
        self, local: LocalSearch, seen: Sequence[Mapping[str, Any]], history: History
    ) -> tuple[LocalProposals, BoolArray]:
        """Proposals of the local search, and a mask of those that have been seen."""
        points = self._points_of(seen)
        found = local.find(points[history.labelled], history.labels, points[history.pending])
        if not len(found.points):
            return LocalProposals(self.planning_search().candidates, found), np.ones(1, np.bool_)
        # Equal values have equal coordinates.
        is_seen = (found.points[:, np.newaxis] == points).all(axis=2).any(axis=1)
        return LocalProposals(self._pool.candidates_at(found.points), found), is_seen

    def _points_of(self, seen: Sequence[Mapping[str, Any]]) -> FloatArray:
        """Points of seen configurations, of which most are those of the last ask."""
        known, points = self._known_points
        if known != seen[: len(known)]:
            known, points = [], points[:0]
        points = np.vstack([points, self._pool.points_of(seen[len(known) :])])
        self._known_points = seen, points
        return points

    def _pool_after(
        self,
        seen: Sequence[Mapping[str, Any]],
        observed: Observations,
        trial: FrozenTrial | None,
        fixed: Mapping[str, Any],
    ) -> tuple[JointSearch, Observations]:
        """Search over a pool that is drawn for a trial.

        Args:
            seen: Configurations that trials evaluate or evaluated.
            observed: Observations of them.
            trial: The trial, if any.
            fixed: Its parameters that are decided already.
        """
        best_first = observed.best_first()
        # Proxies may be expensive: points over the space are then those of the first pool.
        spread = None if self._function is None else stream(self._seed, "pool")
        rng = stream(self._seed, "pool", len(seen) + 1)
        pool, fixed = self._pool_of_trial(fixed, len(observed.labelled))
        branch = {} if trial is None or fixed else self._neglected_branch(seen)
        # Around labels that are all alike there is nothing to look for.
        centres = [] if observed.are_alike else best_first.tolist()
        inside = [i for i in centres if branch.items() <= seen[i].items()]
        candidates = pool.draw(seen, inside or centres, rng, branch or fixed, spread=spread)
        if branch and len(candidates) == len(seen):
            # The branch has nothing new.
            candidates = pool.draw(seen, centres, rng, spread=spread)
        self._latest = search = self._search_over(candidates)
        n_labels = pool.settings.n_labels
        observed = observed.thinned(n_labels, best_first, stream(self._seed, "labels"))
        return search, observed.widened(len(candidates))

    def _neglected_branch(self, seen: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Branch that this trial has to choose from, empty for any.

        Every other trial is free, so that what it finds is not found late.
        """
        if not self._conditions or len(seen) % 2:
            return {}
        return neglected_branch(
            self._parents,
            self._branching,
            self._conditions,
            seen,
            self._pool.settings.n_of_branch,
        )

    def _pool_of_trial(
        self, fixed: Mapping[str, Any], n_labelled: int
    ) -> tuple[Pool, dict[str, Any]]:
        """Pool to draw from after some labels, and those of the fixed values that it has."""
        offered = {}
        for name, value in fixed.items():
            if name in self._space:
                parameter = parameters.parameter_of(self._space[name])
                if parameter.offers(value):
                    offered[name] = parameter.spelling(value)
        pool = self._pool
        if self._local is not None and n_labelled >= self._local.settings.n_first:
            pool = pool.resized(self._local.settings.pool)
        if not self._ranges:
            return pool, offered
        # A fixed value may lie outside the range.
        ranges = {name: d for name, d in self._ranges.items() if name not in offered}
        axes = parameters.axes_of(self._space, ranges)
        return Pool(axes, pool.settings, self._conditions), offered

    def _search_over(self, candidates: CandidateSet) -> JointSearch:
        if self._function is None:
            return self._searches.over(candidates, None)
        proxies = ProxyTable.from_function(self._function, candidates, self._reference)
        # Ranks are those among the first pool, so that a configuration keeps its rank.
        self._reference = self._reference or proxies
        return self._searches.over(candidates, proxies)


class Spaces:
    """Makes the spaces of a sampler.

    Args:
        searches: Makes the search over a space.
        function: Proxies of a configuration.
    """

    def __init__(self, searches: Searches, function: RememberedProxies | None = None) -> None:
        self._searches = searches
        self._function = function

    def of_table(
        self, table: UserTable, space: Mapping[str, BaseDistribution] | None
    ) -> EnumeratedSpace:
        """Space of the rows of a proxy table.

        Args:
            table: Parameters and proxies of each configuration.
            space: Distribution of each parameter; told from the table by default.

        Raises:
            ValueError: If the table and the space do not fit, or a configuration occurs again.
        """
        named, numbers = split_table(table, None if space is None else list(space))
        candidates = _candidates_of(named, space)
        proxies = ProxyTable(list(numbers.columns), numbers.floats())
        return EnumeratedSpace(self._searches.over(candidates, proxies))

    def of(
        self, space: Mapping[str, BaseDistribution], conditions: Conditions = NO_CONDITIONS
    ) -> CandidateSpace:
        """Space with all configurations, if they can be enumerated.

        Args:
            space: Distribution of each parameter.
            conditions: Conditions of those that some configurations lack.
        """
        with_proxies = self._function is not None
        if conditions:
            candidates = parameters.branches(space, conditions, with_proxies=with_proxies)
        elif parameters.is_enumerable(space, with_proxies=with_proxies):
            candidates = parameters.grid(space)
        else:
            candidates = None
        if candidates is None:
            return self.drawn(space, conditions)
        proxies = None
        if self._function is not None:
            proxies = ProxyTable.from_function(self._function, candidates)
        return EnumeratedSpace(self._searches.over(candidates, proxies))

    def drawn(self, space: Mapping[str, BaseDistribution], conditions: Conditions) -> DrawnSpace:
        """Space of which configurations are drawn; arguments as for :meth:`of`."""
        drawn = DrawnSpace(space, self._searches.over_pools(), self._function, conditions)
        # A proxy function that fails does so when the space is made.
        drawn.planning_search()
        return drawn


def _candidates_of(table: Table, space: Mapping[str, BaseDistribution] | None) -> CandidateSet:
    """Candidates of a table of the parameters; ``space`` as for :meth:`Spaces.of_table`."""
    if space is not None:
        _refuse_continuous(space)
    try:
        return CandidateSet.from_columns(
            table.columns,
            None if space is None else parameters.choices_of(space),
            coordinates=None if space is None else parameters.coordinates_of(space),
        )
    except ValueError as error:
        if space is not None:
            raise
        raise ValueError(
            f"{error} The columns {list(table.columns)} were taken for parameters, the others, "
            "which are numeric, for proxies. If one of those is a parameter, name the parameters "
            f"by {HOW_TO_NAME}."
        ) from error


def _refuse_continuous(space: Mapping[str, BaseDistribution]) -> None:
    continuous = [name for name in space if parameters.size({name: space[name]}) == math.inf]
    if continuous:
        raise ValueError(
            f"A proxy table needs a finite search space, but {continuous} are continuous. "
            "Leave them out of search_space: they go to independent_sampler."
        )
