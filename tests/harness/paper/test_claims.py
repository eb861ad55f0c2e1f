"""Each building block, and each claim's predicate, on results that hold and that do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from made import measured
import numpy as np
import pandas as pd
import pytest

from harness.paper import published as paper
from harness.paper.claims import CLAIMS
from harness.paper.claims import FAILS
from harness.paper.claims import HOLDS
from harness.paper.claims import UNTESTED
from harness.paper.claims import baselines
from harness.paper.claims import checks
from harness.paper.claims import judge
from harness.paper.claims.checks import BASELINES
from harness.paper.claims.checks import steadier
from harness.paper.claims.claim import Cause
from harness.paper.experiments import BUDGETS
from harness.paper.measured import MeasuredResults
from harness.paper.measured import NotMeasured
from harness.report.heatmaps import OBJECTIVE


C10, C100, IN16, NB101 = paper.CIFAR10, paper.CIFAR100, paper.IMAGENET16, paper.NASBENCH101
ZAPS = paper.ZAPS


def means(at: Mapping[tuple[Any, int, str], float], metric: str = "precision") -> MeasuredResults:
    """Two seeds a point below and above each mean."""
    return measured({key: [mean - 1, mean + 1] for key, mean in at.items()}, metric)


def at(problem: paper.ProblemKey, budget: int, **rows: float) -> dict[tuple[Any, int, str], float]:
    return {(problem, budget, row): mean for row, mean in rows.items()}


PAPER_200 = {"RS": 1.4, "LS": 17.3, "REA": 27.0, "BANANAS": 34.7, "TPE": 35.4, "ZAPS": 52.3}


def test_there_are_at_least_25_and_none_is_decided_by_no_results() -> None:
    assert len(CLAIMS) >= 25
    assert len({claim.sentence for claim in CLAIMS}) == len(CLAIMS)
    nothing = MeasuredResults(measured({(C10, 7, "none"): [0.0]}).metrics)
    assert {verdict.status for verdict in judge(nothing)} == {UNTESTED}


def of(sentence: str, on: MeasuredResults) -> str:
    (claim,) = [claim for claim in CLAIMS if claim.sentence.startswith(sentence)]
    return judge(on, [claim])[0].status


def test_ahead_of_every_baseline_by_15_points() -> None:
    sentence = "ZAPS is ahead of every baseline by at least 15 points"
    other = at(C100, 200, **{**PAPER_200, "ZAPS": 65.8, "TPE": 50.5})
    assert of(sentence, means(at(C10, 200, **PAPER_200) | other)) == HOLDS
    closer = at(C10, 200, **{**PAPER_200, "TPE": 37.4})
    assert of(sentence, means(closer | other)) == FAILS
    assert of(sentence, means(at(C10, 200, **PAPER_200))) == UNTESTED


@pytest.mark.parametrize(("mean", "status"), [(55.2, HOLDS), (55.4, FAILS), (49.2, FAILS)])
def test_a_stated_mean(mean: float, status: str) -> None:
    assert of("ZAPS recovers 52.3 %", means({(C10, 200, ZAPS): mean})) == status


def test_less_than_half_the_standard_deviation() -> None:
    sentence = "ZAPS has less than half the standard deviation"
    tpe = [20.0, 50.0]  # standard deviation 21.2
    steady = {(C10, 200, ZAPS): [45.0, 59.0], (C10, 200, "TPE"): tpe}  # 9.9
    assert of(sentence, measured(steady)) == HOLDS
    shaky = {(C10, 200, ZAPS): [44.0, 60.0], (C10, 200, "TPE"): tpe}  # 11.3
    assert of(sentence, measured(shaky)) == FAILS
    assert of(sentence, measured({(C10, 200, ZAPS): [50.0], (C10, 200, "TPE"): tpe})) == UNTESTED


@pytest.mark.parametrize(
    ("problem", "sentence", "last", "status"),
    [
        (C10, "On CIFAR-10 the gap stays", 14.0, HOLDS),
        (C10, "On CIFAR-10 the gap stays", 8.0, FAILS),
        (C100, "On CIFAR-100 the gap narrows", 0.6, HOLDS),
        (C100, "On CIFAR-100 the gap narrows", 6.0, FAILS),
    ],
)
def test_how_the_gap_changes(
    problem: paper.ProblemKey, sentence: str, last: float, status: str
) -> None:
    others = dict.fromkeys(BASELINES, 30.0)
    points = at(problem, 200, **others, ZAPS=47.0) | at(problem, 500, **others, ZAPS=30.0 + last)
    assert of(sentence, means(points)) == status


def test_the_gap_on_nasbench101_widens_and_zaps_leads() -> None:
    others = {"RS": 1.0, "REA": 2.0, "TPE": 8.0}
    gaps = {100: 4.3, 200: 13.0, 300: 20.0, 500: 26.0}
    points: dict[Any, float] = {}
    for budget, gap in gaps.items():
        points |= at(NB101, budget, **others, ZAPS=8.0 + gap)
    on = means(points)
    assert of("On NAS-Bench-101 the gap widens", on) == HOLDS
    assert of("ZAPS leads on NAS-Bench-101", on) == HOLDS
    behind = means(points | at(NB101, 100, ZAPS=7.9))
    assert of("ZAPS leads on NAS-Bench-101", behind) == FAILS
    flat = means(points | at(NB101, 500, ZAPS=12.0))
    assert of("On NAS-Bench-101 the gap widens", flat) == FAILS


def test_significance_and_effect_are_those_of_the_samples() -> None:
    rng = np.random.default_rng(0)
    ours, near, far = (rng.normal(mean, 5, 200) for mean in (50, 49, 30))
    samples = {(C100, 300, ZAPS): ours, (C100, 300, "TPE"): near, (C100, 300, "BANANAS"): far}
    check = checks.tested(C100, 300, ("BANANAS",), p_below=1e-24, delta=(0.47, 1.0))
    assert check(measured(samples)).holds
    assert not checks.tested(C100, 300, ("TPE",), p_below=1e-24)(measured(samples)).holds
    # No two samples of five can give p < 1e-24: that does not refute the claim.
    few = {key: values[:5] for key, values in samples.items()}
    with pytest.raises(NotMeasured, match="5 and 5 seeds cannot give"):
        check(measured(few))


def test_on_regret_smaller_is_better() -> None:
    low, high = [0.0, 0.01, 0.02, 0.03, 0.04] * 4, [0.5, 0.6, 0.7, 0.8, 0.9] * 4
    check = checks.tested(C10, 200, ("BANANAS",), metric="regret", p_below=0.01)
    samples = {(C10, 200, ZAPS): low, (C10, 200, "BANANAS"): high}
    assert check(measured(samples, "regret")).holds
    swapped = {(C10, 200, ZAPS): high, (C10, 200, "BANANAS"): low}
    assert not check(measured(swapped, "regret")).holds
    separate = "On regret ZAPS does not separate from BANANAS"
    assert of(separate, measured(samples, "regret")) == FAILS
    assert of(separate, measured({key: low for key in samples}, "regret")) == HOLDS


def test_ablations_cost_what_they_cost() -> None:
    rows = {ZAPS: 52.3, paper.RANDOM_START: 36.7, paper.ALL_PROXIES: 40.8,
            paper.PROXIES_ONLY: 47.8, paper.TOPOLOGY_ONLY: 31.1}  # fmt: skip
    other = {ZAPS: 65.8, paper.RANDOM_START: 43.2, paper.ALL_PROXIES: 53.0,
             paper.PROXIES_ONLY: 58.7, paper.TOPOLOGY_ONLY: 43.4}  # fmt: skip
    points = at(C10, 200, **rows) | at(C100, 200, **other)
    for sentence in (
        "A random start costs 15.6",
        "Seeding with all thirteen proxies costs",
        "The start matters more",
        "Removing the proxies costs three to five times",
    ):
        assert of(sentence, means(points)) == HOLDS, sentence
    # Without K-means nothing is lost, without the filter much.
    changed = means(points | at(C10, 200, **{paper.RANDOM_START: 52.0, paper.ALL_PROXIES: 30.0}))
    assert of("A random start costs 15.6", changed) == FAILS
    assert of("The start matters more", changed) == FAILS
    # The topology is worth as much as the proxies.
    equal = means(points | at(C10, 200, **{paper.PROXIES_ONLY: 31.1}))
    assert of("Removing the proxies costs three to five times", equal) == FAILS


def test_topology_alone_and_its_share() -> None:
    points: dict[Any, float] = {}
    for budget in BUDGETS:
        rows = {ZAPS: 50.0, paper.TOPOLOGY_ONLY: 30.0, paper.PROXIES_ONLY: 50.0 - 400 / budget}
        points |= at(C10, budget, **rows)
    assert of("The topology alone never catches up", means(points)) == HOLDS
    assert of("What the topology adds on CIFAR-10 shrinks", means(points)) == HOLDS
    caught = points | at(C10, 500, **{paper.TOPOLOGY_ONLY: 36.0, paper.PROXIES_ONLY: 20.0})
    assert of("The topology alone never catches up", means(caught)) == FAILS
    assert of("What the topology adds on CIFAR-10 shrinks", means(caught)) == FAILS


def test_transfer() -> None:
    points: dict[Any, float] = {}
    for problem in (C100, IN16):
        for budget in (100, 200, 300, 500):
            points |= at(problem, budget, **{ZAPS: 40.0, paper.TRANSFERRED: 43.0})
    same = "From B = 200 on, CIFAR-10's proxies serve"
    assert of(same, means(points)) == HOLDS
    assert of(same, means(points | at(IN16, 300, **{paper.TRANSFERRED: 34.0}))) == FAILS
    better = "On ImageNet16-120 the transferred proxies"
    assert of(better, means(points)) == HOLDS
    two_of_four = at(IN16, 100, **{paper.TRANSFERRED: 39.0}) | at(
        IN16, 300, **{paper.TRANSFERRED: 39.0}
    )
    assert of(better, means(points | two_of_four)) == FAILS
    assert of("At B = 100 the transferred proxies", means(points)) == FAILS  # 3 points, not 5


def test_random_search_against_the_hypergeometric_mean() -> None:
    expected = at(C10, 200, RS=1.28) | at(C10, 300, RS=1.92)  # 100 B / 15,625
    check = baselines.hypergeometric(C10)
    metrics = means(expected).metrics
    assert check(MeasuredResults(metrics, sizes={C10: 15_625})).holds
    assert not check(MeasuredResults(metrics, sizes={C10: 10_000})).holds
    with pytest.raises(NotMeasured):
        check(MeasuredResults(metrics))


def test_the_optimum_is_that_of_studies_that_found_it() -> None:
    metrics = measured({(C10, 200, ZAPS): [91.57, 91.2]}, "best_value").metrics
    sentence = baselines.optimum_is(C10, 91.57, 0.005)
    with pytest.raises(NotMeasured, match="no study reached"):
        sentence(MeasuredResults(metrics))
    found = MeasuredResults(metrics.assign(found_optimum=[True, False]))
    assert sentence(found).holds
    assert not baselines.optimum_is(C10, 91.61, 0.005)(found).holds


def test_seeds_that_reach_the_optimum() -> None:
    share = {(C10, 200, row): [1.0, 1.0, 1.0, 1.0, 0.0] for row in (ZAPS, "BANANAS")}  # 80 %
    assert of("ZAPS and BANANAS both reach the optimum", measured(share, "found_optimum")) == HOLDS
    share[C10, 200, ZAPS] = [1.0, 0.0, 0.0]
    assert of("ZAPS and BANANAS both reach the optimum", measured(share, "found_optimum")) == FAILS


def matrix(**relevance: float) -> pd.DataFrame:
    names = [OBJECTIVE, *relevance]
    frame = pd.DataFrame(np.eye(len(names)), index=names, columns=names)
    frame.loc[OBJECTIVE, list(relevance)] = list(relevance.values())
    frame.loc[list(relevance), OBJECTIVE] = list(relevance.values())
    return frame


def test_proxyfit_and_relevance_from_the_correlations() -> None:
    relevance = {"nwot": 0.775, "jacov": 0.74, "synflow": 0.73, "flops": 0.72, "params": 0.721,
                 "snip": 0.60, "grasp": 0.51, "plain": -0.27}  # fmt: skip
    right = matrix(**relevance)
    right.loc["flops", "params"] = right.loc["params", "flops"] = 0.996
    metrics = measured({(C10, 7, "none"): [0.0]}).metrics
    on = MeasuredResults(metrics, {C10: right})
    for sentence in ("ProxyFit selects nwot", "flops and params are redundant",
                     "The proxies' rank correlations", "nwot has the highest"):  # fmt: skip
        assert of(sentence, on) == HOLDS, sentence
    # flops before params: then ProxyFit takes flops, and refuses params.
    wrong = right.copy()
    wrong.loc[OBJECTIVE, "flops"] = wrong.loc["flops", OBJECTIVE] = 0.725
    wrong.loc[OBJECTIVE, "plain"] = wrong.loc["plain", OBJECTIVE] = 0.1
    wrong.loc[OBJECTIVE, "nwot"] = wrong.loc["nwot", OBJECTIVE] = 0.80
    wrong.loc["flops", "params"] = wrong.loc["params", "flops"] = 0.97
    on = MeasuredResults(metrics, {C10: wrong})
    for sentence in ("ProxyFit selects nwot", "flops and params are redundant",
                     "The proxies' rank correlations", "nwot has the highest"):  # fmt: skip
        assert of(sentence, on) == FAILS, sentence


def test_aggregates_of_proxies_against_synflow() -> None:
    rows = {paper.SYNFLOW: 22.0, paper.RANK_PRODUCT: 0.0, paper.RANK_PRODUCT_POSITIVE: 1.0,
            paper.BORDA: 2.0}  # fmt: skip
    points = at(C10, 200, **rows) | at(C100, 200, **rows)
    assert of("Every aggregate of proxies falls short", means(points)) == HOLDS
    closer = points | at(C100, 200, **{paper.BORDA: 13.0})
    assert of("Every aggregate of proxies falls short", means(closer)) == FAILS


def test_a_budget_curve_that_grows() -> None:
    growing = {(problem, b, "TPE"): [b / 10] for problem in (C10, C100) for b in BUDGETS}
    assert of("P@100 of TPE grows", measured(growing)) == HOLDS
    assert of("P@100 of TPE grows", measured(growing | {(C10, 300, "TPE"): [1.0]})) == FAILS


def test_ranking_quality() -> None:
    high = {(C10, b, ZAPS): [0.87] for b in BUDGETS}
    assert of("The surrogate's rank correlation", measured(high, "spearman")) == HOLDS
    low = high | {(C10, 150, ZAPS): [0.8]}
    assert of("The surrogate's rank correlation", measured(low, "spearman")) == FAILS
    # Below B = 100 the paper says nothing.
    early = high | {(C10, 50, ZAPS): [0.3]}
    assert of("The surrogate's rank correlation", measured(early, "spearman")) == HOLDS
    both = measured({(C10, 200, ZAPS): [0.89], (NB101, 200, ZAPS): [0.62]}, "spearman")
    assert of("The surrogate orders NAS-Bench-101 less well", both) == HOLDS
    turned = measured({(C10, 200, ZAPS): [0.6], (NB101, 200, ZAPS): [0.62]}, "spearman")
    assert of("The surrogate orders NAS-Bench-101 less well", turned) == FAILS


def test_a_cause_says_what_was_measured_and_what_is_supposed() -> None:
    assert str(Cause("a", "b")) == "Measured: a Supposed: b"
    assert str(Cause(supposed="b")) == "Supposed: b"
    assert not str(Cause())


def test_the_seeds_that_make_a_spread_are_named() -> None:
    # Median 50; 10 is below its half. Of 48, 50, 52, 52 the standard deviation is 1.91.
    rows = {(C10, 200, ZAPS): [10, 48, 50, 52, 52], (C10, 200, "TPE"): [0, 100]}
    finding = steadier(C10, 200, ("TPE",), 0.5)(measured(rows))
    assert "(without the 1 of 5 seeds below half of its median 1.9)" in finding.figures
