"""Several objectives, and constraints, over one candidate set.

Each outcome of a trial has a search of its own, whose predictions are put together: candidates
that are feasible, every other time those that may be, compete by a random scalarisation of what
the objectives may reach. With one objective and no constraint it is the search of that objective.

Notations:
    bound: mu + beta sigma of an outcome, shape (n_candidates,): what it may reach.
    label of a constraint: -c for its value c, which is feasible up to 0; so larger is better here
        too, and 0 is feasible. How far within the limits a configuration lies is not left out: on
        labels that end at 0 a smooth model is bent at the very border, and what lies on it, as
        the best often does, is taken to be infeasible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import replace
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from optuna_zaps.search.randomness import stream
from optuna_zaps.search.search import MIN_LABELS
from optuna_zaps.search.search import History
from optuna_zaps.search.search import Prediction
from optuna_zaps.search.search import Proposal
from optuna_zaps.search.search import ZAPSSearch
from optuna_zaps.search.search import best_and_sample


FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

_MARGIN = 0.1
"""How far beyond the worst of the front, in units of its extent, the reference point lies."""

_SPAN = 2
"""Largest label of a constraint that is told from larger ones, in units of a typical violation,
and largest ratio either way of typical slack to typical violation; in powers of 2."""

_N_TYPICAL = 32
"""How many of the oldest violations say what is typical of them, and of the slacks likewise."""


_LEAST_CHANCE = 0.75
"""Smallest chance of a value that a proposal may have, relative to the largest chance.

Of 100 trials on six problems such as those of tests/optuna_zaps/test_failures.py, 0.75 wasted 20
to 39 (TPE 37 to 90; 10 seeds) and found better values than TPE on each; 0.5 wasted 35 to 58 on
the three where it was tried.
"""

_SUCCESS = -(2**31)
"""Number of the outcome "the trial gives a value"."""


@dataclass(frozen=True)
class Observations:
    """What is known of every outcome when a candidate is asked for.

    Attributes:
        objectives: History of each objective; of the same candidates in the same order.
        constraints: History of each constraint, whose labels are negative where it is violated.
            It may lack candidates.
        success: Share of the trials of each candidate that gave values, ``None`` where none
            failed. It has candidates that the objectives lack.
    """

    objectives: tuple[History, ...]
    constraints: tuple[History, ...] = ()
    success: History | None = None

    @property
    def unavailable(self) -> npt.NDArray[np.bool_]:
        """As in :class:`~optuna_zaps.search.search.History`."""
        return self.objectives[0].unavailable

    @property
    def labelled(self) -> IntArray:
        """Candidates whose objectives have labels, oldest first, shape (n_labelled,)."""
        return self.objectives[0].labelled

    @property
    def labels(self) -> FloatArray:
        """Labels of the objectives, shape (n_labelled, n_objectives)."""
        return np.stack([history.labels for history in self.objectives], axis=1)

    def widened(self, n_candidates: int) -> Observations:
        """The same over more candidates, the further ones available."""
        return self._each(lambda history: history.widened(n_candidates))

    def thinned(
        self, n_labels: int, best_first: IntArray, rng: np.random.Generator
    ) -> Observations:
        """The same with fewer labels: the best half, and a sample of the others.

        Args:
            n_labels: Most labels of an outcome.
            best_first: What :meth:`best_first` returned.
            rng: Draws the sample; a generator of the same seed keeps most of it as labels arrive.
        """
        if len(self.labelled) <= n_labels:
            return self
        position = {candidate: row for row, candidate in enumerate(self.labelled.tolist())}
        rows = np.array([position[candidate] for candidate in best_first.tolist()], dtype=np.intp)
        kept = self.labelled[best_and_sample(rows, n_labels, rng)]

        def thinner(history: History) -> History:
            # Candidates that gave no value are labelled in what says where that happens.
            others = history.labelled[~np.isin(history.labelled, self.labelled)]
            return history.restricted(np.concatenate([kept, others[-n_labels:]]))

        return self._each(thinner)

    def _each(self, changed: Callable[[History], History]) -> Observations:
        return Observations(
            tuple(map(changed, self.objectives)),
            tuple(map(changed, self.constraints)),
            self.success and changed(self.success),
        )

    def violations(self) -> FloatArray:
        """How much the labelled candidates violate the constraints in all, shape (n_labelled,).

        Each constraint counts in units of its largest violation; what is not known is no
        violation.
        """
        total = np.zeros(len(self.labelled))
        for history in self.constraints:
            known = dict(zip(history.labelled.tolist(), history.labels.tolist(), strict=True))
            violation = np.array([max(-known.get(c, 0.0), 0.0) for c in self.labelled.tolist()])
            total += violation / (violation.max(initial=0.0) or 1.0)
        return total

    def best_first(self) -> IntArray:
        """Labelled candidates: feasible ones first, among them those that the fewest dominate."""
        if len(self.objectives) == 1:
            merit = self.labels[:, 0]
        else:
            merit = -n_dominating(self.labels).astype(np.float64)
        return self.labelled[np.lexsort((-merit, self.violations()))]


class JointSearch:
    """Searches of all outcomes over one candidate set.

    Args:
        search: Search of the first objective, which plans the initial evaluations.
        seed: Draws the scalarisations.
    """

    def __init__(self, search: ZAPSSearch, seed: int) -> None:
        self.first = search
        self._seed = seed
        self._siblings = {0: search}

    def __getstate__(self) -> dict[str, Any]:
        """Return what the history does not tell."""
        return {**vars(self), "_siblings": {0: self.first}}

    def propose(
        self,
        observations: Observations,
        number: int,
        allowed: npt.NDArray[np.bool_] | None = None,
    ) -> Proposal | None:
        """Name the next candidate; arguments as for :meth:`ZAPSSearch.propose`."""
        objectives, constraints = observations.objectives, observations.constraints
        if (
            (len(objectives) == 1 and not constraints and observations.success is None)
            or number < self.first.schedule.n_startup
            or len(observations.labelled) < MIN_LABELS
        ):
            return self.first.propose(objectives[0], number, allowed)
        free = (
            ~observations.unavailable if allowed is None else allowed & ~observations.unavailable
        )
        if not free.any():
            return None
        predictions = [self._search_of(i).predict(history) for i, history in enumerate(objectives)]
        score = self._scalarized(observations, predictions, number)
        candidates = free
        if observations.success is not None:
            success = self._search_of(_SUCCESS).predict(observations.success)
            free = candidates = _succeeding(success, free)
        models = [
            self._search_of(-1 - i).predict(_balanced(history))
            for i, history in enumerate(constraints)
            if len(history.labelled) >= MIN_LABELS and history.labels.min() < 0
        ]
        if models:
            # Optimistic, as in Xu et al. (2023): what may be feasible competes. Only every other
            # time, since the best that may be lies just beyond the border again and again.
            limits = [model.mean if number % 2 else model.acquisition for model in models]
            violation = np.sum([np.minimum(limit, 0.0) for limit in limits], axis=0)
            candidates = free & (violation >= 0)
            if not candidates.any():
                score, candidates = violation, free
        best = predictions[0].first_of(score, candidates)
        return Proposal(
            best,
            "model",
            means=tuple(float(p.mean[best]) for p in predictions),
            stds=tuple(float(p.std[best]) for p in predictions),
            acquisition=float(score[best]),
            proxies=predictions[0].proxies,
        )

    def _search_of(self, outcome: int) -> ZAPSSearch:
        """Objectives count from 0, constraints from -1 downwards, success is the last of them."""
        if outcome not in self._siblings:
            surrogate = self.first.settings.constraint_surrogate if outcome < 0 else None
            self._siblings[outcome] = self.first.sibling(outcome, surrogate)
        return self._siblings[outcome]

    def _scalarized(
        self, observations: Observations, predictions: list[Prediction], number: int
    ) -> FloatArray:
        """What a candidate may add in a random direction, shape (n_candidates,).

        The least of the distances from the reference point in units of a random direction's
        components: its expectation over the directions is the hypervolume (Golovin and Zhang,
        2020).
        """
        if len(predictions) == 1:
            return predictions[0].acquisition
        labels = observations.labels
        feasible = labels[observations.violations() == 0]
        front = pareto_front(feasible if len(feasible) else labels)
        worst = front.min(axis=0)
        extent = np.ptp(front, axis=0)
        extent = np.where(extent > 0, extent, np.ptp(labels, axis=0))
        extent = np.where(extent > 0, extent, 1.0)
        direction = np.abs(stream(self._seed, "direction", number).normal(size=len(predictions)))
        bounds = np.stack([prediction.acquisition for prediction in predictions], axis=1)
        distance = (bounds - worst + _MARGIN * extent) / (extent * direction)
        return np.asarray(distance.min(axis=1), dtype=np.float64)


def _succeeding(success: Prediction, free: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Mask of the free candidates that are likely enough to give a value.

    The threshold is relative to the likeliest candidate, so that failures by chance, which strike
    anywhere, rule nothing out.

    Args:
        success: Prediction of labels that are 1 for success and 0 for failure.
        free: Mask of the candidates that may be proposed.
    """
    chance = np.clip(success.mean, 0.0, 1.0)
    likely: npt.NDArray[np.bool_] = chance >= _LEAST_CHANCE * chance[free].max()
    return free & likely


