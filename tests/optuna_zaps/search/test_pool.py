from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
import math

from flat import FLAT
from flat import Flat
import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.distributions import IntDistribution
import pandas as pd
import pytest

from optuna_zaps import Profile
from optuna_zaps import ZAPSSampler
from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.pool import Pool
from optuna_zaps.search.profiles import Situation
from optuna_zaps.search.proxies import ProxyTable
from optuna_zaps.study.parameters import axes_of
from optuna_zaps.study.parameters import scale_of
from optuna_zaps.surrogates import FeatureLayout


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


@pytest.mark.parametrize(
    ("distribution", "places", "values"),
    [
        (FloatDistribution(1e-4, 1e0, log=True), [0.0, 0.25, 1.0], [1e-4, 1e-3, 1.0]),
        (FloatDistribution(-2, 2), [0.0, 0.75, 1.0], [-2.0, 1.0, 2.0]),
        (FloatDistribution(0.1, 0.3, step=0.1), [0.0, 0.6, 1.0], [0.1, 0.2, 0.3]),
        (IntDistribution(0, 10, step=5), [0.0, 0.3, 1.0], [0.0, 5.0, 10.0]),
        (IntDistribution(1, 100, log=True), [0.0, 0.5, 1.0], [1.0, 10.0, 100.0]),
    ],
)
def test_a_place_is_one_on_the_parameters_own_scale(
    distribution: BaseDistribution, places: list[float], values: list[float]
) -> None:
    np.testing.assert_allclose(scale_of(distribution).values(np.array(places)), values, rtol=1e-12)


def test_places_invert_values() -> None:
    scale = scale_of(FloatDistribution(1e-5, 1e-1, log=True))
    places = np.linspace(0, 1, 7)
    np.testing.assert_allclose(
        scale.coordinates(scale.values(places).tolist()), places, atol=1e-12
    )


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
    places = (np.array(values) - 10) / (10 * n_values - 10)
    np.testing.assert_allclose(drawn.encoding[:, 0], places, rtol=1e-6)


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
    reference = ProxyTable(pd.DataFrame({"x": [1.0, 2.0, 3.0, 5.0], "y": [0.0, 1.0, 2.0, 3.0]}))
    values = pd.DataFrame({"x": [2.0, 4.0, 9.0, 0.0, np.nan], "y": [0.0] * 5})
    # Of four values the places are 0, 1/3, 2/3, 1; 4 would come fourth; NaN is in the middle.
    table = ProxyTable(values, reference)
    np.testing.assert_allclose(table.ranks[:, 0], [1 / 3, 1, 1, 0, 0.5])
    np.testing.assert_allclose(table.ranks[:, 1], 0)


def sphere(trial: optuna.Trial) -> float:
    x = trial.suggest_float("x", -5, 5)
    y = trial.suggest_float("y", -5, 5)
    return (x - 1) ** 2 + (y + 2) ** 2 + trial.suggest_categorical("c", [0, 3])


@pytest.mark.parametrize("given", [False, True])
def test_a_continuous_space_is_searched_better_than_at_random(given: bool) -> None:
    space = {
        "x": FloatDistribution(-5, 5),
        "y": FloatDistribution(-5, 5),
        "c": CategoricalDistribution([0, 3]),
    }
    best = []
    for sampler in (
        ZAPSSampler(search_space=space if given else None, seed=0),
        optuna.samplers.RandomSampler(seed=0),
    ):
        study = optuna.create_study(sampler=sampler)
        study.optimize(sphere, n_trials=40)
        best.append(study.best_value)
    # The share of the space better than 0.05 is 0.0008, so random search ends near 1.
    assert best[0] < 0.05 < best[1]
    assert study.trials[0].params.keys() == space.keys()


