"""Parts of a report, each computed once: suites of problems, and problems, at a budget."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any

import numpy as np
import pandas as pd

from harness import statistics
from harness.metrics import GROUP
from harness.metrics import precision
from harness.metrics import quantity_of
from harness.metrics.metric import Quantity
from harness.problems import short_name
from harness.report.aggregates import default_reference
from harness.report.aggregates import leaderboard
from harness.report.setting import COLUMNS
from harness.report.setting import Setting
from harness.report.tables import Table
from harness.report.tables import pairs_table
from harness.report.tables import problem_columns
from harness.report.tables import ranks_table
from harness.report.tables import values_table
from harness.suites import Suite


ALPHA = 0.05
"""Level of significance."""

_FEWEST_SEEDS = 5  # of an interval, and of a word for the size of an effect


@dataclass(frozen=True)
class SuiteView:
    """Several problems of a suite at a budget.

    Attributes:
        suite: The suite.
        setting: Budget, and trials in flight.
        quantity: Quantity that ranks the samplers.
        losses: Frame of :func:`harness.statistics.mean_losses`, with the problems on which every
            sampler has a study.
        left_out: Problems on which a sampler has none.
        tables: The samplers by mean rank, the primary quantity of each problem, and the tests of
            each pair.
    """

    suite: Suite
    setting: Setting
    quantity: Quantity
    losses: pd.DataFrame
    left_out: tuple[str, ...]
    tables: tuple[Table, ...]

    @property
    def name(self) -> str:
        """Name of the suite, or the number of problems that were named on their own."""
        return self.suite.name or f"{len(self.losses)} problems"

    @property
    def group(self) -> str:
        """Identifier of suite, unit of the budget and trials in flight."""
        name = self.suite.name or ", ".join(self.suite.problems)
        return self.setting.group(name)

    @property
    def key(self) -> str:
        """Identifier of the view."""
        return f"{self.group}@{self.setting.budget}"

    @property
    def mean_ranks(self) -> pd.Series:
        """Mean rank by sampler, the best first."""
        return self._rows("ranks").set_index("sampler")["mean_rank"]

    @property
    def pairs(self) -> pd.DataFrame:
        """Tests of each pair of samplers."""
        return self._rows("pairs")

    @property
    def left_out_sentence(self) -> str:
        """Note on the problems that are left out; empty if there are none."""
        if not self.left_out:
            return ""
        listed = ", ".join(map(short_name, self.left_out))
        return f"Left out, because a sampler has no study on them: {listed}"

    def _rows(self, name: str) -> pd.DataFrame:
        return next(table.rows for table in self.tables if table.name == name)


@dataclass(frozen=True)
class ProblemView:
    """A problem at a budget.

    Attributes:
        suite: Suite that it is in.
        problem: Text of the problem.
        setting: Budget, and trials in flight.
        studies: Rows of the summary.
        tests: Rows of :func:`harness.statistics.compare` for all pairs, by metric. Intervals and
            words for the size of an effect need five seeds.
        reference: Sampler that the table compares with the others.
        table: The samplers.
    """

    suite: Suite
    problem: str
    setting: Setting
    studies: pd.DataFrame
    tests: Mapping[str, pd.DataFrame]
    reference: str
    table: Table

    @property
    def metrics(self) -> tuple[str, ...]:
        """Quantities that are shown; the first ranks the samplers."""
        return self.suite.metrics

    @property
    def measures_time(self) -> bool:
        """Whether the time of a sampler is known; nobody measured it in a storage's studies."""
        return bool(self.studies["cpu_seconds"].notna().any())

    @property
    def samplers(self) -> list[str]:
        """Labels of the samplers, the best mean first."""
        return [str(label) for label in self.table.rows["sampler"]]

    @property
    def cautions(self) -> list[str]:
        """Notes on what the budget and the seeds cannot show."""
        ceilings = [
            precision.ceiling(int(k), self.setting.budget, self.setting.unit)
            for k in (self.studies["top"].dropna().unique() if self._counts_top else ())
        ]
        return [*filter(None, [*ceilings, self.caution])]

    @property
    def _counts_top(self) -> bool:
        return "precision" in self.metrics and "top" in self.studies

    def quantity(self, name: str) -> Quantity:
        """A quantity as the studies measured it."""
        return quantity_of(name, self.studies)

    @property
    def caution(self) -> str:
        """Note on tests that cannot come out clear with so few seeds; empty if they can."""
        n_tests = len(self.tests[self.metrics[0]])
        if not n_tests:
            return ""
        most, second, *_ = sorted(map(int, self.table.rows["n_seeds"]), reverse=True)
        # Least one-sided p of a Mann-Whitney test, 1 / C(m + n, n), times Holm's factor.
        if n_tests / math.comb(most + second, second) < ALPHA:
            return ""
        seeds = f"{most} seed" if most == 1 else f"{most} seeds"
        return f"With {seeds} no test of these samplers can reach p < {ALPHA} after adjustment."

    @property
    def group(self) -> str:
        """Identifier of problem, unit of the budget and trials in flight."""
        return self.setting.group(self.problem)

    @property
    def label(self) -> str:
        """Identifier of the group with a short name of the problem, for people."""
        return self.setting.group(short_name(self.problem))

    @property
    def key(self) -> str:
        """Identifier of the view."""
        return f"{self.group}@{self.setting.budget}"


