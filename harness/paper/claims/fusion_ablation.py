"""Section 4.6 and Table 7: the surrogate without topology, and without proxies."""

from __future__ import annotations

import numpy as np

from harness.paper import published as paper
from harness.paper.claims.causes import BASELINE_VARIANTS
from harness.paper.claims.causes import FEW_SEEDS
from harness.paper.claims.causes import PROXY_VALUES
from harness.paper.claims.checks import costs
from harness.paper.claims.checks import every
from harness.paper.claims.checks import orders
from harness.paper.claims.checks import tested
from harness.paper.claims.checks import where
from harness.paper.claims.claim import Claim
from harness.paper.claims.claim import Finding
from harness.paper.experiments import BUDGETS
from harness.paper.measured import MeasuredResults
from harness.paper.published import BOTH_CIFAR
from harness.paper.published import CIFAR10
from harness.paper.published import ZAPS
from harness.report import formats


def proxies_cost_more(results: MeasuredResults) -> Finding:
    """Check that removing the proxies costs a multiple of the cost of removing the topology."""
    texts, ratios = [], []
    for problem in BOTH_CIFAR:
        full = results.mean(problem, 200, ZAPS)
        without_proxies = full - results.mean(problem, 200, paper.TOPOLOGY_ONLY)
        without_topology = full - results.mean(problem, 200, paper.PROXIES_ONLY)
        ratios.append(without_proxies / without_topology if without_topology > 0 else np.inf)
        texts.append(f"{where(problem, 200)}: {ratios[-1]:.1f} times")
    return Finding(all(2.5 <= ratio_ <= 5.5 for ratio_ in ratios), "; ".join(texts))


def topology_never_catches_up(results: MeasuredResults) -> Finding:
    """Check that topology alone stays 15 points behind from B = 200 on."""
    gaps = {
        budget: results.mean(CIFAR10, budget, ZAPS)
        - results.mean(CIFAR10, budget, paper.TOPOLOGY_ONLY)
        for budget in BUDGETS
    }
    return Finding(
        all(value >= 15 for budget, value in gaps.items() if budget >= 200),
        ", ".join(f"{formats.signed(value)} at B = {budget}" for budget, value in gaps.items()),
    )


def topology_matters_less_and_less(results: MeasuredResults) -> Finding:
    """Check that removing the topology costs less at B = 500 than at B = 100."""
    first, last = (
        results.mean(CIFAR10, budget, ZAPS) - results.mean(CIFAR10, budget, paper.PROXIES_ONLY)
        for budget in (100, 500)
    )
    return Finding(
        last < first, f"{formats.signed(first)} at B = 100, {formats.signed(last)} at B = 500"
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "4.6",
        "Without the topology ZAPS loses 4.5 points on CIFAR-10 and 7.1 on CIFAR-100 (from "
        "2 to 12), p < 1e-7.",
        every(
            *(
                costs(problem, 200, paper.PROXIES_ONLY, 2.0, at_most=12.0)
                for problem in BOTH_CIFAR
            ),
            *(tested(on, 200, (paper.PROXIES_ONLY,), p_below=1e-7) for on in BOTH_CIFAR),
        ),
        FEW_SEEDS,
    ),
    Claim(
        "4.6",
        "Without the proxies it loses 21.2 points on CIFAR-10 and 22.4 on CIFAR-100 (from "
        "16 to 28), p < 1e-53.",
        every(
            *(
                costs(problem, 200, paper.TOPOLOGY_ONLY, 16.0, at_most=28.0)
                for problem in BOTH_CIFAR
            ),
            *(
                tested(problem, 200, (paper.TOPOLOGY_ONLY,), p_below=1e-53)
                for problem in BOTH_CIFAR
            ),
        ),
        FEW_SEEDS,
    ),
    Claim(
        "5",
        "Removing the proxies costs three to five times what removing the topology does "
        "(2.5 to 5.5).",
        proxies_cost_more,
        PROXY_VALUES,
    ),
    Claim(
        "4.6",
        "With the topology alone ZAPS is below BANANAS on CIFAR-10 at B = 200.",
        orders(CIFAR10, 200, ("BANANAS", paper.TOPOLOGY_ONLY)),
        BASELINE_VARIANTS,
    ),
    Claim(
        "4.6",
        "The topology alone never catches up on CIFAR-10: it stays 15 points behind or more "
        "(from B = 200 on).",
        topology_never_catches_up,
        PROXY_VALUES,
    ),
    Claim(
        "4.6",
        "What the topology adds on CIFAR-10 shrinks from 4.6 points at B = 100 to 1.5 at B = 500.",
        topology_matters_less_and_less,
        PROXY_VALUES,
    ),
)
