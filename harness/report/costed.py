"""Tables of the comparisons with two objectives and with a limit, for 80 characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from harness.report import formats
from harness.report.tables import default_reference
from harness.statistics import GROUP
from harness.statistics import compare


@dataclass(frozen=True)
class Shown:
    """A metric in a table.

    Attributes:
        key: Column of the summary.
        header: Its head, with the unit.
        digits: Decimals.
        spread: Whether the standard deviation over seeds is shown.
    """

    key: str
    header: str
    digits: int = 1
    spread: bool = False


TRADEOFFS = (
    Shown("hypervolume", "hypervolume %", 2, spread=True),
    Shown("on_front", "on the front"),
    Shown("repeat_share", "repeats %"),
    Shown("cpu_seconds", "CPU s", 2),
)
LIMITS = (
    Shown("best_value", "best feasible %", 2, spread=True),
    Shown("regret", "regret %", 2),
    Shown("found_optimum", "optimum %", 0),
    Shown("infeasible_share", "infeasible %"),
    Shown("cpu_seconds", "CPU s", 2),
)


def costed_tables(summary: pd.DataFrame, shown: Sequence[Shown], *, tested: str) -> Group:
    """Render a summary: for each problem the samplers, and the reference against the others.

    Args:
        summary: One row per study.
        shown: Metrics to show, their means over seeds.
        tested: Metric that is tested, one of :data:`harness.statistics.LARGER_IS_BETTER`.

    Returns:
        Something for ``rich.print``.
    """
    reference = default_reference(summary)
    tests = compare(summary, metric=tested, reference=reference)
    parts = []
    for group, studies in summary.groupby(list(GROUP), sort=False):
        benchmark, dataset, _, _, budget = group
        seeds = " or ".join(
            map(str, sorted(studies.groupby("sampler")["seed"].nunique().unique()))
        )
        setting = f"{budget} trials{formats.in_flight(studies['in_flight'].iloc[0])}"
        title = f"{benchmark} / {dataset}, {setting}, {seeds} seeds"
        parts.append(_means(title, studies, shown))
        here = tests[(tests[list(GROUP)] == np.array(group, dtype=object)).all(axis="columns")]
        if len(here):
            parts.append(_tests(f"{reference} against, {tested}", here))
    return Group(*parts)


def _means(title: str, studies: pd.DataFrame, shown: Sequence[Shown]) -> Table:
    table = _table(title)
    table.add_column("sampler", no_wrap=True)
    for metric in shown:
        table.add_column(metric.header, justify="right", no_wrap=True)
    for label, mine in studies.groupby("sampler", sort=False):
        cells = (
            formats.spread(mine[metric.key].mean(), mine[metric.key].std(), metric.digits)
            if metric.spread
            else formats.number(mine[metric.key].mean(), metric.digits)
            for metric in shown
        )
        table.add_row(Text(str(label)), *cells)
    return table


def _tests(title: str, tests: pd.DataFrame) -> Table:
    table = _table(title)
    table.add_column("sampler", no_wrap=True)
    for header in ("difference", "95 % interval", "p ahead (Holm)", "δ"):
        table.add_column(header, justify="right", no_wrap=True)
    for test in tests.to_dict("records"):
        table.add_row(
            Text(str(test["sampler_b"])),
            formats.signed(test["difference"], 2),
            f"[{formats.number(test['ci_low'], 2)}, {formats.number(test['ci_high'], 2)}]",
            formats.p_value(test["p_holm"]),
            formats.number(test["cliffs_delta"], 2),
        )
    return table


def _table(title: str) -> Table:
    return Table(
        title=Text(title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1),
    )
