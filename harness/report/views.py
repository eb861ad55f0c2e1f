"""What one view of the dashboard shows: a table at a budget."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from harness.experiment import CellResult
from harness.metrics import GROUP
from harness.metrics import Budgets
from harness.metrics import Snapshot
from harness.metrics import snapshots
from harness.problems import TabularBenchmark
from harness.report import formats
from harness.statistics import compare


@dataclass(frozen=True)
class View:
    """A table at a budget.

    Attributes:
        benchmark: The table.
        in_flight: Number of trials in flight.
        unit: What the budget counts, ``"evaluations"`` or ``"trials"``.
        budget: Number of them.
        snapshots: Studies by sampler.
        planned: Samplers whose studies were planned for this budget.
        summary: Rows of :func:`harness.metrics.summarize` for this view.
        tests: Rows of :func:`harness.statistics.compare` for this view, by metric.
    """

    benchmark: TabularBenchmark
    in_flight: int
    unit: str
    budget: int
    snapshots: Mapping[str, Sequence[Snapshot]]
    planned: tuple[str, ...]
    summary: pd.DataFrame
    tests: Mapping[str, pd.DataFrame]

    @property
    def place(self) -> str:
        """Identifier of problem, unit of the budget and trials in flight."""
        unit = ", by trials" if self.unit == "trials" else ""
        return self.benchmark.text + unit + formats.in_flight(self.in_flight)

    @property
    def setting(self) -> str:
        """Budget with its unit, and trials in flight."""
        return formats.setting(self.budget, self.unit, self.in_flight)

    @property
    def key(self) -> str:
        """Identifier of the view."""
        return f"{self.place}@{self.budget}"


def make_views(
    results: Sequence[CellResult],
    tables: Iterable[TabularBenchmark],
    summary: pd.DataFrame,
    budgets: Mapping[str, Budgets] | None = None,
) -> list[View]:
    """Sort the studies into views.

    Args:
        results: Finished studies on the tables.
        tables: The tables.
        summary: Frame of :func:`harness.metrics.summarize` of these studies.
        budgets: Budgets by text of the problem, as for the summary.

    Returns:
        A view for each table, trials in flight and budget that has studies, in the order of the
        results.
    """
    by_text = {table.text: table for table in tables}
    tests = {metric: compare(summary, metric=metric) for metric in ("precision", "gap")}
    groups: dict[tuple[str, int, str, int], dict[str, list[Snapshot]]] = {}
    for snapshot in snapshots(results, budgets):
        identity = snapshot.identity
        problem, in_flight, unit, budget = (identity[column] for column in GROUP)
        by_sampler = groups.setdefault((problem, in_flight, unit, budget), {})
        by_sampler.setdefault(identity["sampler"], []).append(snapshot)
    first = {key[0]: position for position, key in reversed(list(enumerate(groups)))}
    return [
        View(
            by_text[key[0]],
            *key[1:],
            snapshots=by_sampler,
            planned=tuple(
                label
                for label, studies in by_sampler.items()
                if studies[0].result.cell.sampler.budget_aware
            ),
            summary=_of_group(summary, key),
            tests={metric: _of_group(frame, key) for metric, frame in tests.items()},
        )
        for key, by_sampler in sorted(
            groups.items(), key=lambda item: (first[item[0][0]], *item[0][1:])
        )
    ]


def _of_group(frame: pd.DataFrame, group: tuple[str, int, str, int]) -> pd.DataFrame:
    chosen = (frame[list(GROUP)] == list(group)).all(axis="columns")
    return frame[chosen].reset_index(drop=True)
