"""Section 4.8 and Table 9: proxies selected on one data set and used on another."""

from __future__ import annotations

from collections.abc import Sequence

from harness.paper import published as paper
from harness.paper.claims.causes import OWN_PROXIES
from harness.paper.claims.checks import every
from harness.paper.claims.checks import where
from harness.paper.claims.claim import Cause
from harness.paper.claims.claim import Check
from harness.paper.claims.claim import Claim
from harness.paper.claims.claim import Finding
from harness.paper.experiments import TABLE_BUDGETS
from harness.paper.measured import MeasuredResults
from harness.paper.published import CIFAR100
from harness.paper.published import IMAGENET16
from harness.paper.published import NASBENCH101
from harness.paper.published import ZAPS
from harness.paper.published import ProblemKey
from harness.report import formats


def transfer_differs(
    problems: Sequence[ProblemKey],
    budgets: Sequence[int],
    within: float,
    metric: str = "precision",
) -> Check:
    """Check that the means with transferred and with native proxies differ by at most a bound."""

    def check(results: MeasuredResults) -> Finding:
        keys = [(problem, budget) for problem in problems for budget in budgets]
        differences = [_transferred_minus_native(results, *key, metric) for key in keys]
        return Finding(
            all(abs(difference) <= within for difference in differences),
            _transfer_text(keys, differences, 1 if metric == "precision" else 3),
        )

    return check


def transfer_ahead(
    problem: ProblemKey, budgets: Sequence[int], least: int, points: float
) -> Check:
    """Check that transferred proxies are ahead by some points at enough of the budgets."""

    def check(results: MeasuredResults) -> Finding:
        differences = [_transferred_minus_native(results, problem, b) for b in budgets]
        return Finding(
            sum(difference > points for difference in differences) >= least,
            _transfer_text([(problem, budget) for budget in budgets], differences, 1),
        )

    return check


def _transferred_minus_native(
    results: MeasuredResults, problem: ProblemKey, budget: int, metric: str = "precision"
) -> float:
    return results.mean(problem, budget, paper.TRANSFERRED, metric) - results.mean(
        problem, budget, ZAPS, metric
    )


def _transfer_text(
    keys: Sequence[tuple[ProblemKey, int]], differences: Sequence[float], digits: int
) -> str:
    if not any(differences):
        return "No difference: ProxyFit selects the same proxies, so the studies are the same"
    return "transferred minus native " + ", ".join(
        f"{formats.signed(difference, digits)} ({where(*key)})"
        for key, difference in zip(keys, differences, strict=True)
    )


SAME_PROXIES = Cause(
    measured="ProxyFit selects the same six proxies on all three data sets of NAS-Bench-201 here, "
    "on CIFAR-100 in another order. So both rows are one method, and differ by chance at most; "
    "the paper does not say which it selects."
)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "4.8",
        "From B = 200 on, CIFAR-10's proxies serve CIFAR-100 and ImageNet16-120 as well as "
        "their own, within 5.2 points.",
        transfer_differs((CIFAR100, IMAGENET16), (200, 300, 500), 5.2),
        SAME_PROXIES,
    ),
    Claim(
        "4.8",
        "On ImageNet16-120 the transferred proxies are the better ones at most budgets "
        "(three of four).",
        transfer_ahead(IMAGENET16, TABLE_BUDGETS, 3, 0.0),
        SAME_PROXIES,
    ),
    Claim(
        "4.8",
        "At B = 100 the transferred proxies are clearly ahead on CIFAR-100 (by 8.5 points; "
        "at least 5).",
        transfer_ahead(CIFAR100, (100,), 1, 5.0),
        SAME_PROXIES,
    ),
    Claim(
        "4.8",
        "On NAS-Bench-101 the proxies of NAS-Bench-201 serve as well as its own: within 4.2 "
        "points of P@100 and 0.07 of regret.",
        every(
            transfer_differs((NASBENCH101,), TABLE_BUDGETS, 4.2),
            transfer_differs((NASBENCH101,), TABLE_BUDGETS, 0.07, "regret"),
        ),
        OWN_PROXIES,
    ),
)
