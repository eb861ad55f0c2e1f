"""K-means: by Lloyd's iteration, which needs NumPy and SciPy alone, or by scikit-learn.

Notations:
    points: float array of shape (n_points, n_features).
    centroids: float array of shape (n_clusters, n_features).
"""

from __future__ import annotations

from typing import Any
from typing import Protocol
import warnings

import numpy as np
import numpy.typing as npt

from optuna_zaps import _optional
from optuna_zaps.search.threads import one_thread


Points = npt.NDArray[np.floating[Any]]
FloatArray = npt.NDArray[np.float64]

_TOLERANCE = 1e-4
"""Squared shift of the centroids, relative to the variance of the points, that ends an iteration;
that of scikit-learn."""


class KMeans(Protocol):
    """A way to cluster points."""

    def __call__(
        self,
        points: Points,
        n_clusters: int,
        rng: np.random.Generator,
        *,
        n_restarts: int,
        max_iterations: int,
    ) -> Points:
        """Find centroids.

        Args:
            points: See the module's notations; at least n_clusters.
            n_clusters: Number of centroids, at least 1.
            rng: Source of everything random.
            n_restarts: Number of starts, of which the one with the least inertia counts.
            max_iterations: Most iterations of each.
        """


def require_scikit_learn() -> None:
    """Check that scikit-learn, an optional dependency, is there.

    Raises:
        ImportError: If it cannot be imported. The message says how to install it.
    """
    _optional.require(
        "sklearn", "The K-means of the paper's profile needs scikit-learn", install="scikit-learn"
    )


def lloyd_kmeans(
    points: Points,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_restarts: int,
    max_iterations: int,
) -> FloatArray:
    """Cluster by Lloyd's iteration from k-means++ (Arthur and Vassilvitskii, 2007).

    A cluster that becomes empty keeps its centroid. See :class:`KMeans`.
    """
    exact = points.astype(np.float64)
    runs = [_lloyd(exact, n_clusters, rng, max_iterations) for _ in range(n_restarts)]
    return min(runs, key=lambda run: run[1])[0]


def scikit_learn_kmeans(
    points: Points,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_restarts: int,
    max_iterations: int,
) -> Points:
    """Cluster by scikit-learn, an optional dependency. See :class:`KMeans`."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    kmeans = KMeans(
        n_clusters=n_clusters,
        n_init=n_restarts,
        max_iter=max_iterations,
        random_state=int(rng.integers(2**31)),
    )
    with one_thread(), warnings.catch_warnings():
        # Fewer distinct points than clusters leave empty ones, whose centroids are as good here.
        warnings.simplefilter("ignore", ConvergenceWarning)
        centroids: Points = kmeans.fit(points).cluster_centers_
    return centroids


def _lloyd(
    points: FloatArray, n_clusters: int, rng: np.random.Generator, max_iterations: int
) -> tuple[FloatArray, float]:
    """Centroids of one start, and their inertia: the sum of the squared distances to them."""
    from scipy.spatial.distance import cdist

    centroids = _plus_plus(points, n_clusters, rng)
    tolerance = _TOLERANCE * points.var(axis=0).mean()
    for _ in range(max_iterations):
        # Assignment: each point belongs to the nearest centroid.
        nearest = cdist(points, centroids, "sqeuclidean").argmin(axis=1)
        # Update: each centroid moves to the mean of its points.
        size = np.bincount(nearest, minlength=n_clusters)
        total = np.column_stack(
            [np.bincount(nearest, column, minlength=n_clusters) for column in points.T]
        )
        moved = np.where(
            size[:, np.newaxis] > 0, total / np.maximum(size, 1)[:, np.newaxis], centroids
        )
        shift = np.square(moved - centroids).sum()
        centroids = moved
        if shift <= tolerance:
            break
    return centroids, float(cdist(points, centroids, "sqeuclidean").min(axis=1).sum())


def _plus_plus(points: FloatArray, n_clusters: int, rng: np.random.Generator) -> FloatArray:
    """Choose centroids among the points by k-means++, greedily.

    Of 2 + log n_clusters draws, the one that leaves the least inertia is chosen, as by
    scikit-learn.
    """
    from scipy.spatial.distance import cdist

    n_draws = 2 + int(np.log(n_clusters))
    chosen = [int(rng.integers(len(points)))]
    distance = cdist(points, points[chosen], "sqeuclidean")[:, 0]
    while len(chosen) < n_clusters:
        # D^2 weighting: P(x) = D(x)^2 / sum D^2, where D is the distance to the nearest chosen.
        total = distance.sum()
        drawn = rng.choice(len(points), n_draws, p=distance / total if total > 0 else None)
        after = np.minimum(distance, cdist(points[drawn], points, "sqeuclidean"))
        best = int(after.sum(axis=1).argmin())
        chosen.append(int(drawn[best]))
        distance = after[best]
    return points[chosen]