def _balanced(history: History) -> History:
    """That of a constraint some of which is violated, in units of a typical violation.

    A penalty of any size, or the same number for whatever is feasible, then leaves both sides of
    the border to be seen, and the border where it is.
    """
    labels = history.labels
    balanced = np.full_like(labels, 2.0**-_SPAN)
    violated, slack = labels < 0, labels > 0
    unit = _exponent(-labels[violated])
    with np.errstate(over="ignore"):
        balanced[violated] = np.ldexp(labels[violated], -unit)
        if slack.any():
            typical = _exponent(labels[slack])
            ratio = min(max(typical - unit, -_SPAN), _SPAN)
            balanced[~violated] = np.ldexp(labels[~violated], ratio - typical)
    return replace(history, labels=np.clip(balanced, -(2.0**_SPAN), 2.0**_SPAN))


def _exponent(values: FloatArray) -> int:
    """That of the power of 2 next to the median of the oldest values, which soon stays.

    Later ones gather at the border, as the search does: in units of theirs it would be a cliff.
    """
    return round(math.log2(np.median(values[:_N_TYPICAL])))


def n_dominating(labels: FloatArray) -> IntArray:
    """How many rows are nowhere smaller than each row and somewhere larger, shape (n_rows,).

    Args:
        labels: Array of shape (n_rows, n_objectives), larger is better.
    """
    counts = np.empty(len(labels), dtype=np.intp)
    for i, row in enumerate(labels):
        counts[i] = np.sum(np.all(labels >= row, axis=1) & np.any(labels > row, axis=1))
    return counts


def pareto_front(labels: FloatArray) -> FloatArray:
    """The rows that none dominates, shape (n_front, n_objectives)."""
    return np.asarray(labels[n_dominating(labels) == 0], dtype=np.float64)
