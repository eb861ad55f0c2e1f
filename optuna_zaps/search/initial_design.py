"""Initial designs: hybrid K-means (Section 3.2), and others where there are no proxies.

Notations:
    ranks: float array of shape (n_candidates, n_proxies), ranks in [0, 1] of the proxies that
        seed the search.
    plan: int array of shape (n_points,), candidates in the order in which to evaluate them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.kmeans import KMeans


_CHUNK = 2**14
"""Candidates that are compared at a time, which bounds memory."""


@dataclass(frozen=True)
class Plan:
    """Candidates to evaluate before there is a model.

    Attributes:
        candidates: Array of shape (n_points,), distinct, in order of evaluation.
        phases: Purpose of each, ``"exploitation"``, ``"coverage"`` or ``"random"``.
    """

    candidates: npt.NDArray[np.intp]
    phases: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.candidates)


class InitialDesign(Protocol):
    """A way to choose the configurations that are evaluated before there is a model."""

    def plan(
        self,
        candidates: CandidateSet,
        ranks: npt.NDArray[np.float64] | None,
        n_points: int,
        rng: np.random.Generator,
    ) -> Plan:
        """Choose candidates.

        Args:
            candidates: All there are.
            ranks: Ranks of the proxies that seed the search, see the module's notations;
                ``None`` where there are no proxies.
            n_points: Number of candidates to choose; at most n_candidates are.
            rng: Source of everything random.
        """


@dataclass(frozen=True)
class HybridKMeans:
    """Start from K-means over the proxies, :func:`hybrid_kmeans` (Section 3.2).

    Attributes:
        top_fraction: Share of the candidates, by mean rank, that the exploitation phase clusters.
        n_restarts: Restarts of K-means.
        max_iterations: Iterations of each restart.
        max_points: Most candidates that K-means clusters; of more it sees a random sample of this
            size, so that its time does not grow with the space. Not in the paper.
        kmeans: Implementation of K-means.
    """

    top_fraction: float
    n_restarts: int
    max_iterations: int
    max_points: int
    kmeans: KMeans

    def __post_init__(self) -> None:
        if not 0 < self.top_fraction <= 1:
            raise ValueError(f"top_fraction must lie in (0, 1], but got {self.top_fraction}.")

    def plan(
        self,
        candidates: CandidateSet,
        ranks: npt.NDArray[np.float64] | None,
        n_points: int,
        rng: np.random.Generator,
    ) -> Plan:
        """See :class:`InitialDesign`."""
        del candidates
        assert ranks is not None
        return hybrid_kmeans(ranks, n_points, rng, self)


@dataclass(frozen=True)
class UniformDesign:
    """Start from a uniform sample, :func:`uniform_plan`."""

    def plan(
        self,
        candidates: CandidateSet,
        ranks: npt.NDArray[np.float64] | None,
        n_points: int,
        rng: np.random.Generator,
    ) -> Plan:
        """See :class:`InitialDesign`."""
        del ranks
        return uniform_plan(len(candidates), n_points, rng)


@dataclass(frozen=True)
class MaximinDesign:
    """Start from configurations far from each other, :func:`maximin_plan`."""

    def plan(
        self,
        candidates: CandidateSet,
        ranks: npt.NDArray[np.float64] | None,
        n_points: int,
        rng: np.random.Generator,
    ) -> Plan:
        """See :class:`InitialDesign`."""
        del ranks
        return maximin_plan(candidates.encoding, n_points, rng)


@dataclass(frozen=True)
class SequenceDesign:
    """Start along a sequence that fills the space, :func:`sequence_plan`."""

    def plan(
        self,
        candidates: CandidateSet,
        ranks: npt.NDArray[np.float64] | None,
        n_points: int,
        rng: np.random.Generator,
    ) -> Plan:
        """See :class:`InitialDesign`."""
        del ranks, rng
        return sequence_plan(len(candidates), n_points)


def uniform_plan(n_candidates: int, n_points: int, rng: np.random.Generator) -> Plan:
    """Draw distinct candidates, each as likely as any other (the ablation of Section 4.6).

    Args:
        n_candidates: Number of candidates to draw from.
        n_points: Number of candidates to draw.
        rng: Draws them.

    Returns:
        A plan of min(n_points, n_candidates) points and one phase, ``"random"``.
    """
    n_points = min(n_points, n_candidates)
    return Plan(rng.choice(n_candidates, n_points, replace=False), ("random",) * n_points)


def sequence_plan(n_candidates: int, n_points: int) -> Plan:
    """Take the leading candidates, whose order is a sequence that fills the space.

    Args:
        n_candidates: Number of candidates to take from.
        n_points: Number of candidates to take.

    Returns:
        A plan of min(n_points, n_candidates) points and one phase, ``"coverage"``.
    """
    n_points = min(n_points, n_candidates)
    return Plan(np.arange(n_points), ("coverage",) * n_points)


def maximin_plan(
    encoding: npt.NDArray[np.float32], n_points: int, rng: np.random.Generator
) -> Plan:
    """Choose each point as far as possible from those before.

    Not in the paper, which always has proxies.

    Args:
        encoding: Encoded parameters, shape (n_candidates, n_features).
        n_points: Number of points to choose; at most n_candidates are.
        rng: Chooses the first point, and among equally far ones.

    Returns:
        A plan of one phase, which may be cut anywhere.
    """
    n_points = min(n_points, len(encoding))
    priority = rng.permutation(len(encoding))
    distance = np.full(len(encoding), np.inf)
    chosen = np.empty(n_points, dtype=np.intp)
    for i in range(n_points):
        farthest = np.flatnonzero(distance >= distance.max() - 1e-6)
        chosen[i] = farthest[priority[farthest].argmin()]
        for start in range(0, len(encoding), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            apart = np.square(encoding[chunk] - encoding[chosen[i]]).sum(axis=1)
            distance[chunk] = np.minimum(distance[chunk], apart)
        distance[chosen[: i + 1]] = -1.0
    return Plan(chosen, ("coverage",) * n_points)


def hybrid_kmeans(
    ranks: npt.NDArray[np.float64],
    n_points: int,
    rng: np.random.Generator,
    settings: HybridKMeans,
) -> Plan:
    """Spread half of the points over the top of the proxies, the other half over everything.

    Args:
        ranks: See the module's notations.
        n_points: n_0, the number of points to choose; at most n_candidates are.
        rng: Seeds K-means and breaks ties between equally near candidates.
        settings: Settings of K-means and size of the top.

    Returns:
        A plan in which the two phases alternate, so that it may be cut anywhere.
    """
    n_points = min(n_points, len(ranks))
    # The order of the table must not decide between candidates of equal ranks.
    shuffled = rng.permutation(len(ranks))
    # Deviation: the paper leaves the aggregate score open; here it is the mean rank.
    score = ranks[shuffled].mean(axis=1)
    n_top = max(1, round(settings.top_fraction * len(ranks)))
    in_top = np.zeros(len(ranks), dtype=np.bool_)
    in_top[shuffled[np.argsort(-score, kind="stable")[:n_top]]] = True
    top = shuffled[in_top[shuffled]]

    # Half of the points are centroids of the top (exploitation), half of the rest (coverage).
    exploitation = _spread(ranks, top, min(n_points // 2, n_top), rng, settings)
    rest = shuffled[~np.isin(shuffled, exploitation)]
    coverage = _spread(ranks, rest, n_points - len(exploitation), rng, settings)

    # Alternately: i + 1/4 of the one before i + 1/2 of the other.
    order = np.argsort(
        np.concatenate([np.arange(len(exploitation)) + 0.25, np.arange(len(coverage)) + 0.5]),
        kind="stable",
    )
    phases = ("exploitation",) * len(exploitation) + ("coverage",) * len(coverage)
    return Plan(
        np.concatenate([exploitation, coverage])[order], tuple(phases[i] for i in order.tolist())
    )


def _spread(
    ranks: npt.NDArray[np.float64],
    pool: npt.NDArray[np.intp],
    n_points: int,
    rng: np.random.Generator,
    settings: HybridKMeans,
) -> npt.NDArray[np.intp]:
    """Find the candidate of the pool nearest to each K-means centroid, none twice."""
    if n_points == 0:
        return np.empty(0, dtype=np.intp)
    points = ranks[pool].astype(np.float32)  # ranks need no more, and it halves the time
    centroids = settings.kmeans(
        # Deviation: the paper clusters every point. The pool is shuffled: its head is a sample.
        points[: max(settings.max_points, n_points)],
        n_points,
        rng,
        n_restarts=settings.n_restarts,
        max_iterations=settings.max_iterations,
    )
    chosen = np.empty(n_points, dtype=np.intp)
    free = np.ones(len(pool), dtype=np.bool_)
    for i, centroid in enumerate(centroids):
        distance = np.square(points - centroid).sum(axis=1)
        distance[~free] = np.inf
        nearest = int(distance.argmin())
        free[nearest] = False
        chosen[i] = pool[nearest]
    return chosen
