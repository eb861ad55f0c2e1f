"""Studies whose code decides anew what it suggests: other ranges, other branches."""

from __future__ import annotations

from collections.abc import Callable
import math
import random
from typing import Any
import warnings

import optuna
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.samplers import PartialFixedSampler
from optuna.samplers import TPESampler
from optuna.trial import FrozenTrial
from optuna.trial import create_trial
import pytest

from optuna_zaps import ZAPSSampler


Objective = Callable[[optuna.Trial], float]

N_TRIALS = 32
CHANGE = 14


def after(number: int, later: tuple[float, float], earlier: tuple[float, float]) -> Any:
    return later if number >= CHANGE else earlier


def wider(trial: optuna.Trial) -> float:
    low, high = after(trial.number, (0, 10), (0, 1))
    return (trial.suggest_float("x", low, high) - 7) ** 2


def narrower(trial: optuna.Trial) -> float:
    low, high = after(trial.number, (0, 1), (0, 10))
    return (trial.suggest_float("x", low, high) - 0.62) ** 2


def elsewhere(trial: optuna.Trial) -> float:
    low, high = after(trial.number, (5, 6), (0, 1))
    return (trial.suggest_float("x", low, high) - 5.37) ** 2


def in_turn(trial: optuna.Trial) -> float:
    return (trial.suggest_float("x", 0, 1 if trial.number % 2 else 10) - 7) ** 2


def anew(trial: optuna.Trial) -> float:
    rng, value = random.Random(trial.number), 0.0
    for name, best in (("x", 4.2), ("y", 3.1)):
        low = rng.uniform(0, 3)
        value += (trial.suggest_float(name, low, low + rng.uniform(3, 8)) - best) ** 2
    return value


def integers(trial: optuna.Trial) -> float:
    low, high = after(trial.number, (0, 1000), (0, 50))
    return abs(trial.suggest_int("n", low, high) - 729)


def on_a_logarithmic_scale(trial: optuna.Trial) -> float:
    low, high = after(trial.number, (1e-3, 1e2), (1e-3, 1e-2))
    return math.log10(trial.suggest_float("x", low, high, log=True) / 7) ** 2


def beside_constant_ones(trial: optuna.Trial) -> float:
    value = (trial.suggest_float("y", -5, 5) - 1.5) ** 2 + wider(trial)
    return value + "adb".index(trial.suggest_categorical("c", ["a", "b", "d"]))


def by_mistake(trial: optuna.Trial) -> float:
    high = 1e9 if trial.number == 0 else 10
    return (trial.suggest_float("x", 0, high) - 7) ** 2 + (trial.suggest_float("y", 0, 9) - 2) ** 2


def study_of(objective: Objective, sampler: Any = None, **options: Any) -> optuna.Study:
    study = optuna.create_study(sampler=sampler or ZAPSSampler(seed=0))
    study.optimize(objective, n_trials=N_TRIALS, **options)
    return study


def with_y_fixed(sampler: ZAPSSampler) -> PartialFixedSampler:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        return PartialFixedSampler({"y": 3.5}, sampler)


def are_decided_by_zaps(trials: list[FrozenTrial]) -> bool:
    return all("zaps:phase" in trial.user_attrs for trial in trials)


@pytest.mark.parametrize(
    ("objective", "tpe"),
    # The median of nine seeds of TPESampler; RandomSampler's is 5 to 60 times as large.
    [
        (wider, 5.8e-3),
        (narrower, 2.0e-5),
        (elsewhere, 6.3e-6),
        (in_turn, 5.1e-3),
        (anew, 0.1),
        (integers, 7),
        (on_a_logarithmic_scale, 8.1e-4),
        (beside_constant_ones, 1.2),
        (by_mistake, 8.3e-2),
    ],
)
def test_the_best_is_found_whatever_becomes_of_a_range(objective: Objective, tpe: float) -> None:
    study = study_of(objective)
    assert study.best_value < tpe
    assert are_decided_by_zaps(study.trials[1:])


@pytest.mark.parametrize("objective", [narrower, in_turn, anew, beside_constant_ones])
@pytest.mark.parametrize(
    ("sampler", "options"),
    [
        (lambda: ZAPSSampler(seed=0, group=True), {}),
        (lambda: ZAPSSampler(seed=0), {"n_jobs": 2}),
        (lambda: with_y_fixed(ZAPSSampler(seed=0)), {}),
    ],
    ids=["groups", "threads", "fixed"],
)
def test_zaps_goes_on_however_the_study_is_run(
    objective: Objective, sampler: Callable[[], Any], options: dict[str, Any]
) -> None:
    study = study_of(objective, sampler(), **options)
    assert are_decided_by_zaps(study.trials[4:])
    for trial in study.trials:
        for name, distribution in trial.distributions.items():
            assert distribution._contains(distribution.to_internal_repr(trial.params[name]))


