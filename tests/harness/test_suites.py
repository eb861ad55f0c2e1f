from __future__ import annotations

import pytest

from harness import problems
from harness.metrics.summary import METRICS
from harness.suites import ONE_TABLE
from harness.suites import SUITES
from harness.suites import select


def test_the_suites_name_problems_and_metrics_that_there_are() -> None:
    assert list(SUITES) == ["paper", "everyday", "hard", "tradeoffs", "hard-tradeoffs",
                            "limits"]  # fmt: skip
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


def test_a_suite_from_another_source() -> None:
    (everyday,) = select(["everyday@package-costs"])
    assert everyday.problems[0] == "hpo/australian@package-costs"
    assert everyday.problems[-1] == "functions/conditional"
    with pytest.raises(ValueError, match="No problem of the suite 'limits' has a source 'web'"):
        select(["limits@web"])
