from __future__ import annotations

from collections.abc import Callable
import copy
from pathlib import Path
import pickle
import threading
import time
from typing import Any
import warnings

from flat import FLAT
from flat import Flat
from histories import history_of
import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.distributions import IntDistribution
from optuna.samplers import PartialFixedSampler
from optuna.samplers import RandomSampler
from optuna.trial import FrozenTrial
from optuna.trial import TrialState
import pandas as pd
import pytest
from warned import only

from optuna_zaps import ProxyFit
from optuna_zaps import ZAPSSampler
from optuna_zaps.surrogates import FeatureLayout


OPS, ACTS = list("abcde"), list("wxyz")
SPACE = {"op": OPS, "act": ACTS, "width": [8, 16, 32]}


def value(params: dict[str, Any]) -> float:
    score = OPS.index(params["op"]) + 2.0 * ACTS.index(params["act"])
    return float(score + np.log2(params["width"]))


def table() -> pd.DataFrame:
    rows = pd.MultiIndex.from_product(SPACE.values(), names=list(SPACE)).to_frame(index=False)
    truth = np.asarray([value(row) for row in rows.to_dict("records")])
    rng = np.random.default_rng(0)
    rows["flops"] = truth + rng.normal(scale=2.0, size=len(rows))
    rows["synflow"] = truth + rng.normal(scale=4.0, size=len(rows))
    return rows


def objective(trial: optuna.Trial) -> float:
    return value(
        {
            "op": trial.suggest_categorical("op", OPS),
            "act": trial.suggest_categorical("act", ACTS),
            "width": trial.suggest_categorical("width", SPACE["width"]),
        }
    )


def sampler(**arguments: Any) -> ZAPSSampler:
    arguments = {"proxies": table(), "search_space": SPACE, "n_startup_trials": 6, "seed": 0} | (
        arguments
    )
    return ZAPSSampler(**arguments)


def study_of(zaps: ZAPSSampler, n_trials: int, **arguments: Any) -> optuna.Study:
    study = optuna.create_study(direction="maximize", sampler=zaps, **arguments)
    study.optimize(objective, n_trials=n_trials)
    return study


def configurations(study: optuna.Study) -> list[tuple[Any, ...]]:
    return [tuple(sorted(trial.params.items())) for trial in study.trials]


WAYS_TO_SAY_THE_SPACE: dict[str, Callable[[], ZAPSSampler]] = {
    "table and search_space": sampler,
    "table with an index": lambda: sampler(
        proxies=table().set_index(["op", "act", "width"]), search_space=None
    ),
    "table indexed by tuples": lambda: sampler(
        proxies=table()[["flops"]].set_axis(
            pd.Index(list(table()[list(SPACE)].itertuples(index=False)), tupleize_cols=False)
        )
    ),
    "distributions": lambda: sampler(
        proxies=None, search_space={k: CategoricalDistribution(v) for k, v in SPACE.items()}
    ),
    "a function": lambda: sampler(proxies=lambda params: {"value": -value(params)}),
    "a function, space from trials": lambda: sampler(
        proxies=lambda params: {"value": value(params)}, search_space=None
    ),
    "trials alone": lambda: sampler(proxies=None, search_space=None),
}


@pytest.mark.parametrize("way", WAYS_TO_SAY_THE_SPACE)
def test_it_never_repeats_and_finds_the_optimum(way: str) -> None:
    study = study_of(WAYS_TO_SAY_THE_SPACE[way](), 40)
    assert len(set(configurations(study))) == 40
    # Without replacement a random search finds it in 40 of 60 two times in three; the rest of
    # the seeds is what the method is for.
    assert study.best_params == {"op": "e", "act": "z", "width": 32}


def test_choices_may_be_listed_in_another_order_than_in_the_table() -> None:
    def reordered(trial: optuna.Trial) -> float:
        return value(
            {name: trial.suggest_categorical(name, SPACE[name][::-1]) for name in reversed(SPACE)}
        )

    study = optuna.create_study(direction="maximize", sampler=sampler())
    study.optimize(reordered, n_trials=60)
    assert len(set(configurations(study))) == 60


