"""Tables of a comparison for a terminal of 80 characters."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator

from rich import box
from rich.console import Group
from rich.table import Table as RichTable
from rich.text import Text

from harness.report.tables import MOST_DETAILED
from harness.report.tables import Column
from harness.report.tables import Table
from harness.report.tables import columns_within
from harness.report.views import Views


def rich_tables(views: Views) -> Group:
    """Render a comparison for a terminal.

    Returns:
        Something for ``rich.print``. Of the several problems of a suite: the primary metric of
        each, the samplers by mean rank, and their tests. Of each problem, unless its suite has
        more than :data:`MOST_DETAILED`: the means of the samplers, and the tests of the reference.
    """
    parts: list[RichTable | Text] = []
    for suite in views.suites:
        parts += (_rendered(t.title, t, t.columns, t.explanation) for t in suite.tables)
        if suite.left_out:
            parts.append(Text(suite.left_out_sentence))
    for view in views.problems:
        if len(view.suite.problems) <= MOST_DETAILED:
            parts += _parts_of(view.table, view.reference)
            parts += map(Text, view.cautions)
    return Group(*parts)


def titled_table(*title: str) -> RichTable:
    """Empty table with a bold title, a line for each text."""
    return RichTable(
        title=Text("\n".join(title), style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1),
    )


def _parts_of(table: Table, reference: str) -> Iterator[RichTable]:
    """Means of the samplers, and the comparison of the reference with the others."""
    yield _rendered(table.title, table, columns_within(table, compares=False))
    others = table.rows["sampler"] != reference
    if others.any() and not others.all():
        compared = columns_within(table, compares=True)
        yield _rendered(f"{reference} against", table, compared, excluding=reference)


def _rendered(
    title: str,
    table: Table,
    columns: Iterable[Column],
    explanation: str = "",
    excluding: str | None = None,
) -> RichTable:
    columns = list(columns)
    rendered = titled_table(*filter(None, (title, explanation)))
    for column in columns:
        folds = column.is_name or column.sampler is not None  # a long label must not cut numbers
        rendered.add_column(
            Text(column.title),
            justify="left" if column.is_name else "right",
            overflow="fold" if folds else "ellipsis",
            no_wrap=not folds or column.key == "problem",
        )
    for record, best in zip(table.records, table.best(), strict=True):
        if excluding is None or record["sampler"] != excluding:
            rendered.add_row(
                *(
                    Text(column.text(record), style="bold" if column.key in best else "")
                    for column in columns
                )
            )
    return rendered
