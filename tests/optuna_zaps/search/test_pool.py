from __future__ import annotations

from dataclasses import replace
import math

from columns import proxy_table
import numpy as np
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.distributions import IntDistribution
import pytest

from optuna_zaps import Profile
from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.pool import Pool
from optuna_zaps.search.profiles import Situation
from optuna_zaps.study.parameters import axes_of


POOL = Profile.anytime().pool


SPACE: dict[str, BaseDistribution] = {
    "rate": FloatDistribution(1e-5, 1e-1, log=True),
    "momentum": FloatDistribution(0.0, 0.9),
    "drop": FloatDistribution(0.1, 0.7, step=0.1),
    "layers": IntDistribution(1, 5),
    "units": IntDistribution(8, 1024, log=True),
    "act": CategoricalDistribution(["relu", "tanh", None, math.nan]),
}


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_whatever_is_drawn_lies_in_the_space() -> None:
    pool = Pool(axes_of(SPACE), POOL)
    first = pool.spread(rng())
    seen = [first.params(i) for i in (3, 5)]
    drawn = pool.draw(seen, [1, 0], rng())
    for candidates in (first, drawn):
        for i in range(len(candidates)):
            for name, value in candidates.params(i).items():
                distribution = SPACE[name]
                assert distribution._contains(distribution.to_internal_repr(value))
                assert isinstance(value, int) == isinstance(distribution, IntDistribution)


def test_what_was_seen_comes_first_and_keeps_its_encoding() -> None:
    pool = Pool(axes_of(SPACE), POOL)
    first = pool.spread(rng())
    seen = [first.params(i) for i in (7, 2, 9)]
    drawn = pool.draw(seen, [0], rng())
    assert [drawn.index(params) for params in seen] == [0, 1, 2]
    np.testing.assert_allclose(drawn.encoding[:3], first.encoding[[7, 2, 9]], atol=1e-6)


def test_a_value_seen_is_one_of_its_grid_however_it_was_rounded() -> None:
    pool = Pool(
        axes_of({"drop": FloatDistribution(0.1, 0.7, step=0.1), "x": FloatDistribution(0, 1)}),
        POOL,
    )
    seen = {"drop": 0.1 + 0.2, "x": 0.5}  # 0.30000000000000004
    assert pool.draw([seen], [], rng()).params(0) == {"drop": 0.3, "x": 0.5}


@pytest.mark.parametrize("n_values", [10, 5_000])
def test_drawn_values_lie_on_their_grid(n_values: int) -> None:
    """Of few values all are kept, of many those of a pool found in it."""
    space = {"n": IntDistribution(10, 10 * n_values, step=10), "x": FloatDistribution(0, 1)}
    drawn = Pool(axes_of(space), POOL).draw([{"n": 20, "x": 0.25}], [0], rng())
    values = [drawn.params(i)["n"] for i in range(len(drawn))]
    assert all(type(value) is int and space["n"]._contains(value) for value in values)
    assert len(set(values)) == pytest.approx(min(n_values, 1_600), rel=0.2)
    coordinates = (np.array(values) - 10) / (10 * n_values - 10)
    np.testing.assert_allclose(drawn.encoding[:, 0], coordinates, rtol=1e-6)


def test_half_of_a_pool_fills_the_space_and_half_is_near_the_best() -> None:
    space = {f"x{i}": FloatDistribution(0, 1) for i in range(4)}
    pool = Pool(axes_of(space), replace(POOL, n_global=256, n_local=256))
    drawn = pool.draw([dict.fromkeys(space, 0.5)], [0], rng()).encoding[1:]
    # A Sobol sequence of 2^8 points has 2^4 in each of the 16 halves of halves.
    cells, counts = np.unique(drawn[:256] > 0.5, axis=0, return_counts=True)
    assert len(cells) == 16
    assert counts.tolist() == [16] * 16
    assert len(drawn) == 512  # none is the known one again
    unchanged = np.isclose(drawn[256:], 0.5)
    assert np.all(unchanged.sum(axis=1) < 4)
    assert unchanged.mean() > 0.3


