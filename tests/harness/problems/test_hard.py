from __future__ import annotations

import numpy as np
import optuna
import pytest

from harness import problems
from harness.problems import functions
from harness.problems import hard
from harness.suites import SUITES


@pytest.mark.parametrize("name", hard.FAMILY.problems)
def test_the_minimizer_has_the_least_value_and_lies_in_the_space(name: str) -> None:
    problem = problems.load(f"hard/{name}")
    assert isinstance(problem, hard.HardProblem)
    trial = optuna.trial.FixedTrial(dict(problem.minimizer))
    assert problem.suggest(trial) == problem.minimizer
    assert problem.evaluate(problem.minimizer) == pytest.approx(0.0, abs=1e-6)
    assert 0 < problem.typical < np.inf


@pytest.mark.parametrize("name", hard.FAMILY.problems)
def test_no_drawn_configuration_is_better_than_the_least(name: str) -> None:
    problem = problems.load(f"hard/{name}")
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(problem, n_trials=60, catch=(ValueError,))
    assert study.best_value > 0


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
