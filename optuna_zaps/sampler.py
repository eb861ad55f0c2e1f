"""ZAPSSampler: turns a study into arrays for the search, and a candidate into parameters."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Container
from collections.abc import Hashable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
import sys
import time
from typing import Any
import warnings

import numpy as np
import numpy.typing as npt
import optuna
from optuna.distributions import BaseDistribution
from optuna.exceptions import ExperimentalWarning
from optuna.samplers import BaseSampler
from optuna.samplers import TPESampler
from optuna.samplers._base import _process_constraints_after_trial
from optuna.storages._heartbeat import is_heartbeat_enabled
from optuna.study import Study
from optuna.trial import FrozenTrial
from optuna.trial import TrialState
import pandas as pd

from optuna_zaps import _checks
from optuna_zaps._randomness import stream
from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.candidates import choice_key
from optuna_zaps.search.outcomes import JointSearch
from optuna_zaps.search.profiles import Profile
from optuna_zaps.search.profiles import Situation
from optuna_zaps.search.profiles import resolve
from optuna_zaps.search.proxies import ProxyTable
from optuna_zaps.search.proxies import split_table
from optuna_zaps.search.proxy_fit import ProxyFit
from optuna_zaps.search.proxy_function import ProxyFunction
from optuna_zaps.search.proxy_function import RememberedProxies
from optuna_zaps.search.search import Proposal
from optuna_zaps.search.search import ZAPSSearch
from optuna_zaps.study import parameters
from optuna_zaps.study.cache import Lock
from optuna_zaps.study.cache import OwnTrials
from optuna_zaps.study.cache import PerStudy
from optuna_zaps.study.cache import TrialsOfAsk
from optuna_zaps.study.history import CLAIM_KEY
from optuna_zaps.study.history import PHASE_KEY
from optuna_zaps.study.history import HistoryReader
from optuna_zaps.study.history import claim_in
from optuna_zaps.study.history import claimable
from optuna_zaps.study.history import direction_signs
from optuna_zaps.study.history import fixed_from_outside
from optuna_zaps.study.history import fixed_params
from optuna_zaps.study.inferred_space import InferredSpaces
from optuna_zaps.study.spaces import Arena
from optuna_zaps.study.spaces import DrawnArena
from optuna_zaps.study.spaces import EnumeratedArena


# A child of Optuna's logger, so that ``optuna.logging.set_verbosity`` reaches it.
_logger = optuna.logging.get_logger("optuna.samplers.zaps")

_CLAIM_PATIENCE = (0.01, 0.02, 0.04, 0.08)
_MAX_WORKERS = 1024
_AGREEING = "Every configuration that agrees with the parameters that are fixed"


class ZAPSSampler(BaseSampler):
    """Sampler by zero-cost active proxy search (ZAPS).

    For a finite space whose configurations are dear to evaluate but for each of which something
    cheap is known: zero-cost scores of an untrained network, parameter counts, a low-fidelity
    score. The sampler starts with configurations spread over the space of these *proxies*, keeps
    asking which proxies agree with the values seen, and evaluates what a surrogate over proxy
    ranks and parameters finds most promising. It never evaluates a configuration twice.

    A space that is continuous or too large to enumerate is searched by pools of configurations
    drawn from it. With several objectives the sampler looks for the largest hypervolume; where a
    study has constraints (``trial.set_constraint``, ``constraints_func``), it learns from
    configurations that violate them and avoids others that would.

    Every finished trial teaches: one that failed, or was pruned before it reported a value, that
    configurations like it give none, so that few others are tried. While other trials are running,
    the spread of the model is the one that will remain once they have ended (GP-BUCB, Desautels et
    al., 2014), which sends each worker elsewhere; its mean is that of finished trials alone. When
    nothing else is left in a finite space, configurations of running trials are evaluated again,
    since their workers may have died, unless the storage has a heartbeat.

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
            What is known beforehand. Either a frame with one row per configuration: its columns
            (or index levels) named like parameters identify the configuration, the others are
            proxies, whose ranks matter but not their scale or sign. Its rows are then the
            candidates: a configuration without a row is never proposed. Or a function from
            parameters to ``{name: number}``, evaluated once for each configuration of the space,
            under a progress bar, and kept in memory; of a space that cannot be enumerated, for
            1,024 configurations at first and about as many for each trial. A configuration for
            which the function raises has no proxies, which is told once; it ranks in the middle.
            Or :obj:`None`, to search by the parameters alone.
        search_space:
            Distribution, or sequence of choices, of each parameter. By default the space is read
            from the table (index levels with names, else the columns that are not numeric), or
            else from the study's own trials, as :class:`~optuna.samplers.TPESampler` does; the
            first trials then go to ``independent_sampler``. A number whose range changes from
            trial to trial is one parameter, over the union of its ranges.
        budget:
            Number of evaluations that the study will have, at least 10: short for
            ``profile=Profile.paper(budget)``, with ``max(10, budget // 4)`` initial evaluations
            and then two batches. Without it the sampler is anytime: 14 initial evaluations (10
            without proxies), then a fit whenever the number of values grew by a tenth, or at
            every value where parameters are numbers or the space cannot be enumerated.
        initial_proxies:
            Names of the proxies that seed the initialisation, or a fitted
            :class:`~optuna_zaps.ProxyFit`: what proved informative on another data set. By
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
            Whether parameters that only some trials have, those of a branch of the objective, are
            searched too: those that occur in the same trials together, as by
            ``TPESampler(group=True)``. By default they go to ``independent_sampler``.
        seed:
            Seed of everything random, below 2^32. The same history and seed give the same
            decision in any process.
        independent_sampler:
            Sampler of what ZAPS does not decide: parameters outside its space. By default a
            multivariate :class:`~optuna.samplers.TPESampler`.
        warn_independent_sampling:
            Whether to log a warning when a parameter goes to ``independent_sampler``: once for
            each outside a given space, and once a study where the space is read from its trials
            and ``group`` is :obj:`False`.
        constraints_func:
            Values of a trial's constraints, feasible up to 0, computed after each trial that
            completes or is pruned; as for :class:`~optuna.samplers.TPESampler`. Deprecated with
            Optuna 5, where the objective may call ``trial.set_constraint`` instead.
        multivariate:
            Taken, as are all further arguments, for the sake of code and configuration files
            written for :class:`~optuna.samplers.TPESampler`. ZAPS always looks at the parameters
            together: :obj:`False` is no error and changes nothing.
        constant_liar:
            ZAPS always takes into account what is being evaluated: as ``multivariate``.
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
            If an argument is of another type than is listed, as a float for a number of trials.

    Note:
        What a person may want to see goes to the trials' user attributes: ``zaps:phase``
        (``"repetition"`` where nothing new was left), ``zaps:mean``, ``zaps:std``,
        ``zaps:acquisition`` (in the objective's unit; lists of one number for each of several
        objectives) and ``zaps:proxies``.
    """

    def __init__(
        self,
        proxies: pd.DataFrame | ProxyFunction | None = None,
        *,
        search_space: parameters.SearchSpace | None = None,
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
        _check_always_so(multivariate=multivariate, constant_liar=constant_liar)
        _warn_of_no_effect(
            n_ei_candidates=n_ei_candidates,
            gamma=gamma,
            weights=weights,
            prior_weight=prior_weight,
            consider_prior=consider_prior,
            consider_magic_clip=consider_magic_clip,
            consider_endpoints=consider_endpoints,
            categorical_distance_func=categorical_distance_func,
        )
        self._profile = resolve(profile, budget)
        if n_startup_trials is not None:
            n_startup_trials = _checks.integer("n_startup_trials", n_startup_trials, least=0)
            self._profile = self._profile.with_startup(n_startup_trials)
        if seed is not None:
            seed = _checks.integer("seed", seed, least=0, most=_checks.MAX_SEED)
        self._group = _checks.boolean("group", group)
        self._seed = _entropy(seed)
        self._initial_proxies = _proxy_names(initial_proxies)
        self._independent_sampler = _independent(independent_sampler, seed, n_startup_trials)
        self._warn_independent_sampling = warn_independent_sampling is None or _checks.boolean(
            "warn_independent_sampling", warn_independent_sampling
        )
        self._constraints_func = constraints_func
        if constraints_func is not None:
            _check_constraints(constraints_func)
        if proxies is None:
            _refuse_to_lack_proxies(self._initial_proxies, self._profile)
        self._warned: set[str] = set()
        self._lock = Lock()
        self._trials = TrialsOfAsk()
        self._own = OwnTrials()
        self._reader = HistoryReader(self._trials.of)
        # System attributes of each trial when it began: later, Optuna may pass a view of them that
        # reads the storage at every access.
        self._begun: PerStudy[dict[int, Mapping[str, Any]]] = PerStudy(dict)
        # Candidates free after the latest choice, less what others may have taken since.
        self._n_free: PerStudy[int] = PerStudy(int)
        self._served: PerStudy[dict[int, dict[str, Any] | None]] = PerStudy(dict)
        self._inferred = InferredSpaces(self._trials.of)
        self._expected: PerStudy[dict[int, list[_Expected]]] = PerStudy(dict)

        self._function: RememberedProxies | None = None
        self._arenas: dict[Hashable, tuple[dict[str, BaseDistribution], Arena]] = {}
        self._arena: Arena | None = None
        self._space_is_given = True
        space = None if search_space is None else parameters.normalized(search_space)
        if isinstance(proxies, pd.DataFrame):
            self._arena = EnumeratedArena(self._table_search(proxies, space))
        elif proxies is None or callable(proxies):
            self._function = None if proxies is None else RememberedProxies(proxies)
            if space is not None:
                self._arena = self._arena_of(space)
            else:
                self._space_is_given = False
        else:
            raise TypeError(
                "proxies must be a pandas.DataFrame, a function of the parameters or None, but "
                f"got {type(proxies).__name__}."
            )

    def __getstate__(self) -> dict[str, Any]:
        """Return what the history of a study does not tell."""
        return {
            **vars(self),
            "_arenas": {},
            "_arena": self._arena if self._space_is_given else None,
        }

    @property
    def proxies_(self) -> pd.DataFrame:
        """Parameters and usable proxies of every candidate, shape (n_candidates, ...).

        A proxy that is called like a parameter is the column ``proxy:`` and its name.

        Raises:
            AttributeError: If the search space is not known yet.
        """
        search = self._known_search("proxies_")
        frame = search.candidates.frame()
        if search.proxies is None:
            return frame
        names = list(frame)
        for name in search.proxies.names:
            names.append(_unused(name, "proxy:", names))
        return pd.concat([frame, search.proxies.frame], axis=1).set_axis(names, axis=1)

    @property
    def initial_proxies_(self) -> list[str]:
        """Names of the proxies that seed the initialisation.

        Raises:
            AttributeError: If the search space is not known yet.
        """
        return list(self._known_search("initial_proxies_").initial_proxies)

    @property
    def active_proxies_(self) -> list[str]:
        """Names of the proxies that the latest fit was given, the most voted first.

        Before the first fit, those of the initialisation.

        Raises:
            AttributeError: If the search space is not known yet.
        """
        return list(self._known_search("active_proxies_").active_proxies)

    def rank(self, study: Study, n: int = 100) -> pd.DataFrame:
        """The configurations predicted best, after a fit on all values (Algorithm 3, line 12).

        Args:
            study: A study with at least two configurations evaluated.
            n: Number of configurations.

        Returns:
            Frame of at most ``n`` rows, best first, indexed from 1: the parameters, ``mean`` and
            ``std`` of the prediction in the unit of the objective. Where a parameter is called
            ``mean``, ``std`` or as the index, ``rank``, ours is ``zaps:mean``, ``zaps:std`` or
            ``zaps:rank``. Of a space that cannot be enumerated, the best of the configurations
            drawn.

        Raises:
            ValueError: If the study has too few values, several objectives, or trials that have
                no parameter in common.
        """
        n = _checks.integer("n", n, least=1)
        if study._is_multi_objective():
            raise ValueError("A study with several objectives has no single ranking.")
        with self._lock:
            self._trials.forget()
            arena = self._arena
            if arena is None or not self._space_is_given:
                arena = self._arena_within(study, self._inferred_space(study))
            search, observations = arena.view(study, self._reader, None, {})
            ranking = search.primary.rank(observations.objectives[0])
        chosen = ranking.candidates[:n]
        frame = search.primary.candidates.frame(chosen)
        (sign,) = direction_signs(study)
        frame[_unused("mean", "zaps:", frame)] = sign * ranking.mean[:n]
        frame[_unused("std", "zaps:", frame)] = ranking.std[:n]
        index_name = _unused("rank", "zaps:", frame)
        frame.index = pd.RangeIndex(1, len(frame) + 1, name=index_name)
        return frame

    def reseed_rng(self) -> None:
        """Reseed the independent sampler; the search draws from its seed and the history alone."""
        self._independent_sampler.reseed_rng()

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """See :meth:`optuna.samplers.BaseSampler.before_trial`."""
        # Left by a trial of a deleted study, whose identity has come again.
        self._forget(study, trial)
        self._begun[study][trial._trial_id] = trial.system_attrs
        self._own.begin(study, trial)
        self._independent_sampler.before_trial(study, trial)

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """See :meth:`optuna.samplers.BaseSampler.infer_relative_search_space`.

        A given space is served parameter by parameter instead, so that a study may list choices
        in another order than the table.
        """
        if self._space_is_given:
            return {}
        with self._lock:
            self._trials.refresh(study)
            return {
                name: distribution
                for space in self._inferred_spaces(study)
                for name, distribution in space.items()
            }

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """See :meth:`optuna.samplers.BaseSampler.sample_relative`."""
        if search_space == {}:
            self._trials.forget()
            return {}
        params: dict[str, Any] = {}
        with self._lock:
            expected = self._expected[study][trial._trial_id] = []
            for space in self._spaces_among(study, search_space):
                chosen = None
                if not space.keys() & self._inferred.changing(study):
                    asked = {name: d for name, d in space.items() if name in search_space}
                    chosen = self._choose(study, trial, space, asked, params)
                    params.update(chosen)
                expected.append(_Expected(space, chosen))
            self._trials.forget()
        return {
            name: parameters.offered(name, params[name], distribution)
            for name, distribution in search_space.items()
            if name in params
        }

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """See :meth:`optuna.samplers.BaseSampler.sample_independent`."""
        if self._space_is_given:
            params = self._params_of(study, trial, param_name)
            if params is not None and param_name in params:
                return parameters.offered(param_name, params[param_name], param_distribution)
        else:
            params = self._expected_params(study, trial, param_name, param_distribution)
            if params is None:
                self._warn_of_branches(study, param_name)
            elif param_name in params and parameters.offers(
                param_distribution, params[param_name]
            ):
                return parameters.offered(param_name, params[param_name], param_distribution)
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

        Stops the study once every candidate of a given space was evaluated. A space inferred
        from the trials is no reason to stop: the next trial may widen it.
        """
        self._forget(study, trial)
        self._own.end()
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)
        self._independent_sampler.after_trial(study, trial, state, values)
        if self._arena is None:
            return
        if not self._space_is_given:
            self._withdraw(study, trial)
            return
        candidates = self._arena.search.primary.candidates
        if state == TrialState.COMPLETE:
            self._warn_of_unused(trial, candidates.names)
        if self._arena.is_exhaustible and study._thread_local.in_optimize_loop:
            self._stop_if_exhausted(study, trial, candidates)

    def _forget(self, study: Study, trial: FrozenTrial) -> None:
        """Drop what is remembered of a trial."""
        self._served[study].pop(trial._trial_id, None)
        self._begun[study].pop(trial._trial_id, None)
        self._expected[study].pop(trial._trial_id, None)

    def _stop_if_exhausted(
        self, study: Study, trial: FrozenTrial, candidates: CandidateSet
    ) -> None:
        """Stop a study once every configuration was evaluated or is being evaluated here.

        The worker of a trial that runs in another process may have died, so the study goes on
        until such configurations were evaluated again.
        """
        self._n_free[study] -= 1  # A trial whose parameters were all enqueued took one unasked.
        if self._n_free[study] > 0:
            return
        matching = candidates.matching(fixed_from_outside(study, self))
        with self._lock:
            self._trials.refresh(study)
            left = self._abandoned(study, trial, candidates)
            unavailable = self._reader.read(study, candidates, None).unavailable
            states = {each.state for each in self._trials.of(study)}
            self._trials.forget()
        unavailable[list(left)] = False
        if matching.any() and unavailable[matching].all() and TrialState.WAITING not in states:
            _logger.info(
                "Every configuration was evaluated or is being evaluated; the study stops."
            )
            study.stop()

    def _params_of(
        self, study: Study, trial: FrozenTrial, param_name: str
    ) -> dict[str, Any] | None:
        """The configuration of a trial in a given space, chosen at its first parameter."""
        assert self._arena is not None
        if param_name not in self._arena.search.primary.candidates.choices:
            self._refuse_proxy_as_parameter(param_name)
            self._warn_independent(trial, param_name)
            return None
        with self._lock:
            served = self._served[study]
            if trial._trial_id not in served:
                self._trials.refresh(study)
                served[trial._trial_id] = self._pick(study, trial, self._arena, {})
                self._trials.forget()
            return served[trial._trial_id]

    def _expected_params(
        self, study: Study, trial: FrozenTrial, param_name: str, distribution: BaseDistribution
    ) -> dict[str, Any] | None:
        """Configuration of a trial in an inferred space of which a range has changed.

        It is chosen at the first parameter, and again where the range of a parameter is not the
        expected one.

        Returns:
            ``None`` if no inferred space has the parameter.
        """
        with self._lock:
            all_expected = self._expected[study].get(trial._trial_id, [])
            for expected in all_expected:
                if param_name in expected.space:
                    break
            else:
                return None
            if expected.params is None or not parameters.same(
                expected.space[param_name], distribution
            ):
                expected.space[param_name] = distribution
                fixed = {**fixed_from_outside(study, self), **trial.params}
                asked = {name: d for name, d in expected.space.items() if name not in fixed}
                others = {
                    name: value
                    for other in all_expected
                    if other is not expected
                    for name, value in (other.params or {}).items()
                }
                self._trials.refresh(study)
                expected.params = self._choose(study, trial, expected.space, asked, others)
                self._trials.forget()
            return expected.params

    def _choose(
        self,
        study: Study,
        trial: FrozenTrial,
        space: dict[str, BaseDistribution],
        asked: dict[str, BaseDistribution],
        claimed: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Configuration of an inferred space, or what the independent sampler makes of it.

        Args:
            study: The study.
            trial: The trial.
            space: Distributions that the trial is expected to ask for.
            asked: Those of them that are not decided yet.
            claimed: As for :meth:`_pick`.
        """
        self._arena = self._arena_within(study, space)
        chosen = self._pick(study, trial, self._arena, claimed)
        if chosen is None:
            chosen = self._independent_sampler.sample_relative(study, trial, _undecided(asked))
        return chosen

    def _pick(
        self, study: Study, trial: FrozenTrial, arena: Arena, claimed: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """Choose a configuration for a trial, claim it, and leave a note of why.

        Args:
            study: The study.
            trial: The trial.
            arena: Where to choose.
            claimed: What was claimed for the trial in other arenas.

        Returns:
            ``None`` if no candidate agrees with the parameters that are fixed already, or if an
            inferred space is exhausted.
        """
        fixed = self._fixed(study, trial, arena)
        refused: list[dict[str, Any]] = []
        # Each refusal means that another worker holds the candidate.
        for _ in range(_MAX_WORKERS):
            next_number = self._next_number(study, trial, arena)
            search, observations = arena.view(study, self._reader, trial, fixed)
            candidates = search.primary.candidates
            matching = candidates.matching(fixed)
            if not matching.any():
                return None
            allowed = matching.copy()
            for params in refused:
                candidate = candidates.index(params)
                if candidate is not None:
                    allowed[candidate] = False
            proposal = search.propose(observations, trial.number, allowed)
            if proposal is None and not refused:
                return self._repeated(study, trial, arena, candidates, matching)
            if proposal is None:
                # The rival may have backed off too; re-read the history.
                refused.clear()
                self._trials.refresh(study)
                continue
            params = candidates.params(proposal.candidate)
            self._claim(study, trial, {**claimed, **params})
            if self._is_alone(study, next_number) or self._holds(study, trial, arena, params):
                n_running = len(observations.objectives[0].pending)
                n_free = int((matching & ~observations.unavailable).sum()) - 1
                self._n_free[study] = n_free - 2 * n_running
                self._annotate(study, trial, proposal)
                return params
            # At once, since the other waits for it no longer than a moment.
            self._claim(study, trial, claimed)
            refused.append(params)
            self._trials.refresh(study)
        return None

    def _fixed(self, study: Study, trial: FrozenTrial, arena: Arena) -> dict[str, Any]:
        """Parameters of a trial that are decided before a candidate is chosen.

        A retried trial has the claim of the trial whose worker died, and keeps it unless another
        trial holds that configuration.
        """
        attributes = self._begun[study].get(trial._trial_id)
        fixed = {**fixed_from_outside(study, self), **fixed_params(trial, attributes)}
        claim = {} if attributes is None else claim_in(attributes)
        if not claim:
            return fixed
        retried = {**claim, **fixed}
        search, observations = arena.view(study, self._reader, trial, retried)
        free = search.primary.candidates.matching(retried) & ~observations.unavailable
        return retried if free.any() else fixed

    def _claim(self, study: Study, trial: FrozenTrial, params: Mapping[str, Any]) -> None:
        claim = claimable(params)
        if claim is not None:
            study._storage.set_trial_system_attr(trial._trial_id, CLAIM_KEY, claim)

    def _next_number(self, study: Study, trial: FrozenTrial, arena: Arena) -> int | None:
        """Number of the first trial not read yet, if no other one may still claim a candidate."""
        if self._reader.any_undecided(study, arena.configurations, trial):
            return None
        return len(self._trials.of(study))

    def _is_alone(self, study: Study, next_number: int | None) -> bool:
        """Whether no trial can have claimed anything since the history was read.

        A trial that begins later sees this one's claim. To look for one takes a single SQL
        statement, where :meth:`_holds` reads all trials.
        """
        if next_number is None:
            return False
        try:
            study._storage.get_trial_id_from_study_id_trial_number(study._study_id, next_number)
        except KeyError:
            return True
        return False

    def _holds(
        self, study: Study, trial: FrozenTrial, arena: Arena, params: Mapping[str, Any]
    ) -> bool:
        """Whether a trial may keep a candidate that it has claimed.

        Each worker writes its claim and then looks for another one on the same candidate; it
        keeps the candidate only after a look that found none. Of two that look at the same time
        at least one sees the other, so two never keep the same. The higher trial number gives
        way at once; the lower one waits a moment for that.
        """
        for patience in (*_CLAIM_PATIENCE, None):
            self._trials.refresh(study)
            others = self._reader.holders(study, arena.configurations, params, trial)
            if not others:
                return True
            if patience is None or min(others) < trial.number:
                break
            time.sleep(patience)
        return False

    def _repeated(
        self,
        study: Study,
        trial: FrozenTrial,
        arena: Arena,
        candidates: CandidateSet,
        matching: npt.NDArray[np.bool_],
    ) -> dict[str, Any] | None:
        """Choose a configuration for a trial for which nothing new is left.

        First those that running trials have not evaluated yet: their workers may have died.
        """
        again: dict[Any, int] = {}
        if arena.is_exhaustible:
            running = self._abandoned(study, trial, candidates)
            again = {candidate: n for candidate, n in running.items() if matching[candidate]}
        self._n_free[study] = 0
        if not again and not self._space_is_given:
            # What else the objective may suggest still tells further trials apart.
            self._warn_of_exhaustion(study, matching)
            return None
        if self._space_is_given:
            which = "those that have not ended" if again else "one"
            self._warn_of_repetition(study, matching, which)
        if again:
            repeated = min(again, key=lambda candidate: (again[candidate], candidate))
            self._claim(study, trial, candidates.params(repeated))
        else:
            repeats = stream(self._seed, "exhausted", trial.number)
            repeated = int(repeats.choice(np.flatnonzero(matching)))
        study._storage.set_trial_user_attr(trial._trial_id, PHASE_KEY, "repetition")
        return candidates.params(repeated)

    def _abandoned(
        self, study: Study, trial: FrozenTrial, candidates: CandidateSet
    ) -> dict[Any, int]:
        """Candidates held only by running trials of other processes, which may have died.

        Args:
            study: The study.
            trial: The trial that asks or ends, which does not count.
            candidates: All there are.

        Returns:
            Number of such trials of each candidate; empty where the storage has a heartbeat, and
            fails the trials of dead workers itself.
        """
        if is_heartbeat_enabled(study._storage):
            return {}
        own = self._own.ids() | {trial._trial_id}
        return self._reader.unfinished(study, candidates, own)

    def _withdraw(self, study: Study, trial: FrozenTrial) -> None:
        """Take back what was claimed and not suggested: another branch of the objective."""
        claim = claim_in(trial.system_attrs)
        kept = {name: value for name, value in claim.items() if name in trial.params}
        if len(kept) < len(claim):
            self._claim(study, trial, kept)

    def _annotate(self, study: Study, trial: FrozenTrial, proposal: Proposal) -> None:
        attributes: dict[str, Any] = {PHASE_KEY: proposal.phase}
        if proposal.acquisition is not None:
            signs = direction_signs(study)
            means = [sign * mean for sign, mean in zip(signs, proposal.means, strict=True)]
            if len(signs) == 1:
                attributes["zaps:mean"], attributes["zaps:std"] = means[0], proposal.stds[0]
                attributes["zaps:acquisition"] = signs[0] * proposal.acquisition
            else:
                attributes["zaps:mean"], attributes["zaps:std"] = means, list(proposal.stds)
                attributes["zaps:acquisition"] = proposal.acquisition
        if proposal.proxies:
            attributes["zaps:proxies"] = ", ".join(proposal.proxies)
        for key, value in attributes.items():
            study._storage.set_trial_user_attr(trial._trial_id, key, value)

    def _table_search(
        self, table: pd.DataFrame, space: dict[str, BaseDistribution] | None
    ) -> JointSearch:
        if len(table) == 0:
            raise ValueError("The proxy table must have at least one row, but is empty.")
        named, proxies = split_table(table, None if space is None else list(space))
        if space is not None and parameters.size(space) == float("inf"):
            continuous = [name for name in space if parameters.size({name: space[name]}) == np.inf]
            raise ValueError(
                f"A proxy table needs a finite search space, but {continuous} are continuous. "
                "Leave them out of search_space: they go to independent_sampler."
            )
        try:
            candidates = CandidateSet.from_frame(
                named,
                None if space is None else parameters.choices_of(space),
                places=None if space is None else parameters.coordinates_of(space),
            )
        except ValueError as error:
            n_repeated = int(named.map(choice_key).duplicated().sum())
            if space is not None or not n_repeated:
                raise
            raise ValueError(
                f"With the parameters {list(named)} a configuration occurs again "
                f"({n_repeated} duplicates in all); the other columns are numeric and were taken "
                "for proxies. If one of them is a parameter, name the parameters by "
                "search_space=, or by table.set_index([...])."
            ) from error
        return self._make_search(candidates, ProxyTable(proxies))

    def _inferred_space(self, study: Study) -> dict[str, BaseDistribution]:
        """What the study's trials have in common and leaves a choice."""
        return self._variable(study, self._inferred.shared(study))

    def _inferred_spaces(self, study: Study) -> list[dict[str, BaseDistribution]]:
        """The spaces that a study is searched in: one, or one for each group."""
        if self._group:
            spaces = [self._variable(study, space) for space in self._inferred.groups(study)]
        else:
            spaces = [self._inferred_space(study)]
        return [space for space in spaces if space]

    def _variable(
        self, study: Study, space: Mapping[str, BaseDistribution]
    ) -> dict[str, BaseDistribution]:
        """The parameters of which the study's trials have had more than one value to choose."""
        united = self._inferred.united(study, space)
        return {name: d for name, d in space.items() if not united[name].single()}

    def _spaces_among(
        self, study: Study, search_space: Mapping[str, BaseDistribution]
    ) -> list[dict[str, BaseDistribution]]:
        """The parts of a search space that are searched on their own.

        Parameters that an outer sampler fixes are no part of the search space, but of the
        configurations.
        """
        fixed = fixed_from_outside(study, self)
        if not self._group and not fixed:
            return [dict(search_space)]
        spaces = [
            {name: d for name, d in space.items() if name in search_space or name in fixed}
            for space in self._inferred_spaces(study)
        ]
        grouped = {name for space in spaces for name in space}
        rest = {name: d for name, d in search_space.items() if name not in grouped}
        return [space for space in (*spaces, rest) if space.keys() & search_space.keys()]

    def _arena_within(self, study: Study, space: dict[str, BaseDistribution]) -> Arena:
        """Arena of an inferred space that also learns from trials with other ranges."""
        united = self._inferred.united(study, space)
        ranges = {name: d for name, d in space.items() if not parameters.same(d, united[name])}
        return self._arena_of(united, ranges)

    def _arena_of(
        self,
        space: dict[str, BaseDistribution],
        ranges: Mapping[str, BaseDistribution] | None = None,
    ) -> Arena:
        """The arena of a space, made anew only where a distribution has changed.

        Args:
            space: Distribution of each parameter.
            ranges: Narrower ones of some, to which proposals are restricted.
        """
        if not space:
            raise ValueError(
                "The search space is read from the finished trials of the study, but they have no "
                "parameter in common, or there is none. Pass search_space=, or run a trial first."
            )
        key = frozenset(space), bool(ranges)
        known, arena = self._arenas.get(key, (None, None))
        if arena is None or known is None or not parameters.same_space(known, space):
            arena = self._make_arena(space, enumerated=not ranges)
            self._arenas[key] = dict(space), arena
        if ranges:
            assert isinstance(arena, DrawnArena)
            return arena.within(ranges)
        return arena

    def _make_arena(self, space: dict[str, BaseDistribution], *, enumerated: bool) -> Arena:
        if enumerated and parameters.is_enumerable(space, with_proxies=self._function is not None):
            candidates = parameters.grid(space)
            proxies = None
            if self._function is not None:
                proxies = ProxyTable.from_function(self._function, candidates)
            return EnumeratedArena(self._make_search(candidates, proxies))
        make_search = partial(self._make_search, profile=self._profile.remembering())
        return DrawnArena(space, make_search, self._seed, self._function)

    def _make_search(
        self,
        candidates: CandidateSet,
        proxies: ProxyTable | None,
        profile: Profile | None = None,
    ) -> JointSearch:
        """Search a space, or, with a profile whose models remember, a pool drawn from it."""
        situation = Situation(
            with_proxies=proxies is not None and len(proxies.names) > 0,
            with_numbers=any(candidates.numeric),
            is_pool=profile is not None,
        )
        settings = (profile or self._profile).adapted(situation)
        search = ZAPSSearch(
            candidates, proxies, settings, seed=self._seed, initial_proxies=self._initial_proxies
        )
        return JointSearch(search, self._seed, (profile or self._profile).outcomes)

    def _known_search(self, attribute: str) -> ZAPSSearch:
        if self._arena is None:
            raise AttributeError(
                f"{attribute} is known once the search space is: pass search_space= or a proxy "
                "table, or run a trial first."
            )
        return self._arena.search.primary

    def _refuse_proxy_as_parameter(self, param_name: str) -> None:
        proxies = self._known_search("proxies_").proxies
        # Names that a function returns were never taken for those of columns.
        if self._function is None and proxies is not None and param_name in proxies.names:
            raise ValueError(
                f"The study suggests {param_name!r}, which is a numeric column of the proxy table "
                "and was taken for a proxy. Name the parameters by search_space=, or by "
                "table.set_index([...])."
            )

    def _warn_independent(self, trial: FrozenTrial, param_name: str) -> None:
        if self._warn_independent_sampling:
            self._warn_once(
                f"parameter {param_name}",
                f"The parameter `{param_name}` in Trial#{trial.number} is sampled independently "
                f"using `{type(self._independent_sampler).__name__}` instead of "
                f"`{type(self).__name__}`, because it is not part of the search space that the "
                "candidates span. You can suppress this warning by setting "
                "`warn_independent_sampling` to `False`.",
            )

    def _warn_of_branches(self, study: Study, param_name: str) -> None:
        """Warn of a parameter that no inferred space has, unless it is new like all others."""
        if self._warns_of_inferred(study):
            with self._lock:
                known, shared = self._inferred.variable(study), self._inferred.shared(study)
            if known and param_name not in shared:
                self._warn_of_inferred(study, self._branches(param_name))

    def _warn_of_repetition(
        self, study: Study, matching: npt.NDArray[np.bool_], repeated: str
    ) -> None:
        """Warn once that a given space is exhausted, or the part that agrees with fixed values."""
        if matching.all():
            what, topic = "Every configuration of the search space", "exhausted"
        else:
            what, topic = _AGREEING, "exhausted in part"
        self._warn_once(
            f"{topic} {study._study_id}",
            f"{what} was evaluated or is being evaluated; further trials repeat {repeated}.",
        )

    def _warn_of_exhaustion(self, study: Study, matching: npt.NDArray[np.bool_]) -> None:
        if not self._warns_of_inferred(study):
            return
        what, trials = "Every configuration of the search space", "further trials"
        if not matching.all():
            what, trials = _AGREEING, "such trials"
        elif branches := self._inferred.variable(study) - self._inferred_space(study).keys():
            self._warn_of_inferred(study, self._branches(min(branches)))
            return
        elif self._inferred.changing(study):
            what = "Every configuration within the latest ranges of the parameters"
        self._warn_of_inferred(
            study,
            f"{what} was evaluated or is being evaluated; "
            f"`{type(self._independent_sampler).__name__}` samples {trials}.",
        )

    def _warns_of_inferred(self, study: Study) -> bool:
        """Whether the one sentence on an inferred space is still to be said.

        None is where each group is searched: branches alone are then left to another sampler
        until they are known.
        """
        return (
            self._warn_independent_sampling
            and not self._group
            and f"inferred {study._study_id}" not in self._warned
        )

    def _warn_of_inferred(self, study: Study, message: str) -> None:
        self._warn_once(f"inferred {study._study_id}", message)

    def _branches(self, param_name: str) -> str:
        return (
            f"Parameters that do not occur alike in every finished trial, such as `{param_name}`, "
            f"are sampled independently using `{type(self._independent_sampler).__name__}` "
            f"instead of `{type(self).__name__}`. Set `group` to `True` to search them too, or "
            "`warn_independent_sampling` to `False` to suppress this warning."
        )

    def _warn_of_unused(self, trial: FrozenTrial, names: Sequence[str]) -> None:
        """Warn of parameters that tell candidates apart and not what is evaluated."""
        unused = [name for name in names if name not in trial.params]
        if unused:
            self._warn_once(
                f"unused {unused}",
                f"Trial#{trial.number} finished without suggesting {unused}, which the search "
                f"space of `{type(self).__name__}` has: trials that differ in nothing else "
                "evaluate the same. Suggest such parameters, by the same name, or leave them out "
                "of the space.",
            )

    def _warn_once(self, topic: str, message: str) -> None:
        with self._lock:
            if topic not in self._warned:
                self._warned.add(topic)
                _logger.warning(message)


@dataclass
class _Expected:
    """An inferred space that a trial is expected to ask for.

    Attributes:
        space: Distribution of each parameter.
        params: The configuration chosen from it, ``None`` before it is.
    """

    space: dict[str, BaseDistribution]
    params: dict[str, Any] | None


def _undecided(space: Mapping[str, BaseDistribution]) -> dict[str, BaseDistribution]:
    """The parameters that have more than one value."""
    return {name: d for name, d in space.items() if not d.single()}


def _entropy(seed: int | None) -> int:
    return int(np.random.default_rng().integers(2**63)) if seed is None else seed


def _proxy_names(initial_proxies: Sequence[str] | ProxyFit | None) -> list[str] | None:
    if initial_proxies is None:
        return None
    if isinstance(initial_proxies, ProxyFit):
        return initial_proxies.selected_names_
    names = _checks.listed(initial_proxies)
    if names is None:
        raise TypeError(
            "initial_proxies must be a sequence of names or a fitted ProxyFit, but got "
            f"{initial_proxies!r} of type {type(initial_proxies).__name__}."
        )
    if not names:
        raise ValueError("initial_proxies must name at least one proxy, but is empty.")
    return list(map(str, names))


def _refuse_to_lack_proxies(initial_proxies: Sequence[str] | None, profile: Profile) -> None:
    """Refuse settings that need proxies where there are none."""
    if initial_proxies is not None:
        raise ValueError(
            f"initial_proxies names {list(initial_proxies)}, but there are no proxies to choose "
            "from: pass proxies=."
        )
    if profile.needs_proxies:
        profile.adapted(Situation(with_proxies=False, with_numbers=False))


def _independent(
    sampler: BaseSampler | None, seed: int | None, n_startup_trials: int | None
) -> BaseSampler:
    if sampler is None:
        return _default_sampler(seed, n_startup_trials)
    if not isinstance(sampler, BaseSampler):
        raise TypeError(
            "independent_sampler must be a sampler, such as optuna.samplers.RandomSampler(), but "
            f"got {sampler!r} of type {type(sampler).__name__}."
        )
    return sampler


def _check_constraints(constraints_func: Callable[[FrozenTrial], Sequence[float]]) -> None:
    """Check that it is a function, and warn of it where Optuna's own samplers do."""
    _checks.function("constraints_func", constraints_func, "a function of a finished trial")
    if hasattr(optuna.Trial, "set_constraint"):
        _checks.warn(
            "`constraints_func` has been deprecated in Optuna v5.0.0, whose samplers will lose it "
            "in v7.0.0. Use `optuna.trial.Trial.set_constraint` instead.",
            FutureWarning,
        )


_TPE_DEFAULTS: dict[str, Any] = {
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


def _check_always_so(**arguments: bool | None) -> None:
    """Check arguments that choose what ZAPS always does."""
    for name, value in arguments.items():
        if value is not None:
            _checks.boolean(name, value)


def _warn_of_no_effect(**arguments: Any) -> None:
    """Warn once of all arguments that tune TPE and differ from TPE's defaults."""
    given = [
        name
        for name, value in arguments.items()
        if value is not None and not np.array_equal(value, _TPE_DEFAULTS[name])
    ]
    if given:
        _checks.warn(
            f"ZAPSSampler takes {', '.join(given)} so that code written for TPESampler runs, but "
            "what tunes TPE has no effect here. Leave it out to avoid this warning."
        )


def _unused(name: str, prefix: str, taken: Container[Any]) -> str:
    """Prefix a name of our own until no name of the user equals it."""
    while name in taken:
        name = prefix + name
    return name


def _default_sampler(seed: int | None, n_startup_trials: int | None) -> TPESampler:
    with warnings.catch_warnings():
        # multivariate is experimental in Optuna 4 and the default in 5.
        warnings.simplefilter("ignore", ExperimentalWarning)
        return TPESampler(
            seed=seed,
            multivariate=True,
            n_startup_trials=10 if n_startup_trials is None else n_startup_trials,
        )
