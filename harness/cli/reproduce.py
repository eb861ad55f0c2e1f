"""``zaps-harness reproduce``: run the paper's experiments and say what holds."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from rich import box
from rich.table import Table
from rich.text import Text
import typer

from harness.cli import options
from harness.cli.console import clean_errors
from harness.cli.console import command_line
from harness.cli.console import console
from harness.cli.console import plain_warnings
from harness.cli.console import report_failures
from harness.cli.console import run_missing
from harness.cli.console import say
from harness.experiment import Cell
from harness.experiment import CellResult
from harness.paper import committed
from harness.paper.claims import FAILS
from harness.paper.claims import HOLDS
from harness.paper.claims import UNTESTED
from harness.paper.claims import Verdict
from harness.paper.claims import judge
from harness.paper.comparison import compare
from harness.paper.comparison import rich_tables
from harness.paper.continuation import Continued
from harness.paper.continuation import continued
from harness.paper.continuation import replays
from harness.paper.experiments import BUDGETS
from harness.paper.experiments import EXPERIMENTS
from harness.paper.experiments import available_tables
from harness.paper.experiments import cells
from harness.paper.measured import MeasuredResults
from harness.paper.measured import gather
from harness.paper.page import headline
from harness.paper.page import write_page
from harness.run.engines import Engine
from harness.run.files import check_writable
from harness.run.runner import Outcome
from harness.run.store import Store


_PAGE = "paper.html"


class Part(StrEnum):
    """What ``reproduce`` can run."""

    main = "main"
    beyond = "beyond"
    proxies = "proxies"
    ablation = "ablation"
    fusion = "fusion"
    nb101 = "nb101"
    transfer = "transfer"
    all = "all"


def reproduce(
    part: Annotated[Part, typer.Argument(help="The experiment.")] = Part.all,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds 0, 1, ... of each study.")] = 200,
    arm: Annotated[
        list[str] | None,
        typer.Option(help="Run only this row of the tables, e.g. ZAPS. Repeatable."),
    ] = None,
    n_jobs: options.Jobs = None,
    engine: options.EngineName = "joblib",
    scheduler: options.Scheduler = None,
    published: Annotated[
        bool,
        typer.Option("--published", help="Show the committed results; nothing is run."),
    ] = False,
    continue_published: Annotated[
        bool,
        typer.Option(
            "--continue-published",
            help="Count the committed studies as finished, arm by arm, if a few of them that are "
            "run again evaluate the same rows.",
        ),
    ] = False,
    trust: Annotated[
        list[str] | None,
        typer.Option(
            help="With --continue-published, a row whose committed studies count although they "
            "evaluate other rows here, as those of networks do on another processor. Repeatable."
        ),
    ] = None,
    run_missing_studies: Annotated[
        bool,
        typer.Option("--run/--no-run", help="With --no-run show and write only what is there."),
    ] = True,
    write: Annotated[
        Path | None,
        typer.Option(file_okay=False, help="Also write the results as compact parquet there."),
    ] = None,
    output: options.Output = Path("zaps-results"),
) -> None:
    """Run an experiment of the paper, compare its tables, check its claims, write paper.html.

    Every finished study is kept in the output directory, and the page shows all experiments that
    are there for these seeds: the same command again, or one with more seeds or another
    experiment, computes only what is missing. Studies run in order of seeds, so that a part of
    them says much.
    """
    if published:
        with clean_errors():
            check_writable(output, [_PAGE])
            _show(committed.read(), output)
        return
    tables, missing = available_tables()
    for reason in missing:
        say(("Left out:", "yellow"), f" {reason}")
    store = Store(output)
    everything = cells(EXPERIMENTS, tables, seeds)
    failures: list[Outcome] = []
    with clean_errors():
        if trust and not continue_published:
            raise ValueError("--trust says which committed rows count: add --continue-published.")
        chosen = [e for e in EXPERIMENTS if part in (Part.all, Part(e.name))]
        wanted = _of_arms(cells(chosen, tables, seeds), arm)
        place = Engine(engine, scheduler)
        store.check_writable([_PAGE])
        if write is not None:
            check_writable(write, [committed.METRICS, committed.CELLS])
        kept = None
        if continue_published:
            kept = _continued(everything, store, n_jobs, place, _known(everything, trust))
        if kept is not None:
            wanted = [cell for cell in wanted if cell not in kept]
        if wanted and run_missing_studies:
            failures = run_missing(wanted, store, n_jobs, place)
    with plain_warnings():
        results = [_light(result) for result in store.found(everything)]
    measured = gather(results, tables, BUDGETS, None if kept is None else kept.results)
    with clean_errors():
        _show(measured, output)
        if write is not None:
            both = results if kept is None else [*results, *kept.studies]
            size = committed.write(measured, both, write)
            say("Results: ", (str(write), "bold"), f", {size:,} bytes")
    report_failures(failures, len(wanted))


def _of_arms(wanted: list[Cell], labels: list[str] | None) -> list[Cell]:
    """The studies under some labels, by default all.

    Raises:
        ValueError: If a label is none of theirs.
    """
    chosen = _known(wanted, labels)
    return [cell for cell in wanted if labels is None or cell.sampler.label in chosen]


def _known(wanted: list[Cell], labels: list[str] | None) -> list[str]:
    """Labels that a user named.

    Raises:
        ValueError: If a label is none of theirs.
    """
    known = list(dict.fromkeys(cell.sampler.label for cell in wanted))
    for label in labels or ():
        if label not in known:
            raise ValueError(f"An arm must be one of {known}, but got {label!r}.")
    return labels or []


def _continued(
    everything: list[Cell],
    store: Store,
    n_jobs: int | None,
    engine: Engine,
    trusted: list[str],
) -> Continued:
    """The committed studies that stand, after a few of each arm were run again."""
    studies = committed.read_cells()
    replayed = replays(everything, studies)
    again = [replay.cell for chosen in replayed.values() for replay in chosen]
    console.print(f"Running {len(again)} committed studies again, to see whether they stand.")
    for failure in run_missing(again, store, n_jobs, engine):
        say((str(failure.error), "yellow"))
    kept = continued(committed.read(), studies, replayed, store, trusted)
    for reason in kept.trusted:
        say(f"Taken on trust: {reason}")
    for reason in kept.dropped:
        say(("Does not stand:", "yellow"), f" {reason}")
    return kept


def _light(result: CellResult) -> CellResult:
    """A result without the attributes of its trials: thousands of studies would fill memory."""
    return replace(result, user_attrs=({},) * len(result.asked))


def _show(measured: MeasuredResults, output: Path) -> None:
    comparisons, verdicts = compare(measured), judge(measured)
    for table in rich_tables(comparisons):
        console.print(table)
    console.print(_claims_table(verdicts))
    console.print(headline(comparisons, verdicts))
    page = output / _PAGE
    write_page(measured, comparisons, verdicts, page, command=command_line())
    say("Page: ", (str(page), "bold"))


def _claims_table(verdicts: list[Verdict]) -> Table:
    table = Table(
        title=Text("Claims", style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1),
    )
    for header in ("section", "claim", "", "figures"):
        table.add_column(header)
    colors = {HOLDS: "green", FAILS: "red", UNTESTED: "dim"}
    for verdict in verdicts:
        status = Text(verdict.status, style=colors[verdict.status])
        table.add_row(verdict.claim.section, verdict.claim.sentence, status, verdict.figures)
    return table
