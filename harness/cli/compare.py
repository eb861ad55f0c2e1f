"""``zaps-harness list`` and ``compare``: run a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
import sys
from typing import Annotated

from rich.table import Table
import typer

from harness import problems
from harness import samplers
from harness.cli.common import InFlight
from harness.cli.common import Jobs
from harness.cli.common import Output
from harness.cli.common import clean_errors
from harness.cli.common import console
from harness.cli.common import found
from harness.cli.common import print_notes
from harness.cli.common import report_failures
from harness.cli.common import run_missing
from harness.cli.common import say
from harness.cli.stored import SHOWN
from harness.cli.stored import show
from harness.experiment import CellResult
from harness.experiment import SamplerSpec
from harness.paper.committed import published_studies
from harness.paper.experiments import COMPARED
from harness.problems import TabularBenchmark
from harness.readings import keyed
from harness.run.runner import make_cells
from harness.run.store import Store


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


def list_() -> None:
    """Show the benchmarks, data sets, sources and samplers that have a name."""
    table = Table("benchmark", "data sets", "source", "on this machine", title_justify="left")
    for info in problems.available():
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
    in_flight: InFlight = 1,
    n_jobs: Jobs = None,
    against_published: Annotated[
        bool,
        typer.Option(
            "--against-published",
            help="Add the committed results of the paper's samplers on these tables; they are not "
            "run again.",
        ),
    ] = False,
    output: Output = Path("zaps-results"),
) -> None:
    """Run what is missing of a comparison, print its tables, write its dashboard.

    Every finished study is kept in the output directory: the same command again, or one with more
    seeds or samplers, computes only what is not there.
    """
    find_modules_here()
    with clean_errors():
        tables = [problems.load(benchmark, name, source) for name in dict.fromkeys(dataset)]
        specs = make_specs(sampler)
        budgets = sorted(set(budget))
        _refuse_large_budgets(budgets, tables)
        for spec in specs:
            samplers.build(spec, tables[0], budget=min(budgets), seed=first_seed)
        store = Store(output)
        store.check_writable(SHOWN)
    for table in tables:
        say(f"{table.name} / {table.dataset}, source ", (table.source, "bold"))
        print_notes(table.notes)
    for spec in specs:
        if not samplers.takes_seed(spec):
            say((f"{spec.label} takes no seed: its studies cannot be repeated.", "yellow"))
    numbers = range(first_seed, first_seed + seeds)
    cells = make_cells(tables, specs, numbers, budgets, in_flight=in_flight)
    failures = run_missing(cells, store, n_jobs)
    results = found(store, cells)
    if against_published:
        with clean_errors():
            results += _published(tables)
    if results:
        show(results, keyed(tables), budgets, output)
    report_failures(failures, len(cells))


def _published(tables: Sequence[TabularBenchmark]) -> list[CellResult]:
    """Committed studies on these tables, and a word on what they are."""
    studies = published_studies(tables, COMPARED)
    seeds = {result.cell.seed for result in studies}
    if studies:
        say(f"{len(studies)} published studies of {len(seeds)} seeds.")
    else:
        text = (
            "There are no published studies on these tables: those of the paper ran on the "
            "tables of ZAPS_DATA_DIR."
        )
        say((text, "yellow"))
    return studies


def make_specs(texts: Sequence[str]) -> list[SamplerSpec]:
    """Specifications of samplers as they are written on the command line.

    Raises:
        ValueError: If one cannot be met, or two have one label.
    """
    specs = [samplers.make_spec(text) for text in dict.fromkeys(texts)]
    labels = [spec.label for spec in specs]
    repeated = sorted({label for label in labels if labels.count(label) > 1})
    if repeated:
        raise ValueError(
            f"Each sampler must have a label of its own, but {repeated} stand for several. Put a "
            "label in front: my-name=module:Class."
        )
    return specs


def _refuse_large_budgets(budgets: Sequence[int], tables: Sequence[TabularBenchmark]) -> None:
    for table in tables:
        if max(budgets) > len(table.values):
            raise ValueError(
                f"The budget must be at most the {len(table.values)} configurations of "
                f"{table.name}, but got {max(budgets)}."
            )


def find_modules_here() -> None:
    """Let ``module:Class`` name a file of the working directory, as ``python -m`` would."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
