"""Checks that one claim alone is made of; see :mod:`harness.paper.checks` for the others."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence

import numpy as np
import pandas as pd

from harness.paper import published as paper
from harness.paper.checks import Check
from harness.paper.checks import Finding
from harness.paper.checks import best_baseline
from harness.paper.checks import gap
from harness.paper.checks import where
from harness.paper.evidence import Evidence
from harness.paper.evidence import NotMeasured
from harness.paper.experiments import BUDGETS
from harness.paper.published import CIFAR10
from harness.paper.published import CIFAR100
from harness.paper.published import NASBENCH101
from harness.paper.published import PLACES
from harness.paper.published import ZAPS
from harness.paper.published import Place
from harness.report import formats
from harness.report.heatmaps import OBJECTIVE
from optuna_zaps.search.proxy_fit import greedy_subset


AGGREGATES = (paper.RANK_PRODUCT, paper.RANK_PRODUCT_POSITIVE, paper.BORDA)
PROXYFIT = ("nwot", "jacov", "synflow", "params", "snip", "grasp")


def hypergeometric(place: Place) -> Check:
    """Random search finds 100 B / N of the top 100, within 0.2 points, at B = 200 and 300."""

    def check(evidence: Evidence) -> Finding:
        expected = {b: 100.0 * b / evidence.size(place) for b in (200, 300)}
        means = {b: evidence.mean(place, b, "RS") for b in expected}
        return Finding(
            all(abs(means[b] - expected[b]) <= 0.2 for b in expected),
            "; ".join(
                f"{where(place, b)}: RS {means[b]:.2f}, expected {expected[b]:.2f}"
                for b in expected
            ),
        )

    return check


def strongest_is_tpe(evidence: Evidence) -> Finding:
    """TPE is the best baseline at B = 200."""
    best = {place: best_baseline(evidence, place, 200) for place in (CIFAR10, CIFAR100)}
    return Finding(
        all(row == "TPE" for row, _ in best.values()),
        "; ".join(f"{where(p, 200)}: {row} {mean:.1f}" for p, (row, mean) in best.items()),
    )


def leads_everywhere(place: Place, budgets: Sequence[int], baselines: Iterable[str]) -> Check:
    """The gap is positive at every budget."""

    def check(evidence: Evidence) -> Finding:
        gaps = {budget: gap(evidence, place, budget, baselines) for budget in budgets}
        return Finding(
            all(value > 0 for value in gaps.values()),
            "gap " + ", ".join(f"{formats.signed(v)} at B = {b}" for b, v in gaps.items()),
        )

    return check


def spearman_from_100(place: Place, bound: float) -> Check:
    """The ranking correlates by at least a bound from B = 100 on."""

    def check(evidence: Evidence) -> Finding:
        means = {b: evidence.mean(place, b, ZAPS, "spearman") for b in BUDGETS if b >= 100}
        return Finding(
            all(mean >= bound for mean in means.values()),
            f"{PLACES[place]}: "
            + ", ".join(f"{mean:.2f} at B = {b}" for b, mean in means.items()),
        )

    return check


def nasbench101_is_modelled_less_well(evidence: Evidence) -> Finding:
    """The ranking correlates less on NAS-Bench-101 than on CIFAR-10."""
    there = evidence.mean(NASBENCH101, 200, ZAPS, "spearman")
    here = evidence.mean(CIFAR10, 200, ZAPS, "spearman")
    return Finding(there < here, f"ρ = {there:.2f} against {here:.2f} on NAS-Bench-201 / CIFAR-10")


def correlation(first: str, second: str, stated: float, within: float) -> Check:
    """Two columns correlate as stated on CIFAR-10, give or take."""

    def check(evidence: Evidence) -> Finding:
        found = abs(float(_correlations(evidence)[first][second]))
        return Finding(abs(found - stated) <= within, f"|ρ| = {found:.3f}, paper {stated:.3f}")

    return check


def _correlations(evidence: Evidence) -> pd.DataFrame:
    matrix = evidence.correlations(CIFAR10)
    if not set(PROXYFIT) <= set(matrix.columns):
        raise NotMeasured("the 13 proxies of NAS-Bench-201 / CIFAR-10 are not at hand")
    return matrix


def range_of_relevance(evidence: Evidence) -> Finding:
    """The least and the most relevant proxy are as relevant as stated."""
    relevance = _correlations(evidence)[OBJECTIVE].drop(OBJECTIVE)
    low, high = relevance.min(), relevance.max()
    return Finding(
        abs(low + 0.27) <= 0.05 and abs(high - 0.78) <= 0.05,
        f"{formats.number(low, 2)} ({relevance.idxmin()}) to {high:.2f} ({relevance.idxmax()})",
    )


def proxyfit(evidence: Evidence) -> Finding:
    """Algorithm 1 on the correlations of CIFAR-10 gives the paper's six."""
    matrix = _correlations(evidence)
    relevance = matrix[OBJECTIVE].drop(OBJECTIVE)
    redundancy = matrix.loc[relevance.index, relevance.index]
    chosen = greedy_subset(relevance.to_numpy(), redundancy.to_numpy(), threshold=0.85, max_size=6)
    names = tuple(relevance.index[chosen])
    return Finding(names == PROXYFIT, ", ".join(names))


