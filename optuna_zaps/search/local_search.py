"""Local search: a process of the labels around the best one, maximised within a trust region.

A pool spreads its points over the whole space and around all that is known, and its process has
seen labels from everywhere: near an optimum both are too coarse. Here a small process is fitted to
the labels around the centre of a :class:`~optuna_zaps.search.trust_region.TrustRegion`, and points
of the region are improved in a few rounds by the cross-entropy method. An ask costs a fraction of
that of a pool, whose process and points are each several times as many.

Notations:
    points: float64 array of shape (n_points, n_parameters) in the unit cube, see
        :mod:`optuna_zaps.search.pool`.
    features: float64 array of shape (n_points, n_features): the coordinates of numbers, one-hot
        codes of choices.
    labels: float64 array of shape (n_labelled,), larger is better.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from typing import Protocol

import numpy as np
import numpy.typing as npt

from optuna_zaps._randomness import stream
from optuna_zaps._sizes import growing_sizes
from optuna_zaps.search.acquisition import Acquisition
from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.observations import Observations
from optuna_zaps.search.pool import Axis
from optuna_zaps.search.pool import PoolSettings
from optuna_zaps.search.pool import snapped
from optuna_zaps.search.search import Proposal
from optuna_zaps.search.threads import one_thread
from optuna_zaps.search.trust_region import TrustRegion
from optuna_zaps.search.trust_region import TrustRegionSettings
from optuna_zaps.surrogates import FeatureLayout
from optuna_zaps.surrogates import LabelScale
from optuna_zaps.surrogates import LinearScale
from optuna_zaps.surrogates import SkewTest


FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]


class LocalSurrogate(Protocol):
    """Regressor whose hyper-parameters are fitted apart from what it learns otherwise."""

    @property
    def noise(self) -> float:
        """Variance of the noise of labels of variance 1."""

    def fit_hyperparameters(self, X: FloatArray, y: FloatArray) -> None:
        """Fit the hyper-parameters to labelled rows."""

    def condition(self, X: FloatArray, y: FloatArray) -> None:
        """Learn from labelled rows with these hyper-parameters."""

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and dispersion of rows, each of shape (n_rows,)."""

    def std_given(self, X: FloatArray, pending: FloatArray) -> FloatArray:
        """Dispersion that remains once the pending rows have labels, shape (n_rows,)."""


@dataclass(frozen=True)
class LocalSettings:
    """Settings of a local search.

    Attributes:
        region: Sizes of the trust region.
        surrogate: Makes the process of a layout of features, given a seed.
        acquisition: Worth of evaluating a point.
        skew_test: Decides, by all labels, whether the process sees them on a logarithmic scale.
        pool: Size and spread of the pools of the global search, once there is a local one.
        n_first: Fewest labels with which there is a local search.
        n_latest: Number of configurations, the latest, whose failures count.
        most_failures: Largest share of failures among these with which there is a local search,
            which does not know where trials fail.
        global_growth: Relative growth of the configurations from one ask that is left to the
            global search to the next.
        n_labels: Most labels of the process, those nearest to the centre, of no parameter.
        n_labels_of_each: Further ones for each parameter.
        distance_of_choices: Squared distance of configurations that differ in one choice.
        most_noise: Largest variance of the noise, of labels of variance 1, with which the local
            search proposes anything: the best of noisy labels is a lucky one.
        least_difference: Smallest standard deviation of the labels of the process that can be such
            noise, in units of the gap between the best label and the median of all.
        refit_every: Number of labels from one fit of the hyper-parameters to the next; there is
            one at the beginning of a region, too.
        n_points: Number of points drawn from the region.
        min_step: Smallest standard deviation of a step from its centre, in units of half its side.
        n_rounds: Number of rounds of the cross-entropy method.
        n_elite: Number of best points that each round draws from.
        n_drawn: Number of points that it draws.
        widening: Ratio of their standard deviation to that of the best points.
        n_proposed: Number of points that are proposed, the best first.
    """

    region: TrustRegionSettings
    surrogate: Callable[[FeatureLayout, int], LocalSurrogate]
    acquisition: Acquisition
    skew_test: SkewTest | None
    pool: PoolSettings
    n_first: int
    n_latest: int
    most_failures: float
    global_growth: float
    n_labels: int
    n_labels_of_each: int
    distance_of_choices: float
    most_noise: float
    least_difference: float
    refit_every: int
    n_points: int
    min_step: float
    n_rounds: int
    n_elite: int
    n_drawn: int
    widening: float
    n_proposed: int

    def bears(self, observations: Observations) -> bool:
        """Whether there are so few failures that the local search need not avoid them."""
        return observations.failures_are_rare(self.n_latest, self.most_failures)

    def is_turn(self, n_seen: int, n_labelled: int) -> bool:
        """Whether an ask is for the local search and not for the global one.

        Args:
            n_seen: Number of configurations that are evaluated or being evaluated.
            n_labelled: Number of those that have labels.
        """
        if n_labelled < self.n_first:
            return False
        return max(growing_sizes(self.n_first, self.global_growth, n_seen)) < n_seen