@pytest.mark.parametrize("centre", [0, 4, 10])
@pytest.mark.parametrize(
    "grid", [IntDistribution(0, 10), FloatDistribution(0, 10, step=1.0)], ids=["int", "float"]
)
def test_a_step_on_a_grid_leaves_the_value(
    grid: IntDistribution | FloatDistribution, centre: int
) -> None:
    """However small the steps of a number are: otherwise a pool is full of what was seen."""
    settings = replace(POOL, n_global=2, n_local=256, min_step=1e-4, max_step=1e-3)
    space = {"n": grid, "x": FloatDistribution(0, 1)}  # of two both change at a time
    drawn = Pool(axes_of(space), settings).draw([{"n": centre, "x": 0.5}], [0], rng())
    near = [drawn.params(i) for i in range(3, len(drawn))]
    assert len(near) == 256
    assert max(abs(params["x"] - 0.5) for params in near) < 0.01
    beside = {n for n in (centre - 1, centre + 1) if 0 <= n <= 10}
    assert {params["n"] for params in near} == beside


@pytest.mark.parametrize("centre", range(10))
def test_a_step_of_a_choice_leads_to_any_other(centre: int) -> None:
    settings = replace(POOL, n_global=2, n_local=512)
    space = {"c": CategoricalDistribution(range(10)), "x": FloatDistribution(0, 1)}
    drawn = Pool(axes_of(space), settings).draw([{"c": centre, "x": 0.5}], [0], rng())
    near = [drawn.params(i)["c"] for i in range(3, len(drawn))]
    counts = [near.count(choice) for choice in range(10)]
    assert counts[centre] == 0
    # Of 512 each of nine has 57 +- 7.
    assert min(counts[:centre] + counts[centre + 1 :]) > 30


def test_the_known_configurations_take_turns() -> None:
    settings = replace(POOL, n_global=2, n_local=256, min_step=1e-4, max_step=1e-3)
    space: dict[str, BaseDistribution] = {name: FloatDistribution(0, 1) for name in "xy"}
    seen = [{"x": x, "y": x} for x in (0.2, 0.4, 0.6, 0.8)]
    drawn = Pool(axes_of(space), settings).draw(seen, [2, 0, 3], rng())
    near = [round(drawn.params(i)["x"], 1) for i in range(6, len(drawn))]
    assert {x: near.count(x) for x in near} == {0.6: 86, 0.2: 85, 0.8: 85}


def test_a_step_is_of_any_size_between_the_smallest_and_the_largest() -> None:
    settings = replace(POOL, n_global=2, n_local=2048, min_step=1e-4, max_step=1e-1)
    drawn = Pool(axes_of({"x": FloatDistribution(0, 1)}), settings).draw([{"x": 0.5}], [0], rng())
    steps = np.abs([drawn.params(i)["x"] - 0.5 for i in range(3, len(drawn))])
    # A normal number times one whose logarithm is uniform over three tenfolds.
    counts, _ = np.histogram(np.log10(steps), bins=[-4, -3, -2])
    assert np.all(counts / len(steps) > 0.25)


