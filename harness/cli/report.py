"""``zaps-harness report``: show the stored results of any comparison."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
import shlex
from typing import Annotated

import typer

from harness import problems
from harness.cli import options
from harness.cli.console import clean_errors
from harness.cli.console import command_line
from harness.cli.console import console
from harness.cli.console import plain_warnings
from harness.cli.console import print_notes
from harness.cli.console import say
from harness.experiment import CellResult
from harness.metrics import Budgets
from harness.metrics import summarize
from harness.metrics.over_time import over_time
from harness.metrics.seen import with_seen
from harness.problems import Problem
from harness.problems.untabled import UntabledProblem
from harness.report import make_views
from harness.report import rich_tables
from harness.report import write_dashboard
from harness.report.exports import parse_formats
from harness.report.exports import write_exports
from harness.report.time_tables import time_tables
from harness.run.files import check_writable
from harness.run.files import write_whole
from harness.run.store import Store
from harness.run.store import latest
from harness.storages import is_storage
from harness.suites import Suite
from harness.suites import select


Directory = Annotated[
    Path, typer.Argument(exists=True, file_okay=False, help="Directory of a comparison.")
]

Source = Annotated[
    str,
    typer.Argument(
        metavar="DIRECTORY|STORAGE",
        help="Directory of a comparison; or URL of an Optuna storage, or its SQLite or journal "
        "file.",
    ),
]
_OF_STORAGE = "Studies of a storage"
Studies = Annotated[
    list[str],
    typer.Option(
        metavar="NAME",
        help="Study to compare, by default all. A pattern, 'tpe-*', makes its studies one row. "
        "Repeatable.",
        rich_help_panel=_OF_STORAGE,
    ),
]
GroupBy = Annotated[
    str | None,
    typer.Option(
        metavar="ATTRIBUTE",
        help="User attribute of the studies that names their row, or 'name' for their names "
        "without the number at the end. Several studies of a row are its seeds.",
        rich_help_panel=_OF_STORAGE,
    ),
]
Optimum = Annotated[
    float | None,
    typer.Option(
        help="Best value there is; by default the best that any study saw.",
        rich_help_panel=_OF_STORAGE,
    ),
]
StudiesOutput = Annotated[
    Path,
    typer.Option(
        file_okay=False,
        help="Directory to write to.",
        rich_help_panel=_OF_STORAGE,
    ),
]

SHOWN = ("summary.csv", "dashboard.html")
"""Files that :func:`show` writes."""

WALL_CLOCK = "wall_clock.csv"
SIMULATED_TIME = "simulated_time.csv"
"""Numbers over time, where studies have a clock."""

EXPERIMENT = "experiment.toml"
"""File that runs a comparison again."""


def report(
    source: Source,
    budget: options.BudgetSizes = None,
    top: options.Top = None,
    study: Studies = [],
    group_by: GroupBy = None,
    optimum: Optimum = None,
    formats: options.Formats = [],
    output: StudiesOutput = Path("zaps-studies"),
) -> None:
    """Do not run anything; print the tables and write the page of all results in a directory.

    Of an Optuna storage, compare studies that anyone ran with any sampler, over trials and over
    wall-clock time.
    """
    with clean_errors():
        chosen = parse_formats(formats)
    directory = Path(source)
    if directory.is_dir():
        if study or group_by or optimum is not None:
            raise typer.BadParameter(
                "--study, --group-by and --optimum are for a storage, but "
                f"{source} is a directory of results."
            )
        _report_directory(directory, budget, top, chosen)
    elif is_storage(source):
        from harness.cli.studies import report_studies  # it shows what this does

        report_studies(source, study, group_by, optimum, budget or (), output, chosen)
    else:
        raise typer.BadParameter(f"There is no directory and no storage {source!r}.")


def _report_directory(
    directory: Path, budget: Sequence[int] | None, top: int | None, formats: Sequence[str]
) -> None:
    with clean_errors():
        check_writable(directory, SHOWN)
    results = stored_results(directory)
    with clean_errors():
        texts = list(dict.fromkeys(result.cell.problem for result in results))
        budgets = {text: Budgets(tuple(budget)) for text in texts} if budget else None
        suites = select(texts, top)
        show(results, load_seen(suites, results, top), suites, budgets, directory, formats=formats)


def load_seen(
    suites: Sequence[Suite], results: Sequence[CellResult], top: int | None = None
) -> list[Problem]:
    """Problems of suites, with what the studies on them saw.

    Args:
        suites: The suites.
        results: All studies.
        top: Number of the best configurations of a table that P@k counts.

    Raises:
        ValueError: If a table has fewer.
    """
    texts = [text for suite in suites for text in suite.problems]
    return with_seen((problems.with_top(problems.load(text), top) for text in texts), results)


def show(
    results: Sequence[CellResult],
    loaded: Sequence[Problem],
    suites: Sequence[Suite],
    budgets: Mapping[str, Budgets] | None,
    output: Path,
    *,
    experiment: str = "",
    formats: Sequence[str] = (),
) -> None:
    """Write the numbers and the page of a comparison, print its tables.

    Args:
        results: Finished studies.
        loaded: Their problems, with what the studies saw.
        suites: The problems with the metrics to show.
        budgets: Budgets by text of the problem, by default those of the studies.
        output: Directory to write to.
        experiment: Content of a file that would run the comparison again, written beside them.
        formats: Formats of further files, see :data:`harness.report.exports.FORMATS`.

    Raises:
        ValueError: If no study was run for the budgets, or images cannot be drawn.
    """
    summary = summarize(results, loaded, budgets)
    if summary.empty:
        longest = max(result.cell.budget for result in results)
        raise ValueError(f"The budget must be at most {longest}, that of the studies.")
    views = make_views(summary, suites)
    numbers, page = (output / name for name in SHOWN)
    by_time = over_time(results, loaded, _metrics(suites), budgets)
    is_simulated = any(result.cell.durations for result in results)
    times = output / (SIMULATED_TIME if is_simulated else WALL_CLOCK)
    file = output / EXPERIMENT
    # Files come first, so that they are there whatever becomes of the output.
    write_whole(numbers, summary.to_csv(index=False))
    if not by_time.empty:
        write_whole(times, by_time.to_csv(index=False))
    command = command_line() + (f"\n\n# {EXPERIMENT}\n{experiment}" if experiment else "")
    figures = write_dashboard(views, results, loaded, page, budgets=budgets, command=command)
    if experiment:
        write_whole(file, experiment)
    console.print(rich_tables(views))
    for table in time_tables(by_time, suites):
        console.print(table)
    for problem in loaded:
        if isinstance(problem, UntabledProblem):
            say((problems.short_name(problem.text), "bold"))
            print_notes(problem.notes)
    say("Numbers: ", (str(numbers), "bold"))
    if not by_time.empty:
        say("Over time: ", (str(times), "bold"))
    say("Page: ", (str(page), "bold"))
    if experiment:
        say("Again: ", (f"zaps-harness compare {shlex.quote(str(file))}", "bold"))
        console.print(experiment.rstrip(), style="dim", highlight=False, soft_wrap=True)
    for folder in write_exports(views, figures, output, formats):
        say("Files: ", (str(folder), "bold"))


def _metrics(suites: Sequence[Suite]) -> dict[str, tuple[str, ...]]:
    """Metrics to show by text of the problem."""
    return {text: suite.metrics for suite in suites for text in suite.problems}


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
