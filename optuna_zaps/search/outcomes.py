"""Several objectives, and constraints, over one candidate set.

Each outcome of a trial has a model of its own, whose predictions are put together: candidates
that are feasible, every other time those that may be, compete by what they may add to the
hypervolume of the objectives. With one objective and no constraint the search is that of the
objective.

Notations:
    bound: (n_candidates,) optimistic estimate of an outcome's label,
        :meth:`~optuna_zaps.search.acquisition.Acquisition.bound`.
    label of a constraint: see :mod:`optuna_zaps.search.observations`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from optuna_zaps._randomness import stream
from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.failures import CollapseSettings
from optuna_zaps.search.failures import ScatterSettings
from optuna_zaps.search.model import MIN_LABELS
from optuna_zaps.search.model import Model
from optuna_zaps.search.model import Prediction
from optuna_zaps.search.multi_objective import JointAcquisition
from optuna_zaps.search.multi_objective import JointPrediction
from optuna_zaps.search.observations import History
from optuna_zaps.search.observations import Observations
from optuna_zaps.search.observations import pareto_front
from optuna_zaps.search.ordering_proxies import known_sides
from optuna_zaps.search.penalties import PenaltySettings
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
        objective_surrogate: Factory of the model of each of several objectives, by default that
            of one. It may see labels that :attr:`reach` has limited.
        acquisition: Worth of an evaluation to several objectives.
        reach: Distance beyond the worst of the front at which the labels of several objectives
            end, in units of the front; infinite for no end. A failure may be bad without limit,
            and must not stretch the scale on which the front is seen.
        penalties: Settings that tell penalties among the labels of an objective, ``None`` to take
            them as they are.
        n_oldest: Number of oldest labels whose median sets the smallest unit of each of several
            objectives, 0 for the front's extent in any case.
        n_ordered: Fewest distinct labels of a constraint that show that a proxy orders them.
        n_on_line: Fewest distinct labels that show that they lie on a line over a proxy.
        least_chance: Smallest chance of a value that a proposal may have, relative to the largest
            chance.
        scatter: Settings that tell failures that strike anywhere, which count for nothing.
        collapses: Settings that tell the value that failed runs have in common, where some
            parameter is a number; ``None`` to take it as it is.
        max_exponent: Largest label of a constraint that is told from larger ones, in units of a
            typical violation, and largest ratio either way of typical slack to typical violation;
            in powers of 2.
        n_typical: Number of earliest violations (and slacks) that set the scale.
    """

    constraint_surrogate: SurrogateFactory
    objective_surrogate: SurrogateFactory | None
    acquisition: JointAcquisition
    reach: float
    penalties: PenaltySettings | None
    n_oldest: int
    n_ordered: int
    n_on_line: int
    least_chance: float
    scatter: ScatterSettings
    collapses: CollapseSettings | None
    max_exponent: int
    n_typical: int