def test_points_over_the_space_are_those_of_the_seed() -> None:
    pool = Pool(axes_of({name: FloatDistribution(0, 1) for name in "xy"}), POOL)
    first, again, other = (pool.spread(np.random.default_rng(seed)).encoding for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.any(np.isclose(first, other).all(axis=1))


def test_few_points_fill_a_space_where_nothing_tells_far_ones_apart() -> None:
    profile = replace(Profile.anytime(), pool=replace(POOL, n_planned=512, n_global=512))
    profile = replace(profile, n_global_alike=64)
    choices: dict[str, BaseDistribution] = {
        f"p{i}": CategoricalDistribution(range(100)) for i in range(6)
    }

    def pool(*, with_proxies: bool, with_numbers: bool) -> Pool:
        space = choices | ({"x": FloatDistribution(0, 1)} if with_numbers else {})
        settings = profile.adapted(Situation(with_proxies, with_numbers, is_pool=True)).pool
        return Pool(axes_of(space), settings)

    alike = pool(with_proxies=False, with_numbers=False)
    assert len(alike.spread(rng())) == 512  # the start is planned over it
    assert len(alike.draw([], [], rng())) == 64
    apart = pool(with_proxies=True, with_numbers=False)
    assert len(apart.draw([], [], rng(), spread=rng())) == 512
    assert len(pool(with_proxies=False, with_numbers=True).draw([], [], rng())) == 512


def test_fixed_values_are_those_of_every_drawn_point() -> None:
    drawn = Pool(axes_of(SPACE), POOL).draw([], [], rng(), {"layers": 3, "act": None})
    assert np.all(drawn.matching({"layers": 3, "act": None}))


def test_a_pool_is_bounded_whatever_the_space() -> None:
    huge = {f"p{i}": CategoricalDistribution(range(10)) for i in range(12)}  # 10^12
    settings = POOL
    pool = Pool(axes_of(huge), POOL)
    seen = [pool.spread(rng()).params(0)]
    assert len(pool.draw(seen, [0], rng())) <= 1 + settings.n_global + settings.n_local


def test_ranks_are_counted_among_the_reference() -> None:
    reference = proxy_table({"x": [1.0, 2.0, 3.0, 5.0], "y": [0.0, 1.0, 2.0, 3.0]})
    values = {"x": [2.0, 4.0, 9.0, 0.0, np.nan], "y": [0.0] * 5}
    # Of four values the ranks are 0, 1/3, 2/3, 1; 4 would come fourth; NaN is in the middle.
    table = proxy_table(values, reference)
    np.testing.assert_allclose(table.ranks[:, 0], [1 / 3, 1, 1, 0, 0.5])
    np.testing.assert_allclose(table.ranks[:, 1], 0)


def test_a_grid_gives_numbers_their_coordinates() -> None:
    grid = CandidateSet.grid({"n": [1, 10, 100]}, coordinates={"n": [0.0, 0.5, 1.0]})
    assert grid.encoding.ravel().tolist() == [0.0, 0.5, 1.0]
    assert (grid.widths, grid.numeric) == ((1,), (True,))


def test_only_a_narrower_range_is_drawn_and_seen_values_outside_keep_their_coordinates() -> None:
    space = {"x": FloatDistribution(0, 10), "n": IntDistribution(1, 100, log=True)}
    ranges = {"x": FloatDistribution(2, 4), "n": IntDistribution(5, 50, log=True)}
    seen = [{"x": 9.0, "n": 100}, {"x": 3.0, "n": 10}, {"x": 0.0, "n": 1}]
    candidates = Pool(axes_of(space, ranges), POOL).draw(seen, [0, 1, 2], rng())
    assert [candidates.params(i) for i in range(3)] == seen
    np.testing.assert_allclose(
        candidates.encoding[:3], [[0.9, 1.0], [0.3, 0.5], [0.0, 0.0]], rtol=1e-6
    )
    drawn = [candidates.params(i) for i in range(3, len(candidates))]
    assert all(2 <= params["x"] <= 4 and 5 <= params["n"] <= 50 for params in drawn)
    assert {params["n"] for params in drawn} == set(range(5, 51))
    near_the_end = sum(params["x"] > 3.9 for params in drawn)
    assert near_the_end > 0.1 * len(drawn)  # the best lies beyond it


def test_a_small_part_of_a_range_is_told_apart_as_if_it_were_all() -> None:
    space: dict[str, BaseDistribution] = {"x": FloatDistribution(0, 1e300)}
    ranges = {"x": FloatDistribution(0, 10)}
    candidates = Pool(axes_of(space, ranges), POOL).draw([{"x": 1e299}, {"x": 5.0}], [0], rng())
    assert candidates.encoding[:2, 0].tolist() == [1e6, 0.5]
    assert np.ptp(candidates.encoding[1:, 0]) == pytest.approx(1.0, abs=0.01)


def test_a_grid_within_another_is_drawn_on_its_own_steps() -> None:
    space = {"n": IntDistribution(0, 30), "x": FloatDistribution(0, 1)}
    ranges = {"n": IntDistribution(4, 25, step=7), "x": FloatDistribution(0, 0.5, step=0.1)}
    candidates = Pool(axes_of(space, ranges), POOL).draw([{"n": 30, "x": 0.77}], [0], rng())
    drawn = [candidates.params(i) for i in range(1, len(candidates))]
    assert {params["n"] for params in drawn} == {4, 11, 18, 25}
    assert {params["x"] for params in drawn} == {0.0, 0.1, 0.2, 0.3, 0.4, 0.5}
