"""Section 4.4 and Table 4, with Sections 1 and 5: ZAPS against the baselines."""

from __future__ import annotations

from harness.paper.claims.causes import BANANAS_LOSSES
from harness.paper.claims.causes import BORROWED
from harness.paper.claims.causes import FEW_SEEDS
from harness.paper.claims.causes import OTHER_BASINS
from harness.paper.claims.causes import PROXY_VALUES
from harness.paper.claims.causes import TPE_START
from harness.paper.claims.checks import BASELINES
from harness.paper.claims.checks import ahead
from harness.paper.claims.checks import best_baseline
from harness.paper.claims.checks import every
from harness.paper.claims.checks import gap_changes
from harness.paper.claims.checks import near
from harness.paper.claims.checks import ratio
from harness.paper.claims.checks import reaches_the_optimum
from harness.paper.claims.checks import steadier
from harness.paper.claims.checks import tested
from harness.paper.claims.checks import where
from harness.paper.claims.claim import Claim
from harness.paper.claims.claim import Finding
from harness.paper.measured import MeasuredResults
from harness.paper.published import BOTH_CIFAR
from harness.paper.published import CIFAR10
from harness.paper.published import CIFAR100
from harness.paper.published import ZAPS


SURROGATE_BASELINES = ("BANANAS", "TPE")


def strongest_is_tpe(results: MeasuredResults) -> Finding:
    """Check that TPE is the best baseline at B = 200."""
    best = {problem: best_baseline(results, problem, 200) for problem in BOTH_CIFAR}
    return Finding(
        all(row == "TPE" for row, _ in best.values()),
        "; ".join(f"{where(p, 200)}: {row} {mean:.1f}" for p, (row, mean) in best.items()),
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "4.4",
        "ZAPS recovers 52.3 % of the top 100 of CIFAR-10 at B = 200 (within 3 points).",
        near(CIFAR10, 200, ZAPS, 52.3, 3.0),
        PROXY_VALUES,
    ),
    Claim(
        "4.4",
        "ZAPS recovers 65.8 % of the top 100 of CIFAR-100 at B = 200 (within 5 points).",
        near(CIFAR100, 200, ZAPS, 65.8, 5.0),
        BORROWED,
    ),
    Claim(
        "5",
        "ZAPS is ahead of every baseline by at least 15 points at B = 200, on both data sets.",
        every(ahead(CIFAR10, 200, 15.0), ahead(CIFAR100, 200, 15.0)),
        BANANAS_LOSSES,
    ),
    Claim(
        "4.4",
        "ZAPS finds 1.5 times what the strongest baseline, TPE, finds on CIFAR-10 at B = "
        "200 (at least 1.4 times).",
        ratio(CIFAR10, 200, (ZAPS, "TPE"), 1.4),
        TPE_START,
    ),
    Claim(
        "4.4",
        "TPE is the strongest baseline at B = 200, on both data sets.",
        strongest_is_tpe,
        BANANAS_LOSSES,
    ),
    Claim(
        "1",
        "ZAPS has less than half the standard deviation of the strongest baseline on "
        "CIFAR-10 at B = 200.",
        steadier(CIFAR10, 200, ("TPE",), 0.5),
        OTHER_BASINS,
    ),
    Claim(
        "4.4",
        "ZAPS is steadier than TPE and BANANAS at B = 200, on both data sets.",
        every(*(steadier(problem, 200, SURROGATE_BASELINES) for problem in BOTH_CIFAR)),
        OTHER_BASINS,
    ),
    Claim(
        "4.4",
        "ZAPS is steadier than TPE and BANANAS on CIFAR-100 at B = 500, too.",
        steadier(CIFAR100, 500, SURROGATE_BASELINES),
        BANANAS_LOSSES,
    ),
    Claim(
        "4.4",
        "On CIFAR-10 the gap stays: from 16.9 points at B = 200 to 13.8 at B = 500 (at "
        "least half of it is left).",
        gap_changes(CIFAR10, (200, 500), lambda first, last: last >= 0.5 * first > 0),
        BANANAS_LOSSES,
    ),
    Claim(
        "4.4",
        "On CIFAR-100 the gap narrows from 15.4 points at B = 200 to 0.6 at B = 500 (to "
        "less than a third).",
        gap_changes(CIFAR100, (200, 500), lambda first, last: last < first / 3),
        BORROWED,
    ),
    Claim(
        "4.4",
        "At B = 200 every baseline is behind with p < 1e-24, on both data sets.",
        every(*(tested(problem, 200, BASELINES, p_below=1e-24) for problem in BOTH_CIFAR)),
        FEW_SEEDS,
    ),
    Claim(
        "4.4",
        "At B = 200 the effect against TPE is large: Cliff's δ is 0.69 on CIFAR-10 and 0.60 "
        "on CIFAR-100 (above 0.47).",
        every(*(tested(problem, 200, ("TPE",), delta=(0.47, 1.0)) for problem in BOTH_CIFAR)),
        TPE_START,
    ),
    Claim(
        "4.4",
        "At B = 300 on CIFAR-10 every baseline is behind with p < 1e-22 and a large effect.",
        tested(CIFAR10, 300, BASELINES, p_below=1e-22, delta=(0.47, 1.0)),
        FEW_SEEDS,
    ),
    Claim(
        "4.4",
        "At B = 300 on CIFAR-100 the lead over TPE is significant (p < 0.01) but negligible "
        "(|δ| < 0.15).",
        tested(CIFAR100, 300, ("TPE",), p_below=0.01, delta=(-0.15, 0.15)),
        TPE_START,
    ),
    Claim(
        "4.4",
        "At B = 300 on CIFAR-100 the effect against BANANAS is medium (δ = 0.45; from 0.33 "
        "to 0.47).",
        tested(CIFAR100, 300, ("BANANAS",), delta=(0.33, 0.47)),
        BANANAS_LOSSES,
    ),
    Claim(
        "4.4",
        "On regret ZAPS does not separate from BANANAS on CIFAR-10 at B = 200 (p = 0.25; "
        "above 0.05).",
        tested(CIFAR10, 200, ("BANANAS",), metric="regret", p_above=0.05, p_below=1.01),
        BANANAS_LOSSES,
    ),
    Claim(
        "5",
        "ZAPS and BANANAS both reach the optimum of CIFAR-10 in about 78 % of seeds at B = "
        "200 (within 10 points).",
        every(*(reaches_the_optimum(200, row, (68.0, 88.0)) for row in (ZAPS, "BANANAS"))),
        BANANAS_LOSSES,
    ),
    Claim(
        "5",
        "ZAPS and BANANAS reach the optimum of CIFAR-10 in all seeds by B = 400.",
        every(*(reaches_the_optimum(400, row, (100.0, 100.0)) for row in (ZAPS, "BANANAS"))),
        BANANAS_LOSSES,
    ),
)
