"""Parameters of many choices, or of odd ones: memory is bounded by what is told apart."""

from __future__ import annotations

from collections.abc import Sequence
import math
import tracemalloc
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState
import pandas as pd
import pytest

from optuna_zaps import Profile
from optuna_zaps import ZAPSSampler
from optuna_zaps.search import encoding
from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.encoding import columns_of_seen
from optuna_zaps.search.encoding import digits
from optuna_zaps.search.pool import Pool
from optuna_zaps.search.profiles import processes
from optuna_zaps.study.parameters import axes_of
from optuna_zaps.study.parameters import is_enumerable
from optuna_zaps.study.parameters import same
from optuna_zaps.surrogates import FeatureLayout


POOL = Profile.anytime().pool


def one_hot_digits(n_choices: int, share: int) -> np.ndarray:
    """One-hot digits of all positions."""
    return np.hstack([np.eye(width)[columns] for width, columns in digits(n_choices, share)])


def test_two_digits_tell_nine_choices_apart_in_six_columns() -> None:
    encoded = one_hot_digits(9, 6)
    assert encoded[5].tolist() == [0, 1, 0, 0, 0, 1]  # 5 is 12 in base 3
    assert len(np.unique(encoded, axis=0)) == 9


@pytest.mark.parametrize(
    ("n_choices", "share", "widths"),
    [
        (9, 8, (3, 3)),
        (100_000, 1000, (317, 317)),  # 317^2 = 100,489
        (100_000, 167, (47, 47, 47)),  # 47^3 = 103,823
        (10, 8, (4, 4)),
        (10, 7, (7,)),  # 3 digits of 3 or 4 of 2 are more: neighbours share a column
        (10, 1, (1,)),
    ],
)
def test_the_fewest_digits_that_fit(n_choices: int, share: int, widths: tuple[int, ...]) -> None:
    assert tuple(width for width, _ in digits(n_choices, share)) == widths
    if n_choices <= 10:
        assert np.all(one_hot_digits(n_choices, share).sum(axis=1) == len(widths))


