"""``zaps-harness report``: show the stored results of any comparison."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from harness import problems
from harness.cli import options
from harness.cli.console import clean_errors
from harness.cli.console import command_line
from harness.cli.console import console
from harness.cli.console import plain_warnings
from harness.cli.console import say
from harness.experiment import CellResult
from harness.metrics import Budgets
from harness.metrics import summarize
from harness.report import make_views
from harness.report import rich_tables
from harness.report import write_dashboard
from harness.run.files import check_writable
from harness.run.files import write_whole
from harness.run.store import Store
from harness.run.store import latest
from harness.suites import Suite
from harness.suites import select


Directory = Annotated[
    Path, typer.Argument(exists=True, file_okay=False, help="Directory of a comparison.")
]

SHOWN = ("summary.csv", "dashboard.html")
"""Files that :func:`show` writes."""


def report(directory: Directory, budget: options.BudgetSizes = None) -> None:
    """Do not run anything; print the tables and write the page of all results in a directory."""
    with clean_errors():
        check_writable(directory, SHOWN)
    results = stored_results(directory)
    with clean_errors():
        texts = list(dict.fromkeys(result.cell.problem for result in results))
        budgets = {text: Budgets(tuple(budget)) for text in texts} if budget else None
        show(results, select(texts), budgets, directory)


def show(
    results: Sequence[CellResult],
    suites: Sequence[Suite],
    budgets: Mapping[str, Budgets] | None,
    output: Path,
) -> None:
    """Print the tables of a comparison, write its numbers and its page.

    Raises:
        ValueError: If no study was run for the budgets.
    """
    loaded = [problems.load(text) for suite in suites for text in suite.problems]
    summary = summarize(results, loaded, budgets)
    if summary.empty:
        longest = max(result.cell.budget for result in results)
        raise ValueError(f"The budget must be at most {longest}, that of the studies.")
    views = make_views(summary, suites)
    console.print(rich_tables(views))
    numbers, page = (output / name for name in SHOWN)
    write_whole(numbers, summary.to_csv(index=False))
    say("Numbers: ", (str(numbers), "bold"))
    write_dashboard(views, results, loaded, page, budgets=budgets, command=command_line())
    say("Page: ", (str(page), "bold"))


def stored_results(directory: Path) -> list[CellResult]:
    """Results of the latest version of each sampler in a directory.

    Raises:
        typer.BadParameter: If there are none.
    """
    with plain_warnings():
        results = Store(directory).load_all()
    if not results:
        raise typer.BadParameter(
            f"{directory} holds no results. Run: zaps-harness compare --output {directory}"
        )
    current = latest(results)
    if len(current) < len(results):
        console.print(
            f"{len(results) - len(current)} results of earlier versions of a sampler or problem "
            "are left out.",
            style="dim",
        )
    return current