@dataclass(frozen=True)
class Front:
    """The front of several objectives so far, and a unit for each of them.

    Attributes:
        points: Labels that no other feasible ones dominate, of all labels if none is feasible;
            shape (n_front, n_objectives).
        worst: Smallest of them in each objective.
        unit: Distance of the largest from the smallest, or, where the front is shorter than
            that, from the median of the oldest labels; that of the largest label from the smallest
            where it is 0, and 1 where that is 0, too.
    """

    points: FloatArray
    worst: FloatArray
    unit: FloatArray

    @classmethod
    def of(cls, observations: Observations, n_oldest: int = 0) -> Front:
        """Front of the labels.

        Args:
            observations: All outcomes.
            n_oldest: Number of oldest labels whose median sets the smallest unit, 0 for none.
        """
        labels = observations.labels
        feasible = labels[observations.violations() == 0]
        points = pareto_front(feasible if len(feasible) else labels)
        unit = np.ptp(points, axis=0)
        if n_oldest:
            # In units of its own, a front in one corner of its objectives would grow by steps as
            # small as itself. The oldest labels, of the start, say how large a step is.
            typical = np.median(labels[:n_oldest], axis=0)
            unit = np.maximum(unit, points.max(axis=0) - typical)
        unit = np.where(unit > 0, unit, np.ptp(labels, axis=0))
        return cls(points, points.min(axis=0), np.where(unit > 0, unit, 1.0))

    def in_units(self, labels: FloatArray) -> FloatArray:
        """Labels in units of the front, from its worst on; same shape.

        Args:
            labels: Shape (n_rows, n_objectives).
        """
        return (labels - self.worst) / self.unit

    def reached(self, objectives: Sequence[History], reach: float) -> list[History]:
        """Histories whose labels end at a distance beyond the worst of the front."""
        least = self.worst - reach * self.unit
        return [
            replace(history, labels=np.maximum(history.labels, low))
            for history, low in zip(objectives, least, strict=True)
        ]


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

    @property
    def candidates(self) -> CandidateSet:
        """Candidates that it chooses from."""
        return self.primary.candidates

    @property
    def penalties(self) -> PenaltySettings | None:
        """See :class:`OutcomeSettings`."""
        return self._settings.penalties

    @property
    def active_proxies(self) -> tuple[str, ...]:
        """Names of the proxies of the latest fit of the first objective, the most voted first."""
        proxies = self._models[0].proxies if 0 in self._models else None
        return self.primary.active_proxies if proxies is None else proxies

    def propose(
        self, observations: Observations, number: int, allowed: BoolArray | None = None
    ) -> Proposal | None:
        """Choose the next candidate; arguments as for :meth:`ZAPSSearch.propose`."""
        observations = self._without_scattered_failures(observations)
        objectives, constraints = observations.objectives, observations.constraints
        if observations.are_of_one_outcome:
            return self.primary.propose(objectives[0], number, allowed)
        free = (
            ~observations.unavailable if allowed is None else allowed & ~observations.unavailable
        )
        if not free.any():
            return None
        sides = [self._known_sides(history) for history in constraints]
        possible = np.logical_and.reduce([free, *(side >= 0 for side in sides)])
        free = possible if possible.any() else free
        if number < self.primary.n_startup or len(observations.labelled) < MIN_LABELS:
            return self.primary.propose(objectives[0], number, free)
        if observations.success is not None:
            success = self._model_of(_SUCCESS).predict(observations.success)
            free = self._succeeding(success, free)
        candidates, violation = free, self._violation(constraints, sides, number)
        if violation is not None:
            candidates = free & (violation >= 0)
        if len(objectives) == 1:
            predictions = [self.primary.model.predict(objectives[0])]
            score = predictions[0].acquisition
        else:
            front = Front.of(observations, self._settings.n_oldest)
            reached = front.reached(objectives, self._settings.reach)
            predictions = [self._model_of(i).predict(each) for i, each in enumerate(reached)]
            if candidates.any():
                labels = np.stack([history.labels for history in reached], axis=1)
                score = self._joint_score(predictions, labels, front, candidates, number)
        if not candidates.any():
            assert violation is not None
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

    def _without_scattered_failures(self, observations: Observations) -> Observations:
        """Outcomes without failures that strike anywhere."""
        settings, encoding = self._settings, self.candidates.encoding
        scatter, collapses, success = settings.scatter, settings.collapses, observations.success
        if success is not None:
            if scatter.strike_anywhere(encoding[success.labelled], success.labels):
                observations = replace(observations, success=None)
        first, *others = observations.objectives
        if collapses is not None and not others and any(self.candidates.numeric):
            collapsed = collapses.collapsed(first.labels)
            has_value = (~collapsed).astype(np.float64)
            if scatter.strike_anywhere(encoding[first.labelled], has_value):
                first = first.restricted(first.labelled[~collapsed])
                observations = replace(observations, objectives=(first,))
        return observations

    def _model_of(self, outcome: int) -> Model:
        """Model of an outcome where there are several.

        Args:
            outcome: Number of an objective from 0, of a constraint from -1 downwards, or of
                success.
        """
        settings = self._settings
        if outcome == 0 and settings.objective_surrogate is None:
            return self.primary.model
        if outcome not in self._models:
            of_outcome = (
                settings.constraint_surrogate if outcome < 0 else settings.objective_surrogate
            )
            self._models[outcome] = self.primary.model.sibling(outcome, of_outcome)
        return self._models[outcome]

    def _known_sides(self, history: History) -> IntArray:
        """Side of each candidate, where a proxy tells that of a constraint."""
        proxies = self.primary.proxies
        if proxies is None:
            return np.zeros(len(history.unavailable), dtype=np.intp)
        return known_sides(
            proxies.values, history, self._settings.n_ordered, self._settings.n_on_line
        )

    def _violation(
        self, constraints: Sequence[History], sides: Sequence[IntArray], number: int
    ) -> FloatArray | None:
        """Total of the negative labels that constraints may have, shape (n_candidates,).

        Args:
            constraints: History of each constraint.
            sides: Known side of each candidate, by constraint.
            number: Number of the trial.

        Returns:
            ``None`` where no constraint has been violated.
        """
        total = None
        for i, (history, side) in enumerate(zip(constraints, sides, strict=True)):
            if len(history.labelled) < MIN_LABELS or history.labels.min() >= 0:
                continue
            limit = self._model_of(-1 - i).predict(balanced(history, self._settings))
            # Optimistic, as in Xu et al. (2023): candidates compete that may be feasible. Only
            # every other time, since the best of them lies just beyond the border again and again.
            label = limit.mean if number % 2 else limit.bound
            label = np.where(side > 0, 0.0, np.minimum(label, 0.0))
            total = label if total is None else total + label
        return total

    def _joint_score(
        self,
        predictions: list[Prediction],
        labels: FloatArray,
        front: Front,
        candidates: BoolArray,
        number: int,
    ) -> FloatArray:
        """Worth of each candidate to several objectives, shape (n_candidates,).

        Args:
            predictions: Prediction of each objective.
            labels: Labels so far, shape (n_labelled, n_objectives).
            front: The front so far.
            candidates: Mask of those that compete; the others have the score of -infinity.
            number: Number of the trial.
        """
        mean = np.stack([p.mean[candidates] for p in predictions], axis=1)
        spread = np.stack([p.spread_of_labels[candidates] for p in predictions], axis=1)
        bound = np.stack([p.bound[candidates] for p in predictions], axis=1)
        predicted = JointPrediction(
            front.in_units(mean),
            spread / front.unit,
            front.in_units(bound),
            front.in_units(labels),
            front.in_units(front.points),
        )
        score = np.full(len(candidates), -np.inf)
        score[candidates] = self._settings.acquisition.score(
            predicted, stream(self._seed, "direction", number)
        )
        return score

    def _succeeding(self, success: Prediction, free: BoolArray) -> BoolArray:
        """Mask of the free candidates that are likely enough to give a value.

        The threshold is relative to the likeliest candidate, so that failures by chance exclude
        little.

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
