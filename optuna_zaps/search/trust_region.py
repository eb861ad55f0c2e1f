"""Trust region of a local search: a box around the best label that learns its size from labels.

After TuRBO (Eriksson et al., "Scalable Global Optimization via Local Bayesian Optimization",
NeurIPS 2019). Unlike there, the state is no memory of a process: it follows from the labels in the
order of their trials, so that every worker of a study finds the same region, whoever chose the
points. Each evaluation inside the box is a success or a failure. A region that has shrunk to
nothing has converged. Then single coordinates of the best point hop, near and far, which leaves
the basins of many functions. Without further success a region returns to the best label of all,
for its last digits, and then another one begins elsewhere.

Notations:
    points: float64 array of shape (n_labelled, n_parameters) in the unit cube, oldest first.
    labels: float64 array of shape (n_labelled,), larger is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace

import numpy as np
import numpy.typing as npt


FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TrustRegionSettings:
    """Sizes of a region, and when they change. Sides are in units of a parameter's range.

    Attributes:
        first_side: Side of the box of a region at a new place.
        return_side: Side of the box of a region that returns to the best label.
        least_side: Side below which a region has converged.
        most_side: Largest side.
        n_hops: Number of hops of each coordinate after a region has converged, and after each
            that finds a better label near it.
        n_successes: Successes in a row that double the side.
        n_failures: Failures in a row that halve it, if there are not more parameters.
        least_gain: Smallest improvement that is a success, in units of the gap between the best
            label and those around it.
        exclusion: Distance from the centre of a converged region, in each parameter, within which
            no other one begins.
    """

    first_side: float
    return_side: float
    least_side: float
    most_side: float
    n_hops: int
    n_successes: int
    n_failures: int
    least_gain: float
    exclusion: float


@dataclass(frozen=True)
class TrustRegion:
    """A region after some labels.

    Attributes:
        n_labels: Number of labels that it knows.
        start: Number of labels at its beginning, or at the last hop before it.
        centre: Position of its best label.
        side: Side of its box.
        n_successes: Successes in a row since the side changed.
        n_failures: Failures in a row likewise.
        converged: Positions of the centres of the regions before it, without returns.
        is_return: Whether it has returned to the best label of all.
        n_hops: Number of hops from its centre that come before it.
    """

    n_labels: int
    start: int
    centre: int
    side: float
    n_successes: int = 0
    n_failures: int = 0
    converged: tuple[int, ...] = ()
    is_return: bool = False
    n_hops: int = 0

    @property
    def excluded(self) -> tuple[int, ...]:
        """Positions of the centres whose surroundings are no part of it."""
        return () if self.is_return else self.converged

    @classmethod
    def first(cls, labels: FloatArray, settings: TrustRegionSettings) -> TrustRegion:
        """First region of a study, around the best label of its start."""
        return cls(len(labels), len(labels), int(labels.argmax()), settings.first_side)

    def after(
        self, points: FloatArray, labels: FloatArray, settings: TrustRegionSettings
    ) -> TrustRegion:
        """Region once more labels are known.

        Args:
            points: Labelled points, those that it knows first.
            labels: Their labels.
            settings: Sizes.
        """
        region = self
        for n in range(self.n_labels + 1, len(labels) + 1):
            region = region._after_next(points[:n], labels[:n], settings)
        return region

    def _after_next(
        self, points: FloatArray, labels: FloatArray, settings: TrustRegionSettings
    ) -> TrustRegion:
        """Region after the last of some labels, the only one that it does not know."""
        region, last = replace(self, n_labels=len(labels)), len(labels) - 1
        if self.n_hops:
            return region._hopped(points, labels, settings)
        gain = float(labels[last] - labels[self.centre])
        is_old = _is_near(points[last], points, self.excluded, settings.exclusion)
        is_outside = not _is_near(points[last], points, (self.centre,), self.side / 2)
        if is_old or (gain <= 0 and is_outside):
            return region
        gap = float(labels[self.centre]) - _around(self.centre, points[:last], labels[:last])
        if gain > 0:
            region = replace(region, centre=last)
        if gain > settings.least_gain * gap:
            return region._succeeded(settings)
        return region._failed(points, labels, settings)

    def _succeeded(self, settings: TrustRegionSettings) -> TrustRegion:
        n_successes = self.n_successes + 1
        if n_successes < settings.n_successes:
            return replace(self, n_successes=n_successes, n_failures=0)
        side = min(2 * self.side, settings.most_side)
        return replace(self, side=side, n_successes=0, n_failures=0)

    def _failed(
        self, points: FloatArray, labels: FloatArray, settings: TrustRegionSettings
    ) -> TrustRegion:
        n_failures = self.n_failures + 1
        if n_failures < max(settings.n_failures, points.shape[1]):
            return replace(self, n_successes=0, n_failures=n_failures)
        if self.side / 2 < settings.least_side:
            return self._next(points, labels, settings)
        return replace(self, side=self.side / 2, n_successes=0, n_failures=0)

    def _next(
        self, points: FloatArray, labels: FloatArray, settings: TrustRegionSettings
    ) -> TrustRegion:
        """Region that follows once this one has converged."""
        n, best = len(labels), int(labels.argmax())
        if not self.is_return:
            return TrustRegion(
                n,
                n,
                best,
                settings.return_side,
                converged=(*self.converged, self.centre),
                is_return=True,
                n_hops=settings.n_hops * points.shape[1],
            )
        new = TrustRegion(n, n, best, settings.first_side)
        is_far = np.array(
            [not _is_near(point, points, self.converged, settings.exclusion) for point in points]
        )
        if not is_far.any():
            # Nothing is left: all of it may be searched again.
            return new
        centre = int(np.where(is_far, labels, -np.inf).argmax())
        return replace(new, centre=centre, converged=self.converged)

    def _hopped(
        self, points: FloatArray, labels: FloatArray, settings: TrustRegionSettings
    ) -> TrustRegion:
        """Region after a label that arrived while coordinates hop."""
        n, last = len(labels), len(labels) - 1
        if labels[last] <= labels[self.centre]:
            return replace(self, start=n, n_hops=self.n_hops - 1)
        if _is_near(points[last], points, self.converged, settings.exclusion):
            # Other coordinates may be in a wrong basin as well.
            n_hops = settings.n_hops * points.shape[1]
            return replace(self, start=n, centre=last, n_hops=n_hops)
        return TrustRegion(n, n, last, settings.first_side, converged=self.converged)


def _is_near(
    point: FloatArray, points: FloatArray, centres: tuple[int, ...], distance: float
) -> bool:
    """Whether a point is within a distance of any centre in each parameter."""
    return bool((np.abs(points[list(centres)] - point) <= distance).all(axis=1).any())


def _around(centre: int, points: FloatArray, labels: FloatArray) -> float:
    """Median label of the points nearest to the centre, twice as many as there are parameters."""
    distance = np.abs(points - points[centre]).max(axis=1)
    distance[centre] = np.inf
    n = min(2 * points.shape[1], len(points) - 1)
    nearest = np.argsort(distance, kind="stable")[:n]
    return float(np.median(labels[nearest])) if n else -np.inf
