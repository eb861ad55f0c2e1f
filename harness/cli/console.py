"""Console of all commands: what they print, their progress and their errors."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
import shlex
import sys
import warnings

import joblib
from rich.console import Console
from rich.progress import BarColumn
from rich.progress import MofNCompleteColumn
from rich.progress import Progress
from rich.progress import TextColumn
from rich.progress import TimeElapsedColumn
from rich.progress import TimeRemainingColumn
from rich.text import Text
import typer

from harness.experiment import Cell
from harness.experiment import CellResult
from harness.problems import short_name
from harness.report import formats
from harness.run.engines import Engine
from harness.run.passwords import hidden
from harness.run.processes import stopped_by_sigterm
from harness.run.runner import Outcome
from harness.run.runner import run
from harness.run.store import Store


# What is printed has labels, folders and tracebacks of the user in it: none of it is markup.
console = Console(markup=False, emoji=False)


def run_missing(
    cells: Sequence[Cell], store: Store, n_jobs: int | None, engine: Engine | None = None
) -> list[Outcome]:
    """Run the cells that the store lacks, under a progress bar.

    Args:
        cells: The cells of a comparison, in the order in which to run them.
        store: Finished studies, to which new ones are added.
        n_jobs: Number of processes, by default one per core.
        engine: Engine that runs them, by default processes of this machine.

    Returns:
        The cells that failed.
    """
    distinct = list({cell.key: cell for cell in cells}.values())  # Two labels may be one work.
    with plain_warnings():
        missing = store.missing(distinct)
    if len(missing) < len(distinct):
        n_there = len(distinct) - len(missing)
        console.print(f"{n_there} of {len(distinct)} studies are already done.")
    failures = []
    n_processes = min(n_jobs or joblib.cpu_count(), max(1, len(missing)))
    with stopped_by_sigterm(), progress_bar() as progress:
        task = progress.add_task("studies", total=len(missing))
        try:
            for outcome in run(missing, store, n_jobs=n_processes, engine=engine):
                if outcome.error is not None:
                    failures.append(outcome)
                progress.advance(task)
        except (KeyboardInterrupt, SystemExit):
            progress.stop()
            console.print("Stopped. Finished studies are saved; rerun the command to resume.")
            raise
    return failures


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Print warnings as sentences, without the line of code that they come from."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        console.print(str(warning.message), style="yellow")


def found(store: Store, cells: Iterable[Cell]) -> list[CellResult]:
    """Results of those of the cells that are there; one that cannot be read is named."""
    with plain_warnings():
        return list(store.found(cells))


def say(*parts: str | tuple[str, str]) -> None:
    """Print text, some parts of it in a style: ``say("Page: ", (str(page), "bold"))``."""
    console.print(Text.assemble(*parts))


def progress_bar() -> Progress:
    """A bar with the number of studies that are done and the time that is left."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
    )


def print_notes(notes: Iterable[str]) -> None:
    """Print the notes on a problem below its name."""
    for note in notes:
        console.print(f"  {note}", style="dim", highlight=False)


def command_line() -> str:
    """The command as it was typed, without the passwords of its URLs."""
    typed = [hidden(text) if "://" in text else text for text in sys.argv[1:]]
    return shlex.join(["zaps-harness", *typed])


def report_failures(failures: Sequence[Outcome], n_cells: int) -> None:
    """Say what failed, and end with an error if anything did.

    Raises:
        typer.Exit: If there are failures.
    """
    if not failures:
        return
    for failure in failures[:3]:
        say((f"\n{_named(failure.cell)} failed:", "red"), f"\n{failure.error}")
    say(
        (f"{len(failures)} of {n_cells} studies failed.", "red"),
        " Rerun the command to try only them again.",
    )
    raise typer.Exit(1)


def _named(cell: Cell) -> str:
    setting = formats.setting(cell.budget, cell.unit, cell.in_flight, cell.durations)
    return f"{short_name(cell.problem)}, {cell.sampler.label}, {setting}, seed {cell.seed}"


@contextmanager
def clean_errors() -> Iterator[None]:
    """Turn a ValueError of the library into a message without a traceback."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
