from __future__ import annotations

from dataclasses import replace

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.distributions import IntDistribution
import pytest

from optuna_zaps import Profile
from optuna_zaps.search.local_search import FloatArray
from optuna_zaps.search.local_search import Found
from optuna_zaps.search.local_search import LocalProposals
from optuna_zaps.search.local_search import LocalSearch
from optuna_zaps.search.local_search import LocalSettings
from optuna_zaps.search.observations import History
from optuna_zaps.search.observations import Observations
from optuna_zaps.search.pool import Pool
from optuna_zaps.study.parameters import axes_of
from optuna_zaps.surrogates import AveragedProcesses


PROFILE = Profile.anytime()
assert PROFILE.local is not None
SETTINGS: LocalSettings = PROFILE.local
NUMBERS: dict[str, BaseDistribution] = {f"x{i}": FloatDistribution(0.0, 1.0) for i in range(3)}
MIXED: dict[str, BaseDistribution] = {
    "x": FloatDistribution(0.0, 1.0),
    "n": IntDistribution(1, 5),
    "c": CategoricalDistribution(["a", "b", "c"]),
}
NOTHING_PENDING = np.empty((0, 3))


def made(
    space: dict[str, BaseDistribution] = NUMBERS, settings: LocalSettings = SETTINGS, seed: int = 0
) -> LocalSearch:
    return LocalSearch(tuple(axes_of(space).values()), settings, seed)


def bowl(points: FloatArray) -> FloatArray:
    labels: FloatArray = -np.square(points - 0.4).sum(axis=1)
    return labels


def drawn(n: int = 60, seed: int = 0) -> FloatArray:
    return np.random.default_rng(seed).random((n, 3))


def test_the_minimum_of_a_bowl_is_found_between_the_labels() -> None:
    points = drawn()
    found = made().find(points, bowl(points), NOTHING_PENDING)
    assert bowl(found.points)[0] > -1e-3 > bowl(points).max()
    np.testing.assert_allclose(found.means, bowl(found.points), atol=0.01)
    assert np.all(np.diff(found.acquisitions) <= 0)


def test_points_lie_in_the_box_of_the_region() -> None:
    points = drawn()
    region = replace(SETTINGS.region, first_side=0.02, most_side=0.02)
    found = made(settings=replace(SETTINGS, region=region)).find(
        points, bowl(points), NOTHING_PENDING
    )
    best = points[bowl(points).argmax()]
    assert np.all(np.abs(found.points - best) <= 0.01 + 1e-12)


