"""The active loop (Algorithm 3): observations in, next candidate out.

Knows no study and no storage. A search keeps nothing that cannot be rebuilt: the same candidates,
proxies, history and seed give the same proposal in any process, however often it was asked.

Notations:
    labels: float64 array of shape (n_labelled,), finite, larger is better.
    features: float32 array of shape (n_candidates, n_proxies + n_encoding), phi(a) = [r(a); e(a)]
        for every proxy, with the mean ranks of the neighbours between where the settings want
        them; a fit selects columns of it.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from functools import cached_property
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from optuna_zaps.search.acquisition import upper_confidence_bound
from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.initial_design import InitialDesign
from optuna_zaps.search.initial_design import Plan
from optuna_zaps.search.model import ModelSettings
from optuna_zaps.search.proxies import ProxyTable
from optuna_zaps.search.proxy_fit import ConsensusSettings
from optuna_zaps.search.proxy_fit import consensus_subset
from optuna_zaps.search.randomness import stream
from optuna_zaps.search.schedule import Schedule
from optuna_zaps.search.schedule import coarser
from optuna_zaps.search.threads import one_thread
from optuna_zaps.surrogates import FeatureLayout
from optuna_zaps.surrogates import Surrogate
from optuna_zaps.surrogates import SurrogateFactory
from optuna_zaps.surrogates import SurrogateOfPending


FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

MIN_LABELS = 2
"""Below this many labels there is nothing to fit."""

_CHUNK = 2**16
"""Candidates that are scored at a time where all are, which bounds memory."""


@dataclass(frozen=True)
class SearchSettings:
    """Everything that a search over one candidate set decides by default.

    Attributes:
        schedule: When to fit.
        start: Plans the initial evaluations.
        initial_selection: Chooses, without labels, the proxies that seed the start.
        model: How labels become a score of every candidate.
        constraint_surrogate: Factory of the model of a constraint.
    """

    schedule: Schedule
    start: InitialDesign
    initial_selection: ConsensusSettings
    model: ModelSettings
    constraint_surrogate: SurrogateFactory


@dataclass(frozen=True)
class History:
    """What is known when a candidate is asked for.

    Attributes:
        labelled: Distinct candidates with a label, oldest first, shape (n_labelled,).
        labels: Their labels, finite, larger is better, shape (n_labelled,).
        unavailable: Mask of shape (n_candidates,) of those not to be proposed: evaluated, failed
            or being evaluated.
        pending: Distinct candidates without a label that are being evaluated, shape (n_pending,).
            The spread of a prediction is the one that remains once they have labels, which turns
            the search away from where other workers are; the mean is that of the known labels
            (GP-BUCB, Desautels et al., 2014, Eq. 7).
    """

    labelled: IntArray
    labels: FloatArray
    unavailable: npt.NDArray[np.bool_]
    pending: IntArray = field(default_factory=lambda: np.empty(0, np.intp))

    def __post_init__(self) -> None:
        assert self.labelled.shape == self.labels.shape
        assert not np.isin(self.pending, self.labelled).any()
        assert np.all(np.isfinite(self.labels))

    @classmethod
    def empty(cls, n_candidates: int) -> History:
        """That of a study without a trial."""
        return cls(np.empty(0, np.intp), np.empty(0), np.zeros(n_candidates, np.bool_))

    def restricted(self, candidates: IntArray) -> History:
        """The same with the labels of these candidates alone."""
        kept = np.isin(self.labelled, candidates)
        return replace(self, labelled=self.labelled[kept], labels=self.labels[kept])

    def widened(self, n_candidates: int) -> History:
        """The same over more candidates, the further ones available."""
        unavailable = np.zeros(n_candidates, dtype=np.bool_)
        unavailable[: len(self.unavailable)] = self.unavailable
        return replace(self, unavailable=unavailable)


@dataclass(frozen=True)
class Proposal:
    """A candidate, and why it was chosen.

    Attributes:
        candidate: Index of the candidate.
        phase: ``"exploitation"``, ``"coverage"``, ``"random"`` or ``"model"``.
        means: Predicted label of each objective, none before there is a model.
        stds: Predicted dispersions, as ``means``.
        acquisition: What made it the best: of one objective the upper confidence bound, ``None``
            before there is a model.
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


