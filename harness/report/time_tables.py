"""Tables of what samplers had reached after the same time of a clock.

Notations:
    by_time, rows: frame of :func:`harness.metrics.over_time.over_time`, a row per time and study.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator

import pandas as pd
from rich.table import Table
from rich.text import Text

from harness import statistics
from harness.metrics import GROUP
from harness.metrics import quantity_of
from harness.metrics.over_time import SHARES
from harness.problems import short_name
from harness.report import formats
from harness.report.aggregates import is_gain
from harness.report.tables import MOST_DETAILED
from harness.report.terminal import titled_table
from harness.report.views import tested
from harness.suites import Suite


def time_tables(by_time: pd.DataFrame, suites: Iterable[Suite]) -> Iterator[Table]:
    """Tables for a terminal.

    Args:
        by_time: Rows of any settings, which differ in the columns between problem and budget.
        suites: The problems and their metrics.

    Yields:
        For several problems of a suite the mean ranks of the samplers; for each problem, unless
        there are more than :data:`MOST_DETAILED`, the means of the primary quantity, and of any
        gap beside it.
    """
    for suite in suites if len(by_time) else ():
        of_suite = by_time[by_time["problem"].isin(suite.problems)]
        for _, rows in of_suite.groupby(list(GROUP[1:-1]), sort=False):
            if rows["problem"].nunique() > 1:
                yield from _ranks_table(rows, suite.metrics[0])
            if len(suite.problems) <= MOST_DETAILED:
                for _, own in rows.groupby("problem", sort=False):
                    yield from (_means_table(own, name) for name in tested(suite.metrics))


def _ranks_table(rows: pd.DataFrame, metric: str) -> Iterator[Table]:
    """Mean rank over problems after shares of the time; none if no problem has every sampler.

    A share at which no problem has a result of every sampler is left out.
    """
    losses = {
        share: statistics.mean_losses(rows[rows["share"] == share], metric) for share in SHARES
    }
    ranks = {
        f"{share:.0%}": statistics.ranks(own).mean() for share, own in losses.items() if len(own)
    }
    if ranks:
        frame = pd.DataFrame(ranks)
        yield _table(
            f"Mean rank of {quantity_of(metric, rows).title} over {len(losses[1.0])} problems",
            rows,
            frame.iloc[frame.iloc[:, -1].argsort()],
            lambda rank: formats.number(rank, 2),
        )


def _means_table(rows: pd.DataFrame, metric: str) -> Table:
    quantity = quantity_of(metric, rows)
    by_sampler = rows.groupby(["sampler", "seconds"], sort=False)[metric]
    # A mean of the seeds that have a result already would not be that of the sampler.
    means = by_sampler.agg(lambda values: values.mean(skipna=False)).unstack()
    best_first = means.iloc[:, -1].sort_values(ascending=not is_gain(metric), kind="stable").index
    return _table(
        f"{quantity.title}: {short_name(rows['problem'].iloc[0])}",
        rows,
        means.loc[best_first].rename(columns=formats.duration),
        lambda value: formats.quantity(value, quantity.digits),
    )


def _table(
    what: str, rows: pd.DataFrame, numbers: pd.DataFrame, text: Callable[[float], str]
) -> Table:
    """Numbers of samplers after some times, and how many steps had ended by the last of them."""
    first = rows.iloc[0]
    clock = "simulated time" if first["durations"] else "wall-clock time while trials were running"
    workers = formats.in_flight(first["in_flight"], first["durations"])
    table = titled_table(f"{what}, over {clock}{workers}")
    n_ended = rows[rows["share"] == 1.0].groupby("sampler")["n_ended"].mean()
    table.add_column("sampler", overflow="fold")
    for head in (*numbers.columns, str(first["unit"])):
        table.add_column(Text(str(head)), justify="right", no_wrap=True)
    for label, own in numbers.iterrows():
        ended = formats.number(n_ended[str(label)], 0)
        table.add_row(Text(str(label)), *map(text, own), ended)
    return table