def aggregates_fall_short(evidence: Evidence) -> Finding:
    """No aggregate comes within 10 points of synflow."""
    texts, holds = [], True
    for place in (CIFAR10, CIFAR100):
        alone = evidence.mean(place, 200, paper.SYNFLOW)
        best = max(evidence.mean(place, 200, row) for row in AGGREGATES)
        holds &= best <= alone - 10
        texts.append(f"{where(place, 200)}: best aggregate {best:.0f}, synflow {alone:.0f}")
    return Finding(holds, "; ".join(texts))


def start_matters_most(evidence: Evidence) -> Finding:
    """A random start costs more than all proxies at the start, and both cost something."""
    texts, holds = [], True
    for place in (CIFAR10, CIFAR100):
        full = evidence.mean(place, 200, ZAPS)
        start, filter_ = (
            full - evidence.mean(place, 200, row)
            for row in (paper.RANDOM_START, paper.ALL_PROXIES)
        )
        holds &= start > filter_ > 0
        texts.append(
            f"{where(place, 200)}: random start {formats.signed(start)}, all proxies "
            f"{formats.signed(filter_)}"
        )
    return Finding(holds, "; ".join(texts))


def proxies_cost_more(evidence: Evidence) -> Finding:
    """Removing the proxies costs a multiple of what removing the topology does."""
    texts, ratios = [], []
    for place in (CIFAR10, CIFAR100):
        full = evidence.mean(place, 200, ZAPS)
        without_proxies = full - evidence.mean(place, 200, paper.TOPOLOGY_ONLY)
        without_topology = full - evidence.mean(place, 200, paper.PROXIES_ONLY)
        ratios.append(without_proxies / without_topology if without_topology > 0 else np.inf)
        texts.append(f"{where(place, 200)}: {ratios[-1]:.1f} times")
    return Finding(all(2.5 <= ratio_ <= 5.5 for ratio_ in ratios), "; ".join(texts))


def topology_never_catches_up(evidence: Evidence) -> Finding:
    """Topology alone stays 15 points behind from B = 200 on."""
    gaps = {
        budget: evidence.mean(CIFAR10, budget, ZAPS)
        - evidence.mean(CIFAR10, budget, paper.TOPOLOGY_ONLY)
        for budget in BUDGETS
    }
    return Finding(
        all(value >= 15 for budget, value in gaps.items() if budget >= 200),
        ", ".join(f"{formats.signed(value)} at B = {budget}" for budget, value in gaps.items()),
    )


def topology_matters_less_and_less(evidence: Evidence) -> Finding:
    """Removing the topology costs less at B = 500 than at B = 100."""
    first, last = (
        evidence.mean(CIFAR10, budget, ZAPS) - evidence.mean(CIFAR10, budget, paper.PROXIES_ONLY)
        for budget in (100, 500)
    )
    return Finding(
        last < first, f"{formats.signed(first)} at B = 100, {formats.signed(last)} at B = 500"
    )


