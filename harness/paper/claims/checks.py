"""Checks that several claims share: each function returns a function of the results.

Notations:
    P@100: percentage of the true top 100 evaluated. B: distinct evaluations.
    gap: mean P@100 of ZAPS minus that of the best baseline at the same B, in points.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pandas as pd

from harness.paper import published as paper
from harness.paper.claims.claim import Check
from harness.paper.claims.claim import Finding
from harness.paper.measured import Floats
from harness.paper.measured import MeasuredResults
from harness.paper.measured import NotMeasured
from harness.paper.published import CIFAR10
from harness.paper.published import PROBLEM_NAMES
from harness.paper.published import ProblemKey
from harness.report import formats
from harness.statistics import cliffs_delta
from harness.statistics import effect_size
from harness.statistics import mann_whitney_p


PROXYFIT = ("nwot", "jacov", "synflow", "params", "snip", "grasp")
"""Selection of ProxyFit on CIFAR-10, in order."""

BASELINES = ("RS", "LS", "REA", "BANANAS", "TPE")


def every(*checks: Check) -> Check:
    """Combine checks: all must hold."""

    def check(results: MeasuredResults) -> Finding:
        findings = [one(results) for one in checks]
        return Finding(
            all(finding.holds for finding in findings),
            "; ".join(finding.figures for finding in findings),
        )

    return check


def where(problem: ProblemKey, budget: int) -> str:
    """Name a data set and a budget."""
    return f"{PROBLEM_NAMES[problem]}, B = {budget}"


def best_baseline(
    results: MeasuredResults,
    problem: ProblemKey,
    budget: int,
    baselines: Iterable[str] = BASELINES,
) -> tuple[str, float]:
    """Baseline with the largest mean P@100, and that mean.

    Raises:
        NotMeasured: If a baseline was not measured.
    """
    means = {row: results.mean(problem, budget, row) for row in baselines}
    best = max(means, key=lambda row: means[row])
    return best, means[best]


def gap(
    results: MeasuredResults,
    problem: ProblemKey,
    budget: int,
    baselines: Iterable[str] = BASELINES,
) -> float:
    """Mean P@100 of ZAPS minus that of the best baseline, in points."""
    best = best_baseline(results, problem, budget, baselines)[1]
    return results.mean(problem, budget, paper.ZAPS) - best


def near(problem: ProblemKey, budget: int, row: str, stated: float, within: float) -> Check:
    """Check that the mean P@100 of a row is within some points of the paper's."""

    def check(results: MeasuredResults) -> Finding:
        mean = results.mean(problem, budget, row)
        return Finding(
            abs(mean - stated) <= within,
            f"{where(problem, budget)}: {row} {mean:.1f}, paper {stated:.1f}",
        )

    return check


def ahead(
    problem: ProblemKey,
    budget: int,
    points: float,
    baselines: Iterable[str] = BASELINES,
) -> Check:
    """Check that ZAPS is ahead of the best baseline by some points of P@100."""

    def check(results: MeasuredResults) -> Finding:
        best, mean = best_baseline(results, problem, budget, baselines)
        ours = results.mean(problem, budget, paper.ZAPS)
        return Finding(
            ours - mean >= points,
            f"{where(problem, budget)}: ZAPS {ours:.1f}, best baseline {best} {mean:.1f}, gap "
            f"{formats.signed(ours - mean)}",
        )

    return check


def costs(
    problem: ProblemKey, budget: int, row: str, points: float, *, at_most: float = np.inf
) -> Check:
    """Check that leaving a component out costs from ``points`` to ``at_most`` points of P@100."""

    def check(results: MeasuredResults) -> Finding:
        cost = results.mean(problem, budget, paper.ZAPS) - results.mean(problem, budget, row)
        return Finding(
            points <= cost <= at_most,
            f"{where(problem, budget)}: {row} costs {formats.signed(cost)} points",
        )

    return check


def tested(
    problem: ProblemKey,
    budget: int,
    rows: Iterable[str],
    *,
    p_below: float = 1.0,
    delta: tuple[float, float] = (-1.0, 1.0),
    metric: str = "precision",
    p_above: float = 0.0,
) -> Check:
    """Test ZAPS against rows by a one-sided Mann-Whitney U test and Cliff's delta."""
    sign = 1.0 if metric == "precision" else -1.0

    def check(results: MeasuredResults) -> Finding:
        ours = sign * results.sample(problem, budget, paper.ZAPS, metric)
        holds, texts = True, []
        for row in rows:
            theirs = sign * results.sample(problem, budget, row, metric)
            if _smallest_p(ours.size, theirs.size) >= p_below:
                raise NotMeasured(
                    f"{ours.size} and {theirs.size} seeds cannot give p < {p_below:g}"
                )
            p, effect = mann_whitney_p(ours, theirs), cliffs_delta(ours, theirs)
            holds &= p_above <= p < p_below and delta[0] <= effect <= delta[1]
            texts.append(
                f"{row} {formats.p_statement(p)}, δ = {effect:.2f} ({effect_size(effect)})"
            )
        return Finding(holds, f"{where(problem, budget)}, n = {ours.size}: " + "; ".join(texts))

    return check


