"""Tables of a comparison, aggregated once and rendered for the terminal and for the page.

Notations:
    summary: frame of :func:`harness.metrics.summarize`, a row per study and budget.
    metrics: names of the quantities to show; the first, the primary one, ranks the samplers.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from harness import statistics
from harness.metrics import GROUP
from harness.metrics import QUANTITIES
from harness.metrics import geometric_mean
from harness.metrics.metric import Quantity
from harness.problems import short_name
from harness.report import formats
from harness.report.palette import is_zaps
from harness.statistics import compare
from harness.suites import Suite


Record = Mapping[str, Any]

MOST_DETAILED = 5
"""Number of problems up to which the terminal shows each on its own."""

_SETTING = list(GROUP[1:])


@dataclass(frozen=True)
class Column:
    """A column of the summary table.

    Attributes:
        key: Column of :func:`leaderboard` that it is sorted by.
        header: Its head, with the unit.
        explanation: One sentence.
        text: Text of a cell, given a row of :func:`leaderboard`.
        compares: Whether it is about the reference.
    """

    key: str
    header: str
    explanation: str
    text: Callable[[Record], str]
    compares: bool = False


def columns(metrics: Iterable[str]) -> list[Column]:
    """Columns of the means of some quantities, and of the tests of the first."""
    shown = [QUANTITIES[name] for name in metrics]
    return [*map(_mean_column, shown), *_test_columns(shown[0])]


def page_columns(metrics: Sequence[str]) -> list[Column]:
    """Columns of the page: those of the terminal, and some for which that has no room."""
    own = {column.key: column for column in columns(metrics)}
    first, *rest = own.values()
    details = [
        Column(
            "gap_geometric",
            "geo. gap %",
            "Geometric mean of the gap over seeds, each floored at 1e-5.",
            lambda row: formats.loss(row["gap_geometric"]),
        ),
        Column(
            "trials_to_optimum",
            "trials to",
            QUANTITIES["trials_to_optimum"].explanation,
            lambda row: (
                f"> {row['budget']}"
                if np.isinf(row["trials_to_optimum"])
                else formats.number(row["trials_to_optimum"], 0)
            ),
        ),
        Column(
            "cpu_ms_per_trial",
            "CPU ms/ask",
            "CPU time of the sampler for one ask and its tell, mean over a study and seeds.",
            lambda row: formats.significant(row["cpu_ms_per_trial"]),
        ),
    ]
    seeds = Column(
        "n_seeds",
        "seeds",
        "Number of studies, each with a seed of its own.",
        lambda row: f"{row['n_seeds']}{' (capped)' if row['n_capped'] else ''}",
    )
    return [seeds, first, *details, *rest]


def aggregate(summary: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Aggregate the studies over seeds.

    Args:
        summary: Studies on problems of one kind.
        metrics: The first ranks the samplers.

    Returns:
        One row per group (:data:`harness.metrics.GROUP`) and sampler, problems in the order of the
        summary and the best mean first: ``n_seeds``, ``n_capped``, the mean of each quantity under
        its name and its standard deviation under ``<name>_std``. ``trials_to_optimum`` is the
        median over all seeds, infinite where at least half of them missed the optimum.
        ``gap_geometric`` is the geometric mean of the gap, ``cpu_ms_per_trial`` that of ask and
        tell together.
    """
    studies = summary.assign(
        n_seeds=1, n_capped=summary["capped"], cpu_ms_per_trial=summary.ask_ms + summary.tell_ms
    )
    chosen: dict[str, Any] = {name: (name, "sum") for name in ("n_seeds", "n_capped")}
    chosen["cpu_ms_per_trial"] = ("cpu_ms_per_trial", "mean")
    measured = [name for name in QUANTITIES if name in summary]
    chosen |= {name: (name, "mean") for name in measured}
    chosen |= {f"{name}_std": (name, "std") for name in measured}
    if "gap" in summary:
        chosen["gap_geometric"] = ("gap", geometric_mean)
    if "trials_to_optimum" in summary:
        studies["trials_to_optimum"] = studies["trials_to_optimum"].fillna(np.inf)
        chosen["trials_to_optimum"] = ("trials_to_optimum", "median")
        del chosen["trials_to_optimum_std"]
    table: pd.DataFrame = (
        studies.groupby([*GROUP, "sampler"], sort=False).agg(**chosen).reset_index()
    )
    order = pd.factorize(table[list(GROUP[:-1])].apply(tuple, axis="columns"))[0]
    table = table.assign(_order=order).sort_values(
        ["_order", "budget", metrics[0]],
        ascending=[True, True, not QUANTITIES[metrics[0]].larger_is_better],
        kind="stable",
    )
    return table.drop(columns="_order").reset_index(drop=True)


def default_reference(summary: pd.DataFrame) -> str:
    """Sampler to compare the others with: ``zaps``, else a form of it, else the first."""
    labels: list[str] = summary["sampler"].unique().tolist()
    return min(labels, key=lambda label: (label != "zaps", not is_zaps(label)))


