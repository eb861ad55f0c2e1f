"""Sections 3.1 and 4.1: the proxies that ProxyFit selects, and the cost of a run."""

from __future__ import annotations

from harness.paper.claims.causes import PROXY_VALUES
from harness.paper.claims.checks import PROXYFIT
from harness.paper.claims.checks import correlation
from harness.paper.claims.checks import mean_within
from harness.paper.claims.checks import proxy_correlations
from harness.paper.claims.claim import Claim
from harness.paper.claims.claim import Finding
from harness.paper.measured import MeasuredResults
from harness.paper.published import CIFAR10
from harness.paper.published import ZAPS
from harness.report import formats
from harness.report.heatmaps import OBJECTIVE
from optuna_zaps.search.proxy_fit import greedy_subset


def proxyfit_selects(results: MeasuredResults) -> Finding:
    """Check that Algorithm 1 selects the paper's six from the correlations of CIFAR-10."""
    matrix = proxy_correlations(results)
    relevance = matrix[OBJECTIVE].drop(OBJECTIVE)
    redundancy = matrix.loc[relevance.index, relevance.index]
    chosen = greedy_subset(relevance.to_numpy(), redundancy.to_numpy(), threshold=0.85, max_size=6)
    names = tuple(relevance.index[chosen])
    return Finding(names == PROXYFIT, ", ".join(names))


def range_of_relevance(results: MeasuredResults) -> Finding:
    """Check the correlations of the least and the most relevant proxy with the accuracy."""
    relevance = proxy_correlations(results)[OBJECTIVE].drop(OBJECTIVE)
    low, high = relevance.min(), relevance.max()
    return Finding(
        abs(low + 0.27) <= 0.05 and abs(high - 0.78) <= 0.05,
        f"{formats.number(low, 2)} ({relevance.idxmin()}) to {high:.2f} ({relevance.idxmax()})",
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "3.1",
        "ProxyFit selects nwot, jacov, synflow, params, snip and grasp on CIFAR-10, in this "
        "order.",
        proxyfit_selects,
        PROXY_VALUES,
    ),
    Claim(
        "3.1",
        "flops and params are redundant on CIFAR-10: |ρ| = 0.996 (within 0.005).",
        correlation("flops", "params", 0.996, 0.005),
        PROXY_VALUES,
    ),
    Claim(
        "4.1",
        "The proxies' rank correlations with accuracy on CIFAR-10 range from −0.27 to 0.78 "
        "(each within 0.05).",
        range_of_relevance,
        PROXY_VALUES,
    ),
    Claim(
        "4.1",
        "A run of ZAPS at B = 200 takes about five seconds of CPU (at most five).",
        mean_within(CIFAR10, 200, ZAPS, "cpu_seconds", (0.0, 5.0), unit=" s"),
    ),
)