class _Scored(NamedTuple):
    """Points with their predictions, on the scale of the process."""

    points: FloatArray
    mean: FloatArray
    std: FloatArray
    score: FloatArray

    def best(self, n: int) -> _Scored:
        """Points of the largest scores, the best first."""
        return self._at(np.argsort(-self.score, kind="stable")[:n])

    def distinct(self) -> _Scored:
        """Different points, without those that are left out."""
        first = _first_of_equal(self.points)
        return self._at(first[np.isfinite(self.score[first])])

    def _at(self, rows: IntArray) -> _Scored:
        return _Scored(*(each[rows] for each in self))

    def joined(self, other: _Scored) -> _Scored:
        """Add other points at the end."""
        return _Scored(*map(np.concatenate, zip(self, other, strict=True)))


class Found(NamedTuple):
    """Points that a local search proposes, the best first.

    Attributes:
        points: Shape (n_points, n_parameters).
        means: Predicted label of each, of shape (n_points,), or none if they were not predicted.
        stds: Its predicted dispersion.
        acquisitions: Score of each, in the unit of the labels.
    """

    points: FloatArray
    means: FloatArray
    stds: FloatArray
    acquisitions: FloatArray

    @classmethod
    def none(cls, n_parameters: int) -> Found:
        """No points."""
        nothing = np.empty(0)
        return cls(np.empty((0, n_parameters)), nothing, nothing, nothing)


@dataclass(frozen=True)
class _Box:
    """Part of the unit cube that is searched: any choices, and numbers of a trust region.

    Attributes:
        centre: Shape (n_parameters,).
        low: Lower ends, likewise.
        high: Upper ends, likewise.
        excluded: Centres of what is left out, shape (n_excluded, n_parameters).
        exclusion: Distance within which points of it are left out, in each parameter.
    """

    centre: FloatArray
    low: FloatArray
    high: FloatArray
    excluded: FloatArray
    exclusion: float

    @classmethod
    def of(
        cls,
        region: TrustRegion,
        points: FloatArray,
        is_number: BoolArray,
        settings: TrustRegionSettings,
    ) -> _Box:
        """Box of a region."""
        centre = points[region.centre]
        reach = np.where(is_number, region.side / 2, 1.0)
        low, high = np.maximum(centre - reach, 0.0), np.minimum(centre + reach, 1.0)
        # The values of the study may lie outside the range from which points are drawn.
        low, high = np.minimum(low, 1.0), np.maximum(high, 0.0)
        excluded = region.excluded
        return cls(
            np.clip(centre, 0.0, 1.0), low, high, points[list(excluded)], settings.exclusion
        )

    def leaves_out(self, points: FloatArray) -> BoolArray:
        """Mask of the points that are left out, shape (n_points,)."""
        return _within(points, self.excluded, self.exclusion)


