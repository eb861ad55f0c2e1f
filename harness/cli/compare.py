"""``zaps-harness compare``: run a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
import sys
from typing import Annotated
from typing import Any

import optuna
import typer

from harness import experiment_file
from harness import problems
from harness import samplers
from harness.cli import options
from harness.cli import own_options
from harness.cli.console import clean_errors
from harness.cli.console import found
from harness.cli.console import plain_warnings
from harness.cli.console import print_notes
from harness.cli.console import report_failures
from harness.cli.console import run_missing
from harness.cli.console import say
from harness.cli.report import SHOWN
from harness.cli.report import SIMULATED_TIME
from harness.cli.report import load_seen
from harness.cli.report import show
from harness.experiment import CLOCKS
from harness.experiment import MEASURED
from harness.experiment import CellResult
from harness.experiment import SamplerSpec
from harness.experiment import make_cells
from harness.metrics import Budgets
from harness.paper.committed import published_studies
from harness.paper.experiments import COMPARED
from harness.problems import Problem
from harness.problems import TabularBenchmark
from harness.problems.options import Options
from harness.report.exports import parse_formats
from harness.report.provenance import clock_note
from harness.report.tables import MOST_DETAILED
from harness.run.engines import Engine
from harness.run.store import Store
from harness.suites import ONE_TABLE
from harness.suites import Suite
from harness.suites import select


def _read_file(context: typer.Context, problems_: list[str] | None) -> list[str] | None:
    """Take settings from a file, if that is named in the place of problems.

    Raises:
        typer.BadParameter: If it cannot be read, or stands beside problems.
    """
    files = [text for text in problems_ or () if experiment_file.is_experiment(text)]
    if not files:
        return problems_
    find_modules_here()
    with clean_errors():
        if problems_ != files or len(files) > 1:
            raise ValueError(
                "A file of an experiment names its problems and must be alone, but got "
                f"{', '.join(problems_ or ())}."
            )
        settings = experiment_file.read(Path(files[0]))
    context.default_map = settings  # The command line counts for more.
    chosen: list[str] = settings["problem"]
    return chosen


Problems = Annotated[
    list[str] | None,
    typer.Argument(
        callback=_read_file,
        is_eager=True,
        metavar="PROBLEM|SUITE|FILE",
        help="FAMILY/PROBLEM, with @SOURCE for another source of its numbers, or the name of a "
        "suite; zaps-harness list shows them. A file of results (.csv, .parquet, .xlsx), or "
        "module:Object, a function of a trial or one of OptunaHub's benchmarks. Or the file of "
        "an experiment (.toml), which has all of that and the options.",
        show_default="nasbench201/cifar10",
    ),
]
SamplerNames = Annotated[
    list[str] | None,
    typer.Option(
        "--sampler",
        "-s",
        help="A name of [bold]zaps-harness list[/bold] or module:Class, optional arguments and "
        'label: "uni=optuna.samplers:TPESampler(multivariate=False)". Repeatable.',
        show_default="those of the suite",
    ),
]
Seeds = Annotated[
    int | None,
    typer.Option(min=1, help="Studies per sampler and problem.", show_default="that of the suite"),
]
FirstSeed = Annotated[int, typer.Option(min=0, help="First seed.")]
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
        help="Count repeats against the budget; the default does not, which favours samplers that "
        "repeat themselves. Suites with costs always count trials.",
    ),
]
InFlight = Annotated[
    int,
    typer.Option(
        min=1,
        help="Trials that run side by side in each study: the oldest gets its value before the "
        "next is asked.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Asynchronous workers of each study, on a simulated clock: the trial that ends first "
        "gets its value first, and results are shown over time, too.",
    ),
]
Durations = Annotated[
    str | None,
    typer.Option(
        metavar="measured|lognormal|equal",
        help="How long trials take the workers: the training times of the table (where there are "
        "none, log-normal), a log-normal time with a mean of an hour, or an hour each.",
        show_default=MEASURED,
    ),
]
AgainstPublished = Annotated[
    bool,
    typer.Option(
        "--against-published",
        help="Add the committed results of the paper's samplers on these tables; they are not run "
        "again.",
    ),
]


def compare(
    problem: Problems = None,
    params: own_options.Params = [],
    objective: own_options.Objective = [],
    direction: own_options.Direction = [],
    minimize: own_options.Minimize = False,
    proxies: own_options.Proxies = [],
    limit: own_options.Limits = [],
    optimum: own_options.Optimum = None,
    sampler: SamplerNames = None,
    budget: options.BudgetSizes = None,
    seeds: Seeds = None,
    first_seed: FirstSeed = 0,
    seeds_of: SeedsOf = [],
    by_trials: ByTrials = False,
    in_flight: InFlight = 1,
    workers: Workers = None,
    durations: Durations = None,
    top: options.Top = None,
    n_jobs: options.Jobs = None,
    engine: options.EngineName = "joblib",
    scheduler: options.Scheduler = None,
    against_published: AgainstPublished = False,
    formats: options.Formats = [],
    output: options.Output = Path("zaps-results"),
) -> None:
    """Run a comparison, skipping finished studies; print its tables, write its page.

    A suite comes with its samplers, budgets and seeds. Every finished study is cached in the
    output directory: the same command again, or one with more seeds or samplers, computes only
    what is not there.
    """
    find_modules_here()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    given = {
        "params": _listed(params),
        "objective": _listed(objective),
        "direction": _listed(direction) or ["minimize"] * minimize,
        "proxies": _listed(proxies),
        "limit": _listed(limit),
        "optimum": [] if optimum is None else [str(optimum)],
    }
    with clean_errors():
        chosen_formats = parse_formats(formats)
        side_by_side, clock = _side_by_side(in_flight, workers, durations)
        suites = [
            replace(
                suite,
                samplers=tuple(sampler or usual_samplers(suite)),
                budgets=tuple(sorted(set(budget or suite.budgets))),
                seeds=seeds or suite.seeds,
                by_trials=by_trials or suite.by_trials,
            )
            for suite in select(_resolved(problem or ONE_TABLE.problems, given), top)
        ]
        loaded = {
            text: problems.with_top(problems.load(text), top)
            for suite in suites
            for text in suite.problems
        }
        specs = {suite: samplers.make_specs(suite.samplers) for suite in suites}
        most_seeds = _most_seeds(seeds_of, [spec.label for own in specs.values() for spec in own])
        unfit = _unfit(specs, loaded, first_seed)
        where = Engine(engine, scheduler)
        store = Store(output)
        store.check_writable((*SHOWN, SIMULATED_TIME) if clock else SHOWN)
        # Training times are read here, so that no study fails for want of them.
        clocks = {text: clock_note(clock, each) for text, each in loaded.items()}
    _introduce(list(loaded.values()), [spec for own in specs.values() for spec in own], clocks)
    cells = [
        cell
        for suite in suites
        for cell in make_cells(
            [loaded[text] for text in suite.problems],
            specs[suite],
            range(first_seed, first_seed + suite.seeds),
            suite.budgets,
            by_trials=suite.by_trials,
            in_flight=side_by_side,
            durations=clock,
        )
        if cell.seed - first_seed < most_seeds.get(cell.sampler.label, suite.seeds)
        and (cell.problem, cell.sampler.label) not in unfit
    ]
    with plain_warnings():
        cells = [larger or cell for cell, larger in zip(cells, store.larger(cells), strict=True)]
    with clean_errors():
        failures = run_missing(cells, store, n_jobs, where)
    results = found(store, cells)
    with clean_errors():
        if against_published:
            results += _published(list(loaded.values()))
        if results:
            budgets = {
                text: Budgets(suite.budgets, suite.by_trials)
                for suite in suites
                for text in suite.problems
            }
            content = experiment_file.write(
                {
                    "problems": [text for suite in suites for text in suite.problems],
                    "samplers": _agreed([list(suite.samplers) for suite in suites]),
                    "budgets": _agreed([list(suite.budgets) for suite in suites]),
                    "seeds": _agreed([suite.seeds for suite in suites]),
                    "first_seed": first_seed,
                    "seeds_of": most_seeds or None,
                    "by_trials": _agreed([suite.by_trials for suite in suites]),
                    "in_flight": None if workers else in_flight,
                    "workers": workers,
                    "durations": clock or None,
                    "top": top,
                    "engine": engine,
                    "scheduler": scheduler,
                }
            )
            seen = load_seen(suites, results, top)
            show(
                results,
                seen,
                suites,
                budgets,
                output,
                experiment=content,
                formats=chosen_formats,
            )
    report_failures(failures, len(cells))


def _side_by_side(in_flight: int, workers: int | None, durations: str | None) -> tuple[int, str]:
    """Number of trials side by side and their durations, which are empty without workers.

    Raises:
        ValueError: If the options contradict each other, or there are no such durations.
    """
    if workers is None:
        if durations is not None:
            raise ValueError("Only --workers take --durations: how many are there?")
        return in_flight, ""
    if in_flight > 1:
        raise ValueError(
            f"A study has either --workers or trials --in-flight, but got {workers} and "
            f"{in_flight}. Trials in flight are workers with --durations equal."
        )
    if durations is not None and durations not in CLOCKS:
        raise ValueError(f"--durations must be one of {list(CLOCKS)}, but got {durations!r}.")
    return workers, durations or MEASURED


def find_modules_here() -> None:
    """Let ``module:Class`` name a file of the working directory, as ``python -m`` would."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)


