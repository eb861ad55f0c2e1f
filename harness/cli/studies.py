"""Report of studies in a storage, over trials and over wall-clock time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import optuna
from optuna.exceptions import OptunaError
import pandas as pd
from rich.table import Table
from rich.text import Text
from sqlalchemy.exc import SQLAlchemyError

from harness import studies
from harness.cli.console import clean_errors
from harness.cli.console import console
from harness.cli.console import say
from harness.cli.report import SHOWN
from harness.cli.report import show
from harness.cli.storages import storage_errors
from harness.metrics import QUANTITIES
from harness.metrics import Budgets
from harness.metrics import Snapshot
from harness.metrics import metric_of
from harness.metrics.seen import with_seen
from harness.problems import Kind
from harness.problems import Problem
from harness.report import formats
from harness.report.terminal import titled_table
from harness.run.files import check_writable
from harness.run.files import write_whole
from harness.storages import open_storage
from harness.studies import StudyResult
from harness.studies import until
from harness.suites import Suite


WALL_CLOCK = "wall_clock.csv"

_SHARES = (0.25, 0.5, 1.0)
"""Times to measure at, as shares of the shortest study's."""

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
        problem, read = studies.read(
            opened, storage, names=names, group_by=group_by, optimum=optimum
        )
    results = [study.result for study in read]
    (seen,) = with_seen([problem], results)
    shortest = min(read, key=lambda study: len(study.seconds))
    sizes = tuple(sorted(set(budget))) or (len(shortest.seconds),)
    _introduce(read, shortest, bool(budget))
    suite = Suite(
        name="",
        description="studies of a storage",
        problems=(seen.text,),
        metrics=_METRICS[seen.kind],
        budgets=sizes,
        seeds=len(read),
        samplers=tuple(dict.fromkeys(result.cell.sampler.label for result in results)),
        by_trials=True,
    )
    budgets = {seen.text: Budgets(sizes, by_trials=True)}
    with clean_errors():
        show(results, [seen], [suite], budgets, output, formats=formats)
    by_time = over_wall_clock(read, seen, suite.metrics)
    if by_time.empty:
        say("The trials took no time that the storage knows: nothing is shown over time.")
        return
    write_whole(output / WALL_CLOCK, by_time.to_csv(index=False))
    console.print(_time_table(by_time, suite.metrics[0]))
    say("Over time: ", (str(output / WALL_CLOCK), "bold"))


def over_wall_clock(
    read: Sequence[StudyResult], problem: Problem, metrics: Sequence[str]
) -> pd.DataFrame:
    """Measure studies at some wall-clock times.

    Args:
        read: The studies.
        problem: Their problem, with what they saw.
        metrics: Quantities to measure.

    Returns:
        A row per time and study: ``seconds``, ``sampler``, ``study``, ``n_trials`` that had ended,
        and each quantity, NaN before the first trial ended. Empty if a study took no time.
    """
    last = min(float(study.seconds[-1]) for study in read)
    if last <= 0:
        return pd.DataFrame()
    rows = []
    for share in _SHARES:
        for study in read:
            n_trials = until(study, share * last)
            measured = dict.fromkeys(metrics, np.nan)
            if n_trials:
                snapshot = Snapshot(study.result, n_trials, by_trials=True)
                for name in metrics:
                    measured[name] = metric_of(name, problem.kind).measure(snapshot, problem)[name]
            identity = {"seconds": share * last, "sampler": study.result.cell.sampler.label,
                        "study": study.name, "n_trials": n_trials}  # fmt: skip
            rows.append(identity | measured)
    return pd.DataFrame(rows)


def _introduce(read: Sequence[StudyResult], shortest: StudyResult, is_given: bool) -> None:
    lengths = {len(study.seconds) for study in read}
    if len(lengths) > 1 and not is_given:
        say(
            f"Measured after the {len(shortest.seconds)} trials of the shortest study, "
            f"{shortest.name}; --budget measures longer ones later."
        )
    if len(read) > 1 and all(study.result.cell.seed == 0 for study in read):
        say(
            "Each study is a row of its own: --group-by ATTRIBUTE, --group-by name or --study "
            "'PATTERN-*' make several one."
        )


def _time_table(by_time: pd.DataFrame, metric: str) -> Table:
    quantity = QUANTITIES[metric]
    table = titled_table(f"{quantity.title} over wall-clock time while trials were running")
    table.add_column("sampler", overflow="fold")
    for seconds in by_time["seconds"].unique():
        table.add_column(Text(f"{formats.significant(seconds)} s"), justify="right", no_wrap=True)
    table.add_column("trials", justify="right", no_wrap=True)
    for label, rows in by_time.groupby("sampler", sort=False):
        at = rows.groupby("seconds", sort=False)
        means = [formats.quantity(mean, quantity.digits) for mean in at[metric].mean()]
        trials = at["n_trials"].mean().iloc[-1]
        table.add_row(Text(str(label)), *means, formats.number(trials, 0))
    return table
