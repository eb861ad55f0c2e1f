"""What one view of the dashboard shows: a data set at a budget."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from harness.experiment import CellResult
from harness.experiment import SamplerSpec
from harness.metrics import summarize
from harness.problems.base import TabularBenchmark
from harness.readings import BenchmarkKey
from harness.readings import Reading
from harness.readings import benchmark_key
from harness.readings import read_off
from harness.report import formats
from harness.statistics import GROUP
from harness.statistics import compare


@dataclass(frozen=True)
class View:
    """A data set at a budget.

    Attributes:
        benchmark: The table.
        in_flight: Number of trials in flight.
        budget: Number of distinct evaluations.
        readings: Studies by sampler.
        planned: Samplers whose studies were planned for this budget.
        summary: Rows of :func:`harness.metrics.summarize` for this view.
        tests: Rows of :func:`harness.statistics.compare` for this view, by metric.
    """

    benchmark: TabularBenchmark
    in_flight: int
    budget: int
    readings: Mapping[str, Sequence[Reading]]
    planned: tuple[str, ...]
    summary: pd.DataFrame
    tests: Mapping[str, pd.DataFrame]

    @property
    def place(self) -> str:
        """Identifier of data set and trials in flight, ``benchmark/dataset/source``."""
        parts = (self.benchmark.name, self.benchmark.dataset, self.benchmark.source)
        return "/".join(parts) + formats.in_flight(self.in_flight)

    @property
    def key(self) -> str:
        """Identifier of the view."""
        return f"{self.place}@{self.budget}"


def make_views(
    results: Sequence[CellResult],
    benchmarks: Mapping[BenchmarkKey, TabularBenchmark],
    *,
    budgets: Sequence[int] | None,
    budget_aware: Callable[[SamplerSpec], bool],
) -> list[View]:
    """Sort the studies into views.

    Args:
        results: Finished studies.
        benchmarks: Tables by (name, data set, source).
        budgets: Budgets to show, by default those of the results.
        budget_aware: Whether a sampler plans for its budget.

    Returns:
        A view for each data set, trials in flight and budget that has studies, in the order of
        the results.
    """
    summary = summarize(results, benchmarks, budgets, budget_aware=budget_aware)
    readings = read_off(results, budgets, budget_aware=budget_aware)
    tests = {metric: compare(summary, metric=metric) for metric in ("precision", "regret")}
    views = []
    for table, in_flight in dict.fromkeys(map(_place, results)):
        here = [reading for reading in readings if _place(reading.result) == (table, in_flight)]
        for budget in sorted({reading.budget for reading in here}):
            group = (*table, in_flight, budget)
            by_sampler: dict[str, list[Reading]] = {}
            for reading in here:
                if reading.budget == budget:
                    by_sampler.setdefault(reading.result.cell.sampler.label, []).append(reading)
            views.append(
                View(
                    benchmark=benchmarks[table],
                    in_flight=in_flight,
                    budget=budget,
                    readings=by_sampler,
                    planned=tuple(
                        label
                        for label, studies in by_sampler.items()
                        if budget_aware(studies[0].result.cell.sampler)
                    ),
                    summary=_of_group(summary, group),
                    tests={metric: _of_group(frame, group) for metric, frame in tests.items()},
                )
            )
    return views


def _place(result: CellResult) -> tuple[BenchmarkKey, int]:
    return benchmark_key(result), result.cell.in_flight


def _of_group(frame: pd.DataFrame, group: tuple[str, str, str, int, int]) -> pd.DataFrame:
    chosen = pd.Series(True, index=frame.index)
    for column, value in zip(GROUP, group, strict=True):
        chosen &= frame[column] == value
    return frame[chosen].reset_index(drop=True)
