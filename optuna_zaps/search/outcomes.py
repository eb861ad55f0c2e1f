"""Several objectives, and constraints, over one candidate set.

Each outcome of a trial has a model of its own, whose predictions are put together: candidates
that are feasible, every other time those that may be, compete by a random scalarisation of the
optimistic estimates of the objectives. With one objective and no constraint the search is that
of the objective.

Notations:
    bound: (n_candidates,) optimistic estimate of an outcome's label,
        :meth:`~optuna_zaps.search.acquisition.Acquisition.bound`.
    label of a constraint: see :mod:`optuna_zaps.search.observations`.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from optuna_zaps._randomness import stream
from optuna_zaps.search.model import MIN_LABELS
from optuna_zaps.search.model import Model
from optuna_zaps.search.model import Prediction
from optuna_zaps.search.observations import History
from optuna_zaps.search.observations import Observations
from optuna_zaps.search.observations import pareto_front
from optuna_zaps.search.search import Proposal
from optuna_zaps.search.search import ZAPSSearch
from optuna_zaps.surrogates import SurrogateFactory


FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]

_SUCCESS = -(2**31)
"""Number of the outcome "the trial gives a value"."""


@dataclass(frozen=True)
class OutcomeSettings:
    """Settings of the search of several outcomes.

    Attributes:
        constraint_surrogate: Factory of the model of a constraint.
        margin: Distance of the reference point of the hypervolume beyond the worst of the front,
            in units of the front's extent.
        least_chance: Smallest chance of a value that a proposal may have, relative to the largest
            chance.
        max_exponent: Largest label of a constraint that is told from larger ones, in units of a
            typical violation, and largest ratio either way of typical slack to typical violation;
            in powers of 2.
        n_typical: Number of earliest violations (and slacks) that set the scale.
    """

    constraint_surrogate: SurrogateFactory
    margin: float
    least_chance: float
    max_exponent: int
    n_typical: int


class JointSearch:
    """Search for the best of all outcomes over one candidate set.

    Args:
        primary: Search of the first objective, which plans the initial evaluations.
        seed: Draws the scalarisations.
        settings: Settings of the other outcomes.
    """

    def __init__(self, primary: ZAPSSearch, seed: int, settings: OutcomeSettings) -> None:
        self.primary = primary
        self._seed = seed
        self._settings = settings
        self._models: dict[int, Model] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the models of other outcomes, which the history tells."""
        return {**vars(self), "_models": {}}

    def propose(
        self, observations: Observations, number: int, allowed: BoolArray | None = None
    ) -> Proposal | None:
        """Choose the next candidate; arguments as for :meth:`ZAPSSearch.propose`."""
        objectives, constraints = observations.objectives, observations.constraints
        if (
            (len(objectives) == 1 and not constraints and observations.success is None)
            or number < self.primary.n_startup
            or len(observations.labelled) < MIN_LABELS
        ):
            return self.primary.propose(objectives[0], number, allowed)
        free = (
            ~observations.unavailable if allowed is None else allowed & ~observations.unavailable
        )
        if not free.any():
            return None
        predictions = [self._model_of(i).predict(history) for i, history in enumerate(objectives)]
        score = self._scalarized(observations, predictions, number)
        candidates = free
        if observations.success is not None:
            success = self._model_of(_SUCCESS).predict(observations.success)
            free = candidates = self._succeeding(success, free)
        limits = [
            self._model_of(-1 - i).predict(balanced(history, self._settings))
            for i, history in enumerate(constraints)
            if len(history.labelled) >= MIN_LABELS and history.labels.min() < 0
        ]
        if limits:
            # Optimistic, as in Xu et al. (2023): candidates compete that may be feasible. Only
            # every other time, since the best of them lies just beyond the border again and again.
            labels = [limit.mean if number % 2 else limit.bound for limit in limits]
            violation = np.sum([np.minimum(label, 0.0) for label in labels], axis=0)
            candidates = free & (violation >= 0)
            if not candidates.any():
                score, candidates = violation, free
        best = predictions[0].best_of(score, candidates)
        return Proposal(
            best,
            "model",
            means=tuple(float(p.mean[best]) for p in predictions),
            stds=tuple(float(p.std[best]) for p in predictions),
            acquisition=float(score[best]),
            proxies=predictions[0].proxies,
        )

    def _model_of(self, outcome: int) -> Model:
        """Model of an outcome.

        Args:
            outcome: Number of an objective from 0, of a constraint from -1 downwards, or of
                success.
        """
        if outcome == 0:
            return self.primary.model
        if outcome not in self._models:
            surrogate = self._settings.constraint_surrogate if outcome < 0 else None
            self._models[outcome] = self.primary.model.sibling(outcome, surrogate)
        return self._models[outcome]

    def _scalarized(
        self, observations: Observations, predictions: list[Prediction], number: int
    ) -> FloatArray:
        """Possible gain by each candidate in a random direction, shape (n_candidates,).

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
        # u, uniform on the positive part of the sphere
        direction = np.abs(stream(self._seed, "direction", number).normal(size=len(predictions)))
        bounds = np.stack([prediction.bound for prediction in predictions], axis=1)
        # min_i (b_i - r_i) / (e_i u_i), with the reference point r = worst - margin e
        distance = (bounds - worst + self._settings.margin * extent) / (extent * direction)
        return np.asarray(distance.min(axis=1), dtype=np.float64)

    def _succeeding(self, success: Prediction, free: BoolArray) -> BoolArray:
        """Mask of the free candidates that are likely enough to give a value.

        The threshold is relative to the likeliest candidate, so that failures by chance, which
        strike anywhere, exclude nothing.

        Args:
            success: Prediction of labels that are 1 for success and 0 for failure.
            free: Mask of the candidates that may be proposed.
        """
        chance = np.clip(success.mean, 0.0, 1.0)
        likely: BoolArray = chance >= self._settings.least_chance * chance[free].max()
        return free & likely


def balanced(history: History, settings: OutcomeSettings) -> History:
    """Rescale a constraint's labels by its typical violation.

    A penalty of any size, or one number for all that is feasible, then leaves both sides of the
    border to be seen, and the border where it is.

    Args:
        history: History of a constraint, some of whose labels are negative.
        settings: Largest label, and the number of labels that are typical.
    """
    labels, most = history.labels, settings.max_exponent
    # A label of 0 is feasible: it becomes the smallest slack.
    rescaled = np.full_like(labels, 2.0**-most)
    violated, slack = labels < 0, labels > 0
    # Powers of 2 leave the digits of the labels as they are: labels / 2^unit.
    unit = _exponent(-labels[violated], settings.n_typical)
    with np.errstate(over="ignore"):
        rescaled[violated] = np.ldexp(labels[violated], -unit)
        if slack.any():
            # In units of their own, and then by their ratio to the violations, within limits.
            typical = _exponent(labels[slack], settings.n_typical)
            ratio = min(max(typical - unit, -most), most)
            rescaled[~violated] = np.ldexp(labels[~violated], ratio - typical)
    return replace(history, labels=np.clip(rescaled, -(2.0**most), 2.0**most))


def _exponent(values: FloatArray, n_typical: int) -> int:
    """Exponent of the power of 2 next to the median of the earliest values, which soon stays.

    Later ones gather at the border, as the search does: in units of theirs it would be a cliff.
    """
    return round(math.log2(np.median(values[:n_typical])))