def test_a_large_space_of_choices_is_searched_better_than_by_tpe() -> None:
    """10^12 configurations; the best of each choice is known, so that 0 is the optimum."""
    weights = np.random.default_rng(0).normal(size=(12, 10))
    weights -= weights.max(axis=1, keepdims=True)

    def objective(trial: optuna.Trial) -> float:
        chosen = [trial.suggest_categorical(f"p{i}", list(range(10))) for i in range(12)]
        return float(weights[range(12), chosen].sum())

    best: dict[str, list[float]] = {"zaps": [], "tpe": []}
    for seed in range(3):
        for name, sampler in (
            ("zaps", ZAPSSampler(seed=seed)),
            ("tpe", optuna.samplers.TPESampler(seed=seed)),
        ):
            study = optuna.create_study(direction="maximize", sampler=sampler)
            study.optimize(objective, n_trials=60)
            best[name].append(study.best_value)
    assert max(best["tpe"]) < min(best["zaps"]) <= 0


@pytest.mark.parametrize("seed", range(3))
def test_a_smooth_function_is_minimised_to_its_digits(seed: int) -> None:
    def branin(trial: optuna.Trial) -> float:
        x, y = trial.suggest_float("x", -5, 10), trial.suggest_float("y", 0, 15)
        valley = y - 5.1 / (4 * math.pi**2) * x**2 + 5 / math.pi * x - 6
        return valley**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10

    study = optuna.create_study(sampler=ZAPSSampler(seed=seed))
    study.optimize(branin, n_trials=80)
    # The least value is 0.397887; the median over the space about 35.
    assert study.best_value == pytest.approx(0.397887, abs=2e-3)


def test_proxies_of_a_space_that_cannot_be_enumerated() -> None:
    space = {f"p{i}": CategoricalDistribution(range(10)) for i in range(8)}
    calls: list[tuple[int, ...]] = []

    def proxies(params: dict[str, int]) -> dict[str, float]:
        calls.append(tuple(params.values()))
        return {"sum": float(sum(params.values())), "first": float(params["p0"])}

    sampler = ZAPSSampler(proxies, search_space=space, seed=0)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(
        lambda trial: sum(trial.suggest_categorical(n, range(10)) for n in space), n_trials=40
    )
    settings = POOL
    assert len(calls) <= settings.n_global + 40 * settings.n_local
    assert len(set(calls[: settings.n_global])) == settings.n_global
    assert len({tuple(t.params.values()) for t in study.trials}) == 40
    # The proxy is the objective, whose standard deviation is 8.1 about 36 at random.
    assert study.best_value >= 60


class PoolSpy(Flat):
    """Remembers the features of each pool."""

    pools: list[np.ndarray]

    @classmethod
    def for_layout(cls, layout: FeatureLayout, seed: int) -> PoolSpy:
        return cls()

    def predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.pools.append(X)
        return super().predict(X)


@pytest.mark.parametrize("with_proxies", [True, False], ids=["proxies", "none"])
def test_each_trial_has_a_pool_of_its_own(
    monkeypatch: pytest.MonkeyPatch, with_proxies: bool
) -> None:
    calls: list[tuple[float, float]] = []

    def proxies(params: dict[str, float]) -> dict[str, float]:
        calls.append((params["x"], params["y"]))
        return {"sum": params["x"] + params["y"]}

    monkeypatch.setattr(PoolSpy, "pools", [], raising=False)
    space = {name: FloatDistribution(0, 1) for name in "xy"}
    zaps = ZAPSSampler(
        proxies if with_proxies else None,
        search_space=space,
        n_startup_trials=4,
        profile=FLAT.with_surrogate(PoolSpy.for_layout),
        seed=0,
    )
    study = optuna.create_study(sampler=zaps)
    study.optimize(
        lambda trial: sum(trial.suggest_float(name, 0, 1) for name in space), n_trials=10
    )
    settings = POOL
    pools = [
        {tuple(row[-2:]): row[0] for row in pool.tolist()} for pool in PoolSpy.pools
    ]  # the proxy's rank, where there is one, of each configuration
    assert [len(pool) for pool in pools] == [len(pool) for pool in PoolSpy.pools]
    assert len(pools) == 6
    assert min(map(len, pools)) >= settings.n_global + settings.n_local
    for n_seen, (before, after) in enumerate(pairwise(pools), 4):
        again = before.keys() & after.keys()
        # What was seen; and the points over the space where there are proxies, which may be
        # expensive.
        expected = settings.n_global if with_proxies else n_seen
        assert len(again) == pytest.approx(expected, abs=10)
        # Counted among those of the first pool, so that a configuration keeps its rank.
        assert all(before[point] == after[point] for point in again)
    if with_proxies:
        assert len(calls) == len(set(calls)) <= settings.n_global + 6 * settings.n_local