def test_another_process_finds_the_same() -> None:
    points = drawn(90)
    labels, continued = bowl(points), made()
    for n in range(50, 91):
        found = continued.find(points[:n], labels[:n], NOTHING_PENDING)
    for ours, theirs in zip(found, made().find(points, labels, NOTHING_PENDING), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_label_that_arrives_late_is_not_missed() -> None:
    points = drawn(90)
    labels, search = bowl(points), made()
    late = np.delete(np.arange(90), 45)
    search.find(points[late], labels[late], NOTHING_PENDING)
    found = search.find(points, labels, NOTHING_PENDING)
    anew = made().find(points, labels, NOTHING_PENDING)
    np.testing.assert_array_equal(found.points, anew.points)


def test_another_seed_finds_other_points() -> None:
    points = drawn()
    one, other = (
        made(seed=seed).find(points, bowl(points), NOTHING_PENDING).points for seed in (0, 1)
    )
    assert not np.isin(one, other).any()


def test_pending_points_are_worth_less() -> None:
    points = drawn()
    labels = bowl(points)
    first = made().find(points, labels, NOTHING_PENDING)
    # The same point as before, and one more number of the ask.
    again = made().find(points, labels, np.array([[0.9, 0.9, 0.9]]))
    after = made().find(points, labels, first.points[:1])
    assert after.acquisitions[0] < again.acquisitions[0]


def test_values_of_grids_and_choices_are_found() -> None:
    pool = Pool(axes_of(MIXED), PROFILE.pool)
    first = pool.spread(np.random.default_rng(0))
    seen = [first.params(i) for i in range(60)]
    points = pool.points_of(seen)
    labels = np.array(
        [-((p["x"] - 0.4) ** 2) - 0.1 * (p["n"] - 3) ** 2 - 0.2 * (p["c"] != "b") for p in seen]
    )
    found = made(MIXED).find(points, labels, NOTHING_PENDING)
    candidates = pool.candidates_at(found.points)
    assert len(candidates) == len(found.points)
    best = candidates.params(0)
    assert (best["n"], best["c"]) == (3, "b")
    assert best["x"] == pytest.approx(0.4, abs=0.02)
    np.testing.assert_array_equal(
        pool.points_of([candidates.params(i) for i in range(len(candidates))]), found.points
    )


def test_predictions_are_in_the_unit_of_labels_that_span_magnitudes() -> None:
    points = drawn()
    labels = 1000 - np.exp(-20 * bowl(points))
    assert SETTINGS.skew_test is not None
    assert not np.array_equal(SETTINGS.skew_test.scale_of(labels).scaled(labels), labels)
    found = made().find(points, labels, NOTHING_PENDING)
    np.testing.assert_allclose(found.means, 1000, rtol=0.1)
    np.testing.assert_allclose(found.acquisitions, 1000, rtol=0.1)


@pytest.mark.parametrize("sharpness", [1.0, 20.0])  # the latter on a logarithmic scale
def test_hyperparameters_are_fitted_when_a_fit_is_due(
    sharpness: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = drawn(95)
    labels, search = (
        -np.exp(-sharpness * bowl(points)),
        made(settings=replace(SETTINGS, n_first=50)),
    )
    n_fitted = []
    fit = AveragedProcesses.fit_hyperparameters

    def counted(self: AveragedProcesses, X: FloatArray, y: FloatArray) -> None:
        n_fitted.append(n)
        fit(self, X, y)

    monkeypatch.setattr(AveragedProcesses, "fit_hyperparameters", counted)
    for n in range(50, 96):
        search.find(points[:n], labels[:n], NOTHING_PENDING)
    assert n_fitted == [50, 60, 70, 80, 90]


def test_nothing_is_proposed_where_labels_are_noise() -> None:
    points = drawn(80)
    labels = bowl(points) + np.random.default_rng(1).normal(scale=0.1, size=len(points))
    search = made()
    assert len(search.find(points, labels, NOTHING_PENDING).points)
    least = made(settings=replace(SETTINGS, most_noise=1e-3))
    assert least.find(points, labels, NOTHING_PENDING).points.shape == (0, 3)
    # Such labels can be the last digits of a search that has converged.
    digits = made(settings=replace(SETTINGS, most_noise=1e-3, least_difference=10.0))
    assert len(digits.find(points, labels, NOTHING_PENDING).points)
    # Without noise it proposes all the same.
    assert len(least.find(points, bowl(points), NOTHING_PENDING).points)


def test_coordinates_of_a_converged_region_hop_in_turn() -> None:
    # Labels without any success, all in the box: the region converges and hops.
    region = replace(SETTINGS.region, least_side=0.3, n_failures=1, exclusion=0.2, return_side=0.1)
    points = np.full((60, 3), 0.5)
    points[:, 0] += 1e-4 * np.arange(60)
    labels = np.where(np.arange(60) == 10, 1.0, -np.arange(60.0))
    settings = replace(SETTINGS, region=region, n_first=57, n_proposed=64)
    for n, column in ((60, 0), (61, 1), (62, 2)):
        pending = np.full((n - 60, 3), 0.9)
        found = made(settings=settings).find(points, labels, pending)
        moved = found.points != points[10]
        assert np.flatnonzero(moved.any(axis=0)).tolist() == [column]
        distance = np.abs(found.points - points[10])[:, column]
        # A region that returns searches what is nearer.
        assert np.all(distance > 0.05)
        # The logarithm is uniform, from 0.05 to 1: as many below as above the root of their
        # product. The middle of the range, 0.5 from both ends, reflects the larger ones.
        assert 0.25 < np.mean(distance < 0.05**0.5) < 0.75
        assert not len(found.means)


@pytest.mark.parametrize(("n_seen", "n_labelled"), [(39, 39), (40, 39)])
def test_there_is_no_local_search_of_few_labels(n_seen: int, n_labelled: int) -> None:
    assert not replace(SETTINGS, n_first=40).is_turn(n_seen, n_labelled)


def test_global_asks_grow_rare() -> None:
    settings = replace(SETTINGS, n_first=40, global_growth=0.25)
    others = [n for n in range(40, 140) if not settings.is_turn(n, n)]
    # Each a quarter more than the last, rounded down.
    assert others == [40, 50, 62, 77, 96, 120]


def found_at(points: FloatArray) -> Found:
    n = len(points)
    return Found(points, np.arange(n) / 10, np.full(n, 0.5), np.arange(n) / 10 + 1)


def test_the_first_free_candidate_is_proposed() -> None:
    points = np.array([[0.1, 0.1, 0.1], [0.2, 0.2, 0.2], [0.3, 0.3, 0.3]])
    candidates = Pool(axes_of(NUMBERS), PROFILE.pool).candidates_at(points)
    proposals = LocalProposals(candidates, found_at(points))
    observations = Observations((History.of_unavailable(np.array([True, False, False])),))
    proposal = proposals.propose(observations, 7)
    assert proposal is not None
    assert candidates.params(proposal.candidate) == {"x0": 0.2, "x1": 0.2, "x2": 0.2}
    assert (proposal.phase, proposal.means, proposal.stds) == ("model", (0.1,), (0.5,))
    assert proposal.acquisition == 1.1
    allowed = np.array([True, False, True])
    assert proposals.propose(observations, 7, allowed).candidate == 2  # type: ignore[union-attr]
    assert proposals.propose(observations, 7, ~allowed | [True, False, False]).candidate == 1  # type: ignore[union-attr]
    assert proposals.propose(observations, 7, np.array([True, False, False])) is None
