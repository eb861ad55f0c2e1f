from __future__ import annotations

import math
from typing import Any

import numpy as np
import optuna
from optuna.trial import TrialState
import pytest

from harness import problems
from harness.experiment import CellResult
from harness.experiment import make_cells
from harness.metrics import summarize
from harness.metrics.seen import with_seen
from harness.problems import Kind
from harness.problems import Problem
from harness.run.runner import run_cell
from harness.samplers import make_spec


needs_optuna_5 = pytest.mark.skipif(
    not hasattr(optuna.Trial, "set_constraint"), reason="set_constraint came with Optuna 5"
)


def run(
    problem: Problem, sampler: str = "random", n_trials: int = 20, seed: int = 0
) -> CellResult:
    (cell,) = make_cells([problem], [make_spec(sampler)], [seed], [n_trials], by_trials=True)
    return run_cell(cell)


def test_a_function_is_run_as_study_optimize_would() -> None:
    problem = problems.load("own_objects:bowl?direction=minimize")
    result = run(problem, "tpe")
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    from own_objects import bowl

    study.optimize(bowl, n_trials=20)
    assert [trial.value for trial in study.trials] == list(result.values)
    assert [trial.params for trial in study.trials] == list(result.configurations)


def test_the_time_of_an_evaluation_is_not_the_samplers(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(np.arange(1000.0))
    monkeypatch.setattr("time.process_time", lambda: next(clock))
    result = run(problems.load("own_objects:bowl?direction=minimize"), n_trials=1)
    # The clock reads 0 and 7 around the ask and all suggestions, 1 and 6 around the function, and
    # (2, 3), (4, 5) around the two parameters that it asks for.
    assert result.ask_seconds[0] == (7 - 0) - ((6 - 1) - (3 - 2) - (5 - 4))


def test_the_best_that_any_study_saw_is_the_optimum() -> None:
    problem = problems.load("own_objects:bowl?direction=minimize")
    with pytest.raises(ValueError, match="knows no optimum before any study"):
        problem.optimum  # type: ignore[attr-defined]  # noqa: B018
    results = [run(problem, seed=seed) for seed in range(2)]
    (seen,) = with_seen([problem], results)
    values = [value for result in results for value in result.values]
    assert seen.optimum == min(values)
    assert seen.typical == np.median(values)
    assert f"these 2 studies saw, {min(values):.6g}" in seen.notes[-1]
    summary = summarize(results, [seen])
    assert summary["regret"].min() == 0.0
    best = summary["best_value"].to_numpy()
    expected = 100 * (best - min(values)) / (np.median(values) - min(values))
    assert summary["regret"].to_numpy() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "optimum"),
    [
        ("own_objects:deep_bowl?direction=minimize", 0.0),
        ("own_objects:deep_bowl(depth=3)?direction=minimize", 0.0),
        ("own_objects:deep_bowl(depth=3)?direction=minimize&optimum=-1", -1.0),
    ],
)
def test_a_known_optimum_counts(text: str, optimum: float) -> None:
    problem = problems.load(text)
    (seen,) = with_seen([problem], [run(problem)])
    assert seen.optimum == optimum
    assert seen.notes[-1].startswith(f"The optimum is {optimum:.6g}.")


def test_pruned_and_failed_trials_have_no_value_and_count_as_the_worst() -> None:
    problem = problems.load("own_objects:branches?direction=minimize")
    result = run(problem, n_trials=60)
    values = dict(zip(map(repr, result.configurations), result.values, strict=True))
    for params, value in zip(result.configurations, values.values(), strict=True):
        assert math.isnan(value) == (params.get("n") in (1, 7, 8, 9))
    (seen,) = with_seen([problem], [result])
    assert summarize([result], [seen])["regret"].item() == 0.0
    assert seen.kind == Kind.FUNCTION


def test_states_of_pruned_and_failed_trials_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    studies = []
    create = optuna.create_study
    monkeypatch.setattr(
        optuna, "create_study", lambda **kw: studies.append(create(**kw)) or studies[-1]
    )
    run(problems.load("own_objects:branches?direction=minimize"), n_trials=60)
    (study,) = studies
    assert {trial.state for trial in study.trials} == {
        TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL
    }  # fmt: skip


@needs_optuna_5
def test_constraints_of_a_function_are_noted() -> None:
    problem = problems.load("own_objects:limited?direction=minimize")
    result = run(problem)
    (seen,) = with_seen([problem], [result])
    assert seen.kind == Kind.LIMIT
    feasible = [c["sum"] <= 0 for c in result.constraints]
    row = summarize([result], [seen]).iloc[0]
    assert row["feasible_share"] == 100 * np.mean(feasible)
    ok = [value for value, met in zip(result.values, feasible, strict=True) if met]
    assert row["best_value"] == min(ok) == seen.optimum


