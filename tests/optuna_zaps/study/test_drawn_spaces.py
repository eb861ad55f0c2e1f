"""Spaces too large to enumerate, searched by a pool of configurations for each trial."""

from __future__ import annotations

from itertools import pairwise
import math

from flat import FLAT
from flat import Flat
import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
import pytest

from optuna_zaps import Profile
from optuna_zaps import ZAPSSampler
from optuna_zaps.surrogates import FeatureLayout


POOL = Profile.anytime().pool


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
