"""``zaps-harness everyday``: samplers on problems that are not ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from harness import everyday as problems_of
from harness.cli.common import InFlight
from harness.cli.common import Jobs
from harness.cli.common import Output
from harness.cli.common import clean_errors
from harness.cli.common import command_line
from harness.cli.common import console
from harness.cli.common import found
from harness.cli.common import report_failures
from harness.cli.common import run_missing
from harness.cli.common import say
from harness.cli.compare import SamplerNames
from harness.cli.compare import find_modules_here
from harness.cli.compare import make_specs
from harness.everyday import EverydayProblem
from harness.experiment import CellResult
from harness.problems import TabularBenchmark
from harness.readings import keyed
from harness.report import formats
from harness.report import write_dashboard
from harness.report.everyday import everyday_tables
from harness.run.files import write_whole
from harness.run.runner import make_cells
from harness.run.store import Store
from harness.samplers import build


SeedsOf = Annotated[
    list[str],
    typer.Option(
        metavar="LABEL=N",
        help="Fewer studies for a sampler that is slow, e.g. gp=3. Repeatable.",
    ),
]
ByTrials = Annotated[
    bool,
    typer.Option(
        "--by-trials",
        help="Let the budget count trials, repeated proposals included, in place of distinct "
        "evaluations, which favour samplers that repeat themselves.",
    ),
]

_NUMBERS, _PAGE = "everyday.csv", "everyday.html"


def everyday(
    sampler: SamplerNames = ["zaps", "tpe", "random"],
    problem: Annotated[
        list[str] | None, typer.Option(help="Only this problem. Repeatable.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(help="Source of the tables; package-costs gives proxies to what takes them."),
    ] = None,
    budget: Annotated[int, typer.Option(min=1, help="Distinct evaluations.")] = 100,
    seeds: Annotated[int, typer.Option(min=1, help="Studies per sampler and problem.")] = 20,
    seeds_of: SeedsOf = [],
    by_trials: ByTrials = False,
    in_flight: InFlight = 1,
    n_jobs: Jobs = None,
    output: Output = Path("zaps-results"),
) -> None:
    """Compare samplers on 12 HPO tables and five functions, without proxies.

    Prints the regret on each problem, the mean rank of each sampler and its tests; writes
    everyday.csv, and everyday.html with the curves on the tables. Finished studies are kept, as
    compare does.
    """
    find_modules_here()
    with clean_errors():
        specs = make_specs(sampler)
        limits = _limits(seeds_of, [spec.label for spec in specs])
        names = dict.fromkeys(problem or problems_of.NAMES)
        problems = [problems_of.load(name, source) for name in names]
        for spec in specs:
            for one in problems:
                build(spec, one, budget=budget, seed=0)
        store = Store(output)
        store.check_writable([_NUMBERS, _PAGE])
    cells = [
        cell
        for cell in make_cells(problems, specs, range(seeds), [budget], in_flight=in_flight)
        if cell.seed < limits.get(cell.sampler.label, seeds)
    ]
    if by_trials:
        # A study by evaluations has that by trials in it, which a new one need not go beyond: a
        # sampler that repeats itself would be asked ten times as often.
        missing = {cell.key for cell in store.missing(cells)}
        cells = [replace(c, by_trials=True) if c.key in missing else c for c in cells]
    failures = run_missing(cells, store, n_jobs)
    results = found(store, cells)
    if results:
        summary = problems_of.summarize(results, problems, budget, by_trials=by_trials)
        unit = "trials" if by_trials else "evaluations"
        after = f"{budget} {unit}{formats.in_flight(in_flight)}"
        console.print(everyday_tables(summary, after))
        write_whole(output / _NUMBERS, summary.to_csv(index=False))
        say("Numbers: ", (str(output / _NUMBERS), "bold"))
        _write_page(results, problems, budget, output / _PAGE)
    report_failures(failures, len(cells))


def _write_page(
    results: Sequence[CellResult], problems: Sequence[EverydayProblem], budget: int, page: Path
) -> None:
    """Write the dashboard of the tables: a function has no top 100 to draw."""
    tables = keyed(table for table in problems if isinstance(table, TabularBenchmark))
    on_tables = [result for result in results if not result.values]
    if not on_tables:
        console.print("No dashboard: it shows tables, and none was run.")
        return
    write_dashboard(on_tables, tables, page, budgets=[budget], command=command_line())
    say("Dashboard of the tables, by evaluations: ", (str(page), "bold"))
    if len(on_tables) < len(results):
        console.print("Functions have no top 100: they are above and in the CSV only.")


def _limits(texts: Sequence[str], labels: Sequence[str]) -> dict[str, int]:
    limits = {}
    for text in texts:
        label, _, number = text.rpartition("=")
        if label not in labels or not number.isdecimal() or int(number) < 1:
            raise ValueError(
                f"--seeds-of must be LABEL=N with a label of {list(labels)} and N from 1, but got "
                f"{text!r}."
            )
        if label in limits:
            raise ValueError(
                f"--seeds-of must name each sampler once, but got {label!r} twice: {list(texts)}."
            )
        limits[label] = int(number)
    return limits
