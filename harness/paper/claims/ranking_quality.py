"""Section 4.4: the rank correlation of the final surrogate over the whole space."""

from __future__ import annotations

from harness.paper.claims.causes import BORROWED
from harness.paper.claims.causes import PROXY_VALUES
from harness.paper.claims.checks import mean_within
from harness.paper.claims.claim import Check
from harness.paper.claims.claim import Claim
from harness.paper.claims.claim import Finding
from harness.paper.experiments import BUDGETS
from harness.paper.measured import MeasuredResults
from harness.paper.published import CIFAR10
from harness.paper.published import CIFAR100
from harness.paper.published import PROBLEM_NAMES
from harness.paper.published import ZAPS
from harness.paper.published import ProblemKey


def spearman_from_100(problem: ProblemKey, bound: float) -> Check:
    """Check that the rank correlation is at least a bound from B = 100 on."""

    def check(results: MeasuredResults) -> Finding:
        means = {b: results.mean(problem, b, ZAPS, "spearman") for b in BUDGETS if b >= 100}
        return Finding(
            all(mean >= bound for mean in means.values()),
            f"{PROBLEM_NAMES[problem]}: "
            + ", ".join(f"{mean:.2f} at B = {b}" for b, mean in means.items()),
        )

    return check


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "4.4",
        "The surrogate's rank correlation over the whole space is at least 0.86 on CIFAR-10 "
        "from B = 100 on.",
        spearman_from_100(CIFAR10, 0.86),
        PROXY_VALUES,
    ),
    Claim(
        "4.4",
        "It is at least 0.83 on CIFAR-100 from B = 100 on.",
        spearman_from_100(CIFAR100, 0.83),
        BORROWED,
    ),
    Claim(
        "4.4",
        "It is 0.89 at B = 200 on CIFAR-10 (within 0.02).",
        mean_within(CIFAR10, 200, ZAPS, "spearman", (0.87, 0.91)),
        PROXY_VALUES,
    ),
)
