"""Grids of floats and integers that rounding makes hard: no trial may end by them."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
import math
from typing import Any
import warnings

from hypothesis import assume
from hypothesis import example
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.distributions import FloatDistribution
from optuna.distributions import IntDistribution
from optuna.trial import TrialState
import pytest

from optuna_zaps import Profile
from optuna_zaps import ZAPSSampler
from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.pool import Pool
from optuna_zaps.study.history import DrawnConfigurations
from optuna_zaps.study.parameters import axes_of
from optuna_zaps.study.parameters import parameter_of
from optuna_zaps.study.parameters import scale_of
from optuna_zaps.study.parameters import size


POOL = Profile.anytime().pool


SPACES: dict[str, BaseDistribution] = {
    "1e9 steps": FloatDistribution(0, 1, step=1e-9),
    "0.01 to 1e7": FloatDistribution(0.01, 1e7, step=0.01),
    "1e20 steps": FloatDistribution(0, 1e10, step=1e-10),
    "angles": FloatDistribution(-180, 180, step=1e-6),
    "1e8 steps": FloatDistribution(0, 1000, step=1e-5),
    "far from 0": FloatDistribution(1e6, 2e6, step=0.001),
    "seconds": FloatDistribution(1.7e9, 1.7e9 + 86400, step=0.001),
    "finer than floats": FloatDistribution(-1, 1, step=1e-20),
    "integers with steps": IntDistribution(1, 1 + 10**12 * 300001, step=300001),
    "all of 64 bits": IntDistribution(-(2**63), 2**63 - 1),
    "64 bits, log": IntDistribution(1, 2**63 - 1, log=True),
    "beyond 64 bits": IntDistribution(-7 * 10**29, 7 * 10**29, step=7),
    "few, but large": IntDistribution(2**60, 2**60 + 1000),
}

FREE = FloatDistribution(0.0, 1.0)


def accepts(distribution: BaseDistribution, value: float) -> bool:
    """Whether Optuna takes a relative value, rather than sample independently."""
    return distribution._contains(distribution.to_internal_repr(value))


@pytest.mark.parametrize("distribution", SPACES.values(), ids=SPACES)
def test_what_is_drawn_is_accepted_by_optuna(distribution: BaseDistribution) -> None:
    drawn = Pool(axes_of({"x": distribution, "y": FREE}), POOL).spread(np.random.default_rng(0))
    values = [drawn.params(i)["x"] for i in range(len(drawn))]
    whole = isinstance(distribution, IntDistribution)
    assert all(type(value) is (int if whole else float) for value in values)
    assert all(accepts(distribution, value) for value in values)
    # Nothing has moved far: the values fill the range as a Sobol sequence does.
    thirds = np.histogram(scale_of(distribution).coordinates(values), bins=3, range=(0, 1))[0]
    assert thirds.min() >= 0.25 * len(values)


@pytest.mark.parametrize("distribution", SPACES.values(), ids=SPACES)
def test_integers_lie_on_their_grid_exactly_and_floats_next_to_it(
    distribution: BaseDistribution,
) -> None:
    assert isinstance(distribution, FloatDistribution | IntDistribution)
    low, step = Decimal(str(distribution.low)), Decimal(str(distribution.step))
    for value in scale_of(distribution).values(np.linspace(0, 1, 99)).tolist():
        if isinstance(distribution, IntDistribution):
            assert (int(value) - distribution.low) % distribution.step == 0
        else:
            nearest = low + ((Decimal(value) - low) / step).quantize(Decimal(1)) * step
            assert abs(value - float(nearest)) <= 2 * math.ulp(max(abs(value), abs(low)))


@pytest.mark.parametrize(
    ("distribution", "coordinates", "values"),
    [
        (FloatDistribution(1e-4, 1e0, log=True), [0.0, 0.25, 1.0], [1e-4, 1e-3, 1.0]),
        (FloatDistribution(-2, 2), [0.0, 0.75, 1.0], [-2.0, 1.0, 2.0]),
        (FloatDistribution(0.1, 0.3, step=0.1), [0.0, 0.6, 1.0], [0.1, 0.2, 0.3]),
        (IntDistribution(0, 10, step=5), [0.0, 0.3, 1.0], [0.0, 5.0, 10.0]),
        (IntDistribution(1, 100, log=True), [0.0, 0.5, 1.0], [1.0, 10.0, 100.0]),
    ],
)
def test_a_coordinate_is_one_on_the_parameters_own_scale(
    distribution: BaseDistribution, coordinates: list[float], values: list[float]
) -> None:
    np.testing.assert_allclose(
        scale_of(distribution).values(np.array(coordinates)), values, rtol=1e-12
    )


def test_coordinates_invert_values() -> None:
    scale = scale_of(FloatDistribution(1e-5, 1e-1, log=True))
    coordinates = np.linspace(0, 1, 7)
    np.testing.assert_allclose(
        scale.coordinates(scale.values(coordinates).tolist()), coordinates, atol=1e-12
    )


def test_integers_keep_every_digit() -> None:
    """Of (1, 3 * 10^17, step 300001) a float would keep no more than one value in 32 exactly."""
    distribution = SPACES["integers with steps"]
    values = scale_of(distribution).values(np.array([0.0, 0.3, 1.0])).tolist()
    assert values[0] == 1
    assert all((value - 1) % 300001 == 0 for value in values)
    # 9 * 10^16, where floats are 16 apart.
    assert abs(values[1] - 0.3 * 300001 * 10**12) <= 300001 * 16


@st.composite
def distributions(draw: st.DrawFn) -> BaseDistribution:
    """Ranges and steps of any size, where a step is at least 2^20 times a float's last digit."""
    if draw(st.booleans()):
        low = draw(st.integers(-(2**70), 2**70))
        width = draw(st.integers(2**40, 2**72))
        log = low > 0 and draw(st.booleans())
        # Of a range far from 0 floats hold a few values only; here they hold at least a million.
        assume(width > 2**20 * math.ulp(abs(low) + width))
        step = 1 if log else draw(st.integers(1, 1000))
        return IntDistribution(low, low + width // step * step, log=log, step=step)
    size = st.floats(1e-30, 1e30)
    low = draw(st.one_of(st.just(0.0), size, size.map(lambda x: -x)))
    width = draw(size)
    assume(low + width > low)
    kind = draw(st.sampled_from(["step", "log", "plain"]))
    if kind == "step":
        step = width / draw(st.integers(2, 2**45))
        assume(step > 2**20 * math.ulp(max(abs(low), abs(low + width))))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*not divisible by `step`")
            return FloatDistribution(low, low + width, step=step)
    return FloatDistribution(low, low + width, log=kind == "log" and low > 0)


@settings(max_examples=150, deadline=None)
@example(IntDistribution(-1, 11829001798568703), [1.0])  # an end that no float holds
@example(IntDistribution(7087199656513421, 2**53 + 3, step=2), [1.0])  # nor the one before it
@example(IntDistribution(7087199656513421, 2**53 + 2**45 + 1, step=2), [0.99, 1.0])  # nor others
@example(IntDistribution(13811996650363091, 44433600737201861, step=3), [1.0])
@given(distributions(), st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_any_coordinate_is_a_value_that_optuna_accepts(
    distribution: BaseDistribution, coordinates: list[float]
) -> None:
    configurations = DrawnConfigurations({"x": distribution})
    whole = isinstance(distribution, IntDistribution)
    for number in scale_of(distribution).values(np.array(coordinates)).tolist():
        value = int(number) if whole else number
        assert accepts(distribution, value)
        assert parameter_of(distribution).offers(value)
        # What a storage gives back is the same configuration.
        stored = distribution.to_external_repr(distribution.to_internal_repr(value))
        assert configurations.index({"x": value}) == configurations.index({"x": stored})


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([d for d in SPACES.values() if isinstance(d, FloatDistribution)]),
       st.floats(0, 1))  # fmt: skip
def test_all_roundings_of_a_value_are_one(
    distribution: FloatDistribution, coordinate: float
) -> None:
    assume(distribution.step is not None and distribution.step > 4 * math.ulp(distribution.high))
    assert distribution.step is not None
    k = round(coordinate * (distribution.high - distribution.low) / distribution.step)
    summed = distribution.low + k * distribution.step
    exact = float(Decimal(str(distribution.low)) + k * Decimal(str(distribution.step)))
    configurations = DrawnConfigurations({"x": distribution})
    told = [min(max(x, distribution.low), distribution.high) for x in (summed, exact)]
    first, *rest = (
        configurations.index({"x": x})
        for value in told
        for x in (value, min(math.nextafter(value, math.inf), distribution.high))
    )
    assert first is not None
    assert rest == [first] * 3


def test_a_number_off_the_grid_is_no_value_of_it() -> None:
    assert not parameter_of(FloatDistribution(0, 1, step=0.1)).offers(0.35)
    assert not parameter_of(FloatDistribution(-180, 180, step=1e-6)).offers(0.0000005)
    assert not parameter_of(IntDistribution(0, 10, step=5)).offers(6)
    assert not parameter_of(IntDistribution(0, 10)).offers(2.5)
    for distribution in (FREE, FloatDistribution(0, 1, step=0.1), *SPACES.values()):
        for nonsense in (math.nan, math.inf, -math.inf, 10**400, True, "0.5", None, [0.5]):
            assert not parameter_of(distribution).offers(nonsense)


def test_neighbours_on_a_fine_enumerated_grid_are_told_apart() -> None:
    """Steps lie below 10^-12 of the values: a tolerance once found the first of many."""
    distribution = FloatDistribution(1e6, 1e6 + 1e-4, step=1e-7)
    values = parameter_of(distribution).all()
    assert len(values) == 1001
    candidates = CandidateSet.grid(
        {"x": values}, coordinates={"x": scale_of(distribution).coordinates(values)}
    )
    for position in (0, 1, 500, 1000):
        rounded = math.nextafter(values[position], 1e6)
        assert candidates.index({"x": rounded}) == position
    assert candidates.index({"x": math.inf}) is None


def test_integers_that_a_storage_takes_for_one_are_one() -> None:
    """Between 2^60 and 2^61 floats are 256 apart."""
    distribution = IntDistribution(2**60, 2**60 + 1000)
    # 896 is the first that rounds to 1024, which is out of range.
    assert parameter_of(distribution).all() == tuple(2**60 + n for n in (0, 256, 512, 768, 896))
    configurations = DrawnConfigurations({"n": IntDistribution(2**60, 2**60 + 10**9)})
    assert configurations.index({"n": 2**60 + 100}) == configurations.index({"n": 2**60})


def test_a_product_of_counts_beyond_the_largest_float() -> None:
    space = {f"n{i}": IntDistribution(0, 2**63 - 1) for i in range(20)}
    assert size({**space, "x": FREE}) == math.inf
    assert parameter_of(FloatDistribution(0, 1e10, step=1e-10)).count() == 10**20 + 1


def suggested(trial: optuna.Trial, distribution: BaseDistribution) -> float:
    if isinstance(distribution, IntDistribution):
        return trial.suggest_int(
            "x", distribution.low, distribution.high, step=distribution.step, log=distribution.log
        )
    assert isinstance(distribution, FloatDistribution)
    return trial.suggest_float("x", distribution.low, distribution.high, step=distribution.step)


def objective_over(distribution: BaseDistribution) -> Callable[[optuna.Trial], float]:
    def objective(trial: optuna.Trial) -> float:
        x = suggested(trial, distribution)
        assert type(x) is (int if isinstance(distribution, IntDistribution) else float)
        coordinate = float(scale_of(distribution).coordinates([x])[0])
        other = trial.suggest_float("y", 0, 1)
        bonus = trial.suggest_categorical("c", ["a", "b"]) == "a"
        return (coordinate - 0.3) ** 2 + (other - 0.6) ** 2 + bonus

    return objective


@pytest.mark.parametrize(
    ("name", "is_given"),
    [*((name, False) for name in SPACES), ("angles", True), ("integers with steps", True)],
)
def test_no_trial_fails_and_the_search_learns(name: str, is_given: bool) -> None:
    distribution = SPACES[name]
    space: dict[str, Any] = {"x": distribution, "y": FREE, "c": ["a", "b"]}
    sampler = ZAPSSampler(search_space=space if is_given else None, seed=0)
    study = optuna.create_study(sampler=sampler)
    objective = objective_over(distribution)
    study.enqueue_trial({"x": study_value(distribution, 0.5)})
    study.optimize(objective, n_trials=20)
    for _ in range(10):
        trial = study.ask()
        study.tell(trial, objective(trial))
    assert all(t.state == TrialState.COMPLETE for t in study.trials)
    # Half of the choices cost 1, and a random point of the square 0.17; the best of 30 at random
    # is about 0.02 in the mean.
    assert study.best_value < 0.01
    chosen = [t for t in study.trials if t.user_attrs.get("zaps:phase") == "model"]
    assert len(chosen) > 10
    assert all(accepts(distribution, t.params["x"]) for t in chosen)


def study_value(distribution: BaseDistribution, coordinate: float) -> float:
    """A value that a user might enqueue."""
    (value,) = scale_of(distribution).values(np.array([coordinate])).tolist()
    return int(value) if isinstance(distribution, IntDistribution) else float(value)


def test_a_study_in_a_database_goes_on_as_the_one_that_ran() -> None:
    """A database gives back floats, from which a sampler made anew reads the same history."""
    objective = objective_over(SPACES["integers with steps"])
    storage = optuna.storages.get_storage("sqlite://")
    optuna.create_study(storage=storage, study_name="s", sampler=ZAPSSampler(seed=0)).optimize(
        objective, n_trials=15
    )
    study = optuna.load_study(storage=storage, study_name="s", sampler=ZAPSSampler(seed=0))
    study.optimize(objective, n_trials=5)
    whole = optuna.create_study(sampler=ZAPSSampler(seed=0))
    whole.optimize(objective, n_trials=20)
    assert [t.params for t in study.trials] == [t.params for t in whole.trials]
    assert [t.value for t in study.trials] == [t.value for t in whole.trials]


def test_where_floats_hold_too_few_values_optuna_samples_on() -> None:
    """Of (1.7e9, 1.7e9 + 1 day, step 1e-6) floats hold one value in 15,625 well enough."""

    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 1.7e9, 1.7e9 + 86400, step=1e-6)
        return abs(x - 1.7e9) + trial.suggest_float("y", 0, 1)

    for space in (None, {"x": FloatDistribution(1.7e9, 1.7e9 + 86400, step=1e-6), "y": FREE}):
        study = optuna.create_study(sampler=ZAPSSampler(search_space=space, seed=0))
        study.optimize(objective, n_trials=15)
        assert len(study.trials) == 15
        # The values that Optuna sampled are labels as any others.
        assert sum("zaps:mean" in t.user_attrs for t in study.trials) >= 4


def test_a_given_value_that_the_study_does_not_offer_is_still_an_error() -> None:
    sampler = ZAPSSampler(search_space={"x": [0.25, 0.35]}, seed=0)
    study = optuna.create_study(sampler=sampler)
    with pytest.raises(ValueError, match="the study offers only"):
        study.optimize(lambda trial: trial.suggest_float("x", 0, 1, step=0.1), n_trials=2)