def test_zaps_goes_on_with_trials_in_flight() -> None:
    study = optuna.create_study(sampler=ZAPSSampler(seed=0))
    in_flight: list[tuple[optuna.Trial, float]] = []
    for _ in range(N_TRIALS):
        trial = study.ask()
        in_flight.append((trial, anew(trial)))
        if len(in_flight) == 4:
            study.tell(*in_flight.pop(0))
    assert are_decided_by_zaps(study.trials[4:])
    for trial in study.trials[4:]:
        assert trial.system_attrs["zaps:candidate"] == pytest.approx(trial.params)


def test_the_range_that_a_trial_asks_for_decides_and_not_the_one_that_was_expected() -> None:
    """Ranges are those of the trial before the last."""
    study = study_of(in_turn)
    wide = [trial.params["x"] for trial in study.trials if trial.number % 2 == 0]
    assert sum(x > 6 for x in wide[5:]) > 10


@pytest.mark.parametrize(("low", "high"), [(6.0, 8.0), (6.8, 7.3)])
def test_values_outside_the_range_teach(low: float, high: float) -> None:
    """Nothing was seen nearer than 0.5 to the best, but a parabola is."""
    study = optuna.create_study(sampler=ZAPSSampler(seed=0))
    for i in range(20):
        x = i / 2 if abs(i / 2 - 7) > 0.4 else 6.5
        distributions = {"x": FloatDistribution(0, 10 if i else 5)}
        study.add_trial(
            create_trial(params={"x": x}, distributions=distributions, value=(x - 7) ** 2)
        )
    x = study.ask().suggest_float("x", low, high)
    assert x == pytest.approx(7, abs=0.1)


