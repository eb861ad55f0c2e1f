"""``zaps-harness report`` and ``export``: show what was run."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import optuna
from sqlalchemy.exc import SQLAlchemyError
import typer

from harness import benchmarks
from harness.benchmarks import TabularBenchmark
from harness.cli.common import clean_errors
from harness.cli.common import command_line
from harness.cli.common import console
from harness.cli.common import plain_warnings
from harness.cli.common import progress_bar
from harness.experiment import CellResult
from harness.export import export as export_studies
from harness.metrics import summarize
from harness.readings import BenchmarkKey
from harness.readings import benchmark_key
from harness.report import rich_table
from harness.report import write_dashboard
from harness.store import Store
from harness.store import latest


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


def report(directory: Directory, budget: Budgets = None) -> None:
    """Print the tables and write the dashboard of all results in a directory."""
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
    with clean_errors(), progress_bar() as progress:
        tables = _tables_of(results)
        opened = _open(storage)
        written = list(
            progress.track(
                export_studies(results, tables, opened), total=len(results), description="studies"
            )
        )
    n_new = sum(name is not None for name in written)
    console.print(f"{n_new} studies written to {storage}, {len(written) - n_new} were there.")
    console.print(f"Look at them: [bold]optuna-dashboard {storage}[/bold]")


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
    summary.to_csv(output / "summary.csv", index=False)
    page = output / "dashboard.html"
    write_dashboard(results, tables, page, budgets=budgets, command=command_line())
    console.print(
        f"Dashboard: [bold]{page}[/bold]   Numbers: [bold]{output / 'summary.csv'}[/bold]"
    )


def stored_results(directory: Path) -> list[CellResult]:
    """Results on tables, of the latest version of each sampler, in a directory.

    Raises:
        typer.BadParameter: If there are none.
    """
    with plain_warnings():
        everything = Store(directory).load_all()
    results = [result for result in everything if benchmarks.is_table(result.cell.benchmark)]
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
    return {key: benchmarks.load(*key) for key in keys}


def _open(storage: str) -> optuna.storages.BaseStorage:
    try:
        return optuna.storages.get_storage(storage)
    except (SQLAlchemyError, ImportError, ValueError) as error:
        raise typer.BadParameter(f"The storage {storage!r} cannot be opened: {error}") from error
