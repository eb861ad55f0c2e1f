"""The command line: parses, calls, prints."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
import shlex
import sys
from typing import Annotated
import warnings

import joblib
import optuna
from rich.console import Console
from rich.progress import BarColumn
from rich.progress import MofNCompleteColumn
from rich.progress import Progress
from rich.progress import TextColumn
from rich.progress import TimeElapsedColumn
from rich.progress import TimeRemainingColumn
from rich.table import Table
from sqlalchemy.exc import SQLAlchemyError
import typer

from harness import benchmarks
from harness import samplers
from harness.benchmarks import TabularBenchmark
from harness.experiment import Cell
from harness.experiment import CellResult
from harness.export import export as export_studies
from harness.metrics import summarize
from harness.readings import BenchmarkKey
from harness.readings import benchmark_key
from harness.report import rich_table
from harness.report import write_dashboard
from harness.runner import Outcome
from harness.runner import make_cells
from harness.runner import run
from harness.store import Store
from harness.store import latest


app = typer.Typer(
    help="Compare Optuna samplers, study against study, on tabular benchmarks.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
console = Console()

Output = Annotated[Path, typer.Option(file_okay=False, help="Directory of the results.")]
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
SamplerNames = Annotated[
    list[str],
    typer.Option(
        "--sampler",
        "-s",
        help="A name of [bold]zaps-harness list[/bold] or module:Class, with arguments if need "
        'be: "optuna.samplers:TPESampler(multivariate=False)", and a label in front of it: '
        '"uni=optuna.samplers:TPESampler(multivariate=False)". Repeatable.',
    ),
]


@app.command("list")
def list_() -> None:
    """Show the benchmarks, data sets, sources and samplers that have a name."""
    table = Table("benchmark", "data sets", "source", "on this machine", title_justify="left")
    for info in benchmarks.available():
        for source, description in info.sources.items():
            state = "no" if source not in info.present else "yes"
            if source == info.default_source:
                state += ", the default"
            table.add_row(info.name, ", ".join(info.datasets), f"{source}: {description}", state)
    console.print(table)
    named = Table("sampler", "what it is")
    for entry in samplers.available():
        named.add_row(entry.name, entry.description)
    named.add_row("module:Class", "any other Optuna sampler, with keyword arguments")
    console.print(named)


@app.command()
def compare(
    benchmark: Annotated[str, typer.Option(help="Name of the benchmark.")] = "nasbench201",
    dataset: Annotated[list[str], typer.Option(help="Name of a data set. Repeatable.")] = [
        "cifar10"
    ],
    source: Annotated[
        str | None, typer.Option(help="Source of the numbers; by default the best at hand.")
    ] = None,
    sampler: SamplerNames = ["zaps", "tpe", "random"],
    budget: Annotated[list[int], typer.Option(min=1, help="Distinct evaluations. Repeatable.")] = [
        200
    ],
    seeds: Annotated[int, typer.Option(min=1, help="Studies per sampler.")] = 10,
    first_seed: Annotated[int, typer.Option(min=0, help="Seed of the first of them.")] = 0,
    n_jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; by default one per core.")
    ] = None,
    output: Output = Path("zaps-results"),
) -> None:
    """Run what is missing of a comparison, print its tables, write its dashboard.

    Every finished study is kept in the output directory: the same command again, or one with more
    seeds or samplers, computes only what is not there.
    """
    _find_modules_here()
    with _clean_errors():
        tables = [benchmarks.load(benchmark, name, source) for name in dict.fromkeys(dataset)]
        specs = [samplers.make_spec(text) for text in dict.fromkeys(sampler)]
        _refuse_equal_labels([spec.label for spec in specs])
        budgets = sorted(set(budget))
        _refuse_large_budgets(budgets, tables)
        for spec in specs:
            samplers.build(spec, tables[0], budget=min(budgets), seed=first_seed)
    for table in tables:
        console.print(f"{table.name} / {table.dataset}, source [bold]{table.source}[/bold]")
        for note in table.notes:
            console.print(f"  {note}", style="dim", highlight=False)
    for spec in specs:
        if not samplers.takes_seed(spec):
            console.print(
                f"[yellow]{spec.label} takes no seed: its studies cannot be repeated.[/yellow]"
            )
    store = Store(output)
    cells = make_cells(tables, specs, range(first_seed, first_seed + seeds), budgets)
    failures = _run_missing(cells, store, n_jobs or joblib.cpu_count())
    results = [result for cell in cells if (result := store.load(cell)) is not None]
    if results:
        _report(results, {_key(table): table for table in tables}, budgets, output)
    if failures:
        for failure in failures[:3]:
            console.print(f"\n[red]{_named(failure.cell)} failed:[/red]\n{failure.error}")
        console.print(
            f"[red]{len(failures)} of {len(cells)} studies failed.[/red] The same command tries "
            "only them again."
        )
        raise typer.Exit(1)


@app.command()
def report(directory: Directory, budget: Budgets = None) -> None:
    """Print the tables and write the dashboard of all results in a directory."""
    results = _stored(directory)
    with _clean_errors():
        _report(results, _tables_of(results), sorted(set(budget or ())) or None, directory)


@app.command()
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
        for result in _stored(directory)
        if (not sampler or result.cell.sampler.label in sampler)
        and (max_seed is None or result.cell.seed <= max_seed)
    ]
    if not results:
        raise typer.BadParameter(f"{directory} has no study of that kind.")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with _clean_errors(), _progress() as progress:
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


def _run_missing(cells: Sequence[Cell], store: Store, n_jobs: int) -> list[Outcome]:
    distinct = list({cell.key: cell for cell in cells}.values())  # Two labels may be one work.
    with _plain_warnings():
        missing = store.missing(distinct)
    if len(missing) < len(distinct):
        n_there = len(distinct) - len(missing)
        console.print(f"{n_there} of {len(distinct)} studies are there already.")
    failures = []
    with _progress() as progress:
        task = progress.add_task("studies", total=len(missing))
        try:
            for outcome in run(missing, store, n_jobs=min(n_jobs, max(1, len(missing)))):
                if outcome.error is not None:
                    failures.append(outcome)
                progress.advance(task)
        except KeyboardInterrupt:
            progress.stop()
            console.print("Stopped. Finished studies are kept: the same command goes on.")
            raise
    return failures


def _report(
    results: Sequence[CellResult],
    tables: dict[BenchmarkKey, TabularBenchmark],
    budgets: Sequence[int] | None,
    output: Path,
) -> None:
    summary = summarize(results, tables, budgets)
    if summary.empty:
        longest = max(result.cell.budget for result in results)
        raise ValueError(f"The budget must be at most {longest}, that of the studies.")
    console.print(rich_table(summary))
    summary.to_csv(output / "summary.csv", index=False)
    page = output / "dashboard.html"
    write_dashboard(results, tables, page, budgets=budgets, command=_command())
    console.print(
        f"Dashboard: [bold]{page}[/bold]   Numbers: [bold]{output / 'summary.csv'}[/bold]"
    )


def _stored(directory: Path) -> list[CellResult]:
    with _plain_warnings():
        results = Store(directory).load_all()
    if not results:
        raise typer.BadParameter(
            f"{directory} holds no results. Run: zaps-harness compare --output {directory}"
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


def _key(table: TabularBenchmark) -> BenchmarkKey:
    return (table.name, table.dataset, table.source)


def _named(cell: Cell) -> str:
    return f"{cell.dataset}, {cell.sampler.label}, {cell.budget} evaluations, seed {cell.seed}"


def _refuse_equal_labels(labels: Sequence[str]) -> None:
    repeated = sorted({label for label in labels if labels.count(label) > 1})
    if repeated:
        raise ValueError(
            f"Each sampler must have a label of its own, but {repeated} stand for several. Put a "
            "label in front: my-name=module:Class."
        )


def _refuse_large_budgets(budgets: Sequence[int], tables: Sequence[TabularBenchmark]) -> None:
    for table in tables:
        if max(budgets) > len(table.values):
            raise ValueError(
                f"The budget must be at most the {len(table.values)} configurations of "
                f"{table.name}, but got {max(budgets)}."
            )


def _open(storage: str) -> optuna.storages.BaseStorage:
    try:
        return optuna.storages.get_storage(storage)
    except (SQLAlchemyError, ImportError, ValueError) as error:
        raise typer.BadParameter(f"The storage {storage!r} cannot be opened: {error}") from error


def _find_modules_here() -> None:
    """Let ``module:Class`` name a file of the working directory, as ``python -m`` would."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Prints warnings as sentences, without the line of code that they come from."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        console.print(str(warning.message), style="yellow")


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
    )


def _command() -> str:
    return shlex.join(["zaps-harness", *sys.argv[1:]])


class _clean_errors:
    """Turns the library's ValueError into a message without a traceback."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ValueError):
            raise typer.BadParameter(str(error)) from error


if __name__ == "__main__":
    app()