@dataclass(frozen=True)
class Views:
    """Contents of a report.

    Attributes:
        summary: Row of numbers per study and budget.
        suites: Suites with several problems, in their order.
        problems: Every problem, in the order of the suites.
    """

    summary: pd.DataFrame
    suites: tuple[SuiteView, ...]
    problems: tuple[ProblemView, ...]


def make_views(summary: pd.DataFrame, suites: Iterable[Suite]) -> Views:
    """Sort studies into views, and compare the samplers in each.

    Args:
        summary: Frame of :func:`harness.metrics.summarize`.
        suites: The problems and their metrics; a suite without studies is left out.
    """
    of_suites: list[SuiteView] = []
    of_problems: list[ProblemView] = []
    for suite in suites:
        studies = summary[summary["problem"].isin(suite.problems)]
        if studies.empty:
            continue
        of_suites += _suite_views(studies, suite)
        of_problems += _problem_views(studies, suite)
    return Views(summary, tuple(of_suites), tuple(of_problems))


def _suite_views(studies: pd.DataFrame, suite: Suite) -> Iterator[SuiteView]:
    for values, chosen in studies.groupby(list(COLUMNS), sort=False):
        losses = statistics.mean_losses(chosen, suite.metrics[0])
        left_out = tuple(p for p in chosen["problem"].unique() if p not in losses.index)
        if chosen["problem"].nunique() < 2 or losses.empty:
            continue
        setting = Setting.of(values)
        quantity = quantity_of(suite.metrics[0], chosen)
        tables = [
            ranks_table(chosen, suite.metrics[0], len(losses)),
            values_table(statistics.means(chosen, quantity.name), quantity, str(setting)),
        ]
        if losses.shape[1] > 1:
            tables.append(pairs_table(losses, ALPHA))
        yield SuiteView(
            suite,
            setting,
            quantity,
            losses,
            left_out,
            tuple(tables),
        )


def _problem_views(studies: pd.DataFrame, suite: Suite) -> Iterator[ProblemView]:
    reference = default_reference(studies)
    tests = {name: _tests(studies, name) for name in tested(suite.metrics)}
    board = leaderboard(studies, suite.metrics, reference=reference, tests=tests[suite.metrics[0]])
    for group, rows in board.groupby(list(GROUP), sort=False):
        problem = str(group[0])
        seeds = " or ".join(map(str, sorted(rows["n_seeds"].unique())))
        setting = Setting.of(group[1:])
        own = _of_group(studies, group)
        columns = problem_columns(_measured(suite.metrics, rows), reference, own)
        if studies["sampler"].nunique() == 1:
            columns = tuple(column for column in columns if not column.compares)
        table = Table(
            "means",
            f"{short_name(problem)}, {setting}, {seeds} seeds",
            "Means over seeds when the budget is spent.",
            columns,
            rows.reset_index(drop=True),
            sorted_by=suite.metrics[0],
        )
        yield ProblemView(
            suite,
            problem,
            setting,
            own,
            {name: _of_group(frame, group) for name, frame in tests.items()},
            reference,
            table,
        )


def tested(metrics: Sequence[str]) -> list[str]:
    """Names of the primary quantity and of any gap beside it."""
    return [name for name in metrics if name in (metrics[0], "gap")]


def _measured(metrics: Sequence[str], rows: pd.DataFrame) -> list[str]:
    """Names of the primary quantity and of those that some sampler has on a problem."""
    return [
        name
        for name in metrics
        if name == metrics[0] or (name in rows and rows[name].notna().any())
    ]


def _tests(studies: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Tests of all pairs, without intervals and words of size for fewer than five seeds."""
    tests = statistics.compare(studies, metric=metric)
    counts = studies.groupby([*GROUP, "sampler"], sort=False)["seed"].nunique()
    fewest = np.minimum(
        *(
            counts.reindex(pd.MultiIndex.from_frame(tests[[*GROUP, side]])).to_numpy()
            for side in ("sampler_a", "sampler_b")
        )
    )
    few = fewest < _FEWEST_SEEDS
    tests.loc[few, ["ci_low", "ci_high"]] = np.nan
    tests.loc[few, "effect"] = ""
    return tests


def _of_group(frame: pd.DataFrame, group: Sequence[Any]) -> pd.DataFrame:
    chosen = (frame[list(GROUP)] == list(group)).all(axis="columns")
    return frame[chosen].reset_index(drop=True)
