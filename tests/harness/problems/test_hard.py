from __future__ import annotations

import numpy as np
import optuna
import pytest

from harness import problems
from harness.experiment import make_cells
from harness.metrics import Budgets
from harness.metrics import summarize
from harness.problems import functions
from harness.problems import hard
from harness.run.runner import run_cell
from harness.samplers import make_spec
from harness.suites import SUITES


@pytest.mark.parametrize("name", hard.FAMILY.problems)
def test_the_minimizer_has_the_least_value_and_lies_in_the_space(name: str) -> None:
    problem = problems.load(f"hard/{name}")
    assert isinstance(problem, hard.HardProblem)
    trial = optuna.trial.FixedTrial(dict(problem.minimizer))
    assert problem.suggest(trial) == problem.minimizer
    assert problem.function(problem.minimizer) == pytest.approx(0.0, abs=1e-6)
    assert 0 < problem.typical < np.inf


@pytest.mark.parametrize("name", hard.FAMILY.problems)
def test_no_drawn_configuration_is_better_than_the_least(name: str) -> None:
    problem = problems.load(f"hard/{name}")
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(problem, n_trials=60, catch=(ValueError,))
    assert min(problem.function(trial.params) for trial in study.trials) > 0


def test_known_values() -> None:
    assert hard.rosenbrock(np.array([0.0, 1.0])) == 100.0  # x = (1, 2): 100 (2 - 1)^2 + 0^2
    assert hard.rastrigin(np.array([0.5, 0.0])) == pytest.approx(20.25)
    assert functions.ackley_at(np.zeros(7)) == pytest.approx(0.0, abs=1e-12)
    # w = (1.5, 1): sin(1.5 pi)^2 + 0.25 (1 + 10 sin(1.5 pi + 1)^2) + 0
    assert hard.levy(np.array([2.0, 0.0])) == pytest.approx(
        1 + 0.25 * (1 + 10 * np.sin(1.5 * np.pi + 1) ** 2)
    )


def test_the_suite_has_at_least_24_problems() -> None:
    assert len(SUITES["hard"].problems) >= 24


def test_noise_follows_from_the_seed_and_repeats_are_measured_again() -> None:
    problem = problems.load("hard/sphere-noise-5")
    assert isinstance(problem, hard.HardProblem)
    first, again, other = problem.begin(3), problem.begin(3), problem.begin(4)
    params = dict(problem.minimizer)
    numbers = [first(params).number for _ in range(400)]
    assert numbers == list(range(400))
    values = np.array(first.values)
    assert [again(params).measurement.values[0] for _ in range(3)] == values[:3].tolist()
    assert other(params).measurement.values[0] != values[0]
    # The value is 0, the standard deviation 5: four standard errors, 5 / sqrt(400) and
    # 5 / sqrt(2 * 400).
    assert abs(values.mean()) < 4 * 0.25
    assert abs(values.std() - 5) < 4 * 0.18


def test_a_study_under_noise_is_told_by_the_true_value_of_what_looked_best() -> None:
    problem = problems.load("hard/sphere-noise-5")
    assert isinstance(problem, hard.HardProblem)
    (cell,) = make_cells([problem], [make_spec("zaps")], [0], [12], by_trials=True)
    result = run_cell(cell)
    row = summarize([result], [problem], {problem.text: Budgets((6, 12), by_trials=True)})
    truth = [problem.function(params) for params in result.configurations]
    picks = [int(np.argmin(result.values[:n])) for n in (6, 12)]
    assert row["best_value"].tolist() == [truth[pick] for pick in picks]
    assert row["regret"].tolist() == [100 * truth[pick] / problem.typical for pick in picks]
    assert result.recommended is not None
    own = 100 * truth[result.recommended] / problem.typical
    np.testing.assert_allclose(row["recommended_regret"], [np.nan, own])
