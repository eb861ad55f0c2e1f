"""``zaps-harness export``: export stored studies for optuna-dashboard."""

from __future__ import annotations

from typing import Annotated

import optuna
from optuna.exceptions import OptunaError
from sqlalchemy.exc import SQLAlchemyError
import typer

from harness import problems
from harness.cli.console import clean_errors
from harness.cli.console import progress_bar
from harness.cli.console import say
from harness.cli.report import Directory
from harness.cli.report import stored_results
from harness.cli.storages import storage_errors
from harness.report.export import export as export_studies
from harness.run.passwords import hidden
from harness.storages import to_write


def export(
    directory: Directory,
    storage: Annotated[
        str,
        typer.Option(
            help="URL of a database, e.g. sqlite:///studies.db; or a file, SQLite's (studies.db) "
            "or a journal (studies.log)."
        ),
    ],
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
        raise typer.BadParameter(f"{directory} has no such study.")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with storage_errors(storage, "opened", Exception):
        opened, address = to_write(storage)
    with (
        clean_errors(),
        storage_errors(storage, "written", SQLAlchemyError, OptunaError),
        progress_bar() as progress,
    ):
        texts = dict.fromkeys(result.cell.problem for result in results)
        exported = export_studies(results, [problems.load(text) for text in texts], opened)
        written = list(progress.track(exported, total=len(results), description="studies"))
    n_new = sum(name is not None for name in written)
    shown = hidden(address)
    say(f"{n_new} studies written to {shown}, {len(written) - n_new} were there.")
    say("Open with: ", (f"optuna-dashboard {shown}", "bold"))