def _smallest_p(m: int, n: int) -> float:
    """Smallest p-value of samples of these sizes: that of samples that do not overlap."""
    return mann_whitney_p(np.arange(m) + n, np.arange(n))


def steadier(problem: ProblemKey, budget: int, rows: Iterable[str], factor: float = 1.0) -> Check:
    """Check that the standard deviation of ZAPS is below a fraction of each row's."""

    def check(results: MeasuredResults) -> Finding:
        ours = results.std(problem, budget, paper.ZAPS)
        theirs = {row: results.std(problem, budget, row) for row in rows}
        listed = ", ".join(f"{row} {std:.1f}" for row, std in theirs.items())
        return Finding(
            all(ours < factor * std for std in theirs.values()),
            f"{where(problem, budget)}: standard deviation of ZAPS {ours:.1f}"
            f"{_without_stragglers(results.sample(problem, budget, paper.ZAPS))}, {listed}",
        )

    return check


def _without_stragglers(sample: Floats) -> str:
    """Standard deviation without the seeds that found less than half of the median."""
    rest = sample[sample >= np.median(sample) / 2]
    if rest.size in (1, sample.size):
        return ""
    return (
        f" (without the {sample.size - rest.size} of {sample.size} seeds below half of its median "
        f"{rest.std(ddof=1):.1f})"
    )


def orders(problem: ProblemKey, budget: int, rows: Iterable[str]) -> Check:
    """Check that the mean P@100 of rows decreases in the order given."""

    def check(results: MeasuredResults) -> Finding:
        means = {row: results.mean(problem, budget, row) for row in rows}
        return Finding(
            all(first > second for first, second in pairwise(means.values())),
            f"{where(problem, budget)}: "
            + ", ".join(f"{row} {v:.1f}" for row, v in means.items()),
        )

    return check


def gap_changes(
    problem: ProblemKey,
    budgets: tuple[int, int],
    holds: Callable[[float, float], bool],
    baselines: Iterable[str] = BASELINES,
) -> Check:
    """Check a relation between the gaps at two budgets."""

    def check(results: MeasuredResults) -> Finding:
        first, second = (gap(results, problem, budget, baselines) for budget in budgets)
        return Finding(
            holds(first, second),
            f"{PROBLEM_NAMES[problem]}: gap {formats.signed(first)} at B = {budgets[0]}, "
            f"{formats.signed(second)} at B = {budgets[1]}",
        )

    return check


def mean_within(
    problem: ProblemKey,
    budget: int,
    row: str,
    metric: str,
    bounds: tuple[float, float],
    *,
    unit: str = "",
    digits: int = 2,
) -> Check:
    """Check that the mean of a metric lies between bounds, both included."""

    def check(results: MeasuredResults) -> Finding:
        mean = results.mean(problem, budget, row, metric)
        return Finding(
            bounds[0] <= mean <= bounds[1],
            f"{where(problem, budget)}: {row} {formats.number(mean, digits)}{unit}",
        )

    return check


def ratio(
    problem: ProblemKey,
    budget: int,
    rows: tuple[str, str],
    at_least: float,
    *,
    metric: str = "precision",
    of_std: bool = False,
) -> Check:
    """Check that the mean, or standard deviation, of a row is a multiple of another's."""

    def check(results: MeasuredResults) -> Finding:
        measure = results.std if of_std else results.mean
        first, second = (measure(problem, budget, row, metric) for row in rows)
        digits = 1 if metric == "precision" else 3
        return Finding(
            first >= at_least * second,
            f"{where(problem, budget)}: {rows[0]} {first:.{digits}f}, "
            f"{rows[1]} {second:.{digits}f}",
        )

    return check


def correlation(first: str, second: str, stated: float, within: float) -> Check:
    """Check the correlation of two columns on CIFAR-10."""

    def check(results: MeasuredResults) -> Finding:
        found = abs(float(proxy_correlations(results)[first][second]))
        return Finding(abs(found - stated) <= within, f"|ρ| = {found:.3f}, paper {stated:.3f}")

    return check


def proxy_correlations(results: MeasuredResults) -> pd.DataFrame:
    """Rank correlations of the paper's proxies on CIFAR-10.

    Raises:
        NotMeasured: If its proxies are not all known.
    """
    matrix = results.correlations(CIFAR10)
    if not set(PROXYFIT) <= set(matrix.columns):
        raise NotMeasured("the 13 proxies of NAS-Bench-201 / CIFAR-10 are not available")
    return matrix


def reaches_the_optimum(budget: int, row: str, bounds: tuple[float, float]) -> Check:
    """Check the share of seeds, in percent, that found the optimum of CIFAR-10."""

    def check(results: MeasuredResults) -> Finding:
        share = 100.0 * results.mean(CIFAR10, budget, row, "found_optimum")
        return Finding(
            bounds[0] <= share <= bounds[1],
            f"{where(CIFAR10, budget)}: {row} in {share:.0f} % of seeds",
        )

    return check
