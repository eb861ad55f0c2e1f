"""Metrics at times of a clock, simulated or on the wall.

Samplers are compared after the same time, however many trials each had ended by then. No time is
later than the end of the study that ended first.

Notations:
    share: time as a share of that of the study that ended first.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from harness.experiment import CellResult
from harness.metrics.snapshot import Budgets
from harness.metrics.snapshot import Snapshot
from harness.metrics.snapshot import snapshots
from harness.metrics.summary import GROUP
from harness.metrics.summary import metric_of
from harness.problems import Problem


SHARES = (0.25, 0.5, 1.0)
"""Times to measure at."""


def over_time(
    results: Sequence[CellResult],
    problems: Iterable[Problem],
    metrics: Mapping[str, Sequence[str]],
    budgets: Mapping[str, Budgets] | None = None,
) -> pd.DataFrame:
    """Measure studies at some times.

    Args:
        results: Finished studies; those without a clock are left out.
        problems: Their problems, with what the studies saw.
        metrics: Quantities to measure, by text of the problem.
        budgets: Budgets by text of the problem, as for the summary.

    Returns:
        A row per time and study, of several that differ in their budgets that of the largest: the
        columns :data:`harness.metrics.GROUP`, ``sampler``, ``seed``, ``study`` (the name of one
        from a storage), ``share``, ``seconds``, ``n_ended`` (steps that had ended), and each
        quantity, NaN before the first trial ended. Empty if nothing took any time.
    """
    by_text = {problem.text: problem for problem in problems}
    groups: dict[tuple[Any, ...], dict[tuple[str, int], Snapshot]] = {}
    for snapshot in map(whole, snapshots(results, budgets)):
        identity = snapshot.identity
        group = groups.setdefault(tuple(identity[column] for column in GROUP[:-1]), {})
        study = (identity["sampler"], identity["seed"])
        if study not in group or snapshot.budget > group[study].budget:
            group[study] = snapshot
    rows = []
    for group in groups.values():
        last = horizon(group.values())
        for share in SHARES if last > 0 else ():
            for snapshot in group.values():
                problem = by_text[snapshot.result.cell.problem]
                rows.append(
                    {
                        **snapshot.identity,
                        "study": snapshot.result.provenance.get("study", ""),
                        "share": share,
                        "seconds": share * last,
                        **_measured(snapshot, problem, metrics[problem.text], share * last),
                    }
                )
    return pd.DataFrame(rows)


def whole(snapshot: Snapshot) -> Snapshot:
    """Study of a snapshot when it ended."""
    result = snapshot.result
    budget = len(result.asked) if snapshot.by_trials else result.cell.budget
    return Snapshot(result, budget, snapshot.by_trials)


def horizon(group: Iterable[Snapshot]) -> float:
    """Time at which the first of several studies ended, 0 if one has no clock."""
    ends = [snapshot.step_seconds for snapshot in group]
    return min(0.0 if seconds is None else float(seconds[-1]) for seconds in ends)


def _measured(
    snapshot: Snapshot, problem: Problem, metrics: Sequence[str], seconds: float
) -> dict[str, float]:
    """Steps that had ended at a time, and each quantity then."""
    n_ended = int(snapshot.n_ended(seconds))
    if "precision" in metrics:
        metrics = [*metrics, "top"]  # The k of P@k.
    measured: dict[str, float] = {"n_ended": n_ended, **dict.fromkeys(metrics, np.nan)}
    if n_ended:
        then = Snapshot(snapshot.result, n_ended, snapshot.by_trials)
        for name in metrics:
            measured[name] = metric_of(name, problem.kind).measure(then, problem)[name]
    return measured