def test_choices_that_share_a_column_lie_together() -> None:
    columns = one_hot_digits(10, 3).argmax(axis=1)
    assert columns.tolist() == [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_the_columns_of_a_pool_are_those_of_what_was_tried() -> None:
    columns = columns_of_seen(np.array([7, 2, 7, 4]), n_choices=9, width=5)
    assert columns.tolist() == [4, 4, 1, 4, 2, 4, 4, 0, 4]
    # Of four that were tried, two columns are left to share.
    columns = columns_of_seen(np.array([7, 2, 4, 8]), n_choices=9, width=3)
    assert columns.tolist() == [2, 2, 1, 2, 0, 2, 2, 0, 1]


@pytest.fixture
def few_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for 80 columns in either kind of set, of the 40 candidates of a test."""
    monkeypatch.setattr(encoding, "MAX_CELLS", 80 * 40)
    monkeypatch.setattr(encoding, "MAX_POOL_COLUMNS", 80)


CHOICES = {"name": range(40), "large": range(1000), "op": "abcde", "op2": "edcba", "n": [1, 2, 4]}
COORDINATES = {"n": [0, 0.5, 1]}


@pytest.mark.usefixtures("few_cells")
def test_small_parameters_beside_large_ones_keep_a_column_for_each_choice() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers([1, 15, 5, 5, 3], size=(40, 5))
    codes[:, 0] = np.arange(40)
    codes[1] = (1, 12, 1, 0, 2)
    table = CandidateSet(CHOICES | {"large": range(15)}, codes, coordinates=COORDINATES)
    # 80 columns: 15 + 5 + 5 + 1 leave more than 40 for the names.
    assert table.widths == (40, 15, 5, 5, 1)
    wide = CandidateSet(CHOICES, codes, coordinates=COORDINATES)
    # A share of 34 for each large one. A name occurs once, and tells nothing of others.
    assert wide.widths == (1, 1, 5, 5, 1)
    assert wide.numeric == (False, False, False, False, True)
    assert wide.encoding[1].tolist() == [1, 1, *(0, 1, 0, 0, 0), *(1, 0, 0, 0, 0), 1]
    # The operations share numbers, in any order; other columns are no choices.
    assert wide.shared_choices == (-1, -1, 0, 1, 2, 3, 4, 4, 3, 2, 1, 0, -1)


@pytest.mark.usefixtures("few_cells")
def test_a_pool_tells_apart_what_was_tried() -> None:
    codes = np.zeros((40, 5), dtype=int)
    codes[:, 1] = 999 - np.arange(40)
    pool = CandidateSet(CHOICES, codes, coordinates=COORDINATES, n_seen=3)
    assert pool.widths == (34, 34, 5, 5, 1)
    large = pool.encoding[:, 34:68].argmax(axis=1)
    assert large.tolist() == [0, 1, 2] + [33] * 37


@pytest.mark.usefixtures("few_cells")
def test_a_grid_tells_all_choices_apart_by_digits() -> None:
    grid = CandidateSet.grid({"a": range(20), "b": range(2)})
    assert grid.widths == (20, 2)  # within 80
    wide = CandidateSet.grid({"a": range(20), "b": range(20)})  # 8 columns for 400
    assert wide.widths == (4,) * 2
    assert len(np.unique(CandidateSet.grid({"a": range(9), "b": range(20)}).encoding, axis=0)) > 1


def test_covariances_of_a_pool_are_those_of_a_column_for_each_choice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Choices that were not tried may share a column, which no label has."""
    rng = np.random.default_rng(0)
    codes = np.unique(rng.integers(200, size=(300, 2)), axis=0)
    choices = {"a": range(200), "b": range(200)}
    whole = CandidateSet(choices, codes, n_seen=20)
    assert whole.encoding.shape == (len(codes), 400)
    monkeypatch.setattr(encoding, "MAX_POOL_COLUMNS", 100)
    shared = CandidateSet(choices, codes, n_seen=20)
    assert (whole.widths, shared.widths) == ((200, 200), (50, 50))
    labels = rng.normal(size=20)
    predictions = []
    for each in (whole, shared):
        layout = FeatureLayout(0, each.widths, each.numeric)
        model = processes(layout, 0)
        model.fit(each.encoding[:20], labels)
        predictions.append(model.predict(each.encoding))
    np.testing.assert_allclose(predictions[0], predictions[1], rtol=1e-3, atol=1e-3)


def grid_of(n_choices: int, n_parameters: int) -> CandidateSet:
    return CandidateSet.grid({f"p{i}": range(n_choices) for i in range(n_parameters)})


@pytest.mark.parametrize(("n_choices", "n_parameters"), [(5, 6), (2, 18), (4, 9), (8, 6)])
def test_spaces_of_ordinary_width_are_encoded_one_hot(n_choices: int, n_parameters: int) -> None:
    assert grid_of(n_choices, n_parameters).widths == (n_choices,) * n_parameters


def choices(n: int) -> CategoricalDistribution:
    return CategoricalDistribution(range(n))


@pytest.mark.parametrize(
    ("space", "alone", "with_proxies"),
    [
        ({"a": choices(1000)}, True, True),
        ({"a": choices(100_000)}, True, True),
        ({"a": choices(300_000)}, False, False),  # more than 2^18
        ({f"p{i}": choices(5) for i in range(6)}, True, True),
        ({f"p{i}": choices(2) for i in range(18)}, True, True),
        # 192 columns x 262,144 candidates.
        ({f"p{i}": choices(64) for i in range(3)}, False, True),
        ({"a": choices(100_000), "b": choices(2)}, False, True),
        ({"a": choices(1000), "x": FloatDistribution(0, 1)}, False, False),
    ],
)
def test_which_spaces_are_enumerated(
    space: dict[str, BaseDistribution], alone: bool, with_proxies: bool
) -> None:
    assert is_enumerable(space) is alone
    assert is_enumerable(space, with_proxies=True) is with_proxies


def test_pools_of_one_space_have_one_layout() -> None:
    """Fits are remembered from pool to pool by what the columns mean."""
    pool = Pool(axes_of({f"p{i}": choices(5000) for i in range(3)}), POOL)
    rng = np.random.default_rng(0)
    first = pool.spread(rng)
    second = pool.draw([first.params(i) for i in range(200)], [3, 5], rng)
    assert first.widths == second.widths == (1365,) * 3
    assert second.encoding.nbytes <= 64 * 2**20
    assert sum(Pool(axes_of({"a": choices(4000)}), POOL).spread(rng).widths) == 4000


def table(n: int) -> pd.DataFrame:
    """A name for each row, as a collection of models has them, and one shared parameter."""
    flops = np.random.default_rng(0).permutation(n).astype(float)
    names = [f"a model of a long name, number {i}" for i in range(n)]
    return pd.DataFrame(
        {"c": names, "op": ["x" if i % 3 else "y" for i in range(n)], "flops": flops}
    )


def proxies(params: dict[str, Any]) -> dict[str, float]:
    return {"value": float(params["c"]), "parity": float(params["c"] % 2)}


@pytest.mark.parametrize(
    ("n_choices", "n_parameters", "kwargs"),
    [
        (20_000, 1, {}),
        (20_000, 1, {"budget": 10}),
        (10_000, 1, {"proxies": proxies}),
        (5_000, 8, {}),
    ],
    ids=["alone", "trees", "proxies", "many parameters"],
)
def test_memory_of_many_choices(n_choices: int, n_parameters: int, kwargs: dict[str, Any]) -> None:
    """One-hot encodings: 1.6 GB for 20,000 choices alone, a third of one for 5,000 x 8."""
    names = ["c", *(f"c{i}" for i in range(1, n_parameters))]
    distribution = choices(n_choices)
    sampler = ZAPSSampler(
        search_space=dict.fromkeys(names, distribution),
        seed=0,
        n_startup_trials=3,
        **kwargs,
    )
    study = optuna.create_study(direction="maximize", sampler=sampler)
    tracemalloc.start()
    try:
        for _ in range(6):
            trial = study.ask(dict.fromkeys(names, distribution))
            study.tell(trial, sum(trial.params.values()))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 300e6
    assert any(t.user_attrs["zaps:phase"] == "model" for t in study.trials)


def test_memory_of_a_table_of_names() -> None:
    frame = table(20_000)
    tracemalloc.start()
    try:
        sampler = ZAPSSampler(frame, seed=0, n_startup_trials=6)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for _ in range(12):
            trial = study.ask(sampler_space(frame))
            study.tell(trial, frame["flops"][frame["c"] == trial.params["c"]].item())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 300e6
    assert study.best_value > 19_000  # the proxy is the objective


def sampler_space(frame: pd.DataFrame) -> dict[str, BaseDistribution]:
    return {name: CategoricalDistribution(frame[name].unique().tolist()) for name in ("c", "op")}


def test_a_large_space_of_many_choices_is_searched_better_than_by_tpe() -> None:
    """Three parameters of 64 choices that add up; the best of each is 0."""
    n_choices = 64
    best: dict[str, list[float]] = {"zaps": [], "tpe": []}
    for seed in range(3):
        weights = np.random.default_rng(seed).exponential(size=(3, n_choices))
        weights -= weights.min(axis=1, keepdims=True)

        def objective(trial: optuna.Trial, weights: Any = weights) -> float:
            chosen = [trial.suggest_categorical(f"p{i}", range(n_choices)) for i in range(3)]
            return float(weights[range(3), chosen].sum())

        for name, sampler in (
            ("zaps", ZAPSSampler(seed=seed)),
            ("tpe", optuna.samplers.TPESampler(seed=seed)),
        ):
            study = optuna.create_study(sampler=sampler)
            study.optimize(objective, n_trials=60)
            best[name].append(study.best_value)
    assert np.mean(best["zaps"]) < np.mean(best["tpe"])


ODD: dict[str, Sequence[Any]] = {
    "mixed": [None, True, False, 0, 2.5, math.nan, "x", ""],
    "numbers": [-1e300, 1e-300, 10**30, math.inf, -math.inf, math.nan],
    "tuples": [tuple(range(200)), tuple(range(1, 201)), (1, (2, None, math.nan))],
    "lists": [[1, 2], [1, 2, 3], {"a": 1}],
    "functions": [max, min, sum],
    "text": ["a" * 5000, "a" * 4999 + "b", "c" * 5000],
    "equal": [True, 1, 2],
    "single precision": [np.float32("nan"), np.float32(0.1), None],
}


@pytest.mark.filterwarnings("ignore:Choices for a categorical distribution should be")
@pytest.mark.parametrize("is_given", [False, True], ids=["inferred", "given"])
@pytest.mark.parametrize("names", [*([name] for name in ODD), list(ODD)], ids="-".join)
def test_odd_choices(names: list[str], is_given: bool) -> None:
    """Beside a number, so that the space is not exhausted: Optuna's TPE wants JSON."""
    space = {name: CategoricalDistribution(ODD[name]) for name in names}
    whole = {**space, "x": FloatDistribution(0, 1)}
    study = optuna.create_study(
        sampler=ZAPSSampler(search_space=whole if is_given else None, seed=0)
    )

    def objective(trial: optuna.Trial) -> float:
        positions = []
        for name in names:
            value = trial.suggest_categorical(name, ODD[name])
            positions.append(space[name].to_internal_repr(value))
        return sum(positions) + trial.suggest_float("x", 0, 1)

    study.optimize(objective, n_trials=20)
    assert {t.state for t in study.trials} == {TrialState.COMPLETE}
    assert sum(t.user_attrs.get("zaps:phase") == "model" for t in study.trials) >= 8


def test_distributions_are_the_same_as_optuna_compares_them() -> None:
    one = CategoricalDistribution([1, None, math.nan])
    assert same(one, CategoricalDistribution([1, None, float("nan")]))
    assert not same(one, CategoricalDistribution([1, math.nan, None]))
    assert not same(None, one)
    assert not same(FloatDistribution(0, 1), FloatDistribution(0, 1, step=0.5))
