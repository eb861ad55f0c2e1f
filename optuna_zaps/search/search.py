"""The active loop (Algorithm 3): observations in, next candidate out.

Knows no study and no storage. Everything that a search remembers can be computed again: equal
candidates, proxies, histories and seeds give equal proposals in any process, however often they
were asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from optuna_zaps._randomness import stream
from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.features import FeatureMatrix
from optuna_zaps.search.initial_design import InitialDesign
from optuna_zaps.search.initial_design import Plan
from optuna_zaps.search.model import MIN_LABELS
from optuna_zaps.search.model import Model
from optuna_zaps.search.model import ModelSettings
from optuna_zaps.search.observations import History
from optuna_zaps.search.pool import PoolSettings
from optuna_zaps.search.proxies import ProxyTable
from optuna_zaps.search.proxy_fit import ConsensusSettings
from optuna_zaps.search.proxy_fit import consensus_subset
from optuna_zaps.search.schedule import Schedule
from optuna_zaps.search.stall import StallSettings


FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class SearchSettings:
    """Settings of a search over one candidate set, all decided by a profile.

    Attributes:
        schedule: When to fit.
        start: Plans the initial evaluations.
        initial_selection: Chooses, without labels, the proxies that seed the start.
        model: Settings of the model.
        pool: Size and spread of pools, where the space is too large to enumerate.
        stall: What the search does once it stands still; ``None`` to go on.
    """

    schedule: Schedule
    start: InitialDesign
    initial_selection: ConsensusSettings
    model: ModelSettings
    pool: PoolSettings
    stall: StallSettings | None = None


@dataclass(frozen=True)
class Proposal:
    """A candidate, and why it was chosen.

    Attributes:
        candidate: Index of the candidate.
        phase: ``"exploitation"``, ``"coverage"``, ``"random"`` or ``"model"``.
        means: Predicted label of each objective, none before there is a model.
        stds: Predicted dispersions, as ``means``.
        acquisition: Score that made it the best, ``None`` before there is a model.
        proxies: Names of the proxies that the model was given.
    """

    candidate: int
    phase: str
    means: tuple[float, ...] = ()
    stds: tuple[float, ...] = ()
    acquisition: float | None = None
    proxies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ranking:
    """All candidates, best predicted first.

    Attributes:
        candidates: Shape (n_candidates,).
        mean: Predicted label of each, in this order.
        std: Predicted dispersion of each, in this order.
    """

    candidates: IntArray
    mean: FloatArray
    std: FloatArray


class ZAPSSearch:
    """Algorithm 3 over a candidate set.

    Args:
        candidates:
            Candidates to choose from.
        proxies:
            Proxies of the candidates, or ``None`` to search by parameters alone.
        settings:
            Everything else that it decides.
        seed:
            Everything random depends on it and on the history, nothing else.
        initial_proxies:
            Names of the proxies that seed the initial design (Pi_init). By default
            :func:`~optuna_zaps.search.proxy_fit.consensus_subset` chooses some without labels.

    Raises:
        ValueError: If an initial proxy is unknown.
    """

    def __init__(
        self,
        candidates: CandidateSet,
        proxies: ProxyTable | None,
        settings: SearchSettings,
        *,
        seed: int,
        initial_proxies: Sequence[str] | None = None,
    ) -> None:
        self.candidates = candidates
        self.proxies = proxies if proxies is not None and proxies.names else None
        self.settings = settings
        self._seed = seed
        self._initial = self._initial_columns(initial_proxies)
        features = FeatureMatrix(
            candidates,
            self.proxies,
            settings.model.features,
            neighbourhood=settings.model.neighbourhood,
        )
        self.model = Model(features, self.proxies, settings.model, settings.schedule, seed)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the plan, which can be computed again."""
        return {name: value for name, value in vars(self).items() if name != "plan"}

    @property
    def n_startup(self) -> int:
        """Number of evaluations planned before there is a model."""
        return self.settings.schedule.n_startup

    @property
    def initial_proxies(self) -> tuple[str, ...]:
        """Names of the proxies that seed the initial design."""
        return () if self.proxies is None else self.proxies.names_of(self._initial)

    @property
    def active_proxies(self) -> tuple[str, ...]:
        """Names of the proxies that the latest fit was given, the most voted first."""
        proxies = self.model.proxies
        return self.initial_proxies if proxies is None else proxies

    @cached_property
    def plan(self) -> Plan:
        """The initial evaluations (Alg. 3, line 3), addressed by trial number."""
        ranks = None if self.proxies is None else self.proxies.ranks[:, self._initial]
        rng = stream(self._seed, "initialization")
        return self.settings.start.plan(self.candidates, ranks, self.n_startup, rng)

    def propose(
        self, history: History, number: int, allowed: BoolArray | None = None
    ) -> Proposal | None:
        """Choose the next candidate.

        Args:
            history: Labels of the objective.
            number: Number of the trial, which addresses the plan of the initial evaluations.
            allowed: Mask of shape (n_candidates,) of those that may be proposed; all by default.

        Returns:
            ``None`` if every allowed candidate is unavailable.
        """
        free = ~history.unavailable if allowed is None else allowed & ~history.unavailable
        if not free.any():
            return None
        if number < self.n_startup:
            planned = self._planned(number, free)
            if planned is not None:
                return planned
        if len(history.labelled) < MIN_LABELS:
            rng = stream(self._seed, "random", number)
            return Proposal(int(rng.choice(np.flatnonzero(free))), "random")
        prediction = self.model.predict(history)
        stall, score = self.settings.stall, prediction.acquisition
        if stall is not None and stall.explores(number, history.labels):
            score = prediction.worth(stall.acquisition)
        best = prediction.best_of(score, free)  # Alg. 3, line 8
        return Proposal(
            best,
            "model",
            means=(float(prediction.mean[best]),),
            stds=(float(prediction.std[best]),),
            acquisition=float(prediction.label_scale.labels(score)[best]),
            proxies=prediction.proxies,
        )

    def rank(self, history: History) -> Ranking:
        """Rank every candidate after a fit on all labels (Alg. 3, lines 11 and 12).

        Raises:
            ValueError: If there are fewer than two labels.
        """
        if len(history.labelled) < MIN_LABELS:
            raise ValueError(
                f"A ranking needs at least {MIN_LABELS} configurations with a finite value, but "
                f"got {len(history.labelled)}."
            )
        prediction = self.model.predict_everything(history)
        order = np.lexsort((prediction.priority, -prediction.scaled_mean))
        return Ranking(order, prediction.mean[order], prediction.std[order])

    def _planned(self, number: int, free: BoolArray) -> Proposal | None:
        """The plan's entry for a trial, or the next one whose candidate is free."""
        for step in range(len(self.plan)):
            entry = (number + step) % len(self.plan)
            candidate = int(self.plan.candidates[entry])
            if free[candidate]:
                return Proposal(candidate, self.plan.phases[entry])
        return None

    def _initial_columns(self, names: Sequence[str] | None) -> IntArray:
        if self.proxies is None:
            if names:
                raise ValueError(
                    f"initial_proxies names {list(names)}, but there are no proxies to choose "
                    "from."
                )
            return np.empty(0, dtype=np.intp)
        if names is None:
            chosen = consensus_subset(self.proxies.ranks, self.settings.initial_selection)
            return np.asarray(chosen, dtype=np.intp)
        if len(names) == 0:
            raise ValueError("initial_proxies must name at least one proxy, but is empty.")
        return self.proxies.columns(names)
