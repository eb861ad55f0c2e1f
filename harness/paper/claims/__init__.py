"""The paper's numerical claims, each with its check and its cause in the file of its section.

A claim is a sentence of the paper in other words, with the bound that it is held to: where the
paper states a number, the bound says how far ours may lie from it. A claim that does not hold
says by how much, and names the cause as far as it is known.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.paper.claims import baselines
from harness.paper.claims import component_ablation
from harness.paper.claims import fusion_ablation
from harness.paper.claims import main_comparison
from harness.paper.claims import nasbench101
from harness.paper.claims import proxies
from harness.paper.claims import proxies_alone
from harness.paper.claims import ranking_quality
from harness.paper.claims import transfer
from harness.paper.claims.claim import FAILS
from harness.paper.claims.claim import HOLDS
from harness.paper.claims.claim import UNTESTED
from harness.paper.claims.claim import Claim
from harness.paper.claims.claim import Verdict
from harness.paper.claims.claim import verdict
from harness.paper.measured import MeasuredResults


__all__ = ["CLAIMS", "FAILS", "HOLDS", "UNTESTED", "Claim", "Verdict", "judge"]

CLAIMS: tuple[Claim, ...] = (
    *proxies.CLAIMS,
    *baselines.CLAIMS,
    *main_comparison.CLAIMS,
    *ranking_quality.CLAIMS,
    *proxies_alone.CLAIMS,
    *component_ablation.CLAIMS,
    *fusion_ablation.CLAIMS,
    *nasbench101.CLAIMS,
    *transfer.CLAIMS,
)


def judge(results: MeasuredResults, claims: Iterable[Claim] = CLAIMS) -> list[Verdict]:
    """Check claims, by default all of the paper's.

    Args:
        results: The measured results.
        claims: Claims to check.

    Returns:
        A verdict for each.
    """
    comparable = results.on_the_papers_tables()
    return [verdict(claim, comparable) for claim in claims]
