"""``zaps-harness report`` and ``export``: show what was run."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import optuna
from optuna.exceptions import OptunaError
from sqlalchemy.exc import SQLAlchemyError
import typer

from harness import problems
from harness.cli.common import clean_errors
from harness.cli.common import command_line
from harness.cli.common import console
from harness.cli.common import plain_warnings
from harness.cli.common import progress_bar
from harness.cli.common import say
from harness.experiment import CellResult
from harness.export import export as export_studies
from harness.metrics import summarize
from harness.problems import TabularBenchmark
from harness.readings import BenchmarkKey
from harness.readings import benchmark_key
from harness.report import rich_table
from harness.report import write_dashboard
from harness.run.files import check_writable
from harness.run.files import write_whole
from harness.run.passwords import hidden
from harness.run.passwords import without_passwords
from harness.run.store import Store
from harness.run.store import latest


Budgets = Annotated[
    list[int] | None,
    typer.Option(
        "--budget",
        min=1,
        help="Read the studies off after so many distinct evaluations; by default at the budgets "
        "that they were run for. Repeatable.",
    ),
]
Directory = Annotated[
    Path, typer.Argument(exists=True, file_okay=False, help="Directory of a comparison.")
]

SHOWN = ("summary.csv", "dashboard.html")
"""Files that :func:`show` writes."""


def report(directory: Directory, budget: Budgets = None) -> None:
    """Print the tables and write the dashboard of all results in a directory."""
    with clean_errors():
        check_writable(directory, SHOWN)
    results = stored_results(directory)
    with clean_errors():
        show(results, _tables_of(results), sorted(set(budget or ())) or None, directory)


def export(
    directory: Directory,
    storage: Annotated[str, typer.Option(help="URL of the storage, e.g. sqlite:///studies.db.")],
    sampler: Annotated[
        list[str] | None, typer.Option(help="Only this sampler's studies. Repeatable.")
    ] = None,
    max_seed: Annotated[
        int | None, typer.Option(min=0, help="Only studies up to this seed.")
    ] = None,
) -> None:
    """Write the studies to a storage, where optuna-dashboard can show them."""
    results = [
        result
        for result in stored_results(directory)
        if (not sampler or result.cell.sampler.label in sampler)
        and (max_seed is None or result.cell.seed <= max_seed)
    ]
    if not results:
        raise typer.BadParameter(f"{directory} has no study of that kind.")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with _storage_errors(storage, "opened", Exception):
        opened = optuna.storages.get_storage(storage)
    with (
        clean_errors(),
        _storage_errors(storage, "written", SQLAlchemyError, OptunaError),
        progress_bar() as progress,
    ):
        tables = _tables_of(results)
        written = list(
            progress.track(
                export_studies(results, tables, opened), total=len(results), description="studies"
            )
        )
    n_new = sum(name is not None for name in written)
    shown = hidden(storage)
    say(f"{n_new} studies written to {shown}, {len(written) - n_new} were there.")
    say("Look at them: ", (f"optuna-dashboard {shown}", "bold"))


def show(
    results: Sequence[CellResult],
    tables: Mapping[BenchmarkKey, TabularBenchmark],
    budgets: Sequence[int] | None,
    output: Path,
) -> None:
    """Print the tables of a comparison and write its dashboard.

    Raises:
        ValueError: If no study speaks for the budgets.
    """
    summary = summarize(results, tables, budgets)
    if summary.empty:
        longest = max(result.cell.budget for result in results)
        raise ValueError(f"The budget must be at most {longest}, that of the studies.")
    console.print(rich_table(summary))
    numbers, page = (output / name for name in SHOWN)
    write_whole(numbers, summary.to_csv(index=False))
    write_dashboard(results, tables, page, budgets=budgets, command=command_line())
    say("Dashboard: ", (str(page), "bold"), "   Numbers: ", (str(numbers), "bold"))


def stored_results(directory: Path) -> list[CellResult]:
    """Results on tables, of the latest version of each sampler, in a directory.

    Raises:
        typer.BadParameter: If there are none.
    """
    with plain_warnings():
        everything = Store(directory).load_all()
    results = [result for result in everything if problems.is_table(result.cell.benchmark)]
    if len(results) < len(everything):
        console.print(
            f"{len(everything) - len(results)} results on other problems than tables are left "
            "out: the command that ran them shows them again.",
            style="dim",
        )
    if not results:
        raise typer.BadParameter(
            f"{directory} holds no results on tables. Run: zaps-harness compare --output "
            f"{directory}"
        )
    current = latest(results)
    if len(current) < len(results):
        console.print(
            f"{len(results) - len(current)} results of earlier versions of a sampler or table "
            "are left out.",
            style="dim",
        )
    return current


def _tables_of(results: Sequence[CellResult]) -> dict[BenchmarkKey, TabularBenchmark]:
    keys = dict.fromkeys(benchmark_key(result) for result in results)
    return {key: problems.load(*key) for key in keys}


@contextmanager
def _storage_errors(storage: str, what: str, *kinds: type[Exception]) -> Iterator[None]:
    """Turn errors of a storage into a message without its password."""
    try:
        yield
    except kinds as error:
        reason = without_passwords(str(error.__cause__ or error), storage)
        # Without the error behind it, which may show the password.
        raise typer.BadParameter(
            f"The storage {hidden(storage)!r} cannot be {what}: {reason}"
        ) from None