def test_integers_and_floats_on_a_grid() -> None:
    def numeric(trial: optuna.Trial) -> float:
        layers = trial.suggest_int("layers", 1, 9, step=2)
        return layers * trial.suggest_float("rate", 0.1, 0.5, step=0.1)

    study = optuna.create_study(direction="maximize", sampler=sampler(proxies=None, search_space={
        "layers": IntDistribution(1, 9, step=2), "rate": FloatDistribution(0.1, 0.5, step=0.1)
    }))  # fmt: skip
    study.optimize(numeric, n_trials=30)
    assert len(study.trials) == 25  # stopped when all were evaluated
    assert study.best_params == {"layers": 9, "rate": 0.5}


def test_minimising_f_is_maximising_minus_f() -> None:
    studies = []
    for direction, sign in (("maximize", 1.0), ("minimize", -1.0)):
        study = optuna.create_study(direction=direction, sampler=sampler())
        study.optimize(lambda trial, sign=sign: sign * objective(trial), n_trials=30)
        studies.append(study)
    assert configurations(studies[0]) == configurations(studies[1])
    attributes = [study.trials[-1].user_attrs for study in studies]
    assert attributes[0]["zaps:mean"] == -attributes[1]["zaps:mean"]
    assert attributes[0]["zaps:std"] == attributes[1]["zaps:std"]
    ranks = [study.sampler.rank(study, 5) for study in studies]
    np.testing.assert_allclose(ranks[0]["mean"], -ranks[1]["mean"])
    np.testing.assert_allclose(ranks[0]["std"], ranks[1]["std"])
    assert ranks[0]["std"].min() > 0
    assert ranks[0]["mean"].is_monotonic_decreasing


@pytest.mark.parametrize(("direction", "sign"), [("maximize", 1), ("minimize", -1)])
def test_user_attributes_tell_why(direction: str, sign: int) -> None:
    study = optuna.create_study(direction=direction, sampler=sampler())
    study.optimize(lambda trial: sign * objective(trial), n_trials=12)
    trials = study.trials
    assert [trial.user_attrs["zaps:phase"] for trial in trials] == (
        ["exploitation", "coverage"] * 3 + ["model"] * 6
    )
    last = trials[-1].user_attrs
    # The model in force was fitted on 11 values: beta = 2 sqrt(20 / 11). In the unit of the
    # objective it is what the value may reach: of one to be minimised a bound from below.
    reach = sign * 2 * np.sqrt(20 / 11) * last["zaps:std"]
    assert last["zaps:std"] > 0.1
    # Attributes are rounded.
    assert last["zaps:acquisition"] == pytest.approx(last["zaps:mean"] + reach, rel=1e-4)
    assert last["zaps:mean"] == pytest.approx(trials[-1].value, abs=4)
    assert set(last["zaps:proxies"].split(", ")) == {"flops", "synflow"}


def test_proxies_that_say_nothing_are_left_out() -> None:
    """A test of 20 values and more finds them; honest ones stay."""
    shuffled = table()
    for seed, name in enumerate(("flops", "synflow")):
        shuffled[name] = np.random.default_rng(seed).permutation(len(shuffled))
    for proxies, named in ((table(), True), (shuffled, False)):
        trials = study_of(sampler(proxies=proxies), 30).trials
        assert all("zaps:proxies" in trial.user_attrs for trial in trials[6:20])
        assert ("zaps:proxies" in trials[-1].user_attrs) is named


def test_rank_returns_parameters_mean_and_std() -> None:
    study = study_of(sampler(), 30)
    ranking = study.sampler.rank(study, n=7)
    assert list(ranking.columns) == ["op", "act", "width", "mean", "std"]
    assert ranking.index.tolist() == [1, 2, 3, 4, 5, 6, 7]
    truth = [value(row) for row in ranking[list(SPACE)].to_dict("records")]
    assert np.mean(truth) > 11  # of 14 at most and 8.5 on average


def test_rank_works_from_the_history_in_a_sampler_that_did_not_run_it() -> None:
    study = study_of(sampler(), 30)
    pd.testing.assert_frame_equal(sampler().rank(study), study.sampler.rank(study))
    inferred = sampler(proxies=None, search_space=None)
    assert len(inferred.rank(study, 100)) == 60


