"""Checks that claims are made of: functions that make a function of the evidence.

Notations:
    P@100: percentage of the true top 100 evaluated. B: distinct evaluations.
    gap: mean P@100 of ZAPS minus that of the best baseline at the same B, in points.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from harness.paper import published as paper
from harness.paper.evidence import Evidence
from harness.paper.evidence import Floats
from harness.paper.evidence import NotMeasured
from harness.paper.published import PLACES
from harness.paper.published import Place
from harness.report import formats
from harness.statistics import cliffs_delta
from harness.statistics import effect_size
from harness.statistics import mann_whitney_p


BASELINES = ("RS", "LS", "REA", "BANANAS", "TPE")


@dataclass(frozen=True)
class Finding:
    """What a check saw.

    Attributes:
        holds: Whether the claim does.
        figures: The numbers that decide it.
    """

    holds: bool
    figures: str


Check = Callable[[Evidence], Finding]
"""Raises :class:`~harness.paper.evidence.NotMeasured` if the evidence does not suffice."""


def every(*checks: Check) -> Check:
    """Every one of several checks."""

    def check(evidence: Evidence) -> Finding:
        findings = [one(evidence) for one in checks]
        return Finding(
            all(finding.holds for finding in findings),
            "; ".join(finding.figures for finding in findings),
        )

    return check


def where(place: Place, budget: int) -> str:
    """Data set and budget in words."""
    return f"{PLACES[place]}, B = {budget}"


def best_baseline(
    evidence: Evidence, place: Place, budget: int, baselines: Iterable[str] = BASELINES
) -> tuple[str, float]:
    """The baseline of the largest mean P@100, and that mean.

    Raises:
        NotMeasured: If one of them was not measured.
    """
    means = {row: evidence.mean(place, budget, row) for row in baselines}
    best = max(means, key=lambda row: means[row])
    return best, means[best]


def gap(
    evidence: Evidence, place: Place, budget: int, baselines: Iterable[str] = BASELINES
) -> float:
    """Mean P@100 of ZAPS minus that of the best baseline, in points."""
    best = best_baseline(evidence, place, budget, baselines)[1]
    return evidence.mean(place, budget, paper.ZAPS) - best


def near(place: Place, budget: int, row: str, stated: float, within: float) -> Check:
    """The mean P@100 of a row is what the paper states, give or take some points."""

    def check(evidence: Evidence) -> Finding:
        mean = evidence.mean(place, budget, row)
        return Finding(
            abs(mean - stated) <= within,
            f"{where(place, budget)}: {row} {mean:.1f}, paper {stated:.1f}",
        )

    return check


def ahead(
    place: Place,
    budget: int,
    points: float,
    baselines: Iterable[str] = BASELINES,
) -> Check:
    """ZAPS is at least so many points of P@100 ahead of the best baseline."""

    def check(evidence: Evidence) -> Finding:
        best, mean = best_baseline(evidence, place, budget, baselines)
        ours = evidence.mean(place, budget, paper.ZAPS)
        return Finding(
            ours - mean >= points,
            f"{where(place, budget)}: ZAPS {ours:.1f}, best baseline {best} {mean:.1f}, gap "
            f"{formats.signed(ours - mean)}",
        )

    return check


def costs(place: Place, budget: int, row: str, points: float, *, at_most: float = np.inf) -> Check:
    """Leaving a component out costs between so many points of P@100."""

    def check(evidence: Evidence) -> Finding:
        cost = evidence.mean(place, budget, paper.ZAPS) - evidence.mean(place, budget, row)
        return Finding(
            points <= cost <= at_most,
            f"{where(place, budget)}: {row} costs {formats.signed(cost)} points",
        )

    return check


def tested(
    place: Place,
    budget: int,
    rows: Iterable[str],
    *,
    p_below: float = 1.0,
    delta: tuple[float, float] = (-1.0, 1.0),
    metric: str = "precision",
    p_above: float = 0.0,
) -> Check:
    """ZAPS against rows by a one-sided Mann-Whitney U test and Cliff's delta."""
    sign = 1.0 if metric == "precision" else -1.0

    def check(evidence: Evidence) -> Finding:
        ours = sign * evidence.sample(place, budget, paper.ZAPS, metric)
        holds, texts = True, []
        for row in rows:
            theirs = sign * evidence.sample(place, budget, row, metric)
            if _smallest_p(ours.size, theirs.size) >= p_below:
                raise NotMeasured(
                    f"{ours.size} and {theirs.size} seeds cannot give p < {p_below:g}"
                )
            p, effect = mann_whitney_p(ours, theirs), cliffs_delta(ours, theirs)
            holds &= p_above <= p < p_below and delta[0] <= effect <= delta[1]
            texts.append(
                f"{row} {formats.p_statement(p)}, δ = {effect:.2f} ({effect_size(effect)})"
            )
        return Finding(holds, f"{where(place, budget)}, n = {ours.size}: " + "; ".join(texts))

    return check


