from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from optuna_zaps.search import kmeans
from optuna_zaps.search.kmeans import KMeans
from optuna_zaps.search.kmeans import lloyd_kmeans
from optuna_zaps.search.kmeans import scikit_learn_kmeans


def inertia(points: npt.NDArray[np.float64], centroids: npt.NDArray[np.floating]) -> float:
    return float(np.square(points[:, np.newaxis] - centroids).sum(axis=2).min(axis=1).sum())


@pytest.mark.parametrize("cluster", [lloyd_kmeans, scikit_learn_kmeans])
@pytest.mark.parametrize("seed", range(5))
def test_of_a_few_numbers_the_best_clustering_of_all_is_found(cluster: KMeans, seed: int) -> None:
    numbers = np.sort(np.random.default_rng(seed).random(9))
    # On a line the clusters of a best clustering are intervals.
    best = min(
        sum(np.square(part - part.mean()).sum() for part in np.split(numbers, cuts))
        for cuts in combinations(range(1, 9), 2)
    )
    points = numbers[:, np.newaxis]
    rng = np.random.default_rng(seed)
    found = cluster(points, 3, rng, n_restarts=30, max_iterations=100)
    assert inertia(points, found) == pytest.approx(best, rel=1e-9)


def test_one_cluster_has_the_mean() -> None:
    points = np.random.default_rng(0).random((50, 3))
    rng = np.random.default_rng(0)
    found = lloyd_kmeans(points, 1, rng, n_restarts=1, max_iterations=100)
    np.testing.assert_allclose(found, [points.mean(axis=0)])


def test_as_many_clusters_as_points_are_the_points() -> None:
    points = np.random.default_rng(0).random((12, 2))
    rng = np.random.default_rng(0)
    found = lloyd_kmeans(points, 12, rng, n_restarts=1, max_iterations=100)
    assert sorted(map(tuple, found)) == sorted(map(tuple, points))


def test_fewer_distinct_points_than_clusters() -> None:
    points = np.repeat([[0.0, 1.0], [1.0, 0.0]], 10, axis=0)
    rng = np.random.default_rng(0)
    found = lloyd_kmeans(points, 5, rng, n_restarts=2, max_iterations=100)
    assert {tuple(centroid) for centroid in found} == {(0.0, 1.0), (1.0, 0.0)}
    assert len(found) == 5


def test_a_cluster_that_becomes_empty_keeps_its_centroid(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = np.array([[0.0], [1.0], [9.0]])
    monkeypatch.setattr(kmeans, "_plus_plus", lambda points, n_clusters, rng: starts)
    rng = np.random.default_rng(0)
    points = np.array([[0.0], [0.2], [1.0], [1.2]])
    found = lloyd_kmeans(points, 3, rng, n_restarts=1, max_iterations=100)
    np.testing.assert_allclose(found, [[0.1], [1.1], [9.0]])


def test_the_start_of_least_inertia_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four corners of a long rectangle: Lloyd's iteration stays with its long sides."""
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.0], [4.0, 1.0]])
    starts = iter([[[2.0, 0.0], [2.0, 1.0]], [[0.0, 0.5], [4.0, 0.5]], [[2.0, 0.0], [2.0, 1.0]]])
    monkeypatch.setattr(kmeans, "_plus_plus", lambda *_: np.array(next(starts)))
    found = lloyd_kmeans(corners, 2, np.random.default_rng(0), n_restarts=3, max_iterations=9)
    np.testing.assert_array_equal(found, [[0.0, 0.5], [4.0, 0.5]])


def test_it_clusters_as_closely_as_scikit_learn() -> None:
    points = np.random.default_rng(0).random((600, 4))
    found = {
        cluster: [
            inertia(
                points,
                cluster(points, 7, np.random.default_rng(s), n_restarts=3, max_iterations=100),
            )
            for s in range(10)
        ]
        for cluster in (lloyd_kmeans, scikit_learn_kmeans)
    }
    assert np.mean(found[lloyd_kmeans]) <= 1.01 * np.mean(found[scikit_learn_kmeans])