def usual_samplers(suite: Suite) -> list[str]:
    """Samplers of a suite, without those that this machine lacks, which are named."""
    chosen = list(suite.samplers)
    for name in suite.if_installed:
        command = samplers.how_to_have(name)
        if command:
            say((f"{name} is left out, because it is not on this machine: {command}", "yellow"))
        else:
            chosen.append(name)
    return chosen


def _agreed(values: Sequence[Any]) -> Any:
    """Setting that all suites share, else ``None``: then each has its own."""
    return values[0] if all(value == values[0] for value in values) else None


def _listed(written: Sequence[str]) -> list[str]:
    """Names of an option that was given several times, or with commas."""
    return [name.strip() for text in written for name in text.split(",") if name.strip()]


def _resolved(texts: Sequence[str], own_options: Options) -> list[str]:
    """Texts of problems as any process finds them.

    Raises:
        ValueError: If there are options for a problem of the user's own, and no such problem.
    """
    given = [name for name, values in own_options.items() if values]
    if given and not any(map(problems.is_own, texts)):
        raise ValueError(
            f"Only a problem of your own has {', '.join(f'--{name}' for name in given)}, but got "
            f"{', '.join(texts)}."
        )
    return [
        problems.with_options(text, own_options) if problems.is_own(text) else text
        for text in texts
    ]


