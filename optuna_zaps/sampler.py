"""ZAPSSampler: its arguments, the hooks that Optuna calls, the ranking and the properties."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Container
from collections.abc import Mapping
from collections.abc import Sequence
from typing import TYPE_CHECKING
from typing import Any

import numpy as np
import numpy.typing as npt
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.samplers._base import _process_constraints_after_trial
from optuna.study import Study
from optuna.trial import FrozenTrial
from optuna.trial import TrialState

from optuna_zaps import _checks
from optuna_zaps import _optional
from optuna_zaps._calls import shown_call
from optuna_zaps.search.outcomes import JointSearch
from optuna_zaps.search.profiles import Profile
from optuna_zaps.search.profiles import resolve
from optuna_zaps.search.proxy_function import ProxyFunction
from optuna_zaps.search.proxy_function import RememberedProxies
from optuna_zaps.search.table import UserTable
from optuna_zaps.search.table import is_table
from optuna_zaps.study import tpe_arguments
from optuna_zaps.study.cache import Lock
from optuna_zaps.study.chooser import Chooser
from optuna_zaps.study.notes import Notes
from optuna_zaps.study.notes import OneTimeWarnings
from optuna_zaps.study.parameters import NOTHING
from optuna_zaps.study.parameters import SearchSpace
from optuna_zaps.study.parameters import normalized
from optuna_zaps.study.spaces import Searches
from optuna_zaps.study.spaces import Spaces
from optuna_zaps.study.strategies import GivenSpaceStrategy
from optuna_zaps.study.strategies import InferredSpaceStrategy
from optuna_zaps.study.strategies import Strategy
from optuna_zaps.study.trials import Ask
from optuna_zaps.study.trials import direction_signs


if TYPE_CHECKING:
    import pandas as pd

    from optuna_zaps.search.estimator import ProxyFit


class ZAPSSampler(BaseSampler):
    """Sampler by zero-cost active proxy search (ZAPS).

    For a finite space whose configurations are expensive to evaluate, and where something cheap
    can be computed for each: zero-cost scores of an untrained network, parameter counts, a
    low-fidelity score. The sampler starts with configurations spread over the space of these
    *proxies*. After each refit it keeps the proxies that correlate with the values so far, and
    evaluates the configuration that a surrogate over proxy ranks and parameters ranks highest. It
    never evaluates a configuration twice.

    A space that is continuous or too large to enumerate is searched by pools of configurations
    drawn from it. With several objectives the sampler looks for the largest hypervolume; where a
    study has constraints (``trial.set_constraint``, ``constraints_func``), it learns from
    configurations that violate them and avoids others that would.

    Every finished trial counts: from one that failed, or was pruned before it reported a value,
    the sampler learns that similar configurations give none, so that it tries few others. While
    other trials are running, the spread of the model is the one that will remain once they have
    ended (GP-BUCB, Desautels et al., 2014), which sends each worker elsewhere; its mean is that of
    finished trials alone. When nothing else is left in a finite space, configurations of running
    trials are evaluated again, since their workers may have died, unless the storage has a
    heartbeat.

    Example:
        >>> import optuna
        >>> import pandas as pd
        >>> from optuna_zaps import ZAPSSampler
        >>> table = pd.DataFrame(
        ...     [(op, act, i + j) for i, op in enumerate("abcde") for j, act in enumerate("xyz")],
        ...     columns=["op", "act", "flops"],
        ... )
        >>> def objective(trial):
        ...     op = trial.suggest_categorical("op", list("abcde"))
        ...     act = trial.suggest_categorical("act", list("xyz"))
        ...     return "abcde".index(op) ** 2 + "xyz".index(act)
        >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
        >>> sampler = ZAPSSampler(proxies=table, n_startup_trials=6, seed=0)
        >>> study = optuna.create_study(direction="maximize", sampler=sampler)
        >>> study.optimize(objective, n_trials=15)
        >>> study.best_value
        18.0

    Args:
        proxies:
            Cheap numbers known for every configuration. Either a table with one row per
            configuration, a :class:`pandas.DataFrame` or a mapping from names to columns: its
            columns (or index levels) named like parameters identify the configuration, the others
            are proxies, whose ranks matter but not their scale or sign. Its rows are then the
            candidates: a configuration without a row is never proposed. Or a
            function from parameters to ``{name: number}``, called once for each configuration of
            the space, under a progress bar, and remembered; if the space cannot be enumerated, for
            1,024 configurations at first and about as many for each trial. A configuration for
            which the function raises has no proxies and ranks in the middle; one warning says so.
            Or :obj:`None`, to search by the parameters alone.
        search_space:
            Distribution, or sequence of choices, of each parameter. By default the space is read
            from the table (index levels with names, else the columns that are not numeric), or
            without a table from the study's own trials, as by
            :class:`~optuna.samplers.TPESampler`; the first trials then go to
            ``independent_sampler``. A number whose range changes from
            trial to trial is one parameter, over the union of its ranges.
        budget:
            Number of evaluations that the study will have, at least 10: short for
            ``profile=Profile.paper(budget)``, with ``max(10, budget // 4)`` initial evaluations
            and then two batches. Without it the sampler is anytime: 14 initial evaluations (10
            without proxies), then a fit whenever the number of values grew by a tenth, or at
            every value where parameters are numbers or the space cannot be enumerated.
        initial_proxies:
            Names of the proxies that seed the initialisation, or a fitted
            :class:`~optuna_zaps.ProxyFit` if labels of another data set are known. By
            default six non-redundant proxies on which the others agree most, chosen without any
            label (:func:`~optuna_zaps.search.proxy_fit.consensus_subset`); on NAS-Bench-201 they
            are as good as those that ProxyFit chooses with all labels.
        profile:
            Way to search, a :class:`~optuna_zaps.Profile` or a name of
            :meth:`Profile.from_name <optuna_zaps.Profile.from_name>`: ``"anytime"``, the default
            without ``budget``, or ``"paper"``, the default with it; for an ablation with
            variations, as ``"paper+random-start"``. A model of your own goes into a profile by
            :meth:`~optuna_zaps.Profile.with_surrogate`.
        n_startup_trials:
            Number of initial evaluations, instead of the profile's. They are addressed by trial
            number, so trials that exist already count.
        group:
            Accepted, so that code written for :class:`~optuna.samplers.TPESampler` runs. ZAPS
            always searches the branches of an objective, and all of them together; :obj:`True`
            alone says that nothing is to be logged of a space read from the trials.
        seed:
            Seed of everything random, below 2^32. The same history and seed give the same
            decision in any process.
        independent_sampler:
            Sampler of parameters outside the space that ZAPS searches. By default a multivariate
            :class:`~optuna.samplers.TPESampler`.
        warn_independent_sampling:
            Whether to log a warning when a parameter goes to ``independent_sampler``: once for
            each outside a given space, and once a study where the space is read from its trials,
            unless ``group`` is :obj:`True`.
        constraints_func:
            Values of a trial's constraints, feasible up to 0, computed after each trial that
            completes or is pruned; as for :class:`~optuna.samplers.TPESampler`. Deprecated with
            Optuna 5, where the objective may call ``trial.set_constraint`` instead.
        multivariate:
            Accepted, as are all further arguments, so that code and configuration files written
            for :class:`~optuna.samplers.TPESampler` run. ZAPS always models the parameters
            together: :obj:`False` is no error and changes nothing.
        constant_liar:
            As ``multivariate``: ZAPS always takes running trials into account.
        n_ei_candidates:
            Without effect, as are all further arguments. One warning names those that are given,
            unless they have TPE's own default.
        gamma:
            Without effect.
        weights:
            Without effect.
        prior_weight:
            Without effect.
        consider_prior:
            Without effect.
        consider_magic_clip:
            Without effect.
        consider_endpoints:
            Without effect.
        categorical_distance_func:
            Without effect.

    Raises:
        ValueError:
            If an argument is out of range; if the table repeats a configuration or a name, lacks
            a parameter, or has a value that ``search_space`` does not offer; if
            ``initial_proxies`` names an unknown proxy; if a proxy function fails for every
            configuration.
        TypeError:
            If an argument has a wrong type, as a float for a number of trials.
        ImportError:
            If the profile is the paper's, or has its trees or its K-means, and XGBoost or
            scikit-learn is not installed.

    Note:
        Each trial records in user attributes why it was chosen: ``zaps:phase``
        (``"repetition"`` where nothing new was left), ``zaps:mean``, ``zaps:std``,
        ``zaps:acquisition`` (in the objective's unit; lists of one number for each of several
        objectives) and ``zaps:proxies``.
    """

    def __init__(
        self,
        proxies: UserTable | ProxyFunction | None = None,
        *,
        search_space: SearchSpace | None = None,
        budget: int | None = None,
        initial_proxies: Sequence[str] | ProxyFit | None = None,
        profile: str | Profile | None = None,
        n_startup_trials: int | None = None,
        group: bool = False,
        seed: int | None = None,
        independent_sampler: BaseSampler | None = None,
        warn_independent_sampling: bool | None = True,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        multivariate: bool | None = None,
        constant_liar: bool | None = None,
        n_ei_candidates: int | None = None,
        gamma: Callable[[int], int] | None = None,
        weights: Callable[[int], npt.NDArray[Any]] | None = None,
        prior_weight: float | None = None,
        consider_prior: bool | None = None,
        consider_magic_clip: bool | None = None,
        consider_endpoints: bool | None = None,
        categorical_distance_func: Mapping[str, Callable[[Any, Any], float]] | None = None,
    ) -> None:
        # As text, for a table may be large.
        self._call = shown_call(type(self).__name__, ZAPSSampler.__init__, locals())
        tpe_arguments.check_always_on(multivariate=multivariate, constant_liar=constant_liar)
        tpe_arguments.warn_of_no_effect(
            n_ei_candidates=n_ei_candidates,
            gamma=gamma,
            weights=weights,
            prior_weight=prior_weight,
            consider_prior=consider_prior,
            consider_magic_clip=consider_magic_clip,
            consider_endpoints=consider_endpoints,
            categorical_distance_func=categorical_distance_func,
        )
        profile = resolve(profile, budget)
        if n_startup_trials is not None:
            n_startup_trials = _checks.integer("n_startup_trials", n_startup_trials, least=0)
            profile = profile.with_startup(n_startup_trials)
        if seed is not None:
            seed = _checks.integer("seed", seed, least=0, most=_checks.MAX_SEED)
        group = _checks.boolean("group", group)
        searches = Searches(profile, _entropy(seed), _proxy_names(initial_proxies))
        self._independent_sampler = tpe_arguments.independent_sampler(
            independent_sampler, seed, n_startup_trials
        )
        warn_independent_sampling = warn_independent_sampling is None or _checks.boolean(
            "warn_independent_sampling", warn_independent_sampling
        )
        tpe_arguments.check_constraints(constraints_func)
        self._constraints_func = constraints_func
        one_time_warnings = OneTimeWarnings()
        notes = Notes(
            type(self).__name__,
            type(self._independent_sampler).__name__,
            warn_independent=warn_independent_sampling,
            group=group,
            warnings=one_time_warnings,
        )
        self._lock = Lock()
        self._chooser = Chooser(one_time_warnings)
        space = None if search_space is None else normalized(search_space)
        self._strategy: Strategy
        if proxies is None:
            searches.refuse_to_lack_proxies()
        elif is_table(proxies):
            self._strategy = GivenSpaceStrategy.of_table(
                proxies, space, searches, self._chooser, notes
            )
            return
        elif not callable(proxies):
            raise TypeError(
                "proxies must be a pandas.DataFrame, a mapping of columns, a function of the "
                f"parameters or None, but got {type(proxies).__name__}."
            )
        spaces = Spaces(searches, None if proxies is None else RememberedProxies(proxies))
        if space is not None:
            self._strategy = GivenSpaceStrategy(
                spaces.of(space), self._chooser, notes, searches.seed
            )
        else:
            self._strategy = InferredSpaceStrategy(
                spaces, self._chooser, notes, self._independent_sampler
            )

    def __repr__(self) -> str:
        return self._call

    @property
    def proxies_(self) -> pd.DataFrame:
        """Parameters and usable proxies of every candidate, shape (n_candidates, ...).

        A proxy with the name of a parameter is the column ``proxy:`` and its name.

        Raises:
            AttributeError: If the search space is not known yet.
            ImportError: If pandas is not installed.
        """
        _require_pandas("proxies_")
        search = self._known_search("proxies_").primary
        columns: dict[str, Any] = search.candidates.columns()
        if search.proxies is not None:
            for name, values in zip(search.proxies.names, search.proxies.values.T, strict=True):
                columns[_unused(name, "proxy:", columns)] = values
        return _frame(columns)

    @property
    def initial_proxies_(self) -> list[str]:
        """Names of the proxies that seed the initialisation.

        Raises:
            AttributeError: If the search space is not known yet.
        """
        return list(self._known_search("initial_proxies_").primary.initial_proxies)

    @property
    def active_proxies_(self) -> list[str]:
        """Names of the proxies that the latest fit was given, the most voted first.

        Before the first fit, those of the initialisation.

        Raises:
            AttributeError: If the search space is not known yet.
        """
        return list(self._known_search("active_proxies_").active_proxies)

    def rank(self, study: Study, n: int = 100) -> pd.DataFrame:
        """Rank configurations by a fit on all values, best first (Algorithm 3, line 12).

        Args:
            study: A study with at least two configurations evaluated.
            n: Number of configurations.

        Returns:
            Frame of at most ``n`` rows, best first, indexed from 1: the parameters, ``mean`` and
            ``std`` of the prediction in the unit of the objective. Where a parameter has one of
            the names ``mean``, ``std`` and ``rank`` (the index), the sampler's own is
            ``zaps:mean``, ``zaps:std`` or ``zaps:rank``. If the space cannot be enumerated, the
            configurations of a pool are ranked.

        Raises:
            ValueError: If the study has too few values, several objectives, or trials that have
                no parameter in common.
            ImportError: If pandas is not installed.
        """
        _require_pandas("rank()")
        n = _checks.integer("n", n, least=1)
        if study._is_multi_objective():
            raise ValueError("A study with several objectives has no single ranking.")
        with self._lock:
            self._chooser.trials.forget()
            search, observations = self._chooser.view(study, self._strategy.space_of(study))
            ranking = search.primary.rank(observations.objectives[0])
        chosen = ranking.candidates[:n]
        columns: dict[str, Any] = search.primary.candidates.columns(chosen)
        (sign,) = direction_signs(study)
        columns[_unused("mean", "zaps:", columns)] = sign * ranking.mean[:n]
        columns[_unused("std", "zaps:", columns)] = ranking.std[:n]
        index_name = _unused("rank", "zaps:", columns)
        return _frame(columns).set_axis(range(1, len(chosen) + 1)).rename_axis(index_name)

    def reseed_rng(self) -> None:
        """Reseed the independent sampler; the search draws from its seed and the history alone."""
        self._independent_sampler.reseed_rng()

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """See :meth:`optuna.samplers.BaseSampler.before_trial`."""
        self._chooser.begin(study, trial)
        self._independent_sampler.before_trial(study, trial)

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """See :meth:`optuna.samplers.BaseSampler.infer_relative_search_space`.

        If the space was given, it is empty: :meth:`sample_independent` chooses.
        """
        with self._lock:
            return self._strategy.relative_space(Ask.of(study, trial, self))

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """See :meth:`optuna.samplers.BaseSampler.sample_relative`."""
        with self._lock:
            return self._strategy.sample_relative(Ask.of(study, trial, self), search_space)

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """See :meth:`optuna.samplers.BaseSampler.sample_independent`."""
        with self._lock:
            ask = Ask.of(study, trial, self)
            value = self._strategy.sample_independent(ask, param_name, param_distribution)
        if value is not NOTHING:
            return value
        return self._independent_sampler.sample_independent(
            study, trial, param_name, param_distribution
        )

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """See :meth:`optuna.samplers.BaseSampler.after_trial`.

        Stops the study once every candidate of a given space was evaluated.
        """
        self._chooser.end(study, trial)
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)
        self._independent_sampler.after_trial(study, trial, state, values)
        with self._lock:
            self._strategy.after_trial(Ask.of(study, trial, self), state)

    def _known_search(self, attribute: str) -> JointSearch:
        space = self._strategy.space
        if space is None:
            raise AttributeError(
                f"{attribute} is known once the search space is: pass search_space= or a proxy "
                "table, or run a trial first."
            )
        return space.search


def _entropy(seed: int | None) -> int:
    return int(np.random.default_rng().integers(2**63)) if seed is None else seed


def _proxy_names(initial_proxies: Sequence[str] | ProxyFit | None) -> list[str] | None:
    if initial_proxies is None:
        return None
    names = _checks.listed(initial_proxies)
    if names is None:
        estimator = _optional.loaded("optuna_zaps.search.estimator")
        if estimator is not None and isinstance(initial_proxies, estimator.ProxyFit):
            return list(initial_proxies.selected_names_)
        raise TypeError(
            "initial_proxies must be a sequence of names or a fitted ProxyFit, but got "
            f"{initial_proxies!r} of type {type(initial_proxies).__name__}."
        )
    if not names:
        raise ValueError("initial_proxies must name at least one proxy, but is empty.")
    return list(map(str, names))


def _require_pandas(name: str) -> None:
    need = f"{name} is a pandas.DataFrame: it needs pandas"
    _optional.require("pandas", need, install='"optuna-zaps[pandas]"')


def _frame(columns: Mapping[str, list[Any] | npt.NDArray[np.float64]]) -> pd.DataFrame:
    """Frame of lists of objects and arrays of numbers."""
    import pandas as pd

    return pd.DataFrame(
        {
            name: pd.Series(values, dtype=object) if isinstance(values, list) else values
            for name, values in columns.items()
        }
    )


def _unused(name: str, prefix: str, taken: Container[Any]) -> str:
    """Prefix a name of our own until no name of the user equals it."""
    while name in taken:
        name = prefix + name
    return name
