"""Report of studies in a storage, over trials and over wall-clock time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import optuna
from optuna.exceptions import OptunaError
from sqlalchemy.exc import SQLAlchemyError

from harness import studies
from harness.cli.console import clean_errors
from harness.cli.console import say
from harness.cli.report import SHOWN
from harness.cli.report import WALL_CLOCK
from harness.cli.report import show
from harness.cli.storages import storage_errors
from harness.experiment import CellResult
from harness.metrics import Budgets
from harness.metrics.seen import with_seen
from harness.problems import Kind
from harness.run.files import check_writable
from harness.storages import open_storage
from harness.suites import Suite


_METRICS = {
    Kind.FUNCTION: ("regret", "best_value"),
    Kind.LIMIT: ("regret", "best_value", "feasible_share"),
    Kind.TRADEOFF: ("hypervolume", "on_front"),
}


def report_studies(
    storage: str,
    names: Sequence[str],
    group_by: str | None,
    optimum: float | None,
    budget: Sequence[int],
    output: Path,
    formats: Sequence[str] = (),
) -> None:
    """Compare the studies of a storage; see :func:`harness.studies.read`.

    Raises:
        typer.BadParameter: If the storage cannot be read, or has no such studies.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with clean_errors():
        check_writable(output, (*SHOWN, WALL_CLOCK))
    with storage_errors(storage, "opened", Exception):
        opened = open_storage(storage)
    errors = (SQLAlchemyError, OptunaError, RuntimeError, KeyError)
    with clean_errors(), storage_errors(storage, "read", *errors):
        problem, results = studies.read(
            opened, storage, names=names, group_by=group_by, optimum=optimum
        )
    (seen,) = with_seen([problem], results)
    shortest = min(results, key=lambda result: len(result.asked))
    sizes = tuple(sorted(set(budget))) or (len(shortest.asked),)
    _introduce(results, shortest, bool(budget))
    suite = Suite(
        name="",
        description="studies of a storage",
        problems=(seen.text,),
        metrics=_METRICS[seen.kind],
        budgets=sizes,
        seeds=len(results),
        samplers=tuple(dict.fromkeys(result.cell.sampler.label for result in results)),
        by_trials=True,
    )
    budgets = {seen.text: Budgets(sizes, by_trials=True)}
    with clean_errors():
        show(results, [seen], [suite], budgets, output, formats=formats)
    if not any(result.seconds and result.seconds[-1] > 0 for result in results):
        say("The trials took no time that the storage knows: nothing is shown over time.")


def _introduce(results: Sequence[CellResult], shortest: CellResult, is_given: bool) -> None:
    lengths = {len(result.asked) for result in results}
    if len(lengths) > 1 and not is_given:
        say(
            f"Measured after the {len(shortest.asked)} trials of the shortest study, "
            f"{shortest.provenance['study']}; --budget measures longer ones later."
        )
    if len(results) > 1 and all(result.cell.seed == 0 for result in results):
        say(
            "Each study is a row of its own: --group-by ATTRIBUTE, --group-by name or --study "
            "'PATTERN-*' make several one."
        )