def test_the_start_of_a_continuous_study_fills_the_space() -> None:
    """By a scrambled Sobol sequence, of which 2^k points lie in the 2^k intervals, one in each."""
    space = {name: FloatDistribution(0, 1) for name in "xyz"}
    study = optuna.create_study(
        sampler=ZAPSSampler(search_space=space, n_startup_trials=16, seed=1)
    )
    study.optimize(
        lambda trial: sum(trial.suggest_float(name, 0, 1) for name in space), n_trials=16
    )
    for name in space:
        cells = sorted(int(16 * trial.params[name]) for trial in study.trials)
        assert cells == list(range(16))


def test_the_seed_decides_where_a_continuous_study_starts() -> None:
    started = []
    for seed in (0, 0, 1):
        zaps = ZAPSSampler(search_space={"x": FloatDistribution(0, 1)}, seed=seed)
        study = optuna.create_study(sampler=zaps)
        study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=5)
        started.append([trial.params["x"] for trial in study.trials])
    assert started[0] == started[1]
    assert not set(started[0]) & set(started[2])


def test_an_enqueued_value_at_the_start_of_a_continuous_study_is_completed() -> None:
    space = {"x": FloatDistribution(0, 1), "y": FloatDistribution(0, 1)}
    study = optuna.create_study(sampler=ZAPSSampler(search_space=space, seed=0))
    study.enqueue_trial({"x": 0.25})
    study.optimize(
        lambda trial: trial.suggest_float("x", 0, 1) + trial.suggest_float("y", 0, 1), n_trials=3
    )
    assert study.trials[0].params["x"] == 0.25
    assert [t.user_attrs["zaps:phase"] for t in study.trials] == ["coverage"] * 3


