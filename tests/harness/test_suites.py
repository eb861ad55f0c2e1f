from __future__ import annotations

from dataclasses import replace

import pytest

from harness import problems
from harness.experiment import make_cells
from harness.metrics import Budgets
from harness.metrics import summarize
from harness.metrics.summary import METRICS
from harness.run.runner import run_cell
from harness.samplers import make_spec
from harness.suites import ONE_TABLE
from harness.suites import SUITES
from harness.suites import select


def test_the_suites_name_problems_and_metrics_that_there_are() -> None:
    assert list(SUITES) == ["paper", "everyday", "hard", "hard-long", "tradeoffs",
                            "hard-tradeoffs", "limits"]  # fmt: skip
    assert len(SUITES["everyday"].problems) == 17
    for suite in SUITES.values():
        assert set(suite.problems) <= set(problems.texts())
        for text in (suite.problems[0], suite.problems[-1]):
            kind = problems.load(text).kind
            known = {q.name for metric in METRICS[kind] for q in metric.quantities}
            assert set(suite.metrics) <= known


def test_a_problem_on_its_own_has_the_settings_of_its_like() -> None:
    chosen = ["nasbench201/cifar10@package", "functions/branin", "hpo/car",
              "nasbench201/cifar10-flops"]  # fmt: skip
    table, everyday, tradeoffs = select(chosen)
    assert table.problems == (chosen[0],)
    assert (table.metrics, table.budgets, table.seeds) == (ONE_TABLE.metrics, (200,), 10)
    assert everyday.problems == ("functions/branin", "hpo/car")
    assert everyday.metrics == SUITES["everyday"].metrics
    assert tradeoffs.by_trials
    assert {suite.name for suite in (table, everyday, tradeoffs)} == {""}


def test_a_problem_is_in_one_suite_only() -> None:
    (limits,) = select(["limits", "nasbench201-limited/cifar10-params", "limits"])
    assert limits == SUITES["limits"]


def test_suites_that_share_problems_are_compared_one_at_a_time() -> None:
    with pytest.raises(ValueError, match=r"suites hard-long and hard have problems in common"):
        select(["hard", "hard-long"])
    named, hard = select(["hard/levy-5d", "hard"])
    assert named.problems == ("hard/levy-5d",)
    assert len(hard.problems) == len(SUITES["hard"].problems) - 1


@pytest.mark.parametrize("sampler", [*SUITES["hard-long"].samplers, "cmaes"])
def test_one_long_study_holds_the_short_one(sampler: str) -> None:
    suite = SUITES["hard-long"]
    if sampler in suite.if_installed:
        pytest.importorskip(sampler)
    problem = problems.load(suite.problems[0])
    spec = make_spec(sampler)
    (cell,) = make_cells([problem], [spec], [3], suite.budgets, by_trials=suite.by_trials)
    assert cell.budget == 1000
    short, long = (run_cell(replace(cell, budget=budget)) for budget in (25, 40))
    assert len(long.asked) == 40
    assert long.configurations[:25] == short.configurations
    at = {problem.text: Budgets((25, 40), by_trials=True)}
    whole, own = summarize([long], [problem], at), summarize([short], [problem])
    assert whole["regret"].tolist()[0] == own["regret"].item()
    assert whole["budget"].tolist() == [25, 40]


def test_a_suite_from_another_source() -> None:
    (everyday,) = select(["everyday@package-costs"])
    assert everyday.problems[0] == "hpo/australian@package-costs"
    assert everyday.problems[-1] == "functions/conditional"
    with pytest.raises(ValueError, match="No problem of the suite 'limits' has a source 'web'"):
        select(["limits@web"])