def test_every_integer_of_both_ranges_is_evaluated_before_one_is_repeated(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def objective(trial: optuna.Trial) -> float:
        low, high = (0, 3) if trial.number % 2 else (4, 7)
        return trial.suggest_int("n", low, high) + trial.suggest_int("m", 0, 1)

    study = optuna.create_study(sampler=ZAPSSampler(seed=0))
    study.optimize(objective, n_trials=16)
    assert len({(trial.params["n"], trial.params["m"]) for trial in study.trials}) == 16
    assert not caplog.records
    study.optimize(objective, n_trials=10)
    (record,) = caplog.records
    assert "Every configuration within the latest ranges" in record.message


def test_a_constant_that_becomes_a_parameter_is_searched() -> None:
    def objective(trial: optuna.Trial) -> float:
        y = trial.suggest_float("y", 0, 1)
        return (trial.suggest_float("x", 3, 3 if trial.number < CHANGE else 9) - 5) ** 2 + y

    study = study_of(objective)
    assert study.best_value < 0.01
    assert are_decided_by_zaps(study.trials[1:])


def test_a_proxy_function_meets_only_what_is_in_a_range() -> None:
    seen: list[dict[str, Any]] = []

    def proxies(params: dict[str, Any]) -> dict[str, float]:
        seen.append(params)
        return {"sum": params["x"] + params["y"], "noise": math.sin(99 * params["x"])}

    def objective(trial: optuna.Trial) -> float:
        high = after(trial.number, (0, 2), (0, 1))[1]
        return trial.suggest_float("x", 0, high) + trial.suggest_float("y", 0, high)

    study = optuna.create_study(sampler=ZAPSSampler(proxies, n_startup_trials=4, seed=0))
    study.optimize(objective, n_trials=CHANGE + 4)
    assert all(0 <= value <= 2 for params in seen for value in params.values())
    assert are_decided_by_zaps(study.trials[1:])


def test_the_ranking_is_of_the_latest_range() -> None:
    study = study_of(narrower)
    best = ZAPSSampler(seed=0).rank(study, 10)
    assert ((best["x"] - 0.62).abs() < 0.01).all()


def test_an_enqueued_value_outside_the_range_is_left_to_optuna() -> None:
    study = optuna.create_study(sampler=ZAPSSampler(seed=0))
    study.optimize(in_turn, n_trials=6)
    for x in (20.0, 5.0, 5.0):
        study.enqueue_trial({"x": x})
    with pytest.warns(UserWarning, match="out of range"):
        study.optimize(in_turn, n_trials=4)
    xs = [trial.params["x"] for trial in study.trials]
    # Whether Optuna serves what is out of range or not is not ours to say.
    assert xs[8] == 5.0


# --- branches ----------------------------------------------------------------------------------


def classifier(trial: optuna.Trial) -> float:
    """Conditional code, the first example of Optuna's documentation."""
    if trial.suggest_categorical("classifier", ["SVC", "RandomForest"]) == "SVC":
        return abs(math.log10(trial.suggest_float("svc_c", 1e-10, 1e10, log=True)))
    depth = trial.suggest_int("rf_max_depth", 2, 32, log=True)
    return depth + trial.suggest_float("rf_max_features", 0.1, 1.0)


def layers(trial: optuna.Trial) -> float:
    n_layers = trial.suggest_int("n_layers", 1, 3)
    units = sum(trial.suggest_int(f"n_units_l{i}", 4, 128, log=True) for i in range(n_layers))
    return units * trial.suggest_float("lr", 1e-5, 1e-1, log=True)


def one_has_no_parameter(trial: optuna.Trial) -> float:
    if trial.suggest_categorical("optimizer", ["sgd", "adam"]) == "adam":
        return 1.0
    return trial.suggest_float("momentum", 0, 1)


def study_with_other_choices(**options: Any) -> optuna.Study:
    """Study of which another storage's trials were added, with other choices of a parameter."""
    study = optuna.create_study(sampler=ZAPSSampler(seed=0, **options))
    for choices in (["a", "b"], ["a", "b", "c"]):
        space: dict[str, BaseDistribution] = {
            "c": CategoricalDistribution(choices), "x": FloatDistribution(0, 1)
        }  # fmt: skip
        params = {"c": "a", "x": 0.5}
        study.add_trial(create_trial(params=params, distributions=space, value=1.0))
    study.optimize(
        lambda t: t.suggest_float("x", 0, 1) + len(t.suggest_categorical("c", ["a", "b", "c"])),
        n_trials=4,
    )
    return study


def test_what_is_left_out_is_told_in_one_true_sentence(caplog: pytest.LogCaptureFixture) -> None:
    study_with_other_choices()
    (record,) = caplog.records
    assert "Parameters whose choices, type or scale change, such as `c`" in record.message
    assert "`TPESampler`" in record.message


@pytest.mark.parametrize("options", [{"group": True}, {"warn_independent_sampling": False}])
def test_nothing_is_said_of_what_is_left_out_to_who_wants_no_warning(
    options: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    study_with_other_choices(**options)
    assert not caplog.records


@pytest.mark.parametrize("options", [{}, {"group": True}])
@pytest.mark.parametrize("objective", [classifier, layers, one_has_no_parameter])
def test_nothing_is_said_of_branches_which_are_searched(
    objective: Objective, options: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """With ``group=True`` and no initial trials, Optuna's own test has no line on stderr."""
    study_of(objective, ZAPSSampler(seed=0, n_startup_trials=0, **options))
    assert not caplog.records


def test_a_sampler_started_on_finished_branches_says_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    study = study_of(classifier, TPESampler(seed=0))
    study.sampler = ZAPSSampler(seed=0)
    study.optimize(classifier, n_trials=10)
    assert not caplog.records


def test_a_range_that_begins_to_change_is_no_branch(caplog: pytest.LogCaptureFixture) -> None:
    study_of(wider)
    study_of(lambda trial: trial.suggest_float("x", 3, 9 if trial.number else 3))
    assert not caplog.records


def test_parallel_trials_before_the_first_result_are_not_told_of_branches(
    caplog: pytest.LogCaptureFixture,
) -> None:
    sampler = ZAPSSampler(seed=0)
    study_of(beside_constant_ones, sampler)
    study = optuna.create_study(sampler=sampler)
    trials = [study.ask() for _ in range(4)]
    for trial in trials:
        beside_constant_ones(trial)
    assert not caplog.records


def test_choices_that_change_are_no_range() -> None:
    """Optuna allows them only in trials that were added."""
    study = optuna.create_study(sampler=ZAPSSampler(seed=0))
    for choices in (["a", "b"], ["a", "b", "c"]):
        distributions = {"op": CategoricalDistribution(choices), "x": FloatDistribution(0, 1)}
        study.add_trial(
            create_trial(params={"op": "a", "x": 0.5}, distributions=distributions, value=1.0)
        )
    study.optimize(
        lambda trial: (
            trial.suggest_float("x", 0, 1) + len(trial.suggest_categorical("op", ["a", "b", "c"]))
        ),
        n_trials=10,
    )
    assert are_decided_by_zaps(study.trials[2:])


def test_branches_with_trials_in_flight_are_told_in_no_false_sentence(
    caplog: pytest.LogCaptureFixture,
) -> None:
    study = optuna.create_study(sampler=ZAPSSampler(seed=0))
    optuna.logging.enable_propagation()
    running: list[tuple[optuna.Trial, float]] = []
    for _ in range(20):
        trial = study.ask()
        kind = trial.suggest_categorical("kind", list("abcdefgh"))
        running.append((trial, trial.suggest_float(kind, 0, 1)))
        if len(running) == 4:
            study.tell(*running.pop(0))
    optuna.logging.disable_propagation()
    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    # Every kind was evaluated or is being evaluated, but by no means every configuration.
    assert not any("Every configuration" in message for message in told)
    assert len(told) <= 1