@dataclass(frozen=True)
class Prediction:
    """What a model says of every candidate.

    Attributes:
        mean: Predicted labels, shape (n_candidates,).
        std: Predicted dispersions, as ``mean``.
        acquisition: Upper confidence bounds, as ``mean``.
        draw_priority: Draws :attr:`priority`, always the same.
        proxies: Names of the proxies that the model was given.
    """

    mean: FloatArray
    std: FloatArray
    acquisition: FloatArray
    draw_priority: Callable[[], IntArray]
    proxies: tuple[str, ...]

    @cached_property
    def priority(self) -> IntArray:
        """Place of each among candidates of equal score, shape (n_candidates,).

        Trees give many candidates equal scores; leaving those in table order would move the
        paper's results by several points with the table.
        """
        return self.draw_priority()

    def first_of(self, score: FloatArray, free: npt.NDArray[np.bool_]) -> int:
        """The free candidate of the largest score; of equal ones the first in priority."""
        score = np.where(free, score, -np.inf)
        equal = np.flatnonzero(score == score.max())
        return int(equal[0] if len(equal) == 1 else equal[self.priority[equal].argmin()])


@dataclass(frozen=True)
class _Look:
    """Predictions of every candidate, and which of them are worth keeping up to date."""

    key: tuple[bytes, bytes]
    mean: FloatArray
    std: FloatArray
    shortlist: IntArray
    features: npt.NDArray[np.float32]