def test_several_objectives_are_measured_against_the_front_of_all() -> None:
    problem = problems.load("own_objects:two?direction=minimize,minimize")
    assert problem.kind == Kind.TRADEOFF
    results = [run(problem, seed=seed) for seed in range(3)]
    (seen,) = with_seen([problem], results)
    summary = summarize(results, [seen])
    assert summary["hypervolume"].between(0, 100).all()
    together = summarize([run(problem, n_trials=20)], with_seen([problem], [run(problem)]))
    assert together["hypervolume"].item() == pytest.approx(100)


@needs_optuna_5
def test_the_interface_of_optunahub() -> None:
    problem = problems.load("own_objects:Sphere(dimension=3)")
    assert (problem.kind, problem.objectives) == (Kind.FUNCTION, ("value",))
    result = run(problem)
    assert set(result.configurations[0]) == {"x0", "x1", "x2"}
    three = problems.load("own_objects:ThreeLimited")
    assert three.objectives == ("origin", "east", "north")
    result = run(three, "tpe")
    assert [c["west"] <= 0 for c in result.constraints] == [
        params["x0"] <= 3 for params in result.configurations
    ]
    (seen,) = with_seen([three], [result])
    row = summarize([result], [seen]).iloc[0]
    assert row["hypervolume"] == pytest.approx(100)


@needs_optuna_5
def test_constraints_may_ask_a_trial_for_its_parameters() -> None:
    problem = problems.load("own_objects:Knapsack")
    assert (problem.kind, problem.objectives) == (Kind.LIMIT, ("value",))
    result = run(problem, n_trials=40)
    # Weights 3, 4, 5 and a capacity of 7: two of the first two items, or any one.
    feasible = {
        tuple(params.values())
        for params, limits in zip(result.configurations, result.constraints, strict=True)
        if limits["0"] <= 0
    }
    assert feasible == {(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0)}
    assert all(
        value == sum(params.values())
        for params, value in zip(result.configurations, result.values, strict=True)
    )


def test_noise_of_an_object_is_drawn_from_the_seed_of_a_study() -> None:
    problem = problems.load("own_objects:Noisy")
    first, other, again = (run(problem, seed=seed) for seed in (3, 4, 3))
    assert first.values == again.values
    x = list(first.configurations[0].values())
    noise = np.random.default_rng(3).normal()
    assert first.values[0] == pytest.approx(sum((np.array(x) - 1) ** 2) + noise)
    assert first.values[0] != other.values[0]


def test_a_benchmark_of_optunahub_itself() -> None:
    hub = pytest.importorskip("optunahub")

    class Hub(hub.benchmarks.BaseProblem):  # type: ignore[misc,name-defined]
        search_space = {"x": optuna.distributions.FloatDistribution(-1, 1)}  # noqa: RUF012
        directions = [optuna.study.StudyDirection.MINIMIZE]  # noqa: RUF012

        def evaluate(self, params: dict[str, Any]) -> float:
            return float(params["x"] ** 2)

    class Branching(Hub):
        @property
        def search_space(self) -> Any:
            raise NotImplementedError("dynamic")

        def __call__(self, trial: optuna.Trial) -> float:
            return trial.suggest_float("x", 0, trial.suggest_float("high", 1, 2))

    import own_objects

    for made in (Hub, Branching):
        setattr(own_objects, made.__name__, made)
        problem = problems.load(f"own_objects:{made.__name__}")
        assert problem.kind == Kind.FUNCTION
        assert len(run(problem).values) == 20


def test_two_contents_never_share_a_fingerprint() -> None:
    texts = [
        "own_objects:bowl?direction=minimize",
        "own_objects:bowl?direction=maximize",
        "own_objects:deep_bowl?direction=minimize",
        "own_objects:deep_bowl(depth=3)?direction=minimize",
        "own_objects:Sphere",
        "own_objects:Sphere(dimension=3)",
    ]
    assert len({problems.load(text).fingerprint for text in texts}) == len(texts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("own_objects:bowl", "direction of the function own_objects:bowl must be named"),
        ("own_objects:bowl?direction=down", r"must be one of \['maximize', 'minimize'\]"),
        ("own_objects:bow?direction=minimize", "has no object 'bow'"),
        ("no_such_module:x?direction=minimize", "cannot be imported: ModuleNotFoundError"),
        ("own_objects:NOT_A_PROBLEM", "must be a function of a trial, or have the interface"),
        ("own_objects:Sphere(size=3)", "cannot be made with {'size': 3}: TypeError"),
        ("own_objects:Sphere?direction=maximize", r"has the directions \['minimize'\] of its own"),
        ("own_objects:bowl?direction=minimize&optimum=x", "must be a number, but got 'x'"),
        ("own_objects:bowl?params=x", "must be of .*, but got 'params'"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        problems.load(text)


def test_a_function_must_return_what_its_directions_say() -> None:
    problem = problems.load("own_objects:two?direction=minimize")
    with pytest.raises(ValueError, match=r"must return 1 value\(s\)"):
        run(problem, n_trials=1)
