"""The views that readers of benchmark comparisons know, as figures with their texts.

Several problems have mean ranks, distributions of runtimes, a performance profile, a
critical-difference diagram and a matrix of wins; one problem has those that it needs no other for.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence

import pandas as pd

from harness.metrics import quantity_on
from harness.metrics.progress import Axis
from harness.metrics.progress import known_axes
from harness.report import figures_runtimes
from harness.report import figures_standings
from harness.report import runtimes
from harness.report.axes import position_name
from harness.report.drawn import Drawn
from harness.report.drawn import has_curve
from harness.report.palette import Styles
from harness.report.panel import Panel
from harness.report.rank_curves import FEWEST_PROBLEMS
from harness.report.rank_curves import rank_curves
from harness.report.standings import group_frame
from harness.report.standings import groups
from harness.report.standings import wins
from harness.report.tables import noun
from harness.report.views import ALPHA
from harness.report.views import ProblemView
from harness.report.views import SuiteView


def axes_of(studies: Iterable[Drawn]) -> list[Axis]:
    """Axes on which all studies are known."""
    return known_axes(
        snapshot for drawn in studies for own in drawn.snapshots.values() for snapshot in own
    )


def suite_panels(
    view: SuiteView, problems: Sequence[ProblemView], studies: Sequence[Drawn], styles: Styles
) -> Iterator[Panel]:
    """Figures of several problems.

    Args:
        view: The problems at a budget.
        problems: Those on which every sampler has studies.
        studies: Studies of each of them.
        styles: How samplers are drawn, in the order of the page.
    """
    metric = view.suite.metrics[0]
    if view.losses.shape[1] > 1:
        yield from _rank_panels(studies, metric, styles)
    yield from runtime_panels(studies, metric, styles)
    if view.losses.shape[1] > 1:
        yield _groups_panel(view, styles)
        yield _wins_panel(view, problems, styles)


def runtime_panels(studies: Sequence[Drawn], metric: str, styles: Styles) -> Iterator[Panel]:
    """Distribution of runtimes and performance profile, over each axis on which all are known.

    Args:
        studies: Studies of each problem.
        metric: Quantity that ranks the samplers.
        styles: How samplers are drawn, in the order of the page.
    """
    if not all(has_curve(metric, drawn.problem) for drawn in studies):
        return
    targets = _targets_sentence(metric, studies)
    over = f" of {len(studies)} problems" if len(studies) > 1 else ""
    axes = axes_of(studies)
    cross = "; over time, a cross marks the end of the last study" if len(axes) > 1 else ""
    for axis in axes:
        times = runtimes.runtimes(studies, metric, axis)
        whole = axis is Axis.STEPS
        reached = runtimes.sampled(runtimes.reached(times), "at", whole=whole)
        yield Panel(
            f"targets-{runtimes.target_metric(metric)}",
            "Targets reached",
            f"Share of the targets that the studies{over} reached by then; higher and further "
            f"left is better. {targets} A study that misses a target stays in the count{cross}.",
            figures_runtimes.reached_figure(reached, styles, axis, studies[0].unit),
            reached.rename(columns={"at": position_name(axis, studies[0].unit)}),
            axis,
        )
        profile = runtimes.profile(times)
        if times["sampler"].nunique() > 1 and len(profile):
            profile = runtimes.sampled(profile, "ratio", whole=False)
            yield Panel(
                "profile",
                "Performance profile",
                "Share of the targets that a sampler reaches at no more than so many times the "
                "cost of the best sampler for that target: on the left, how often it is the best; "
                "on the right, how often it gets there at all. Cost: expected runtime, with "
                "restarts where seeds miss. Targets that nobody reached are left out.",
                figures_runtimes.profile_figure(profile, styles, axis, studies[0].unit),
                profile.drop(columns="ended"),
                axis,
            )


def _rank_panels(studies: Sequence[Drawn], metric: str, styles: Styles) -> Iterator[Panel]:
    if not all(has_curve(metric, drawn.problem) for drawn in studies):
        return
    if len(studies) >= FEWEST_PROBLEMS:
        band = "The band is the 95 % bootstrap interval over problems."
    else:
        band = f"Fewer than {FEWEST_PROBLEMS} problems have no interval."
    subject = noun(quantity_on(metric, (drawn.problem for drawn in studies)))
    for axis in axes_of(studies):
        curves = rank_curves(studies, metric, axis)
        yield Panel(
            "ranks",
            "Mean rank on the way",
            f"Rank by mean {subject} so far, averaged over the "
            f"{len(studies)} problems; higher up is better, and the right end is the mean rank of "
            f"the table. {band}",
            figures_runtimes.ranks_figure(curves, styles, axis, studies[0].unit),
            curves.rename(columns={"at": position_name(axis, studies[0].unit)}),
            axis,
        )


def _groups_panel(view: SuiteView, styles: Styles) -> Panel:
    ranks = group_frame(
        view.mean_ranks,
        groups(view.mean_ranks, view.pairs.rename(columns={"sampler": "sampler_a"}), ALPHA),
    )
    return Panel(
        "groups",
        "Critical differences",
        "Mean ranks, the best on the left. A bar joins samplers (dots) of which no two differ "
        f"significantly over the {len(view.losses)} problems (Wilcoxon's signed ranks, "
        f"Holm-adjusted, {ALPHA}); samplers without a common bar do.",
        figures_standings.groups_figure(ranks, styles),
        ranks,
    )


def _wins_panel(view: SuiteView, problems: Sequence[ProblemView], styles: Styles) -> Panel:
    tests = pd.concat([each.tests[each.metrics[0]] for each in problems], ignore_index=True)
    counted = wins(tests, view.losses, ALPHA)
    n_problems = len(view.losses)
    hopeless = all(each.caution for each in problems)
    caution = " With so few seeds nothing can be significant." if hopeless else ""
    return Panel(
        "wins",
        "Wins, ties and losses",
        f"On how many of the {n_problems} problems is the row significantly ahead of the column, "
        f"even, or behind (Mann–Whitney U over seeds, Holm-adjusted, {ALPHA})? In brackets: "
        f"better, equal or worse by the mean alone.{caution}",
        figures_standings.wins_figure(counted, styles, n_problems),
        counted,
    )


def _targets_sentence(metric: str, studies: Sequence[Drawn]) -> str:
    targets = runtimes.targets_of(metric)
    chosen = runtimes.target_metric(metric)
    count = f"{len(targets)} targets per problem"
    if chosen == "regret":
        return (
            f"{count}: regrets from 100 %, the median configuration, to {targets[-1]:g} %, in "
            "equal steps of the logarithm."
        )
    if chosen == "hypervolume":
        return (
            f"{count}: missing hypervolume from 50 % to {targets[-1]:g} %, in equal steps of the "
            "logarithm."
        )
    name = noun(quantity_on(metric, (drawn.problem for drawn in studies)))
    return f"{count}: {name} of {100 - targets[0]:g} %, {100 - targets[1]:g} %, ..., 100 %."
