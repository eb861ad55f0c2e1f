from __future__ import annotations

import pytest
from toy import study
from toy import table

from harness import problems
from harness.experiment import make_cells
from harness.metrics import Budgets
from harness.metrics import summarize
from harness.metrics.regret import normalized_regret
from harness.problems import functions
from harness.run.runner import run_cell
from harness.samplers import make_spec


def test_normalized_regret_by_hand() -> None:
    # Branin: the median configuration is 100, the optimum 0, whatever their values.
    branin = functions.FUNCTIONS["branin"]
    assert normalized_regret(branin.typical, branin) == pytest.approx(100.0)
    assert normalized_regret(branin.optimum, branin) == 0.0
    # A table of 1 .. 200: optimum 200, median 100.5; a best of 190 is 10 / 99.5 away.
    summary = summarize([study([3, 189, 7], label="a")], [table()])
    assert summary["best_value"].tolist() == [190.0]
    assert summary["regret"].item() == pytest.approx(1000 / 99.5)


def test_a_study_on_a_function_is_measured_at_fewer_evaluations() -> None:
    problem = problems.load("functions/rosenbrock-log")
    (cell,) = make_cells([problem], [make_spec("random")], [0], [20])
    result = run_cell(cell)
    summary = summarize([result], [problem], {problem.text: Budgets((1, 5, 20))})
    assert summary["best_value"].tolist() == [min(result.values[:n]) for n in (1, 5, 20)]