def _smallest_p(m: int, n: int) -> float:
    """The p-value of samples that do not overlap: no others of these sizes have a smaller one."""
    return mann_whitney_p(np.arange(m) + n, np.arange(n))


def steadier(place: Place, budget: int, rows: Iterable[str], factor: float = 1.0) -> Check:
    """ZAPS has less than a fraction of each row's standard deviation of P@100."""

    def check(evidence: Evidence) -> Finding:
        ours = evidence.std(place, budget, paper.ZAPS)
        theirs = {row: evidence.std(place, budget, row) for row in rows}
        listed = ", ".join(f"{row} {std:.1f}" for row, std in theirs.items())
        return Finding(
            all(ours < factor * std for std in theirs.values()),
            f"{where(place, budget)}: standard deviation of ZAPS {ours:.1f}"
            f"{_without_stragglers(evidence.sample(place, budget, paper.ZAPS))}, {listed}",
        )

    return check


def _without_stragglers(sample: Floats) -> str:
    """How much of a spread is due to seeds that found less than half of the median."""
    rest = sample[sample >= np.median(sample) / 2]
    if rest.size in (1, sample.size):
        return ""
    return (
        f" (without the {sample.size - rest.size} of {sample.size} seeds below half of its median "
        f"{rest.std(ddof=1):.1f})"
    )


def orders(place: Place, budget: int, rows: Iterable[str]) -> Check:
    """The mean P@100 of rows decreases in the order given."""

    def check(evidence: Evidence) -> Finding:
        means = {row: evidence.mean(place, budget, row) for row in rows}
        return Finding(
            all(first > second for first, second in pairwise(means.values())),
            f"{where(place, budget)}: " + ", ".join(f"{row} {v:.1f}" for row, v in means.items()),
        )

    return check


def gap_changes(
    place: Place,
    budgets: tuple[int, int],
    holds: Callable[[float, float], bool],
    baselines: Iterable[str] = BASELINES,
) -> Check:
    """The gap at two budgets stand in a relation."""

    def check(evidence: Evidence) -> Finding:
        first, second = (gap(evidence, place, budget, baselines) for budget in budgets)
        return Finding(
            holds(first, second),
            f"{PLACES[place]}: gap {formats.signed(first)} at B = {budgets[0]}, "
            f"{formats.signed(second)} at B = {budgets[1]}",
        )

    return check


def mean_within(
    place: Place,
    budget: int,
    row: str,
    metric: str,
    bounds: tuple[float, float],
    *,
    unit: str = "",
    digits: int = 2,
) -> Check:
    """The mean of a metric lies between bounds, both included."""

    def check(evidence: Evidence) -> Finding:
        mean = evidence.mean(place, budget, row, metric)
        return Finding(
            bounds[0] <= mean <= bounds[1],
            f"{where(place, budget)}: {row} {formats.number(mean, digits)}{unit}",
        )

    return check


def ratio(
    place: Place,
    budget: int,
    rows: tuple[str, str],
    at_least: float,
    *,
    metric: str = "precision",
    of_std: bool = False,
) -> Check:
    """The mean, or standard deviation, of one row is a multiple of another's."""

    def check(evidence: Evidence) -> Finding:
        measure = evidence.std if of_std else evidence.mean
        first, second = (measure(place, budget, row, metric) for row in rows)
        digits = 1 if metric == "precision" else 3
        return Finding(
            first >= at_least * second,
            f"{where(place, budget)}: {rows[0]} {first:.{digits}f}, {rows[1]} {second:.{digits}f}",
        )

    return check
