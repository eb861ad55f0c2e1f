"""The summary table, aggregated once and rendered for the terminal and for the page."""

from __future__ import annotations

from collections.abc import Callable
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

from harness.metrics import geometric_mean
from harness.report import formats
from harness.report.palette import is_zaps
from harness.statistics import GROUP
from harness.statistics import compare


Record = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """A column of the summary table.

    Attributes:
        key: Column of :func:`leaderboard` that it is sorted by.
        header: Its head, with the unit.
        explanation: One sentence.
        text: What a cell says, given a row of :func:`leaderboard`.
        compares: Whether it is about the reference.
        terminal: Whether it is shown in the terminal, where there are 80 characters.
    """

    key: str
    header: str
    explanation: str
    text: Callable[[Record], str]
    compares: bool = False
    terminal: bool = True


COLUMNS = (
    Column(
        "n_seeds",
        "seeds",
        "Number of studies, each with a seed of its own.",
        lambda row: f"{row['n_seeds']}{' (capped)' if row['n_capped'] else ''}",
        terminal=False,
    ),
    Column(
        "precision_mean",
        "P@100 %",
        "Share of the true top 100 that was evaluated, mean ± standard deviation over seeds.",
        lambda row: formats.spread(row["precision_mean"], row["precision_std"]),
    ),
    Column(
        "regret_mean",
        "regret %",
        "Distance of the best evaluated configuration from the optimum, mean over seeds.",
        lambda row: formats.regret(row["regret_mean"]),
    ),
    Column(
        "regret_geometric",
        "geo. regret %",
        "Geometric mean of the regret over seeds, each floored at 1e-5.",
        lambda row: formats.regret(row["regret_geometric"]),
        terminal=False,
    ),
    Column(
        "found_optimum",
        "optimum %",
        "Share of seeds that evaluated the optimum.",
        lambda row: formats.number(row["found_optimum"], 0),
    ),
    Column(
        "trials_to_optimum",
        "trials to",
        "Median number of evaluations up to the optimum; a seed that missed it counts as more.",
        lambda row: (
            f"> {row['budget']}"
            if np.isinf(row["trials_to_optimum"])
            else formats.number(row["trials_to_optimum"], 0)
        ),
        terminal=False,
    ),
    Column(
        "repeat_share",
        "repeats %",
        "Share of proposals that had been evaluated before.",
        lambda row: formats.number(row["repeat_share"]),
    ),
    Column(
        "cpu_ms_per_trial",
        "CPU ms/ask",
        "CPU time of the sampler for one ask and its tell, mean over a study and seeds.",
        lambda row: formats.significant(row["cpu_ms_per_trial"]),
        terminal=False,
    ),
    Column(
        "cpu_seconds",
        "CPU s",
        "CPU time of the sampler for a whole study, mean over seeds.",
        lambda row: formats.significant(row["cpu_seconds"]),
    ),
    Column(
        "difference",
        "ahead",
        "Difference of mean P@100 between the reference and this sampler, in points, with its "
        "bootstrap interval (95 %).",
        lambda row: (
            formats.signed(row["difference"])
            + (
                f" [{formats.number(row['ci_low'])}, {formats.number(row['ci_high'])}]"
                if not np.isnan(row["ci_low"])
                else ""
            )
        ),
        compares=True,
    ),
    Column(
        "p_holm",
        "p (Holm)",
        "One-sided Mann–Whitney U test that the reference is ahead, after Holm's adjustment over "
        "all pairs.",
        lambda row: formats.p_value(row["p_holm"]),
        compares=True,
    ),
    Column(
        "cliffs_delta",
        "δ",
        "Cliff's delta of the reference against this sampler: 1 if every seed is ahead, 0 if it "
        "is even; below 0.15 negligible, above 0.47 large.",
        lambda row: formats.number(row["cliffs_delta"], 2),
        compares=True,
    ),
)


