"""``zaps-harness tradeoffs`` and ``limits``: two objectives, and one under a constraint."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from harness import benchmarks
from harness import feasibility
from harness import pareto
from harness.benchmarks import limits as limits_of
from harness.benchmarks import tradeoffs as tradeoffs_of
from harness.cli.common import Jobs
from harness.cli.common import Output
from harness.cli.common import clean_errors
from harness.cli.common import console
from harness.cli.common import report_failures
from harness.cli.common import run_missing
from harness.cli.compare import SamplerNames
from harness.cli.compare import find_modules_here
from harness.cli.compare import make_specs
from harness.experiment import Cell
from harness.experiment import CellResult
from harness.report.costed import LIMITS
from harness.report.costed import TRADEOFFS
from harness.report.costed import costed_tables
from harness.runner import Outcome
from harness.runner import make_cells
from harness.samplers import build
from harness.store import Store


Problems = Annotated[
    list[str],
    typer.Option(
        "--problem",
        help="Data set and cost (latency, params, train_time or flops): cifar10-latency, "
        "imagenet16_120-flops. Repeatable.",
    ),
]
Seeds = Annotated[int, typer.Option(min=1, help="Studies per sampler and problem.")]
Budget = Annotated[int, typer.Option(min=1, help="Trials; a repeated proposal is one.")]


def tradeoffs(
    sampler: SamplerNames = ["zaps", "tpe", "nsgaii", "random"],
    problem: Problems = list(tradeoffs_of.DEFAULTS),
    budget: Budget = 200,
    seeds: Seeds = 20,
    n_jobs: Jobs = None,
    output: Output = Path("zaps-results"),
) -> None:
    """Compare samplers on accuracy against latency, weights or training time (NAS-Bench-201).

    Prints the hypervolume in percent of that of the true front, tested against the first sampler
    or zaps, and writes tradeoffs.csv.
    """
    with clean_errors():
        problems = [tradeoffs_of.load(name) for name in dict.fromkeys(problem)]
        results, failures, cells = _run(problems, sampler, budget, seeds, n_jobs, output)
    if results:
        summary = pareto.summarize(results, problems, budget)
        console.print(costed_tables(summary, TRADEOFFS, tested="hypervolume"))
        summary.to_csv(output / "tradeoffs.csv", index=False)
        console.print(f"Numbers: [bold]{output / 'tradeoffs.csv'}[/bold]")
    report_failures(failures, len(cells))


def limits(
    sampler: SamplerNames = ["zaps", "tpe", "random"],
    problem: Problems = list(limits_of.DEFAULTS),
    budget: Budget = 100,
    seeds: Seeds = 20,
    n_jobs: Jobs = None,
    output: Output = Path("zaps-results"),
) -> None:
    """Compare samplers on accuracy among the cells that cost little (NAS-Bench-201, Optuna 5).

    The limit is the lower quartile of the cost and is told by Trial.set_constraint. Prints the
    best feasible accuracy and the share of infeasible trials, and writes limits.csv.
    """
    with clean_errors():
        problems = [limits_of.load(name) for name in dict.fromkeys(problem)]
        results, failures, cells = _run(problems, sampler, budget, seeds, n_jobs, output)
    if results:
        summary = feasibility.summarize(results, problems, budget)
        console.print(costed_tables(summary, LIMITS, tested="regret"))
        summary.to_csv(output / "limits.csv", index=False)
        console.print(f"Numbers: [bold]{output / 'limits.csv'}[/bold]")
    report_failures(failures, len(cells))


def _run(
    problems: Sequence[benchmarks.Problem],
    sampler: Sequence[str],
    budget: int,
    seeds: int,
    n_jobs: int | None,
    output: Path,
) -> tuple[list[CellResult], list[Outcome], list[Cell]]:
    """Results, failures and all cells of a comparison, of which the missing ones are run."""
    find_modules_here()
    specs = make_specs(sampler)
    for spec in specs:
        build(spec, problems[0], budget=budget, seed=0)
    for problem in problems:
        console.print(f"{problem.name} / {problem.dataset}")
        for note in problem.notes:
            console.print(f"  {note}", style="dim", highlight=False)
    cells = make_cells(problems, specs, range(seeds), [budget], by_trials=True)
    store = Store(output)
    failures = run_missing(cells, store, n_jobs)
    results = [result for cell in cells if (result := store.load(cell)) is not None]
    return results, failures, cells