def transfer_differs(
    places: Sequence[Place], budgets: Sequence[int], within: float, metric: str = "precision"
) -> Check:
    """Transferred and native proxies differ by at most a bound."""

    def check(evidence: Evidence) -> Finding:
        keys = [(place, budget) for place in places for budget in budgets]
        differences = [_transferred_minus_native(evidence, *key, metric) for key in keys]
        return Finding(
            all(abs(difference) <= within for difference in differences),
            _transfer_text(keys, differences, 1 if metric == "precision" else 3),
        )

    return check


def transfer_ahead(place: Place, budgets: Sequence[int], least: int, points: float) -> Check:
    """Transferred proxies are ahead by some points at a number of budgets at least."""

    def check(evidence: Evidence) -> Finding:
        differences = [_transferred_minus_native(evidence, place, b) for b in budgets]
        return Finding(
            sum(difference > points for difference in differences) >= least,
            _transfer_text([(place, budget) for budget in budgets], differences, 1),
        )

    return check


def _transferred_minus_native(
    evidence: Evidence, place: Place, budget: int, metric: str = "precision"
) -> float:
    return evidence.mean(place, budget, paper.TRANSFERRED, metric) - evidence.mean(
        place, budget, ZAPS, metric
    )


def _transfer_text(
    keys: Sequence[tuple[Place, int]], differences: Sequence[float], digits: int
) -> str:
    if not any(differences):
        return "No difference: ProxyFit selects the same proxies, so the studies are the same"
    return "transferred minus native " + ", ".join(
        f"{formats.signed(difference, digits)} ({where(*key)})"
        for key, difference in zip(keys, differences, strict=True)
    )


def monotone(row: str) -> Check:
    """P@100 grows with each step of the budget."""

    def check(evidence: Evidence) -> Finding:
        texts, holds = [], True
        for place in (CIFAR10, CIFAR100):
            means = [evidence.mean(place, budget, row) for budget in BUDGETS]
            holds &= bool(np.all(np.diff(means) > 0))
            texts.append(f"{PLACES[place]}: " + ", ".join(f"{mean:.1f}" for mean in means))
        return Finding(holds, "; ".join(texts))

    return check


def optimum_is(place: Place, stated: float, within: float) -> Check:
    """The best accuracy of a place is as stated."""

    def check(evidence: Evidence) -> Finding:
        # What no study found is not known here: the best of all is a lower bound, which the
        # schemes and hundreds of studies reach.
        readings = evidence.at(place)
        found = readings[readings["found_optimum"].eq(True)]
        if found.empty:
            raise NotMeasured(f"no study reached the optimum of {PLACES[place]}")
        optimum = float(found["best_value"].max())
        return Finding(
            abs(optimum - stated) <= within, f"{PLACES[place]}: {optimum:.2f}, paper {stated:.2f}"
        )

    return check


def reaches_the_optimum(budget: int, row: str, bounds: tuple[float, float]) -> Check:
    """A share of seeds, in percent, between bounds has found the optimum of CIFAR-10."""

    def check(evidence: Evidence) -> Finding:
        share = 100.0 * evidence.mean(CIFAR10, budget, row, "found_optimum")
        return Finding(
            bounds[0] <= share <= bounds[1],
            f"{where(CIFAR10, budget)}: {row} in {share:.0f} % of seeds",
        )

    return check


def charging_repeats(budget: int, stated: float) -> Check:
    """The share of repeats in REA's first ``budget`` proposals is as stated, within 5 points.

    A study goes on until so many proposals were new. How many were among the first ``budget`` is
    interpolated between the budgets that it is read off at, seed by seed.
    """

    def check(evidence: Evidence) -> Finding:
        repeats = np.array(
            [evidence.sample(CIFAR10, b, "REA", "repeat_share") for b in BUDGETS if b <= budget]
        )
        if not repeats.any():
            raise NotMeasured("the REA that was run draws until its proposal is new")
        new = np.array([0, *(b for b in BUDGETS if b <= budget)])
        asks = np.pad(new[1:, np.newaxis] / (1.0 - repeats), ((1, 0), (0, 0)))
        share = 100.0 * (1.0 - np.mean([np.interp(budget, seed, new) for seed in asks.T]) / budget)
        return Finding(abs(share - stated) <= 5, f"{where(CIFAR10, budget)}: {share:.1f} %")

    return check
