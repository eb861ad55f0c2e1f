"""One frame of all numbers of all studies.

Notations:
    summary: a row per study and budget. Its first columns are :data:`STUDY`; each further one is a
        quantity of :data:`QUANTITIES`, in its unit, NaN for studies on other kinds of problems.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence

import pandas as pd

from harness.experiment import CellResult
from harness.metrics import best
from harness.metrics import cpu_time
from harness.metrics import feasible
from harness.metrics import gap
from harness.metrics import hypervolume
from harness.metrics import optimum
from harness.metrics import precision
from harness.metrics import ranking
from harness.metrics import recommended
from harness.metrics import regret
from harness.metrics import repeats
from harness.metrics.metric import Metric
from harness.metrics.metric import Quantity
from harness.metrics.snapshot import Budgets
from harness.metrics.snapshot import Snapshot
from harness.metrics.snapshot import snapshots
from harness.problems import Kind
from harness.problems import Problem
from harness.problems import TabularBenchmark


_EVERY = (repeats.METRIC, cpu_time.METRIC)
METRICS: Mapping[Kind, tuple[Metric, ...]] = {
    Kind.TABLE: (
        precision.METRIC,
        regret.METRIC,
        gap.METRIC,
        best.METRIC,
        optimum.METRIC,
        *_EVERY,
        ranking.METRIC,
    ),
    Kind.FUNCTION: (regret.METRIC, best.METRIC, feasible.METRIC, *_EVERY, recommended.METRIC),
    Kind.TRADEOFF: (hypervolume.METRIC, feasible.METRIC, *_EVERY),
    Kind.LIMIT: (regret.METRIC, gap.METRIC, best.METRIC, optimum.METRIC, feasible.METRIC, *_EVERY),
}
"""Metrics of each kind of problem. A new one is a file, named here."""

QUANTITIES: Mapping[str, Quantity] = {
    quantity.name: quantity
    for metrics in METRICS.values()
    for metric in metrics
    for quantity in metric.quantities
}
"""Every number of a summary by its name."""

GROUP = ("problem", "in_flight", "durations", "unit", "budget")
"""Columns in which studies must agree to be compared.

``problem`` is the text of the problem, ``in_flight`` the number of trials that run side by side,
``durations`` those of the trials (:data:`harness.experiment.CLOCKS`), ``unit`` what the budget
counts, ``"evaluations"`` or ``"trials"``.
"""

STUDY = (*GROUP, "sampler", "seed", "capped")
"""Columns that tell a study from others; ``capped`` if it ended before its budget was spent."""


def summarize(
    results: Sequence[CellResult],
    problems: Iterable[Problem],
    budgets: Mapping[str, Budgets] | None = None,
) -> pd.DataFrame:
    """Measure all studies.

    Args:
        results: Finished studies.
        problems: Their problems.
        budgets: Budgets by text of the problem, by default those of the results; see
            :func:`harness.metrics.snapshot.snapshots`.

    Returns:
        One row per problem, trials in flight, durations, unit, budget, sampler and seed, with the
        columns :data:`STUDY` and those of :data:`QUANTITIES` that the problems have.

    Raises:
        ValueError: If a problem is missing or is not the one that a study ran on.
    """
    by_text = {problem.text: problem for problem in problems}
    rows = [
        {
            **snapshot.identity,
            "capped": len(snapshot.steps) < snapshot.budget,
            **_measure(snapshot, _problem_of(snapshot, by_text)),
        }
        for snapshot in snapshots(results, budgets)
    ]
    found = {name for row in rows for name in row}
    return pd.DataFrame(rows, columns=[*STUDY, *(name for name in QUANTITIES if name in found)])


def quantity_of(name: str, studies: pd.DataFrame) -> Quantity:
    """A quantity as studies measured it: with the k of their P@k.

    Args:
        name: Name of the quantity.
        studies: Rows of a summary, or means of them.
    """
    if name != "precision":
        return QUANTITIES[name]
    return precision.quantity(set(studies["top"].dropna().astype(int)))


def quantity_on(name: str, problems: Iterable[Problem]) -> Quantity:
    """A quantity as it is measured on some problems, like :func:`quantity_of`."""
    if name != "precision":
        return QUANTITIES[name]
    return precision.quantity({p.n_top for p in problems if isinstance(p, TabularBenchmark)})


def metric_of(name: str, kind: Kind) -> Metric:
    """Metric that gives a quantity of a kind of problem.

    Raises:
        ValueError: If the kind has no such quantity.
    """
    for metric in METRICS[kind]:
        if any(quantity.name == name for quantity in metric.quantities):
            return metric
    raise ValueError(f"A {kind} must have the metric {name!r}, but has no such metric.")


def _measure(snapshot: Snapshot, problem: Problem) -> dict[str, float]:
    return {
        name: value
        for metric in METRICS[problem.kind]
        for name, value in metric.measure(snapshot, problem).items()
    }


def _problem_of(snapshot: Snapshot, problems: Mapping[str, Problem]) -> Problem:
    text, expected = snapshot.result.cell.problem, snapshot.result.cell.problem_fingerprint
    if text not in problems:
        raise ValueError(f"The problem {text} must be given, but got only {sorted(problems)}.")
    got = problems[text].fingerprint
    if expected != got:
        raise ValueError(
            f"The numbers of {text} must be those its studies ran on (fingerprint {expected}), "
            f"but got {got}. Load that version of the data, or run the comparison again."
        )
    return problems[text]
