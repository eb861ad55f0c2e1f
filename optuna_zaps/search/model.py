"""The model of one outcome: labels in, a prediction of every candidate out.

Notations:
    labels: float64 array of shape (n_labelled,), finite, larger is better.
    features: float32 array of shape (n_candidates, n_columns), phi(a) = [r(a); e(a)] of the
        active proxies, with the mean ranks of the neighbours between where the settings want them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import replace
from functools import cached_property
from functools import partial
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from optuna_zaps._randomness import stream
from optuna_zaps._sizes import thinned_sizes
from optuna_zaps.search.acquisition import Acquisition
from optuna_zaps.search.features import FEATURES
from optuna_zaps.search.features import FeatureMatrix
from optuna_zaps.search.observations import History
from optuna_zaps.search.observations import best_and_sample
from optuna_zaps.search.proxies import ProxyTable
from optuna_zaps.search.reselection import Selector
from optuna_zaps.search.schedule import Schedule
from optuna_zaps.search.threads import one_thread
from optuna_zaps.surrogates import LabelScale
from optuna_zaps.surrogates import LinearScale
from optuna_zaps.surrogates import Surrogate
from optuna_zaps.surrogates import SurrogateFactory
from optuna_zaps.surrogates import SurrogateOfPending
from optuna_zaps.surrogates import SurrogateOnScale


FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
Features = npt.NDArray[np.float32]

MIN_LABELS = 2
"""Fewest labels of a fit."""

_CHUNK = 2**16
"""Candidates that are scored at a time where all are, which bounds memory."""


@dataclass(frozen=True)
class Shortlist:
    """Number of candidates that every fit scores, the best of when the labels last doubled.

    The others keep their prediction of that time and compete by their mean alone, so that
    neither memory nor time grows with labels times candidates.

    Attributes:
        share: Share of the candidates.
        least: Fewest candidates that are scored.
        most: Most candidates that are scored.
    """

    share: float
    least: int
    most: int

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(f"share must lie in (0, 1], but got {self.share}.")
        if not 1 <= self.least <= self.most:
            raise ValueError(
                f"least and most must be positive and in order, but got {self.least} and "
                f"{self.most}."
            )

    def size(self, n_candidates: int) -> int:
        """Number of candidates on the list."""
        wanted = math.ceil(self.share * n_candidates)
        return min(max(wanted, self.least), self.most, n_candidates)


@dataclass(frozen=True)
class ModelSettings:
    """Settings of a model.

    Attributes:
        surrogate: Factory of the regressor.
        acquisition: Worth of evaluating a candidate.
        selector: Chooses the proxies that the surrogate is given, ``None`` to give it every one.
        features: Features of the surrogate: ``"both"``, or for an ablation only ``"proxies"`` or
            only ``"parameters"``. The initial design knows the proxies in any case.
        neighbourhood: Whether the surrogate is also given the mean proxy ranks of the
            configurations that differ in one parameter. Not in the paper.
        shortlist: Number of candidates that every fit scores.
        max_labels: Most labels of a fit, the best half and a sample of the others, so that its
            time does not grow with the cube of their number; ``None`` for all.
    """

    surrogate: SurrogateFactory
    acquisition: Acquisition
    selector: Selector | None
    features: str
    neighbourhood: bool
    shortlist: Shortlist
    max_labels: int | None

    def __post_init__(self) -> None:
        if self.features not in FEATURES:
            raise ValueError(f"features must be one of {FEATURES}, but got {self.features!r}.")


@dataclass(frozen=True)
class Prediction:
    """Prediction of every candidate.

    Attributes:
        scaled_mean: Predictions on the scale of the surrogate, shape (n_candidates,).
        scaled_std: Predicted dispersions, as ``scaled_mean``.
        spread: Dispersions that count for a choice, as ``scaled_mean``: those that remain once
            running evaluations have ended, and none of candidates off the shortlist.
        scaled_labels: Labels of the fit on this scale.
        label_scale: Scale of all these.
        criterion: Worth of evaluating a candidate.
        draw_priority: Draws :attr:`priority`, always the same.
        proxies: Names of the proxies that the model was given.
    """

    scaled_mean: FloatArray
    scaled_std: FloatArray
    spread: FloatArray
    scaled_labels: FloatArray
    label_scale: LabelScale
    criterion: Acquisition
    draw_priority: Callable[[], IntArray]
    proxies: tuple[str, ...]

    @cached_property
    def mean(self) -> FloatArray:
        """Predicted labels, shape (n_candidates,)."""
        return self.label_scale.labels(self.scaled_mean)

    @cached_property
    def std(self) -> FloatArray:
        """Dispersions of the predicted labels, as ``mean``."""
        return self.label_scale.dispersion(self.scaled_mean, self.scaled_std)

    @cached_property
    def spread_of_labels(self) -> FloatArray:
        """Dispersions of the labels that count for a choice, as ``mean``."""
        return self.label_scale.dispersion(self.scaled_mean, self.spread)

    @cached_property
    def acquisition(self) -> FloatArray:
        """Acquisition value of each candidate on the scale of the surrogate, as ``mean``."""
        return self.worth(self.criterion)

    def worth(self, criterion: Acquisition) -> FloatArray:
        """Value of each candidate by another acquisition, as :attr:`acquisition`."""
        return criterion.score(self.scaled_mean, self.spread, self.scaled_labels)

    @cached_property
    def bound(self) -> FloatArray:
        """Optimistic estimate of each label, as ``mean``."""
        bound = self.criterion.bound(self.scaled_mean, self.spread, self.scaled_labels)
        return self.label_scale.labels(bound)

    @cached_property
    def priority(self) -> IntArray:
        """Position of each among candidates of equal score, shape (n_candidates,).

        Trees give many candidates equal scores; leaving those in table order would move the
        paper's results by several points with the table.
        """
        return self.draw_priority()

    def best_of(self, score: FloatArray, free: npt.NDArray[np.bool_]) -> int:
        """Free candidate of the largest score; of equal ones the first in priority."""
        score = np.where(free, score, -np.inf)
        equal = np.flatnonzero(score == score.max())
        return int(equal[0] if len(equal) == 1 else equal[self.priority[equal].argmin()])


@dataclass(frozen=True)
class _View:
    """Features with some proxies and their surrogate, valid for these proxies."""

    active: IntArray
    features: Features
    surrogate: Surrogate


@dataclass(frozen=True)
class _Survey:
    """Predictions of every candidate and the best of them, valid for its view and its labels."""

    view: _View
    key: tuple[bytes, bytes]
    mean: FloatArray
    std: FloatArray
    shortlist: IntArray
    features: Features

    def is_of(self, view: _View, key: tuple[bytes, bytes]) -> bool:
        return self.view is view and self.key == key


@dataclass(frozen=True)
class _Fit:
    """All that a model remembers: its latest fit, and the parts that the fit was made of.

    Each part holds what it was computed from, and is used again for nothing else: a prediction
    for equal labels, a survey for its view and equal labels, a view for equal proxies.
    """

    labelled: IntArray
    labels: FloatArray
    view: _View
    survey: _Survey | None
    prediction: Prediction

    def is_of(self, labelled: IntArray, labels: FloatArray) -> bool:
        return _key(self.labelled, self.labels) == _key(labelled, labels)


class Model:
    """Model of one outcome over one candidate set.

    Predictions depend on the labels and the seed alone, not on what was predicted before.

    Args:
        features: Features of the candidates.
        proxies: Proxies of the candidates, ``None`` if there are none.
        settings: Surrogate, proxies, shortlist and acquisition.
        schedule: When to fit.
        seed: Seed of everything random.
    """

    def __init__(
        self,
        features: FeatureMatrix,
        proxies: ProxyTable | None,
        settings: ModelSettings,
        schedule: Schedule,
        seed: int,
    ) -> None:
        self._features = features
        self._proxies = proxies
        self._settings = settings
        self._schedule = schedule
        self._seed = seed
        self._fit: _Fit | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the fit, which the history tells."""
        return {**vars(self), "_fit": None}

    @property
    def proxies(self) -> tuple[str, ...] | None:
        """Names of the proxies of the latest fit, most voted first; ``None`` before the first."""
        return None if self._fit is None else self._fit.prediction.proxies

    def sibling(self, outcome: int, surrogate: SurrogateFactory | None = None) -> Model:
        """Model of another outcome of the same candidates.

        Args:
            outcome: Number that tells it from others, from which its random numbers follow.
            surrogate: Factory of its surrogate, by default the same.
        """
        settings = replace(self._settings, surrogate=surrogate or self._settings.surrogate)
        seed = int(stream(self._seed, "outcome", outcome % 2**32).integers(2**63))
        return Model(self._features, self._proxies, settings, self._schedule, seed)

    def predict(self, history: History) -> Prediction:
        """Predict from the latest fit that is due, of at least two labels."""
        size = max(MIN_LABELS, *self._schedule.training_sizes(len(history.labelled)))
        labelled, labels = history.labelled[:size], history.labels[:size]
        if labels.min() == labels.max():
            return self._uninformed(labels)
        if self._fit is None or not self._fit.is_of(labelled, labels):
            self._fit = self._fitted(labelled, labels)
        if not len(history.pending):
            return self._fit.prediction
        return self._given_pending(self._fit, history.pending)

    def _uninformed(self, labels: FloatArray) -> Prediction:
        """Predict the one label that there is, so that random priority alone decides."""
        # A process fitted to equal labels would explore by its spread, which is largest in the
        # corners of the space.
        n_candidates = self._features.n_candidates
        mean, none = np.full(n_candidates, labels[0]), np.zeros(n_candidates)
        return self._prediction(
            mean, none, none, labels, scale=LinearScale(), active=np.empty(0, np.intp)
        )

    def predict_everything(self, history: History) -> Prediction:
        """Predict from a fit on all labels, without a shortlist.

        It is remembered no longer, so that it changes no later prediction.
        """
        labelled, labels = history.labelled, history.labels
        with one_thread("blas"):
            active = self._active(labelled, labels)
            view = self._view_of(active, None)
            self._learn(view, labelled, labels)
            mean, std = _scores(view)
        return self._prediction(
            mean, std, std, labels, scale=_scale_of(view.surrogate), active=active
        )

    def _fitted(self, labelled: IntArray, labels: FloatArray) -> _Fit:
        """Fit on labels, with the parts of the latest fit that are still valid."""
        latest, survey = self._fit, None
        with one_thread("blas"):
            active = self._active(labelled, labels)
            view = self._view_of(active, None if latest is None else latest.view)
            n_candidates = len(view.features)
            if self._settings.shortlist.size(n_candidates) == n_candidates:
                self._learn(view, labelled, labels)
                mean, std = _scores(view)
                spread = std
            else:
                latest_survey = None if latest is None else latest.survey
                survey = self._survey_of(view, labelled, labels, latest_survey)
                mean, std, spread = self._updated(survey, labelled, labels)
        scale = _scale_of(view.surrogate)
        prediction = self._prediction(mean, std, spread, labels, scale=scale, active=active)
        return _Fit(labelled, labels, view, survey, prediction)

    def _given_pending(self, fit: _Fit, pending: IntArray) -> Prediction:
        """Replace the spread by the one that remains after pending evaluations.

        Args:
            fit: Fit on the labels alone.
            pending: Shape (n_pending,).
        """
        view, survey = fit.view, fit.survey
        if not isinstance(view.surrogate, SurrogateOfPending):
            return fit.prediction
        rows, shortlist = view.features, np.arange(len(view.features))
        if survey is not None:
            rows, shortlist = survey.features, survey.shortlist
        spread = np.zeros_like(fit.prediction.scaled_std)
        with one_thread("blas"):
            self._learn(view, fit.labelled, fit.labels)
            spread[shortlist] = view.surrogate.std_given(rows, view.features[pending])
        return replace(fit.prediction, spread=spread)

    def _survey_of(
        self, view: _View, labelled: IntArray, labels: FloatArray, latest: _Survey | None
    ) -> _Survey:
        """Score every candidate on the labels of when these last doubled."""
        size = max(MIN_LABELS, *thinned_sizes(self._schedule.training_sizes(len(labels)), 1.0))
        labelled, labels = labelled[:size], labels[:size]
        key = _key(labelled, labels)
        if latest is not None and latest.is_of(view, key):
            return latest
        # Half of the most labels suffice to find which candidates are worth scoring again.
        self._learn(view, labelled, labels, share=0.5)
        mean, std = _scores(view)
        worth = self._settings.acquisition.score(mean, std, labels)
        n_best = self._settings.shortlist.size(len(view.features))
        shortlist = np.sort(np.argpartition(-worth, n_best)[:n_best])
        features = np.asfortranarray(view.features[shortlist])
        return _Survey(view, key, mean, std, shortlist, features)

    def _updated(
        self, survey: _Survey, labelled: IntArray, labels: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Score the shortlist on all labels; the others keep the scores of the survey.

        Returns:
            Mean, dispersion, and the dispersion that counts for a choice: none of the others,
            for theirs does not fall as labels arrive, and would draw the search to them.
        """
        if survey.key == _key(labelled, labels):
            return survey.mean, survey.std, survey.std
        self._learn(survey.view, labelled, labels)
        mean, std, spread = survey.mean.copy(), survey.std.copy(), np.zeros_like(survey.std)
        shortlist = survey.shortlist
        mean[shortlist], std[shortlist] = survey.view.surrogate.predict(survey.features)
        spread[shortlist] = std[shortlist]
        return mean, std, spread

    def _learn(
        self, view: _View, labelled: IntArray, labels: FloatArray, share: float = 1.0
    ) -> None:
        """Fit the surrogate on the labels.

        Where there are more than :attr:`ModelSettings.max_labels`, a share of so many is taken.
        """
        most = self._settings.max_labels
        if most is not None and len(labels) > most:
            best_first = np.argsort(-labels, kind="stable")
            rows = best_and_sample(best_first, int(share * most), stream(self._seed, "labels"))
            labelled, labels = labelled[rows], labels[rows]
        view.surrogate.fit(view.features[labelled], labels)

    def _active(self, labelled: IntArray, labels: FloatArray) -> IntArray:
        """Proxies for the surrogate (Alg. 3, line 5), the most voted first."""
        if self._proxies is None or self._settings.features == "parameters":
            return np.empty(0, dtype=np.intp)
        if self._settings.selector is None:
            return np.arange(len(self._proxies.names), dtype=np.intp)
        rng = stream(self._seed, "reselection", len(labelled))
        return self._settings.selector.select(self._proxies.ranks[labelled], labels, rng)

    def _view_of(self, active: IntArray, latest: _View | None) -> _View:
        """Features and surrogate of some proxies, those of the latest fit while these stay."""
        active = np.sort(active)
        if latest is not None and np.array_equal(latest.active, active):
            return latest
        features, layout = self._features.of(active)
        return _View(active, features, self._settings.surrogate(layout, self._seed))

    def _prediction(
        self,
        mean: FloatArray,
        std: FloatArray,
        spread: FloatArray,
        labels: FloatArray,
        *,
        scale: LabelScale,
        active: IntArray,
    ) -> Prediction:
        names = () if self._proxies is None else self._proxies.names_of(active)
        draw_priority = partial(_permutation, self._seed, len(labels), len(mean))
        criterion = self._settings.acquisition
        return Prediction(
            mean, std, spread, scale.scaled(labels), scale, criterion, draw_priority, names
        )


def _key(labelled: IntArray, labels: FloatArray) -> tuple[bytes, bytes]:
    return labelled.tobytes(), labels.tobytes()


def _scores(view: _View) -> tuple[FloatArray, FloatArray]:
    """Mean and dispersion of every candidate."""
    surrogate, features = view.surrogate, view.features
    if len(features) <= _CHUNK:
        return surrogate.predict(features)
    mean, std = np.empty(len(features)), np.empty(len(features))
    for start in range(0, len(features), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        mean[chunk], std[chunk] = surrogate.predict(features[chunk])
    return mean, std


def _scale_of(surrogate: Surrogate) -> LabelScale:
    """Scale of the predictions after the latest fit."""
    return surrogate.label_scale if isinstance(surrogate, SurrogateOnScale) else LinearScale()


def _permutation(seed: int, n_labelled: int, n_candidates: int) -> IntArray:
    return stream(seed, "ties", n_labelled).permutation(n_candidates)