def aggregate(summary: pd.DataFrame) -> pd.DataFrame:
    """Aggregate the studies over seeds.

    Args:
        summary: What :func:`harness.metrics.summarize` returned.

    Returns:
        One row per data set, trials in flight, budget and sampler, the highest mean P@100 first.
        Shares are in percent. ``trials_to_optimum`` is the median over all seeds, infinite where
        at least half of them missed the optimum.
    """
    groups = summary.assign(
        n_seeds=1,
        trials_to_optimum=summary["trials_to_optimum"].fillna(np.inf),
        cpu_ms_per_trial=summary["ask_ms"] + summary["tell_ms"],
        found_optimum=100.0 * summary["found_optimum"],
        repeat_share=100.0 * summary["repeat_share"],
    ).groupby([*GROUP, "sampler"], sort=False)
    table = groups.agg(
        n_seeds=("n_seeds", "sum"),
        precision_mean=("precision", "mean"),
        precision_std=("precision", "std"),
        regret_mean=("regret", "mean"),
        regret_geometric=("regret", geometric_mean),
        found_optimum=("found_optimum", "mean"),
        trials_to_optimum=("trials_to_optimum", "median"),
        repeat_share=("repeat_share", "mean"),
        cpu_ms_per_trial=("cpu_ms_per_trial", "mean"),
        cpu_seconds=("cpu_seconds", "mean"),
        n_capped=("capped", "sum"),
    ).reset_index()
    places = table[list(GROUP[:-1])].apply(tuple, axis="columns")
    table["_place"] = pd.factorize(places)[0]
    table = table.sort_values(
        ["_place", "budget", "precision_mean"], ascending=[True, True, False], kind="stable"
    )
    return table.drop(columns="_place").reset_index(drop=True)


def default_reference(summary: pd.DataFrame) -> str:
    """Who is compared with the others: ``zaps``, else a form of it, else the first sampler."""
    labels: list[str] = summary["sampler"].unique().tolist()
    return min(labels, key=lambda label: (label != "zaps", not is_zaps(label)))


def leaderboard(
    summary: pd.DataFrame, *, reference: str | None = None, tests: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Aggregate the studies, and compare the reference with each other sampler.

    Args:
        summary: What :func:`harness.metrics.summarize` returned.
        reference: Sampler to compare with, by default that of :func:`default_reference`.
        tests: What :func:`harness.statistics.compare` returned for all pairs on P@100, if it is
            at hand.

    Returns:
        The frame of :func:`aggregate` with the columns ``difference``, ``ci_low``, ``ci_high``,
        ``p_value``, ``p_holm``, ``cliffs_delta`` and ``effect`` of the tests of the reference
        against the sampler of the row, NaN in the reference's own row.
    """
    reference = reference or default_reference(summary)
    tests = compare(summary) if tests is None else tests
    against = tests[tests["sampler_a"] == reference].drop(columns="sampler_a")
    return aggregate(summary).merge(
        against.rename(columns={"sampler_b": "sampler"}), on=[*GROUP, "sampler"], how="left"
    )


def rich_table(summary: pd.DataFrame, *, reference: str | None = None) -> Group:
    """Render the leaderboard for a terminal of 80 characters.

    Args:
        summary: What :func:`harness.metrics.summarize` returned.
        reference: Sampler to compare with, by default that of :func:`default_reference`.

    Returns:
        Something for ``rich.print``: for each data set and budget a table of what the samplers
        reached, and one of the reference against each other sampler.
    """
    reference = reference or default_reference(summary)
    board = leaderboard(summary, reference=reference)
    tables = []
    for group, rows in board.groupby(list(GROUP), sort=False):
        benchmark, dataset, source, _, budget = group
        seeds = " or ".join(map(str, sorted(rows["n_seeds"].unique())))
        setting = f"{budget} evaluations{formats.in_flight(rows['in_flight'].iloc[0])}"
        title = f"{benchmark} / {dataset} ({source}), {setting}, {seeds} seeds"
        tables.append(_rich_table(title, rows, [c for c in COLUMNS if not c.compares], reference))
        others = rows[rows["sampler"] != reference]
        if len(others) and len(others) < len(rows):
            columns = [column for column in COLUMNS if column.compares]
            tables.append(_rich_table(f"{reference} against", others, columns, reference))
    return Group(*tables)


def records(board: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a leaderboard, as its columns render them."""
    return [{str(key): value for key, value in row.items()} for row in board.to_dict("records")]


def cell_text(column: Column, record: Record, reference: str) -> str:
    """What a cell says; the reference is not compared with itself."""
    if column.compares and record["sampler"] == reference:
        return formats.NOTHING
    return column.text(record)


def _rich_table(
    title: str, rows: pd.DataFrame, columns: Sequence[Column], reference: str
) -> Table:
    table = Table(
        title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1)
    )
    shown = [column for column in columns if column.terminal]
    table.add_column("sampler", overflow="fold")  # a long label must not cut numbers
    for column in shown:
        table.add_column(Text(column.header), justify="right", no_wrap=True)
    for record in records(rows):
        label = str(record["sampler"])
        cells = (Text(cell_text(column, record, reference)) for column in shown)
        table.add_row(Text(label), *cells, style="bold" if label == reference else "")
    return table