def leaderboard(
    summary: pd.DataFrame,
    metrics: Sequence[str],
    *,
    reference: str | None = None,
    tests: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Aggregate the studies, and compare the reference with each other sampler.

    Args:
        summary: Studies on problems of one kind.
        metrics: The first ranks the samplers and is tested.
        reference: Sampler to compare with, by default that of :func:`default_reference`.
        tests: Frame of :func:`harness.statistics.compare` for all pairs on the first metric, if it
            was computed before.

    Returns:
        The frame of :func:`aggregate` with the columns ``difference``, ``ci_low``, ``ci_high``,
        ``p_value``, ``p_holm``, ``cliffs_delta`` and ``effect`` of the tests of the reference
        against the sampler of the row, NaN in the reference's own row.
    """
    reference = reference or default_reference(summary)
    tests = compare(summary, metric=metrics[0]) if tests is None else tests
    against = tests[tests["sampler_a"] == reference].drop(columns="sampler_a")
    return aggregate(summary, metrics).merge(
        against.rename(columns={"sampler_b": "sampler"}), on=[*GROUP, "sampler"], how="left"
    )


def overview(summary: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Samplers over several problems, the lowest mean rank first.

    Args:
        summary: Studies of one setting (trials in flight, unit and budget).
        metric: Quantity that ranks them.

    Returns:
        Frame indexed by sampler: ``n_seeds`` the most that any problem has, ``mean_rank``,
        ``n_first`` (problems on which no sampler is better), ``mean`` of the metric over the
        problems (geometric where it is a loss), ``repeat_share`` in percent and ``cpu_seconds`` of
        a study.
    """
    losses = statistics.mean_losses(summary, metric)
    by_sampler = summary[summary["problem"].isin(losses.index)].groupby("sampler", sort=False)
    return pd.DataFrame(
        {
            "n_seeds": by_sampler["seed"].nunique(),
            "mean_rank": statistics.ranks(losses).mean(),
            "n_first": losses.eq(losses.min(axis="columns"), axis="index").sum(),
            "mean": -losses.mean() if _is_gain(metric) else losses.apply(geometric_mean),
            "repeat_share": by_sampler["repeat_share"].mean(),
            "cpu_seconds": by_sampler["cpu_seconds"].mean(),
        }
    ).sort_values("mean_rank", kind="stable")


def rich_tables(summary: pd.DataFrame, suites: Iterable[Suite]) -> Group:
    """Render a comparison for a terminal of 80 characters.

    Args:
        summary: One row per study.
        suites: The problems and which metrics to show of them.

    Returns:
        Something for ``rich.print``. Of several problems: the primary metric of each, the samplers
        by mean rank, and their tests. Of each problem, unless there are more than
        :data:`MOST_DETAILED`: the means of the samplers, and the tests of the reference.
    """
    parts: list[Table | Text] = []
    for suite in suites:
        studies = summary[summary["problem"].isin(suite.problems)]
        if studies["problem"].nunique() > 1:
            for _, chosen in studies.groupby(_SETTING, sort=False):
                parts += _overview_tables(chosen, suite.metrics[0])
        if 1 <= studies["problem"].nunique() <= MOST_DETAILED:
            parts += _problem_tables(studies, suite.metrics)
    return Group(*parts)


def titled_table(*title: str) -> Table:
    """Empty table with a bold title, a line for each text."""
    return Table(
        title=Text("\n".join(title), style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1),
    )


def records(board: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a leaderboard, as its columns render them."""
    return [{str(key): value for key, value in row.items()} for row in board.to_dict("records")]


def cell_text(column: Column, record: Record, reference: str) -> str:
    """Text of a cell; the reference is not compared with itself."""
    if column.compares and record["sampler"] == reference:
        return formats.NOTHING
    return column.text(record)


def _mean_column(quantity: Quantity) -> Column:
    name = quantity.name

    def text(row: Record) -> str:
        if quantity.spread:
            return formats.spread(row[name], row[f"{name}_std"], quantity.digits or 0)
        return formats.quantity(row[name], quantity.digits)

    return Column(name, quantity.title, quantity.explanation, text)


def _test_columns(primary: Quantity) -> list[Column]:
    """Columns of the tests of the reference against the sampler of a row."""
    digits = 2 if primary.digits is None else primary.digits

    def difference(row: Record) -> str:
        ends = [formats.number(row[end], digits) for end in ("ci_low", "ci_high")]
        interval = "" if np.isnan(row["ci_low"]) else f" [{', '.join(ends)}]"
        return formats.signed(row["difference"], digits) + interval

    return [
        Column(
            "difference",
            "ahead" if primary.larger_is_better else "difference",
            f"Mean {primary.title} of the reference minus that of this sampler, with its "
            "bootstrap interval (95 %).",
            difference,
            compares=True,
        ),
        Column(
            "p_holm",
            "p (Holm)",
            "One-sided Mann–Whitney U test that the reference is ahead, after Holm's adjustment "
            "over all pairs.",
            lambda row: formats.p_value(row["p_holm"]),
            compares=True,
        ),
        Column(
            "cliffs_delta",
            "δ",
            "Cliff's delta of the reference against this sampler: 1 if every seed is ahead, 0 if "
            "it is even; below 0.15 negligible, above 0.47 large.",
            lambda row: formats.number(row["cliffs_delta"], 2),
            compares=True,
        ),
    ]


def _problem_tables(studies: pd.DataFrame, metrics: Sequence[str]) -> Iterator[Table]:
    """Two tables of each problem and setting: the samplers' means, and the reference's tests."""
    reference = default_reference(studies)
    shown = columns(metrics)
    board = leaderboard(studies, metrics, reference=reference)
    groups: Any = board.groupby(list(GROUP), sort=False)
    for (problem, in_flight, unit, budget), rows in groups:
        seeds = " or ".join(map(str, sorted(rows["n_seeds"].unique())))
        setting = formats.setting(budget, unit, in_flight)
        title = f"{short_name(str(problem))}, {setting}, {seeds} seeds"
        means = [column for column in shown if not column.compares]
        yield _board_table(title, rows, means, reference)
        others = rows[rows["sampler"] != reference]
        if len(others) and len(others) < len(rows):
            tests = [column for column in shown if column.compares]
            yield _board_table(f"{reference} against", others, tests, reference)


def _board_table(title: str, rows: pd.DataFrame, shown: Sequence[Column], reference: str) -> Table:
    table = titled_table(title)
    table.add_column("sampler", overflow="fold")  # a long label must not cut numbers
    for column in shown:
        table.add_column(Text(column.header), justify="right", no_wrap=True)
    for record in records(rows):
        label = str(record["sampler"])
        cells = (Text(cell_text(column, record, reference)) for column in shown)
        table.add_row(Text(label), *cells, style="bold" if label == reference else "")
    return table


def _overview_tables(studies: pd.DataFrame, metric: str) -> Iterator[Table | Text]:
    """Tables over several problems of one setting."""
    losses = statistics.mean_losses(studies, metric)
    yield _values_table(studies, losses, metric)
    yield _ranks_table(studies, losses, metric)
    missing = [name for name in studies["problem"].unique() if name not in losses.index]
    if missing:
        listed = ", ".join(map(short_name, missing))
        yield Text(f"Left out, because a sampler has no study on them: {listed}")
    if losses.shape[1] > 1:
        yield _pairs_table(losses)


def _values_table(studies: pd.DataFrame, losses: pd.DataFrame, metric: str) -> Table:
    quantity = QUANTITIES[metric]
    in_flight, unit, budget = (studies[column].iloc[0] for column in _SETTING)
    setting = formats.setting(budget, unit, in_flight)
    table = titled_table(
        f"{quantity.title} after {setting}, mean over seeds", quantity.explanation
    )
    table.add_column("problem", no_wrap=True)
    for label in losses.columns:
        table.add_column(Text(str(label)), justify="right", overflow="fold")
    sign = -1.0 if _is_gain(metric) else 1.0
    for problem, row in losses.iterrows():
        cells = (
            Text(
                formats.quantity(sign * value, quantity.digits),
                style="bold" if value == row.min() else "",
            )
            for value in row
        )
        table.add_row(Text(short_name(str(problem))), *cells)
    return table


def _ranks_table(studies: pd.DataFrame, losses: pd.DataFrame, metric: str) -> Table:
    quantity = QUANTITIES[metric]
    table = titled_table(f"Samplers over the {len(losses)} problems")
    table.add_column("sampler", overflow="fold")
    mean = quantity.title if quantity.larger_is_better else f"geo. {quantity.title}"
    for header in ("seeds", "mean rank", "first on", mean, "repeats %", "CPU s"):
        table.add_column(header, justify="right", no_wrap=True)
    for label, row in overview(studies, metric).iterrows():
        table.add_row(
            Text(str(label)),
            f"{row['n_seeds']:.0f}",
            formats.number(row["mean_rank"], 2),
            f"{row['n_first']:.0f}",
            formats.quantity(row["mean"], quantity.digits),
            formats.number(row["repeat_share"]),
            formats.significant(row["cpu_seconds"]),
        )
    return table


def _pairs_table(losses: pd.DataFrame) -> Table:
    p = statistics.friedman_p(losses)
    friedman = "" if pd.isna(p) else f" (Friedman over all: {formats.p_statement(p)})"
    table = titled_table(f"Pairs, Wilcoxon's signed ranks over the problems{friedman}")
    for header in ("sampler", "against"):
        table.add_column(header, overflow="fold")
    for header in ("better", "worse", "equal", "p", "p (Holm)"):
        table.add_column(header, justify="right", no_wrap=True)
    for row in statistics.pairs(losses).to_dict("records"):
        table.add_row(
            *(Text(str(row[key])) for key in ("sampler_a", "sampler_b")),
            *(str(row[key]) for key in ("n_better", "n_worse", "n_equal")),
            formats.p_value(row["p_value"]),
            formats.p_value(row["p_holm"]),
        )
    return table


def _is_gain(metric: str) -> bool:
    return bool(QUANTITIES[metric].larger_is_better)