def _unfit(
    specs: Mapping[Suite, Sequence[SamplerSpec]], loaded: Mapping[str, Problem], seed: int
) -> set[tuple[str, str]]:
    """Problems, and labels of samplers that cannot be used on them, which are named.

    Raises:
        ValueError: If a budget is too large, or a sampler can be used on no problem: what would
            fail in every study is refused before any is run.
    """
    refused: dict[str, dict[str, ValueError]] = {}
    usable: set[str] = set()
    for suite, own in specs.items():
        for text in suite.problems:
            _check_budget(suite, loaded[text])
            for spec in own:
                try:
                    samplers.check(spec, loaded[text], budget=min(suite.budgets), seed=seed)
                    usable.add(spec.label)
                except ValueError as error:
                    refused.setdefault(spec.label, {})[text] = error
    for label, errors in refused.items():
        first, *_ = errors.values()
        if label not in usable:
            raise first
        names = ", ".join(map(problems.short_name, errors))
        reason = first.__cause__ or first
        say((f"{label} is left out where it cannot be used: {names}. {reason}", "yellow"))
    return {(text, label) for label, errors in refused.items() for text in errors}


def _check_budget(suite: Suite, problem: Problem) -> None:
    table = problem.table
    if table is not None and not suite.by_trials and max(suite.budgets) > len(table.values):
        raise ValueError(
            f"The budget must be at most the {len(table.values)} configurations of "
            f"{problems.short_name(problem.text)}, but got {max(suite.budgets)}."
        )


def _introduce(
    loaded: Sequence[Problem], specs: Sequence[SamplerSpec], clocks: Mapping[str, str]
) -> None:
    """Name the problems, with notes on a few, and samplers that cannot be repeated."""
    if len(loaded) > MOST_DETAILED:
        names = ", ".join(problems.short_name(each.text) for each in loaded)
        say(f"{len(loaded)} problems: {names}")
    else:
        for each in loaded:
            say((problems.short_name(each.text), "bold"))
            print_notes([*each.notes, *filter(None, [clocks[each.text]])])
    for spec in specs:
        if not samplers.takes_seed(spec):
            say((f"{spec.label} takes no seed: its studies cannot be repeated.", "yellow"))


def _most_seeds(texts: Sequence[str], labels: Sequence[str]) -> dict[str, int]:
    limits: dict[str, int] = {}
    for text in texts:
        label, _, number = text.rpartition("=")
        if label not in labels or not number.isdecimal() or int(number) < 1:
            raise ValueError(
                f"--seeds-of must be LABEL=N with a label of {list(dict.fromkeys(labels))} and N "
                f"from 1, but got {text!r}."
            )
        if label in limits:
            raise ValueError(
                f"--seeds-of must name each sampler once, but got {label!r} twice: {list(texts)}."
            )
        limits[label] = int(number)
    return limits


def _published(loaded: Sequence[Problem]) -> list[CellResult]:
    """Committed studies on these tables, after a word on them."""
    tables = [each for each in loaded if isinstance(each, TabularBenchmark)]
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
