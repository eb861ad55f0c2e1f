"""``zaps-harness reproduce``: run the paper's experiments and check its claims."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

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
from harness.report.terminal import titled_table
from harness.run.engines import Engine
from harness.run.files import check_writable
from harness.run.runner import Outcome
from harness.run.store import Store


_PAGE = "paper.html"
_PUBLISHED_PAGE = "published.html"
"""Page of the committed results, which those of a smaller run must not replace."""


class Part(StrEnum):
    """Experiments of the paper."""

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
    row: Annotated[
        list[str] | None,
        typer.Option(help="Run only this row of the tables, e.g. ZAPS. Repeatable."),
    ] = None,
    n_jobs: options.Jobs = None,
    engine: options.EngineName = "joblib",
    scheduler: options.Scheduler = None,
    published: Annotated[
        bool,
        typer.Option("--published", help="Do not run anything; show the committed results."),
    ] = False,
    continue_published: Annotated[
        bool,
        typer.Option(
            "--continue-published",
            help="Reuse the stored studies of a row after checking that a few reproduce here.",
        ),
    ] = False,
    trust: Annotated[
        list[str] | None,
        typer.Option(help="Reuse this row even if that check differs (another CPU). Repeatable."),
    ] = None,
    run_missing_studies: Annotated[
        bool,
        typer.Option("--run/--no-run", help="--no-run: only report existing results."),
    ] = True,
    write: Annotated[
        Path | None,
        typer.Option(file_okay=False, help="Also write the results as compact parquet there."),
    ] = None,
    output: options.Output = Path("zaps-results"),
) -> None:
    """Run an experiment of the paper, compare its tables, check its claims, write its page.

    Finished studies are cached in the output directory, and the page, paper.html, shows all
    experiments that are there for these seeds: the same command again, or one with more seeds or
    another experiment, computes only what is missing. Studies run in order of seeds, so partial
    results are already informative. The page of the committed results is published.html.
    """
    if published:
        with clean_errors():
            check_writable(output, [_PUBLISHED_PAGE])
            _show(committed.read(), output / _PUBLISHED_PAGE)
        return
    tables, missing = available_tables()
    for reason in missing:
        say(("Left out:", "yellow"), f" {reason}")
    store = Store(output)
    everything = cells(EXPERIMENTS, tables, seeds)
    failures: list[Outcome] = []
    with clean_errors():
        if trust and not continue_published:
            raise ValueError("--trust names rows to reuse: add --continue-published.")
        chosen = [e for e in EXPERIMENTS if part in (Part.all, Part(e.name))]
        wanted = _of_rows(cells(chosen, tables, seeds), row)
        where = Engine(engine, scheduler)
        store.check_writable([_PAGE])
        if write is not None:
            check_writable(write, [committed.METRICS, committed.CELLS])
        reused = None
        if continue_published:
            reused = _continued(everything, store, n_jobs, where, _known(everything, trust))
            wanted = [cell for cell in wanted if cell not in reused]
        if wanted and run_missing_studies:
            failures = run_missing(wanted, store, n_jobs, where)
    with plain_warnings():
        results = [_light(result) for result in store.found(everything)]
    measured = gather(results, tables, BUDGETS, None if reused is None else reused.results)
    with clean_errors():
        _show(measured, output / _PAGE)
        if write is not None:
            both = results if reused is None else [*results, *reused.studies]
            size = committed.write(measured, both, write)
            say("Results: ", (str(write), "bold"), f", {size:,} bytes")
    report_failures(failures, len(wanted))


def _of_rows(wanted: list[Cell], labels: list[str] | None) -> list[Cell]:
    """Studies under some labels, by default all.

    Raises:
        ValueError: If a label is none of theirs.
    """
    chosen = _known(wanted, labels)
    return [cell for cell in wanted if labels is None or cell.sampler.label in chosen]


def _known(wanted: list[Cell], labels: list[str] | None) -> list[str]:
    """Labels that a user named, after a check.

    Raises:
        ValueError: If a label is none of theirs.
    """
    known = list(dict.fromkeys(cell.sampler.label for cell in wanted))
    for label in labels or ():
        if label not in known:
            raise ValueError(f"A row must be one of {known}, but got {label!r}.")
    return labels or []


def _continued(
    everything: list[Cell],
    store: Store,
    n_jobs: int | None,
    engine: Engine,
    trusted: list[str],
) -> Continued:
    """Committed studies to reuse, after a few of each row were run again."""
    studies = committed.read_cells()
    replayed = replays(everything, studies)
    again = [replay.cell for chosen in replayed.values() for replay in chosen]
    console.print(f"Running {len(again)} committed studies again to check that they reproduce.")
    for failure in run_missing(again, store, n_jobs, engine):
        say((str(failure.error), "yellow"))
    reused = continued(committed.read(), studies, replayed, store, trusted)
    for reason in reused.trusted:
        say(f"Reused without a check: {reason}")
    for reason in reused.dropped:
        say(("Not reused:", "yellow"), f" {reason}")
    return reused


def _light(result: CellResult) -> CellResult:
    """Copy of a result without its trials' attributes: thousands of them would fill memory."""
    return replace(result, user_attrs=({},) * len(result.asked))


def _show(measured: MeasuredResults, page: Path) -> None:
    comparisons, verdicts = compare(measured), judge(measured)
    # The page comes first, so that it is there whatever becomes of the output.
    write_page(measured, comparisons, verdicts, page, command=command_line())
    for table in rich_tables(comparisons):
        console.print(table)
    console.print(_claims_table(verdicts))
    console.print(headline(comparisons, verdicts))
    say("Page: ", (str(page), "bold"))


def _claims_table(verdicts: list[Verdict]) -> Table:
    table = titled_table("Claims")
    for header in ("section", "claim", "", "figures"):
        table.add_column(header)
    colors = {HOLDS: "green", FAILS: "red", UNTESTED: "dim"}
    for verdict in verdicts:
        status = Text(verdict.status, style=colors[verdict.status])
        table.add_row(verdict.claim.section, verdict.claim.sentence, status, verdict.figures)
    return table
