"""``zaps-harness tradeoffs`` and ``limits``: two objectives, and one under a constraint."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from typing import Any

import pandas as pd
import typer

from harness import feasibility
from harness import pareto
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
from harness.cli.compare import SamplerNames
from harness.cli.compare import find_modules_here
from harness.cli.compare import make_specs
from harness.experiment import CellResult
from harness.problems import limits as limits_of
from harness.problems import tradeoffs as tradeoffs_of
from harness.report.costed import LIMITS
from harness.report.costed import TRADEOFFS
from harness.report.costed import Shown
from harness.report.costed import costed_tables
from harness.run.files import write_whole
from harness.run.runner import make_cells
from harness.run.store import Store
from harness.samplers import build


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


@dataclass(frozen=True)
class _Kind:
    """What tells the two comparisons apart.

    Attributes:
        load: A problem by name.
        summarize: Its metrics, a row per study.
        shown: Those of the table.
        tested: That of the tests.
        file: Name of the file of the numbers.
    """

    load: Callable[[str], Any]
    summarize: Callable[[Sequence[CellResult], Sequence[Any], int], pd.DataFrame]
    shown: Sequence[Shown]
    tested: str
    file: str


_TRADEOFFS = _Kind(tradeoffs_of.load, pareto.summarize, TRADEOFFS, "hypervolume", "tradeoffs.csv")
_LIMITS = _Kind(limits_of.load, feasibility.summarize, LIMITS, "regret", "limits.csv")


def tradeoffs(
    sampler: SamplerNames = ["zaps", "tpe", "nsgaii", "random"],
    problem: Problems = list(tradeoffs_of.DEFAULTS),
    budget: Budget = 200,
    seeds: Seeds = 20,
    in_flight: InFlight = 1,
    n_jobs: Jobs = None,
    output: Output = Path("zaps-results"),
) -> None:
    """Compare samplers on accuracy against latency, weights or training time (NAS-Bench-201).

    Prints the hypervolume in percent of that of the true front, tested against the first sampler
    or zaps, and writes tradeoffs.csv.
    """
    _compare(_TRADEOFFS, problem, sampler, budget, seeds, in_flight, n_jobs, output)


def limits(
    sampler: SamplerNames = ["zaps", "tpe", "random"],
    problem: Problems = list(limits_of.DEFAULTS),
    budget: Budget = 100,
    seeds: Seeds = 20,
    in_flight: InFlight = 1,
    n_jobs: Jobs = None,
    output: Output = Path("zaps-results"),
) -> None:
    """Compare samplers on accuracy among the cells that cost little (NAS-Bench-201, Optuna 5).

    The limit is the lower quartile of the cost and is told by Trial.set_constraint. Prints the
    best feasible accuracy and the share of infeasible trials, and writes limits.csv.
    """
    _compare(_LIMITS, problem, sampler, budget, seeds, in_flight, n_jobs, output)


def _compare(
    kind: _Kind,
    names: Sequence[str],
    sampler: Sequence[str],
    budget: int,
    seeds: int,
    in_flight: int,
    n_jobs: int | None,
    output: Path,
) -> None:
    """Run what is missing of a comparison, print its tables, write its numbers."""
    with clean_errors():
        problems = [kind.load(name) for name in dict.fromkeys(names)]
        find_modules_here()
        specs = make_specs(sampler)
        for spec in specs:
            build(spec, problems[0], budget=budget, seed=0)
        for problem in problems:
            console.print(f"{problem.name} / {problem.dataset}")
            print_notes(problem.notes)
        cells = make_cells(
            problems, specs, range(seeds), [budget], by_trials=True, in_flight=in_flight
        )
        store = Store(output)
        store.check_writable([kind.file])
        failures = run_missing(cells, store, n_jobs)
        results = found(store, cells)
    if results:
        summary = kind.summarize(results, problems, budget)
        console.print(costed_tables(summary, kind.shown, tested=kind.tested))
        write_whole(output / kind.file, summary.to_csv(index=False))
        say("Numbers: ", (str(output / kind.file), "bold"))
    report_failures(failures, len(cells))
