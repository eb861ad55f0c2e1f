"""Knowledge of all outcomes when a candidate is asked for.

Notations:
    labels: float64 array of shape (n_labelled,), finite, larger is better.
    label of a constraint: -c for its value c, which is feasible up to 0; so larger is better here
        too, and 0 is feasible. Slack, the distance from the limit of a feasible configuration, is
        part of the label: a smooth model of labels that end at 0 bends at the border, and takes
        configurations on it, as the best often are, to be infeasible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from optuna_zaps.search.penalties import PenaltySettings


FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]

_LARGEST = 1e30
"""Largest label: squares of larger ones overflow, such as those of a penalty of
``sys.float_info.max``, and trees read labels in single precision."""


def finite_labels(labels: FloatArray) -> FloatArray:
    """Replace infinite labels by the best or worst finite one; huge ones count as infinite.

    Args:
        labels: Shape (n_labelled,); NaN is the worst.
    """
    labels = np.where(np.isnan(labels), -np.inf, labels)
    finite = labels[np.abs(labels) <= _LARGEST]
    if len(finite) == len(labels):
        return labels
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    return np.clip(labels, low, high)


def signed_labels(labels: FloatArray) -> FloatArray:
    """Replace infinite labels of a constraint by huge ones: what counts is their sign.

    Args:
        labels: Shape (n_labelled,); NaN is violated.
    """
    return np.clip(np.where(np.isnan(labels), -np.inf, labels), -_LARGEST, _LARGEST)


def capped_labels(labels: FloatArray, is_complete: BoolArray, is_pruned: BoolArray) -> FloatArray:
    """Cap the labels of pruned trials at the median of completed ones.

    A pruned trial's value comes from an unfinished training; pruners stop a trial because it is
    worse than the median.

    Args:
        labels: Shape (n_trials,).
        is_complete: Mask of the completed trials, of which there is at least one.
        is_pruned: Mask of the pruned trials.
    """
    if is_complete.all():
        return labels
    median = float(np.median(finite_labels(labels[is_complete])))
    return np.where(is_pruned, np.minimum(labels, median), labels)


@dataclass(frozen=True)
class History:
    """Labels of one outcome when a candidate is asked for.

    Attributes:
        labelled: Distinct candidates with a label, oldest first, shape (n_labelled,).
        labels: Their labels, shape (n_labelled,).
        unavailable: Mask of shape (n_candidates,) of those not to be proposed: evaluated, failed
            or being evaluated.
        pending: Distinct candidates without a label that are being evaluated, shape (n_pending,).
            The spread of a prediction is the one that remains once they have labels, which turns
            the search away from the work of others; the mean is that of the known labels
            (GP-BUCB, Desautels et al., 2014, Eq. 7).
    """

    labelled: IntArray
    labels: FloatArray
    unavailable: BoolArray
    pending: IntArray = field(default_factory=lambda: np.empty(0, np.intp))

    def __post_init__(self) -> None:
        assert self.labelled.shape == self.labels.shape
        assert not (len(self.pending) and np.isin(self.pending, self.labelled).any())
        assert np.all(np.isfinite(self.labels))

    @classmethod
    def empty(cls, n_candidates: int) -> History:
        """History of a study without a trial."""
        return cls.of_unavailable(np.zeros(n_candidates, np.bool_))

    @classmethod
    def of_unavailable(cls, unavailable: BoolArray) -> History:
        """History without labels."""
        return cls(np.empty(0, np.intp), np.empty(0), unavailable)

    def restricted(self, candidates: IntArray) -> History:
        """Leave out the labels of all other candidates."""
        chosen = np.isin(self.labelled, candidates)
        return replace(self, labelled=self.labelled[chosen], labels=self.labels[chosen])

    def widened(self, n_candidates: int) -> History:
        """Append candidates, which are available."""
        unavailable = np.zeros(n_candidates, dtype=np.bool_)
        unavailable[: len(self.unavailable)] = self.unavailable
        return replace(self, unavailable=unavailable)


@dataclass(frozen=True)
class Observations:
    """Histories of all outcomes when a candidate is asked for.

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
    def unavailable(self) -> BoolArray:
        """See :class:`History`."""
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
        """Append candidates, which are available."""
        return self._each(lambda history: history.widened(n_candidates))

    def thinned(
        self, n_labels: int, best_first: IntArray, rng: np.random.Generator
    ) -> Observations:
        """Leave out labels except of the best half, and of a sample of the others.

        Args:
            n_labels: Most labels of an outcome.
            best_first: Result of :meth:`best_first`.
            rng: Draws the sample; a generator of the same seed keeps most of it as labels arrive.
        """
        if len(self.labelled) <= n_labels:
            return self
        position = {candidate: row for row, candidate in enumerate(self.labelled.tolist())}
        rows = np.array([position[candidate] for candidate in best_first.tolist()], dtype=np.intp)
        chosen = self.labelled[best_and_sample(rows, n_labels, rng)]

        def thinner(history: History) -> History:
            # Candidates without a value have labels of success or of constraints alone.
            others = history.labelled[~np.isin(history.labelled, self.labelled)]
            return history.restricted(np.concatenate([chosen, others[-n_labels:]]))

        return self._each(thinner)

    def _each(self, changed: Callable[[History], History]) -> Observations:
        return Observations(
            tuple(map(changed, self.objectives)),
            tuple(map(changed, self.constraints)),
            self.success and changed(self.success),
        )

    def without_penalties(
        self, settings: PenaltySettings | None, points: FloatArray | None = None
    ) -> Observations:
        """Outcomes whose objectives have no penalties, as :meth:`PenaltySettings.reduced`.

        Args:
            settings: Settings, ``None`` to take all labels as they are.
            points: Numbers of the candidates, shape (n_candidates, n_numbers).
        """
        if settings is None:
            return self

        def reduced(history: History) -> History:
            labelled = None if points is None else points[history.labelled]
            return replace(history, labels=settings.reduced(history.labels, labelled))

        objectives = tuple(map(reduced, self.objectives))
        return replace(self, objectives=objectives)

    def violations(self) -> FloatArray:
        """Total violation of the constraints by each labelled candidate, shape (n_labelled,).

        Each constraint counts in units of its largest violation; an unknown one counts as
        satisfied.
        """
        total = np.zeros(len(self.labelled))
        for history in self.constraints:
            known = dict(zip(history.labelled.tolist(), history.labels.tolist(), strict=True))
            violation = np.array([max(-known.get(c, 0.0), 0.0) for c in self.labelled.tolist()])
            total += violation / (violation.max(initial=0.0) or 1.0)
        return total

    @property
    def are_of_one_outcome(self) -> bool:
        """Whether there is one objective, without constraints or failures."""
        return len(self.objectives) == 1 and not self.constraints and self.success is None

    def failures_are_rare(self, n_latest: int, most: float) -> bool:
        """Whether at most a share of the configurations that ended last gave no value."""
        return self.success is None or bool(self.success.labels[-n_latest:].mean() >= 1 - most)

    @property
    def are_alike(self) -> bool:
        """Whether there are labels and none of them tells one candidate from another."""
        if not len(self.labelled) or np.ptp(self.labels, axis=0).any():
            return False
        return not self.violations().any()

    def best_first(self) -> IntArray:
        """Labelled candidates: feasible ones first, among them those that the fewest dominate."""
        if len(self.objectives) == 1:
            merit = self.labels[:, 0]
        else:
            merit = -n_dominating(self.labels).astype(np.float64)
        return self.labelled[np.lexsort((-merit, self.violations()))]


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


def n_dominating(labels: FloatArray) -> IntArray:
    """Count the rows that dominate each row: nowhere smaller and somewhere larger.

    Args:
        labels: Array of shape (n_rows, n_objectives), larger is better.

    Returns:
        Array of shape (n_rows,).
    """
    counts = np.empty(len(labels), dtype=np.intp)
    for i, row in enumerate(labels):
        counts[i] = np.sum(np.all(labels >= row, axis=1) & np.any(labels > row, axis=1))
    return counts


def pareto_front(labels: FloatArray) -> FloatArray:
    """Rows that no other dominates, shape (n_front, n_objectives)."""
    return np.asarray(labels[n_dominating(labels) == 0], dtype=np.float64)