@dataclass(frozen=True)
class _Given:
    """Facts of one ask: features of pending points, number of labels, and where to search."""

    pending: FloatArray
    n_labels: int
    box: _Box


class LocalSearch:
    """Search of the surroundings of the best label.

    What it remembers depends on the labels and the seed alone, and can be computed again.

    Args:
        axes: Axes of the unit cube, at least one of a number.
        settings: Settings.
        seed: Seed of everything random.
    """

    def __init__(self, axes: Sequence[Axis], settings: LocalSettings, seed: int) -> None:
        self.settings = settings
        self._axes = axes
        self._seed = seed
        self._is_number = np.array([axis.is_numeric for axis in axes])
        self._n_choices = [axis.n_choices for axis in axes]
        widths = tuple(n or 1 for n in self._n_choices)
        layout = FeatureLayout(0, widths, tuple(self._is_number.tolist()))
        self._surrogate = settings.surrogate(layout, seed)
        self._fitted_on: tuple[FloatArray, FloatArray] | None = None
        self._region: TrustRegion | None = None
        self._of_fit: TrustRegion | None = None
        self._known = np.empty((0, len(axes))), np.empty(0)
        self._low, self._extent = np.zeros(len(axes)), np.ones(len(axes))

    def find(self, points: FloatArray, labels: FloatArray, pending: FloatArray) -> Found:
        """Find points to evaluate.

        Args:
            points: Labelled points, oldest first.
            labels: Their labels, not all alike.
            pending: Points that are being evaluated.
        """
        settings = self.settings
        region = self._region_after(points, labels)
        rng = stream(self._seed, "local", len(points) + len(pending))
        if region.n_hops:
            return self._hops(points[region.centre], len(points) + len(pending), rng)
        scale = self._scale_of(labels)
        with one_thread("blas"):
            self._fit(points, labels)
            labels = scale.scaled(labels)
            near = self._nearest(points, region)
            # Elsewhere labels are few, and a rough fit takes their differences for noise.
            is_noisy = not region.excluded and self._surrogate.noise > settings.most_noise
            if is_noisy and self._differ(labels[near], labels):
                return Found.none(len(self._axes))
            self._surrogate.condition(self._features(points[near]), labels[near])
            box = _Box.of(region, points, self._is_number, settings.region)
            given = _Given(self._features(pending), len(labels), box)
            found = self._maximized(given, rng).best(settings.n_proposed).distinct()
        return Found(
            found.points,
            scale.labels(found.mean),
            scale.dispersion(found.mean, found.std),
            scale.labels(found.score),
        )

    def _hops(self, centre: FloatArray, number: int, rng: np.random.Generator) -> Found:
        """Points that differ from the centre of a converged region in one coordinate.

        Args:
            centre: The centre.
            number: Number of the ask; each coordinate has its turn.
            rng: Draws them.
        """
        settings = self.settings
        n, column = settings.n_drawn, number % len(centre)
        axis = self._axes[column]
        points = np.repeat(np.clip(centre, 0.0, 1.0)[np.newaxis], n, axis=0)
        # Near hops are as likely as far ones: the next basin may be anywhere. A region that
        # returns searches what is nearer than this.
        least = settings.region.return_side / 2
        steps = np.exp(rng.uniform(np.log(least), 0.0, n)) * rng.choice([-1.0, 1.0], n)
        hopped = snapped(axis, axis.moved(points[:, column], steps, rng.random(n)))
        points[:, column] = hopped
        distance = np.abs(hopped - centre[column])
        is_far = distance > (least if axis.is_numeric else 0.0)
        points, nothing = points[is_far], np.empty(0)
        points = points[_first_of_equal(points)[: settings.n_proposed]]
        return Found(points, nothing, nothing, nothing)

    def _region_after(self, points: FloatArray, labels: FloatArray) -> TrustRegion:
        """Region after all labels, continued where those of the last call come first."""
        settings, region = self.settings, self._region
        if (
            region is None
            or not np.array_equal(self._known[1], labels[: region.n_labels])
            or not np.array_equal(self._known[0], points[: region.n_labels])
        ):
            region = TrustRegion.first(labels[: settings.n_first], settings.region)
            self._of_fit = region
        for n in range(region.n_labels + 1, len(labels) + 1):
            region = region.after(points[:n], labels[:n], settings.region)
            if (n - region.start) % settings.refit_every == 0:
                self._of_fit = region
        self._region, self._known = region, (points, labels)
        return region

    def _fit(self, points: FloatArray, labels: FloatArray) -> None:
        """Fit the hyper-parameters to what was known when a fit was due."""
        assert self._of_fit is not None
        n = self._of_fit.n_labels
        known = points[:n], labels[:n]
        if self._fitted_on is None or not all(map(np.array_equal, known, self._fitted_on)):
            near = self._nearest(points[:n], self._of_fit)
            # The priors are those of numbers that fill the interval [0, 1].
            low, high = points[near].min(axis=0), points[near].max(axis=0)
            self._low = np.where(self._is_number, low, 0.0)
            self._extent = np.where(self._is_number & (high > low), high - low, 1.0)
            scaled = self._scale_of(labels[:n]).scaled(labels[:n])
            self._surrogate.fit_hyperparameters(self._features(points[near]), scaled[near])
            self._fitted_on = known

    def _scale_of(self, labels: FloatArray) -> LabelScale:
        """Scale on which the process sees labels."""
        test = self.settings.skew_test
        return LinearScale() if test is None else test.scale_of(labels)

    def _nearest(self, points: FloatArray, region: TrustRegion) -> IntArray:
        """Positions of the points nearest to the centre of a region, oldest first.

        Those of converged regions, which are many and all alike, would hide what is elsewhere.
        """
        settings, centre = self.settings, points[region.centre]
        distance = np.square((points - centre)[:, self._is_number]).sum(axis=1)
        differs = (points != centre)[:, ~self._is_number]
        distance += settings.distance_of_choices * differs.sum(axis=1)
        excluded = _within(points, points[list(region.excluded)], settings.region.exclusion)
        kept = np.flatnonzero(~excluded)
        n = settings.n_labels + len(centre) * settings.n_labels_of_each
        return np.sort(kept[np.argsort(distance[kept], kind="stable")[:n]])

    def _differ(self, near: FloatArray, labels: FloatArray) -> bool:
        """Whether labels near the centre differ by more than the last digits of a search.

        Args:
            near: Labels near the centre.
            labels: All labels.
        """
        gap = labels.max() - np.median(labels)
        return bool(near.std() > self.settings.least_difference * gap)

    def _features(self, points: FloatArray) -> FloatArray:
        """Features of points, shape (n_points, n_features)."""
        coordinates = (points - self._low) / self._extent
        if self._is_number.all():
            return coordinates
        return np.hstack(
            [
                np.eye(n)[np.minimum(points[:, column] * n, n - 1).astype(np.intp)]
                if n
                else coordinates[:, [column]]
                for column, n in enumerate(self._n_choices)
            ]
        )

    def _maximized(self, given: _Given, rng: np.random.Generator) -> _Scored:
        """Points of the box, and better ones by the cross-entropy method (Rubinstein, 1999)."""
        settings, box = self.settings, given.box
        scored = self._scored(self._drawn(box, rng), given)
        for _ in range(settings.n_rounds):
            elite = scored.best(settings.n_elite).points
            # Normal with the covariance of the best points, around their mean or the best of all:
            # C = A^T A / n of the deviations A, so that A^T z / sqrt(n) has it for a normal z.
            mean = elite.mean(axis=0)
            lot = rng.normal(size=(settings.n_drawn, len(elite)))
            steps = settings.widening / np.sqrt(len(elite)) * lot @ (elite - mean)
            origins = np.stack([mean, elite[0]])[rng.integers(2, size=settings.n_drawn)]
            points = np.clip(origins + steps, box.low, box.high)
            # Choices have no mean: they are those of one of the best points.
            parents = elite[rng.integers(len(elite), size=settings.n_drawn)]
            points = np.where(self._is_number, points, parents)
            scored = scored.joined(self._scored(points, given))
        return scored

    def _drawn(self, box: _Box, rng: np.random.Generator) -> FloatArray:
        """Points of the box: half of them anywhere in it, half by steps small and large."""
        settings, centre = self.settings, box.centre
        shape = settings.n_points, len(centre)
        points = box.low + rng.random(shape) * (box.high - box.low)
        half = settings.n_points // 2
        lengths = np.exp(rng.uniform(np.log(settings.min_step), 0.0, size=(half, 1)))
        steps = lengths * rng.normal(size=(half, len(centre))) * (box.high - box.low) / 2
        near = np.clip(centre + steps, box.low, box.high)
        points[:half] = np.where(self._is_number, near, points[:half])
        # All coordinates moved, half of them, or about two: of many at once few moves are good.
        shares = np.array([min(1.0, 2.0 / len(centre)), 0.5, 1.0])
        share = shares[rng.integers(len(shares), size=(settings.n_points, 1))]
        moved = rng.random(shape) < share
        moved[np.arange(shape[0]), rng.integers(shape[1], size=shape[0])] = True
        # Choices stay, or one of them changes on average.
        lot, is_free = rng.random(shape), rng.integers(2, size=(shape[0], 1))
        changed = moved & (lot < is_free / max(int((~self._is_number).sum()), 1))
        return np.where(np.where(self._is_number, moved, changed), points, centre)

    def _scored(self, points: FloatArray, given: _Given) -> _Scored:
        """Predict the values nearest to points."""
        points = np.column_stack(
            [snapped(axis, points[:, column]) for column, axis in enumerate(self._axes)]
        )
        features = self._features(points)
        mean, std = self._surrogate.predict(features)
        spread = std
        if len(given.pending):
            spread = self._surrogate.std_given(features, given.pending)
        score = self.settings.acquisition.score(mean, spread, np.empty(given.n_labels))
        score = np.where(given.box.leaves_out(points), -np.inf, score)
        return _Scored(points, mean, std, score)