class ZAPSSearch:
    """Algorithm 3 over a candidate set.

    Args:
        candidates:
            What there is to choose from.
        proxies:
            Proxies of the candidates, or ``None`` to search by structure alone.
        settings:
            Everything else that it decides.
        seed:
            Everything random depends on it and on the history, nothing else.
        initial_proxies:
            Names of the proxies that seed the initialisation (Pi_init). By default
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
        self.schedule = settings.schedule
        self.settings = settings
        self._surrogate = settings.model.surrogate
        self._seed = seed
        self._initial = self._initial_columns(initial_proxies)
        self._forget_models()

    def _forget_models(self) -> None:
        """Drop what can be computed again from the labels."""
        self._model_key: tuple[bytes, bytes] | None = None
        self._model: Prediction | None = None
        self._kept: tuple[IntArray, npt.NDArray[np.float32], Surrogate] | None = None
        self._look: _Look | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what the history does not tell."""
        twin = self._twin()
        for computed in ("plan", "_features"):
            vars(twin).pop(computed, None)
        return vars(twin)

    def _twin(self) -> ZAPSSearch:
        """A search with the same features and no model."""
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        twin._forget_models()
        return twin

    @property
    def initial_proxies(self) -> tuple[str, ...]:
        """Names of the proxies that seed the initialisation."""
        return self._names(self._initial)

    @property
    def active_proxies(self) -> tuple[str, ...]:
        """Names of the proxies that the latest model was given, the most voted first."""
        return self.initial_proxies if self._model is None else self._model.proxies

    @cached_property
    def plan(self) -> Plan:
        """The initial evaluations (Alg. 3, line 3), addressed by trial number."""
        ranks = None if self.proxies is None else self.proxies.ranks[:, self._initial]
        rng = stream(self._seed, "initialization")
        return self.settings.start.plan(self.candidates, ranks, self.schedule.n_startup, rng)

    def propose(
        self,
        history: History,
        number: int,
        allowed: npt.NDArray[np.bool_] | None = None,
    ) -> Proposal | None:
        """Name the next candidate.

        Args:
            history: What is known.
            number: Number of the trial, which addresses the plan of the initial evaluations.
            allowed: Mask of shape (n_candidates,) of those that may be proposed; all by default.

        Returns:
            ``None`` if every allowed candidate is unavailable.
        """
        free = ~history.unavailable if allowed is None else allowed & ~history.unavailable
        if not free.any():
            return None
        if number < self.schedule.n_startup:
            planned = self._planned(number, free)
            if planned is not None:
                return planned
        if len(history.labelled) < MIN_LABELS:
            rng = stream(self._seed, "random", number)
            return Proposal(int(rng.choice(np.flatnonzero(free))), "random")
        model = self.predict(history)
        best = model.first_of(model.acquisition, free)  # Alg. 3, line 8
        return Proposal(
            best,
            "model",
            means=(float(model.mean[best]),),
            stds=(float(model.std[best]),),
            acquisition=float(model.acquisition[best]),
            proxies=model.proxies,
        )

    def predict(self, history: History) -> Prediction:
        """What the model in force says; of at least two labels."""
        size = max(MIN_LABELS, *self.schedule.training_sizes(len(history.labelled)))
        labelled, labels = history.labelled[:size], history.labels[:size]
        key = (labelled.tobytes(), labels.tobytes())
        if self._model is None or key != self._model_key:
            self._model, self._model_key = self._fit(labelled, labels, everything=False), key
        if not len(history.pending):
            return self._model
        return self._given_pending(self._model, labelled, labels, history.pending)

    def sibling(self, outcome: int, surrogate: SurrogateFactory | None = None) -> ZAPSSearch:
        """A search of another outcome of the same candidates.

        Args:
            outcome: Number that tells it from others; what it draws is its own.
            surrogate: Factory of its model, by default the same.
        """
        self._features  # noqa: B018  # computed once for both
        twin = self._twin()
        twin._surrogate = surrogate or self._surrogate
        twin._seed = int(stream(self._seed, "outcome", outcome % 2**32).integers(2**63))
        return twin

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
        # In a search of its own, so that what is asked for in between changes no proposal.
        model = self._twin()._fit(history.labelled, history.labels, everything=True)
        order = np.lexsort((model.priority, -model.mean))
        return Ranking(order, model.mean[order], model.std[order])

    @cached_property
    def _features(self) -> npt.NDArray[np.float32]:
        ranks = [] if self.proxies is None else [self.proxies.ranks]
        if ranks and self.settings.model.neighbourhood:
            ranks.append(self.candidates.neighbourhood_mean(ranks[0]))
        if not ranks:
            return self.candidates.encoding
        parts: list[npt.NDArray[np.floating[Any]]] = [*ranks, self.candidates.encoding]
        # Columns next to each other in memory, since a fit selects columns.
        shape = (len(self.candidates), sum(part.shape[1] for part in parts))
        features = np.empty(shape, dtype=np.float32, order="F")
        start = 0
        for part in parts:
            features[:, start : start + part.shape[1]] = part
            start += part.shape[1]
        return features

    def _fit(self, labelled: IntArray, labels: FloatArray, *, everything: bool) -> Prediction:
        """What a model of these labels says.

        Args:
            labelled: Shape (n_labelled,).
            labels: Their labels.
            everything: Whether it is asked about every candidate, however many there are.
        """
        n_labelled = len(labelled)
        with one_thread("blas"):
            active = self._active(labelled, labels)
            features, surrogate = self._surrogate_of(np.sort(active))
            if everything or self.settings.model.shortlist.size(len(features)) == len(features):
                self._learn(surrogate, features, labelled, labels)
                mean, std = _scores(surrogate, features)
                spread = std
            else:
                mean, std, spread = self._scores_of_best(surrogate, features, labelled, labels)
        beta = self.settings.model.exploration.weight(n_labelled)
        acquisition = upper_confidence_bound(mean, spread, beta)
        draw_priority = partial(_permutation, self._seed, n_labelled, len(mean))
        return Prediction(mean, std, acquisition, draw_priority, self._names(active))

    def _given_pending(
        self, model: Prediction, labelled: IntArray, labels: FloatArray, pending: IntArray
    ) -> Prediction:
        """Replace the acquisition by one with the spread that remains after pending trials.

        Args:
            model: Prediction from the labels alone.
            labelled: Shape (n_labelled,).
            labels: Their labels.
            pending: Shape (n_pending,).
        """
        assert self._kept is not None
        _, features, surrogate = self._kept
        if not isinstance(surrogate, SurrogateOfPending):
            return model
        rows, shortlist = features, np.arange(len(features))
        if self._look is not None:
            rows, shortlist = self._look.features, self._look.shortlist
        spread = np.zeros_like(model.std)
        with one_thread("blas"):
            self._learn(surrogate, features, labelled, labels)
            spread[shortlist] = surrogate.std_given(rows, features[pending])
        beta = self.settings.model.exploration.weight(len(labels))
        return replace(model, acquisition=upper_confidence_bound(model.mean, spread, beta))

    def _scores_of_best(
        self,
        surrogate: Surrogate,
        features: npt.NDArray[np.float32],
        labelled: IntArray,
        labels: FloatArray,
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Scores of what was best when the labels last doubled; of the others those of then.

        Returns:
            Mean, dispersion, and the dispersion that counts for a choice: none of the others,
            for theirs does not fall as labels arrive, and would draw the search to them.
        """
        size = max(MIN_LABELS, *coarser(self.schedule.training_sizes(len(labels)), 1.0))
        key = (labelled[:size].tobytes(), labels[:size].tobytes())
        if self._look is None or self._look.key != key:
            # Half of the most labels suffice to find which candidates are worth scoring again.
            self._learn(surrogate, features, labelled[:size], labels[:size], share=0.5)
            mean, std = _scores(surrogate, features)
            bound = upper_confidence_bound(mean, std, self.settings.model.exploration.weight(size))
            n_best = self.settings.model.shortlist.size(len(features))
            shortlist = np.sort(np.argpartition(-bound, n_best)[:n_best])
            self._look = _Look(key, mean, std, shortlist, np.asfortranarray(features[shortlist]))
        look = self._look
        if size == len(labels):
            return look.mean, look.std, look.std
        self._learn(surrogate, features, labelled, labels)
        mean, std, spread = look.mean.copy(), look.std.copy(), np.zeros_like(look.std)
        mean[look.shortlist], std[look.shortlist] = surrogate.predict(look.features)
        spread[look.shortlist] = std[look.shortlist]
        return mean, std, spread

    def _learn(
        self,
        surrogate: Surrogate,
        features: npt.NDArray[np.float32],
        labelled: IntArray,
        labels: FloatArray,
        share: float = 1.0,
    ) -> None:
        """Fit a surrogate on the labels.

        Where there are more than :attr:`ModelSettings.max_labels`, a share of so many is taken.
        """
        most = self.settings.model.max_labels
        if most is not None and len(labels) > most:
            best_first = np.argsort(-labels, kind="stable")
            rng = stream(self._seed, "labels")
            rows = best_and_sample(best_first, int(share * most), rng)
            labelled, labels = labelled[rows], labels[rows]
        surrogate.fit(features[labelled], labels)

    def _active(self, labelled: IntArray, labels: FloatArray) -> IntArray:
        """Proxies for the surrogate (Alg. 3, line 5), the most voted first."""
        if self.proxies is None or self.settings.model.features == "parameters":
            return np.empty(0, dtype=np.intp)
        if self.settings.model.selector is None:
            return np.arange(len(self.proxies.names), dtype=np.intp)
        rng = stream(self._seed, "reselection", len(labelled))
        return self.settings.model.selector.select(self.proxies.ranks[labelled], labels, rng)

    def _surrogate_of(self, active: IntArray) -> tuple[npt.NDArray[np.float32], Surrogate]:
        """The features of these proxies and their surrogate, kept while the proxies stay."""
        if self._kept is None or not np.array_equal(self._kept[0], active):
            n_proxies = 0 if self.proxies is None else len(self.proxies.names)
            n_columns = self._features.shape[1]
            encoding = np.arange(n_columns - self.candidates.encoding.shape[1], n_columns)
            widths, numeric = self.candidates.widths, self.candidates.numeric
            kinds = self.candidates.kinds
            if self.settings.model.features == "proxies":
                encoding, widths, numeric, kinds = encoding[:0], (), (), ()
            neighbours = active + n_proxies if self.settings.model.neighbourhood else active[:0]
            columns = np.concatenate([active, neighbours, encoding])
            features = self._features
            if len(columns) < n_columns or np.any(np.diff(columns) != 1):
                features = features[:, columns]
            layout = FeatureLayout(len(active), widths, numeric, len(neighbours) > 0, kinds)
            self._kept = (active, features, self._surrogate(layout, self._seed))
            self._look = None
        return self._kept[1], self._kept[2]

    def _planned(self, number: int, free: npt.NDArray[np.bool_]) -> Proposal | None:
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
            return np.asarray(
                consensus_subset(self.proxies.ranks, self.settings.initial_selection),
                dtype=np.intp,
            )
        if len(names) == 0:
            raise ValueError("initial_proxies must name at least one proxy, but is empty.")
        return self.proxies.columns(names)

    def _names(self, columns: IntArray) -> tuple[str, ...]:
        if self.proxies is None:
            return ()
        return tuple(self.proxies.names[column] for column in columns.tolist())


def _scores(
    surrogate: Surrogate, features: npt.NDArray[np.float32]
) -> tuple[FloatArray, FloatArray]:
    """Mean and dispersion of every candidate."""
    if len(features) <= _CHUNK:
        return surrogate.predict(features)
    mean, std = np.empty(len(features)), np.empty(len(features))
    for start in range(0, len(features), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        mean[chunk], std[chunk] = surrogate.predict(features[chunk])
    return mean, std


def best_and_sample(best_first: IntArray, n_rows: int, rng: np.random.Generator) -> IntArray:
    """Choose the best half of so many rows, and a random sample of the others.

    Args:
        best_first: Positions of all rows, the best first, shape (n_all,).
        n_rows: Number of rows to choose, fewer than there are.
        rng: Draws the sample; a generator of the same seed keeps most of it as rows are appended.

    Returns:
        Positions in increasing order, shape (n_rows,).
    """
    lot = rng.random(len(best_first))
    lot[best_first[: n_rows // 2]] = -1.0
    return np.sort(np.argsort(lot, kind="stable")[:n_rows])


def _permutation(seed: int, n_labelled: int, n_candidates: int) -> IntArray:
    return stream(seed, "ties", n_labelled).permutation(n_candidates)
