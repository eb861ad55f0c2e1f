"""Where a study is searched: over all configurations of its space, or over some drawn from it.

Either kind turns the trials of a study into a search over candidates and a history of them.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Protocol

from optuna.distributions import BaseDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial

from optuna_zaps._randomness import stream
from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.observations import Observations
from optuna_zaps.search.outcomes import JointSearch
from optuna_zaps.search.pool import Pool
from optuna_zaps.search.proxies import ProxyTable
from optuna_zaps.search.proxy_function import RememberedProxies
from optuna_zaps.study.history import Configurations
from optuna_zaps.study.history import DrawnConfigurations
from optuna_zaps.study.history import HistoryReader
from optuna_zaps.study.parameters import axes_of
from optuna_zaps.study.parameters import offers
from optuna_zaps.study.parameters import spelling


PoolSearchFactory = Callable[[CandidateSet, ProxyTable | None], JointSearch]
"""Makes a search over a pool with the settings of a sampler."""


class Arena(Protocol):
    """A space and what it takes to search it."""

    @property
    def search(self) -> JointSearch:
        """The search in force."""

    @property
    def configurations(self) -> Configurations:
        """What tells the configurations of the space apart."""

    @property
    def is_exhaustible(self) -> bool:
        """Whether the candidates are all that there is."""

    def view(
        self,
        study: Study,
        reader: HistoryReader,
        trial: FrozenTrial | None,
        fixed: Mapping[str, Any],
    ) -> tuple[JointSearch, Observations]:
        """The search that chooses for a trial, and what it knows.

        Args:
            study: The study.
            reader: Reads the history.
            trial: The trial that asks; its own claim does not count.
            fixed: Parameters of the trial that are decided already.
        """


class EnumeratedArena:
    """All configurations of a space.

    Args:
        search: A search over them.
    """

    is_exhaustible = True

    def __init__(self, search: JointSearch) -> None:
        self.search = search
        self.configurations: Configurations = search.primary.candidates

    def view(
        self,
        study: Study,
        reader: HistoryReader,
        trial: FrozenTrial | None,
        fixed: Mapping[str, Any],
    ) -> tuple[JointSearch, Observations]:
        """As in :class:`Arena`."""
        del fixed
        return self.search, reader.read(study, self.search.primary.candidates, trial)


class DrawnArena:
    """Configurations drawn from a space that cannot be enumerated.

    The initial evaluations are planned over a first pool. After them each trial has a pool of its
    own, which depends on the history and the seed alone.

    Args:
        space: Distribution of each parameter.
        make_search: Makes a search over a pool.
        seed: Seed of the pools.
        function: Proxies of a configuration.
    """

    is_exhaustible = False

    def __init__(
        self,
        space: Mapping[str, BaseDistribution],
        make_search: PoolSearchFactory,
        seed: int,
        function: RememberedProxies | None,
    ) -> None:
        self._space = dict(space)
        self._pool = Pool(axes_of(space))
        self._ranges: Mapping[str, BaseDistribution] = {}
        self._drawn = DrawnConfigurations(self._space)
        self.configurations: Configurations = self._drawn
        self._make_search = make_search
        self._seed = seed
        self._proxies = None if function is None else _RankedProxies(function)
        self._first: JointSearch | None = None
        self._latest: JointSearch | None = None
        self._search_of_plan()

    def __getstate__(self) -> dict[str, Any]:
        """Return what the history and the seed do not tell."""
        function = None if self._proxies is None else _RankedProxies(self._proxies.function)
        configurations = DrawnConfigurations(self._space)
        return {
            **vars(self),
            "_drawn": configurations,
            "configurations": configurations,
            "_proxies": function,
            "_first": None,
            "_latest": None,
        }

    @property
    def search(self) -> JointSearch:
        """As in :class:`Arena`."""
        return self._latest or self._search_of_plan()

    def _search_of_plan(self) -> JointSearch:
        """The search over the first pool, whose beginning is the plan of a study."""
        if self._first is None:
            self._first = self._search_over(self._pool.spread(stream(self._seed, "pool")))
        return self._first

    def within(self, ranges: Mapping[str, BaseDistribution]) -> DrawnArena:
        """Arena of the same history that proposes only what lies in narrower ranges.

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
        """As in :class:`Arena`."""
        space = self._space
        first = self._search_of_plan()
        planned = trial is not None and trial.number < first.primary.n_startup
        if planned and not self._ranges and not fixed.keys() & space.keys():
            return first, reader.read(study, first.primary.candidates, trial)
        seen, observed = reader.read_drawn(study, self._drawn, trial)
        best_first = observed.best_first()
        offered = {
            name: spelling(value, space[name])
            for name, value in fixed.items()
            if name in space and offers(space[name], value)
        }
        pool = self._pool
        if self._ranges:
            # A fixed value may lie outside the range.
            ranges = {name: d for name, d in self._ranges.items() if name not in offered}
            pool = Pool(axes_of(space, ranges))
        # Proxies may be dear to compute: the points over the space are then those of the first.
        spread = None if self._proxies is None else stream(self._seed, "pool")
        rng = stream(self._seed, "pool", len(seen) + 1)
        candidates = pool.draw(seen, best_first.tolist(), rng, offered, spread=spread)
        self._latest = search = self._search_over(candidates)
        n_labels = self._pool.settings.n_labels
        observed = observed.thinned(n_labels, best_first, stream(self._seed, "labels"))
        return search, observed.widened(len(candidates))

    def _search_over(self, candidates: CandidateSet) -> JointSearch:
        proxies = None if self._proxies is None else self._proxies.of(candidates)
        return self._make_search(candidates, proxies)


class _RankedProxies:
    """Proxies of pool after pool.

    Ranks are those among the first pool, so that a configuration keeps its rank.
    """

    def __init__(self, function: RememberedProxies) -> None:
        self.function = function
        self._reference: ProxyTable | None = None

    def of(self, candidates: CandidateSet) -> ProxyTable:
        table = ProxyTable.from_function(self.function, candidates, self._reference)
        self._reference = self._reference or table
        return table