@pytest.mark.parametrize(("direction", "sign"), [("maximize", 1), ("minimize", -1)])
def test_of_many_trials_a_fit_over_a_pool_takes_the_best_half_and_a_sample(
    direction: str, sign: int
) -> None:
    taken: list[np.ndarray] = []

    class Spy(Flat):
        @classmethod
        def for_layout(cls, layout: FeatureLayout, seed: int) -> Spy:
            return cls()

        def fit(self, X: np.ndarray, y: np.ndarray) -> None:
            taken.append(y)

    space = {"x": FloatDistribution(0, 1)}
    zaps = ZAPSSampler(search_space=space, profile=FLAT.with_surrogate(Spy.for_layout), seed=0)
    study = optuna.create_study(direction=direction, sampler=zaps)
    values = np.random.default_rng(0).permutation(600)
    study.add_trials(
        optuna.create_trial(params={"x": v / 599}, distributions=space, value=float(sign * v))
        for v in values.tolist()
    )
    study.ask().suggest_float("x", 0, 1)
    (labels,) = taken
    n_labels = POOL.n_labels
    assert len(labels) == n_labels == 256
    assert set(range(600 - n_labels // 2, 600)) <= set(labels)
    assert labels.min() < 100


def test_a_configuration_told_in_two_roundings_is_one_and_shifts_no_value() -> None:
    """Both are 0.3 to Optuna; the values of later trials once went to their neighbours' rows."""
    space = {f"x{i}": FloatDistribution(0.0, 1.0, step=0.1) for i in range(7)}
    study = optuna.create_study(sampler=ZAPSSampler(search_space=space, seed=0))
    told = [0.3, 0.1 + 0.2, 0.0, 0.7, 1.0, 0.5]
    for value in told:
        params = dict.fromkeys(space, value)
        study.add_trial(optuna.create_trial(params=params, distributions=space, value=value))
    ranking = study.sampler.rank(study, n=4096)
    means = ranking.set_index(list(space))["mean"]
    predicted = [means[tuple(dict.fromkeys(space, value).values())] for value in told[2:]]
    assert predicted == pytest.approx(told[2:], abs=0.1)


def test_a_resumed_study_goes_on_as_the_one_that_ran() -> None:
    def make() -> ZAPSSampler:
        return ZAPSSampler(seed=3)

    whole = optuna.create_study(sampler=make())
    whole.optimize(sphere, n_trials=24)
    resumed = optuna.create_study(sampler=make())
    resumed.add_trials(whole.trials[:20])
    resumed.optimize(sphere, n_trials=4)
    assert [t.params for t in resumed.trials] == [t.params for t in whole.trials]


def test_groups_search_the_branches_of_an_objective() -> None:
    def branches(trial: optuna.Trial) -> float:
        kind = trial.suggest_categorical("kind", ["a", "b"])
        if kind == "a":
            return (trial.suggest_float("xa", 0, 1) - 0.3) ** 2
        return 0.5 + trial.suggest_float("xb", 0, 1)

    study = optuna.create_study(sampler=ZAPSSampler(group=True, seed=0))
    study.optimize(branches, n_trials=40)
    searched = [t for t in study.trials if t.params["kind"] == "a" and t.number >= 20]
    assert len(searched) > 10  # the better branch
    assert study.best_value < 1e-4
    # What was claimed of the other branch and not suggested is taken back.
    for trial in study.trials:
        assert trial.system_attrs.get("zaps:candidate", {}).keys() <= trial.params.keys()


@pytest.mark.parametrize("first", ["a1", "b1"])
def test_trials_in_flight_differ_in_every_group(first: str) -> None:
    def both(trial: optuna.Trial) -> float:
        total = trial.suggest_int("a1", 0, 9) + trial.suggest_int("a2", 0, 9)
        if trial.number != 1:
            total += trial.suggest_int("b1", 0, 9) + trial.suggest_int("b2", 0, 9)
        return float(total)

    zaps = ZAPSSampler(group=True, profile=FLAT, n_startup_trials=2, seed=0)
    study = optuna.create_study(sampler=zaps)
    study.optimize(both, n_trials=3)
    running = [study.ask() for _ in range(8)]
    for trial in running:  # with its first parameter each claims one of 100 in either group
        trial.suggest_int(first, 0, 9)
    for trial in running:
        both(trial)
    for group in ("a", "b"):
        chosen = {(t.params[f"{group}1"], t.params[f"{group}2"]) for t in running}
        assert len(chosen) == 8


def test_a_grid_gives_numbers_their_places() -> None:
    grid = CandidateSet.grid({"n": [1, 10, 100]}, coordinates={"n": [0.0, 0.5, 1.0]})
    assert grid.encoding.ravel().tolist() == [0.0, 0.5, 1.0]
    assert (grid.widths, grid.numeric) == ((1,), (True,))


def test_a_value_that_is_not_offered_is_left_to_the_objective() -> None:
    space = {"x": FloatDistribution(0, 1), "c": CategoricalDistribution(["a", "b"])}

    def objective(trial: optuna.Trial) -> float:
        return trial.suggest_float("x", 0, 1) + (trial.suggest_categorical("c", ["a", "b"]) == "a")

    study = optuna.create_study(sampler=ZAPSSampler(search_space=space, seed=0))
    study.optimize(objective, n_trials=12)
    study.enqueue_trial({"x": 7.0})
    study.enqueue_trial({"x": 0.25})
    with pytest.warns(UserWarning, match="out of range"):
        study.optimize(objective, n_trials=1)
    study.optimize(objective, n_trials=2)
    assert [t.params["x"] for t in study.trials[12:14]] == [7.0, 0.25]
    assert all(0 <= t.params["x"] <= 1 for t in study.trials[14:])


def test_only_a_narrower_range_is_drawn_and_what_was_seen_outside_keeps_its_place() -> None:
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