def test_what_cannot_be_ranked_is_said() -> None:
    study = study_of(sampler(), 2)
    assert len(study.sampler.rank(study, n=1)) == 1
    with pytest.raises(ValueError, match="n must be at least 1, but got 0"):
        study.sampler.rank(study, n=0)
    with pytest.raises(ValueError, match=r"at least 2 configurations.*got 1"):
        sampler().rank(study_of(sampler(), 1))
    with pytest.raises(ValueError, match="no parameter in common"):
        ZAPSSampler().rank(optuna.create_study())
    several = optuna.create_study(directions=["maximize"] * 2, sampler=sampler())
    several.optimize(lambda trial: (objective(trial), 1.0), n_trials=3)
    with pytest.raises(ValueError, match="several objectives has no single ranking"):
        several.sampler.rank(several)


def test_a_proxy_function_is_called_once_for_each_configuration_ranked_or_not() -> None:
    calls: list[dict[str, Any]] = []

    def proxies(params: dict[str, Any]) -> dict[str, float]:
        calls.append(params)
        return {"value": value(params)}

    def with_a_constant(trial: optuna.Trial) -> float:
        return objective(trial) + trial.suggest_categorical("version", [1])

    zaps = sampler(proxies=proxies, search_space=None)
    study = optuna.create_study(direction="maximize", sampler=zaps)
    for _ in range(3):
        study.optimize(with_a_constant, n_trials=6)
        # Optuna names the parameters of an inferred space in alphabetical order.
        assert list(zaps.rank(study, 2).columns) == ["act", "op", "width", "mean", "std"]
    assert len(calls) == 60


def test_threads_call_a_proxy_function_once_for_each_configuration() -> None:
    calls: list[tuple[Any, ...]] = []

    def slow(params: dict[str, Any]) -> dict[str, float]:
        time.sleep(1e-3)
        calls.append(tuple(params.values()))
        return {"value": value(params)}

    # The space is known after one trial: then all threads want the proxies at once.
    study = study_of(sampler(proxies=slow, search_space=None), 1)
    study.optimize(objective, n_trials=8, n_jobs=4)
    assert len(calls) == len(set(calls)) == 60


def test_what_is_known_can_be_read() -> None:
    zaps = sampler(initial_proxies=["synflow"])
    assert zaps.proxies_.shape == (60, 5)
    assert zaps.initial_proxies_ == ["synflow"]
    assert zaps.active_proxies_ == ["synflow"]
    study_of(zaps, 10)
    assert set(zaps.active_proxies_) == {"flops", "synflow"}
    with pytest.raises(AttributeError, match="known once the search space is"):
        _ = ZAPSSampler().proxies_


def test_a_fitted_proxyfit_names_the_initial_proxies() -> None:
    rows = table()
    fit = ProxyFit(n_select=1).fit(rows[["synflow", "flops"]], [value(r) for r in rows.to_dict("records")])  # fmt: skip # noqa: E501
    assert sampler(initial_proxies=fit).initial_proxies_ == ["flops"]


# --- bad input ---------------------------------------------------------------------------------