def _within(points: FloatArray, centres: FloatArray, distance: float) -> BoolArray:
    """Mask of the points within a distance of any centre in each parameter."""
    mask = np.zeros(len(points), dtype=np.bool_)
    for centre in centres:
        mask |= (np.abs(points - centre) <= distance).all(axis=1)
    return mask


def _first_of_equal(points: FloatArray) -> IntArray:
    """Positions of different points in their order."""
    first: dict[tuple[float, ...], int] = {}
    for position, point in enumerate(points.tolist()):
        first.setdefault(tuple(point), position)
    return np.fromiter(first.values(), np.intp, len(first))


class LocalProposals:
    """Candidates that a local search has found, of which the first free one is proposed.

    Args:
        candidates: Candidates, the best first.
        found: Points of which they are the values, in the same order.
    """

    def __init__(self, candidates: CandidateSet, found: Found) -> None:
        self.candidates = candidates
        self._found = found

    def propose(
        self, observations: Observations, number: int, allowed: BoolArray | None = None
    ) -> Proposal | None:
        """Choose a candidate; see :meth:`optuna_zaps.search.outcomes.JointSearch.propose`."""
        del number
        free = (
            ~observations.unavailable if allowed is None else allowed & ~observations.unavailable
        )
        if not free.any():
            return None
        best, found = int(free.argmax()), self._found
        if not len(found.means):
            return Proposal(best, "random")
        return Proposal(
            best,
            "model",
            means=(float(found.means[best]),),
            stds=(float(found.stds[best]),),
            acquisition=float(found.acquisitions[best]),
        )
