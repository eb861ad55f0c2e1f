from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import KMeans

from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.initial_design import HybridKMeans
from optuna_zaps.search.initial_design import hybrid_kmeans
from optuna_zaps.search.initial_design import maximin_plan
from optuna_zaps.search.initial_design import uniform_plan
from optuna_zaps.search.profiles import Profile


PAPER = Profile.paper(budget=10).start
assert isinstance(PAPER, HybridKMeans)


def uniform(n: int, p: int = 2) -> np.ndarray:
    return np.random.default_rng(7).random((n, p))


def test_half_of_the_points_lie_in_the_top_30_percent_by_mean_rank() -> None:
    ranks = uniform(200)
    plan = hybrid_kmeans(ranks, 20, np.random.default_rng(0), PAPER)
    top = set(np.argsort(-ranks.mean(axis=1))[:60].tolist())
    exploitation = [
        c for c, phase in zip(plan.candidates, plan.phases, strict=True) if phase == "exploitation"
    ]
    assert len(exploitation) == 10
    assert set(map(int, exploitation)) <= top
    assert len(set(plan.candidates.tolist())) == 20


def test_phases_alternate_so_that_a_plan_can_be_cut() -> None:
    plan = hybrid_kmeans(uniform(100), 7, np.random.default_rng(0), PAPER)
    assert plan.phases == (
        "exploitation", "coverage", "exploitation", "coverage", "exploitation", "coverage",
        "coverage",
    )  # fmt: skip


def test_centroids_of_separate_clusters_are_found() -> None:
    centres = np.asarray([[0.05, 0.05], [0.05, 0.95], [0.95, 0.05], [0.4, 0.5]])
    noise = np.random.default_rng(1).normal(scale=0.003, size=(4, 30, 2))
    ranks = (centres[:, np.newaxis] + noise).reshape(-1, 2)
    plan = hybrid_kmeans(ranks, 8, np.random.default_rng(0), replace(PAPER, top_fraction=1.0))
    for phase in ("exploitation", "coverage"):
        chosen = plan.candidates[[p == phase for p in plan.phases]]
        assert sorted((chosen // 30).tolist()) == [0, 1, 2, 3]


def test_equal_candidates_are_told_apart_by_the_seed_not_by_the_table() -> None:
    ranks = np.full((40, 2), 0.5)
    first = {
        hybrid_kmeans(ranks, 2, np.random.default_rng(s), PAPER).candidates[0] for s in range(20)
    }
    assert len(first) > 5


def test_no_candidate_is_planned_twice_though_all_are_at_the_same_place() -> None:
    plan = hybrid_kmeans(np.full((40, 2), 0.5), 12, np.random.default_rng(0), PAPER)
    assert len(set(plan.candidates.tolist())) == 12


def test_all_candidates_when_more_points_are_asked_for() -> None:
    plan = hybrid_kmeans(uniform(6), 50, np.random.default_rng(0), PAPER)
    assert sorted(plan.candidates.tolist()) == list(range(6))
    everything = maximin_plan(np.eye(6, dtype=np.float32), 50, np.random.default_rng(0))
    assert sorted(everything.candidates.tolist()) == list(range(6))


def test_k_means_is_run_as_the_settings_say(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[tuple[int, int, int, int]] = []
    fit = KMeans.fit

    def recording(self: KMeans, points: np.ndarray) -> KMeans:
        runs.append((len(points), self.n_clusters, self.n_init, self.max_iter))
        return fit(self, points)

    monkeypatch.setattr(KMeans, "fit", recording)
    hybrid_kmeans(uniform(9000), 7, np.random.default_rng(0), PAPER)
    # The paper's three restarts of 100 iterations, over at most 8,192 of 2,700 and of the rest.
    assert runs == [(2700, 3, 3, 100), (8192, 4, 3, 100)]
    runs.clear()
    settings = replace(PAPER, n_restarts=1, max_iterations=5, max_points=20)
    hybrid_kmeans(uniform(200), 10, np.random.default_rng(0), settings)
    assert runs == [(20, 5, 1, 5), (20, 5, 1, 5)]


def test_k_means_starts_from_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    states: list[int] = []
    fit = KMeans.fit

    def recording(self: KMeans, points: np.ndarray) -> KMeans:
        states.append(self.random_state)
        return fit(self, points)

    monkeypatch.setattr(KMeans, "fit", recording)
    for seed in (0, 0, 1):
        hybrid_kmeans(uniform(50), 4, np.random.default_rng(seed), PAPER)
    assert states[:2] == states[2:4]
    assert len({*states}) == 4


def test_more_points_than_k_means_looks_at() -> None:
    settings = replace(PAPER, max_points=3)
    plan = hybrid_kmeans(uniform(100), 20, np.random.default_rng(0), settings)
    assert len(set(plan.candidates.tolist())) == 20


def test_a_uniform_plan_has_distinct_candidates_each_as_likely_as_any() -> None:
    plans = [uniform_plan(20, 5, np.random.default_rng(seed)) for seed in range(400)]
    assert all(len(set(plan.candidates.tolist())) == 5 for plan in plans)
    counts = np.bincount(np.concatenate([plan.candidates for plan in plans]), minlength=20)
    assert len(counts) == 20
    assert np.all(np.abs(counts - 100) < 45)  # 100 +- 9
    assert plans[0].phases == ("random",) * 5
    assert len(uniform_plan(3, 5, np.random.default_rng(0))) == 3


def test_no_point_at_all() -> None:
    assert len(hybrid_kmeans(uniform(6), 0, np.random.default_rng(0), PAPER)) == 0


def test_settings_are_checked_when_made() -> None:
    with pytest.raises(ValueError, match="top_fraction must lie in"):
        replace(PAPER, top_fraction=0.0)


def test_without_proxies_the_start_is_spread_over_the_structure() -> None:
    grid = CandidateSet.grid({name: "uvw" for name in "abcd"})
    for seed in range(10):
        codes = grid.codes[maximin_plan(grid.encoding, 9, np.random.default_rng(seed)).candidates]
        apart = (codes[:, np.newaxis] != codes).sum(axis=2)
        # The first three can differ in all four parameters; nine words of length 4 over three
        # letters can be 3 apart (the tetracode), and greedily at least 2.
        assert np.all(apart[:3, :3][~np.eye(3, dtype=bool)] == 4)
        assert apart[~np.eye(9, dtype=bool)].min() >= 2
