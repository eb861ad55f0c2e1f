"""Tables of the comparison on the 17 problems, for a terminal of 80 characters."""

from __future__ import annotations

import pandas as pd
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from harness import ranks
from harness.metrics import geometric_mean
from harness.report import formats


def everyday_tables(summary: pd.DataFrame, after: str) -> Group:
    """Render what :func:`harness.everyday.summarize` returned.

    Args:
        summary: One row per study.
        after: When the studies were read off, for the title: ``"100 trials"``.

    Returns:
        Something for ``rich.print``: regrets by problem, the samplers by mean rank, their tests.
    """
    losses = ranks.mean_losses(summary)
    parts: list[Table | Text] = [_regrets(losses, after), _samplers(summary, losses)]
    left_out = [name for name in summary["problem"].unique() if name not in losses.index]
    if left_out:
        parts.append(Text(f"Left out, for want of some sampler's studies: {', '.join(left_out)}"))
    if losses.shape[1] > 1:
        parts.append(_pairs(losses))
    return Group(*parts)


def leaderboard(summary: pd.DataFrame, losses: pd.DataFrame) -> pd.DataFrame:
    """One row per sampler, the lowest mean rank first.

    Args:
        summary: One row per study.
        losses: What :func:`harness.ranks.mean_losses` returned for it.

    Returns:
        Frame indexed by sampler: ``n_seeds`` the most that any problem has, ``mean_rank``,
        ``n_first`` (problems on which no sampler is better), ``regret`` (geometric mean over the
        problems, in percent), ``repeat_share`` in percent and ``cpu_seconds`` of a study.
    """
    studies = summary[summary["problem"].isin(losses.index)]
    by_sampler = studies.groupby("sampler", sort=False)
    return pd.DataFrame(
        {
            "n_seeds": by_sampler["seed"].nunique(),
            "mean_rank": ranks.ranks(losses).mean(),
            "n_first": losses.eq(losses.min(axis="columns"), axis="index").sum(),
            "regret": losses.apply(geometric_mean),
            "repeat_share": by_sampler["repeat_share"].mean(),
            "cpu_seconds": by_sampler["cpu_seconds"].mean(),
        }
    ).sort_values("mean_rank", kind="stable")


def _regrets(losses: pd.DataFrame, after: str) -> Table:
    table = _table(
        f"Regret after {after}, mean over seeds",
        "(the optimum has 0, the median configuration 100)",
    )
    table.add_column("problem", no_wrap=True)
    for label in losses.columns:
        table.add_column(Text(str(label)), justify="right", overflow="fold")
    for problem, row in losses.iterrows():
        cells = (
            Text(formats.regret(value), style="bold" if value == row.min() else "")
            for value in row
        )
        table.add_row(str(problem), *cells)
    return table


def _samplers(summary: pd.DataFrame, losses: pd.DataFrame) -> Table:
    table = _table(f"Samplers over the {len(losses)} problems")
    table.add_column("sampler", no_wrap=True)
    for header in ("seeds", "mean rank", "first on", "geo. regret", "repeats %", "CPU s"):
        table.add_column(header, justify="right", no_wrap=True)
    for label, row in leaderboard(summary, losses).iterrows():
        table.add_row(
            Text(str(label)),
            f"{row['n_seeds']:.0f}",
            formats.number(row["mean_rank"], 2),
            f"{row['n_first']:.0f}",
            formats.regret(row["regret"]),
            formats.number(row["repeat_share"]),
            formats.significant(row["cpu_seconds"]),
        )
    return table


def _pairs(losses: pd.DataFrame) -> Table:
    p = ranks.friedman_p(losses)
    friedman = "" if pd.isna(p) else f" (Friedman over all: {formats.p_statement(p)})"
    table = _table(f"Pairs, Wilcoxon's signed ranks over the problems{friedman}")
    for header in ("sampler", "against"):
        table.add_column(header, no_wrap=True)
    for header in ("better", "worse", "equal", "p", "p (Holm)"):
        table.add_column(header, justify="right", no_wrap=True)
    for row in ranks.pairs(losses).to_dict("records"):
        table.add_row(
            *(Text(str(row[key])) for key in ("sampler_a", "sampler_b")),
            *(str(row[key]) for key in ("n_better", "n_worse", "n_equal")),
            formats.p_value(row["p_value"]),
            formats.p_value(row["p_holm"]),
        )
    return table


def _table(*title: str) -> Table:
    return Table(
        title=Text("\n".join(title), style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1),
    )