def frame(**columns: Any) -> pd.DataFrame:
    return table().assign(**columns)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"budget": 9}, ValueError, "budget must be at least 10, but got 9"),
        ({"n_startup_trials": -1}, ValueError, "n_startup_trials must not be negative"),
        ({"seed": -1}, ValueError, "seed must not be negative"),
        ({"profile": "forest"}, ValueError, r"one of \[.*'paper'\].*'trees'.*, but got 'forest'"),
        ({"initial_proxies": ["flop"]}, ValueError, r"\['flops', 'synflow'\], but got \['flop'\]"),
        ({"initial_proxies": "flops"}, TypeError, "sequence of names"),
        ({"initial_proxies": []}, ValueError, "at least one proxy"),
        ({"proxies": pd.concat([table(), table()[:2]])}, ValueError, "2 duplicates"),
        ({"proxies": table().drop(columns="act")}, ValueError, r"\['act'\] are missing"),
        ({"proxies": table()[:0]}, ValueError, "at least one row"),
        ({"proxies": frame(note="n/a")}, ValueError, "'note' has dtype"),
        ({"proxies": frame(op="q")}, ValueError, "Row 0 has op='q'"),
        ({"proxies": 3}, TypeError, "must be a pandas.DataFrame, a mapping"),
        ({"search_space": {}}, ValueError, "at least one parameter"),
        ({"search_space": {"op": "abc"}}, TypeError, "a sequence of choices, but got 'abc'"),
        (
            {"search_space": {**SPACE, "lr": FloatDistribution(0, 1)}, "proxies": frame(lr=0.5)},
            ValueError,
            r"\['lr'\] are continuous",
        ),
        ({"proxies": lambda params: None}, ValueError, "must return a mapping"),
    ],
)
def test_a_bad_argument_is_refused_when_the_sampler_is_made(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        sampler(**arguments)


def test_a_budget_too_small_and_an_unfitted_proxyfit() -> None:
    with pytest.raises(Exception, match="not fitted"):
        sampler(initial_proxies=ProxyFit())


def test_useless_proxies_are_named_in_one_warning() -> None:
    with pytest.warns(UserWarning, match="'flat' is constant.*'void' holds no number") as record:
        zaps = sampler(proxies=frame(flat=1.0, void=np.nan))
    assert only(record).filename == __file__
    assert list(zaps.proxies_.columns) == [*SPACE, "flops", "synflow"]


def test_no_usable_proxy_is_a_search_by_parameters_alone() -> None:
    with pytest.warns(UserWarning, match="is constant"):
        zaps = sampler(proxies=table()[list(SPACE)].assign(flat=1.0))
    assert len(set(configurations(study_of(zaps, 30)))) == 30


def test_a_choice_that_the_study_does_not_offer_is_named_at_the_suggestion() -> None:
    study = optuna.create_study(sampler=sampler())
    with pytest.raises(ValueError, match=r"include width=\d+, but.*only \[64, 128\]"):
        study.ask().suggest_categorical("width", [64, 128])


def test_a_numeric_parameter_taken_for_a_proxy_is_named() -> None:
    rows = table().iloc[::2].drop_duplicates(["op", "act"])
    study = optuna.create_study(sampler=sampler(proxies=rows, search_space=None))
    with pytest.raises(ValueError, match="'width', which is a numeric column"):
        study.ask().suggest_int("width", 8, 32)


def test_without_a_search_space_a_numeric_parameter_shows_as_a_repeated_configuration() -> None:
    with pytest.raises(ValueError, match=r"occurs again .40 duplicates.*numeric.*search_space"):
        sampler(search_space=None)


# --- the study's life --------------------------------------------------------------------------


def test_a_parameter_outside_the_space_is_sampled_independently_with_one_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def with_rate(trial: optuna.Trial) -> float:
        return objective(trial) + trial.suggest_float("rate", 0, 1)

    study = optuna.create_study(direction="maximize", sampler=sampler())
    study.optimize(with_rate, n_trials=12)
    warned = [record.message for record in caplog.records if "`rate`" in record.message]
    assert len(warned) == 1
    assert "warn_independent_sampling" in warned[0]
    caplog.clear()
    study.sampler = sampler(warn_independent_sampling=False)
    study.optimize(with_rate, n_trials=3)
    assert not caplog.records


class Recording(RandomSampler):
    """An independent sampler that remembers what it was called for."""

    def __init__(self) -> None:
        super().__init__(seed=0)
        self.calls: list[tuple[str, int, Any]] = []

    def reseed_rng(self) -> None:
        self.calls.append(("reseed", -1, None))
        super().reseed_rng()

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        self.calls.append(("before", trial.number, None))
        super().before_trial(study, trial)

    def after_trial(
        self, study: optuna.Study, trial: FrozenTrial, state: TrialState, values: Any
    ) -> None:
        self.calls.append(("after", trial.number, (state, values)))
        super().after_trial(study, trial, state, values)

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        self.calls.append(("relative", trial.number, sorted(search_space)))
        return super().sample_relative(study, trial, search_space)


def test_the_independent_sampler_sees_every_trial_begin_and_end() -> None:
    def fragile(trial: optuna.Trial) -> float:
        result = objective(trial)
        if trial.number == 1:
            raise optuna.TrialPruned
        if trial.number == 2:
            raise RuntimeError
        return result

    recording = Recording()
    study = optuna.create_study(sampler=sampler(independent_sampler=recording))
    study.optimize(fragile, n_trials=3, catch=RuntimeError)
    assert recording.calls == [
        ("before", 0, None),
        ("after", 0, (TrialState.COMPLETE, [study.trials[0].value])),
        ("before", 1, None),
        ("after", 1, (TrialState.PRUNED, None)),
        ("before", 2, None),
        ("after", 2, (TrialState.FAIL, None)),
    ]


def test_nothing_new_left_of_an_inferred_space_the_independent_sampler_has_the_whole_of_it() -> (
    None
):
    recording = Recording()
    study = optuna.create_study(
        sampler=ZAPSSampler(independent_sampler=recording, seed=0, n_startup_trials=2)
    )
    study.optimize(lambda trial: trial.suggest_int("x", 1, 2) * trial.suggest_int("y", 1, 2), 6)
    relative = [(number, names) for kind, number, names in recording.calls if kind == "relative"]
    assert relative == [(4, ["x", "y"]), (5, ["x", "y"])]


def test_the_seed_is_that_of_the_independent_sampler_too() -> None:
    rates = []
    for seed in (0, 0, 1):
        study = optuna.create_study(sampler=sampler(seed=seed, warn_independent_sampling=False))
        study.optimize(lambda trial: objective(trial) + trial.suggest_float("rate", 0, 1), 14)
        rates.append([trial.params["rate"] for trial in study.trials])
    assert rates[0] == rates[1] != rates[2]


@pytest.mark.parametrize(
    ("arguments", "n_planned"),
    [
        ({}, 14),
        ({"proxies": None}, 10),
        ({"profile": "anytime+trees"}, 20),
        ({"profile": "anytime+trees", "proxies": None}, 20),
        ({"budget": 10}, 10),
        ({"budget": 48}, 12),
        ({"budget": 48, "n_startup_trials": 5}, 5),
        ({"n_startup_trials": 0}, 2),  # a model needs two values
    ],
    ids=str,
)
def test_the_start_is_as_long_as_documented(arguments: dict[str, Any], n_planned: int) -> None:
    study = study_of(sampler(**{"n_startup_trials": None} | arguments), 21)
    planned = [trial.user_attrs["zaps:phase"] != "model" for trial in study.trials]
    assert planned == [True] * n_planned + [False] * (21 - n_planned)


def test_the_start_without_proxies_is_uniform_over_numbers_and_spread_over_choices() -> None:
    # Of numbers the points far from each other would be the corners.
    starts = {}
    for axis in (IntDistribution(0, 9), CategoricalDistribution(range(10))):
        space = {"a": axis, "b": axis}
        zaps = ZAPSSampler(search_space=space, n_startup_trials=10, seed=0)
        study = optuna.create_study(sampler=zaps)
        study.optimize(
            lambda trial, space=space: sum(trial._suggest(*item) for item in space.items()), 10
        )
        starts[type(axis)] = study.trials
    numbers, choices = starts[IntDistribution], starts[CategoricalDistribution]
    assert {trial.user_attrs["zaps:phase"] for trial in numbers} == {"random"}
    assert {trial.user_attrs["zaps:phase"] for trial in choices} == {"coverage"}
    assert sum({*trial.params.values()} <= {0, 9} for trial in numbers) < 3
    for name in "ab":  # ten points that differ in both parameters
        assert sorted(trial.params[name] for trial in choices) == list(range(10))


@pytest.mark.parametrize(
    ("space", "sizes"),
    [
        # 20, and then whenever the values have grown by a tenth.
        ({"n": list(range(40))}, [20, 22, 24, 26, 28]),
        ({"n": IntDistribution(0, 39)}, list(range(20, 30))),
        ({"n": FloatDistribution(0, 39)}, list(range(20, 30))),
        ({f"p{i}": list(range(10)) for i in range(7)}, list(range(20, 30))),
    ],
    ids=["choices", "numbers", "continuous", "too many"],
)
def test_numbers_and_pools_are_fitted_at_every_value(
    space: dict[str, Any], sizes: list[int]
) -> None:
    fitted: list[int] = []

    class Spy(Flat):
        @classmethod
        def for_layout(cls, layout: FeatureLayout, seed: int) -> Spy:
            return cls()

        def fit(self, X: np.ndarray, y: np.ndarray) -> None:
            fitted.append(len(y))

    profile = FLAT.with_surrogate(Spy.for_layout)
    zaps = ZAPSSampler(search_space=space, profile=profile, n_startup_trials=20, seed=0)
    study = optuna.create_study(sampler=zaps)
    distributions = {
        name: choices
        if isinstance(choices, BaseDistribution)
        else CategoricalDistribution(choices)
        for name, choices in space.items()
    }
    study.optimize(lambda trial: sum(trial._suggest(*item) for item in distributions.items()), 30)
    assert fitted == sizes


def test_a_parameter_of_the_space_that_the_objective_lacks_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    space = {"width": [1, 2, 3], "lr": [0.1, 0.2]}
    study = optuna.create_study(sampler=ZAPSSampler(search_space=space, seed=0))
    study.optimize(lambda trial: trial.suggest_categorical("width", [1, 2, 3]), n_trials=4)
    (record,) = caplog.records
    assert "Trial#0 finished without suggesting ['lr']" in record.message


def test_a_trial_that_ends_early_lacks_no_parameter(caplog: pytest.LogCaptureFixture) -> None:
    def early(trial: optuna.Trial) -> float:
        if trial.suggest_categorical("op", OPS) in "abcde" and trial.number % 2:
            raise optuna.TrialPruned
        raise RuntimeError

    study = optuna.create_study(sampler=sampler())
    study.optimize(early, n_trials=4, catch=RuntimeError)
    assert not [r for r in caplog.records if "without suggesting" in r.message]


def test_continuous_spaces_go_to_the_independent_sampler() -> None:
    study = optuna.create_study(sampler=ZAPSSampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", -5, 5) ** 2, n_trials=40)
    random = optuna.create_study(sampler=RandomSampler(seed=0))
    random.optimize(lambda trial: trial.suggest_float("x", -5, 5) ** 2, n_trials=40)
    assert study.best_value < random.best_value


def test_failed_and_pruned_configurations_are_not_proposed_again() -> None:
    def fragile(trial: optuna.Trial) -> float:
        result = objective(trial)
        if trial.params["op"] == "e":
            raise RuntimeError
        if trial.params["act"] == "z":
            trial.report(result, 0)
            raise optuna.TrialPruned
        if trial.params["act"] == "y":
            raise optuna.TrialPruned
        return result

    study = optuna.create_study(direction="maximize", sampler=sampler())
    study.optimize(fragile, n_trials=60, catch=RuntimeError)
    assert len(set(configurations(study))) == 60
    assert study.best_params == {"op": "d", "act": "x", "width": 32}


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_values_that_are_not_finite(bad: float) -> None:
    study = optuna.create_study(direction="maximize", sampler=sampler())
    study.optimize(
        lambda trial: bad if objective(trial) and trial.number % 3 == 1 else objective(trial),
        n_trials=30,
    )
    assert len(set(configurations(study))) == 30
    assert np.all(np.isfinite(study.sampler.rank(study)["mean"]))


@pytest.mark.parametrize(("direction", "sign"), [("maximize", 1), ("minimize", -1)])
def test_infinite_values_count_as_the_best_or_the_worst_finite_one(
    direction: str, sign: int
) -> None:
    rankings = []
    # The best of the others is 13 and the worst 3.
    for best, worst in ((float("inf"), -float("inf")), (13.0, 3.0)):
        study = optuna.create_study(direction=direction, sampler=sampler(proxies=None))
        for row in table()[list(SPACE)].to_dict("records")[::2]:
            told = {"a": 3.0, "b": best, "d": worst, "e": 13.0}.get(row["op"], value(row))
            study.add_trial(
                optuna.trial.create_trial(
                    params=row,
                    distributions={n: CategoricalDistribution(c) for n, c in SPACE.items()},
                    value=sign * told,
                )
            )
        rankings.append(study.sampler.rank(study))
    pd.testing.assert_frame_equal(*rankings)
    means = sign * rankings[0].groupby("op")["mean"].mean()
    assert means["b"] > means["c"] + 1 > means["d"] + 2


def test_a_constant_objective() -> None:
    study = optuna.create_study(sampler=sampler())
    study.optimize(lambda trial: 0.0 * objective(trial), n_trials=30)
    assert len(set(configurations(study))) == 30


def test_everything_is_evaluated_once_then_the_study_stops() -> None:
    study = study_of(sampler(), 100)
    assert len(study.trials) == len(set(configurations(study))) == 60


def test_exhaustion_in_threads() -> None:
    study = optuna.create_study(direction="maximize", sampler=sampler())
    study.optimize(objective, n_trials=100, n_jobs=4)
    assert len(set(configurations(study))) == 60
    # A thread may have begun its trial in the moment when another one claimed the last candidate.
    assert len(study.trials) <= 63


def test_past_exhaustion_ask_and_tell_repeats_and_says_so_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    study = optuna.create_study(direction="maximize", sampler=sampler())
    for _ in range(63):
        trial = study.ask()
        study.tell(trial, objective(trial))
    assert len(set(configurations(study))) == 60
    assert sum("further trials repeat one" in record.message for record in caplog.records) == 1


def test_of_each_study_that_is_exhausted_it_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    zaps, storage = sampler(proxies=None), optuna.storages.InMemoryStorage()
    for _ in range(2):
        caplog.clear()
        study = optuna.create_study(sampler=zaps, storage=storage)
        for _ in range(62):
            trial = study.ask()
            study.tell(trial, objective(trial))
        assert len(caplog.records) == 1


def test_past_exhaustion_a_part_that_is_fixed_is_completed_as_in_the_table() -> None:
    rows = table().iloc[::7]  # of each op one or two configurations of twelve
    study = study_of(sampler(proxies=rows), 9)
    allowed = {tuple(row) for row in rows[list(SPACE)].to_numpy().tolist()}
    for op in OPS * 2:
        study.enqueue_trial({"op": op})
        trial = study.ask()
        study.tell(trial, objective(trial))
        assert trial.params["op"] == op
    assert {tuple(t.params[name] for name in SPACE) for t in study.trials} <= allowed


def test_past_exhaustion_configurations_are_repeated_in_turns() -> None:
    study = study_of(sampler(proxies=None), 60)
    repeated = []
    for _ in range(30):
        trial = study.ask()
        study.tell(trial, objective(trial))
        repeated.append(tuple(trial.params.values()))
    assert len(set(repeated)) > 15  # of 60 by chance 24


def test_the_study_stops_with_the_last_trial_though_it_has_a_low_number() -> None:
    """Its thread must not begin another while the other thread evaluates what is left."""
    others_began, first_ended = threading.Event(), threading.Event()

    def timed(trial: optuna.Trial) -> float:
        n = trial.suggest_categorical("n", [0, 1, 2])
        if trial.number == 0:
            assert others_began.wait(30)
        if trial.number == 2:
            others_began.set()
            assert first_ended.wait(30)
        return float(n)

    def ended(study: optuna.Study, trial: FrozenTrial) -> None:
        if trial.number == 0:
            threading.Timer(0.3, first_ended.set).start()

    study = optuna.create_study(sampler=sampler(proxies=None, search_space={"n": [0, 1, 2]}))
    study.optimize(timed, n_trials=20, n_jobs=2, callbacks=[ended])
    assert sorted(trial.params["n"] for trial in study.trials) == [0, 1, 2]


def test_past_exhaustion_of_an_inferred_space_the_independent_sampler_goes_on_and_is_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    study = optuna.create_study(sampler=ZAPSSampler(seed=0))
    study.optimize(lambda trial: trial.suggest_int("x", 1, 3), n_trials=8)
    assert {t.params["x"] for t in study.trials} == {1, 2, 3}
    assert len(study.trials) == 8
    (record,) = caplog.records
    assert "Every configuration of the search space was evaluated" in record.message
    assert "`TPESampler` samples further trials" in record.message


def test_many_asks_before_any_tell() -> None:
    study = optuna.create_study(direction="maximize", sampler=sampler())
    trials = [study.ask() for _ in range(25)]
    values = [objective(trial) for trial in trials]
    for trial, result in reversed(list(zip(trials, values, strict=True))):
        study.tell(trial, result)
    study.optimize(objective, n_trials=10)
    assert len(set(configurations(study))) == 35


def test_enqueued_trials_in_full_in_part_and_off_the_table() -> None:
    study = optuna.create_study(direction="maximize", sampler=sampler(proxies=table()[:50]))
    study.enqueue_trial({"op": "a", "act": "w", "width": 8})
    study.enqueue_trial({"act": "z"})
    study.enqueue_trial({"op": "e", "act": "z", "width": 32})  # row 59, not in the table
    study.optimize(objective, n_trials=20)
    trials = study.trials
    assert trials[0].params == {"op": "a", "act": "w", "width": 8}
    assert trials[1].params["act"] == "z"
    assert trials[2].params == {"op": "e", "act": "z", "width": 32}
    assert len(set(configurations(study))) == 20


def test_an_enqueued_configuration_is_left_to_the_trial_that_waits_for_it() -> None:
    study = optuna.create_study(direction="maximize", sampler=sampler())
    first = study.ask()
    objective(first)
    study.enqueue_trial(sampler().rank(study_of(sampler(), 20), 1)[list(SPACE)].iloc[0].to_dict())
    study.tell(first, value(first.params))
    study.optimize(objective, n_trials=59)
    assert len(set(configurations(study))) == 60


def test_trials_added_from_elsewhere_are_learned_from() -> None:
    study = optuna.create_study(direction="maximize", sampler=sampler())
    study.add_trials(study_of(sampler(seed=1), 30).trials)
    foreign = {"op": CategoricalDistribution(["q", "r"]), "x": FloatDistribution(0, 1)}
    study.add_trial(
        optuna.trial.create_trial(params={"op": "q", "x": 0.5}, distributions=foreign, value=1e9)
    )
    study.optimize(objective, n_trials=10)
    new = study.trials[31:]
    assert all(trial.user_attrs["zaps:phase"] == "model" for trial in new)
    assert len({tuple(t.params.items()) for t in study.trials if "x" not in t.params}) == 40


def test_a_repeated_configuration_counts_once_with_its_mean() -> None:
    study = optuna.create_study(direction="maximize", sampler=sampler())
    for result in (1.0, 3.0):
        study.enqueue_trial({"op": "a", "act": "w", "width": 8})
        study.optimize(lambda trial, result=result: (objective(trial), result)[1], n_trials=1)
    assert history_of(study, SPACE).labels.tolist() == [2.0]


@pytest.mark.parametrize("outer_first", [True, False])
def test_partial_fixed_sampler_both_ways_round(outer_first: bool) -> None:
    names = {"op": OPS, "act": ACTS, "width": SPACE["width"]}
    order = ["width", "op", "act"] if outer_first else ["op", "act", "width"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study = optuna.create_study(
            direction="maximize", sampler=PartialFixedSampler({"width": 16}, sampler())
        )
    study.optimize(
        lambda trial: value({n: trial.suggest_categorical(n, names[n]) for n in order}),
        n_trials=15,
    )
    assert {trial.params["width"] for trial in study.trials} == {16}
    assert len(set(configurations(study))) == 15


def test_hyperband() -> None:
    def stepwise(trial: optuna.Trial) -> float:
        result = objective(trial)
        for step in range(1, 10):
            trial.report(result * step / 9, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return result

    study = optuna.create_study(
        direction="maximize",
        sampler=sampler(),
        pruner=optuna.pruners.HyperbandPruner(max_resource=9),
    )
    study.optimize(stepwise, n_trials=60)
    assert len(set(configurations(study))) == 60


def test_conditional_parameters_keep_the_shared_part() -> None:
    def conditional(trial: optuna.Trial) -> float:
        op = trial.suggest_categorical("op", OPS)
        if op in "abc":
            return trial.suggest_int("depth", 1, 4)
        return 5 * trial.suggest_float("rate", 0, 1)

    study = optuna.create_study(direction="maximize", sampler=ZAPSSampler(seed=0))
    study.optimize(conditional, n_trials=40)
    assert len(study.trials) == 40


# --- seeds, processes, storages ----------------------------------------------------------------


def test_the_seed_decides() -> None:
    first, again, other = (configurations(study_of(sampler(seed=s), 25)) for s in (3, 3, 4))
    assert first == again != other


def test_reseeding_changes_the_independent_sampler_only() -> None:
    recording = Recording()
    zaps = sampler(independent_sampler=recording)
    zaps.reseed_rng()
    assert recording.calls == [("reseed", -1, None)]
    assert configurations(study_of(zaps, 25)) == configurations(study_of(sampler(), 25))


def test_a_study_is_resumed_where_it_stopped(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    whole = configurations(study_of(sampler(), 30))
    for n_trials in (4, 11, 15):
        study = optuna.create_study(
            storage=url,
            study_name="s",
            direction="maximize",
            load_if_exists=True,
            sampler=sampler(),
        )
        study.optimize(objective, n_trials=n_trials)
    assert configurations(optuna.load_study(storage=url, study_name="s")) == whole


def test_resuming_with_another_seed_repeats_nothing() -> None:
    study = study_of(sampler(seed=0), 4)
    study.sampler = sampler(seed=99)
    study.optimize(objective, n_trials=56)
    assert len(set(configurations(study))) == 60


def test_pickle_copy_and_two_studies() -> None:
    zaps = sampler()
    study_of(zaps, 10)
    for twin in (pickle.loads(pickle.dumps(zaps)), copy.deepcopy(zaps), zaps):
        assert configurations(study_of(twin, 20)) == configurations(study_of(sampler(), 20))
