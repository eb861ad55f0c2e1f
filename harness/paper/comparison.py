"""Measured and published numbers, cell by cell.

Notations:
    s1, n1: standard deviation and number of seeds of the paper; s2, n2 ours.
    resolution: 1.96 sqrt(s1^2 / n1 + s2^2 / n2): if the true means were equal, the difference
        would be smaller in 95 of 100 cases. Proxy-only schemes have no seeds: their resolution
        is half a unit of the last printed digit.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
import math

from rich.table import Table

from harness.paper.measured import MeasuredResults
from harness.paper.measured import NotMeasured
from harness.paper.published import DETERMINISTIC_TABLE
from harness.paper.published import N_SEEDS
from harness.paper.published import PROBLEM_NAMES
from harness.paper.published import TITLES
from harness.paper.published import Published
from harness.paper.published import published
from harness.report import formats
from harness.report.terminal import titled_table


_Z = 1.96
_METRICS = {"precision": "P@100 %", "regret": "regret %"}


@dataclass(frozen=True)
class Comparison:
    """Cell of a table with the number measured here.

    Attributes:
        published: The cell.
        mean: Our mean, NaN if the cell was not measured.
        std: Our standard deviation over seeds, NaN for fewer than two.
        n_seeds: Our number of seeds.
        resolution: See the module's notations; NaN if it cannot be known.
        other_table: Description of the table ours was measured on, if it is not the paper's.
    """

    published: Published
    mean: float = math.nan
    std: float = math.nan
    n_seeds: int = 0
    resolution: float = math.nan
    other_table: str = ""

    @property
    def difference(self) -> float:
        """Ours minus the published mean."""
        return self.mean - self.published.mean

    @property
    def inside(self) -> bool | None:
        """Whether the difference is within the resolution, ``None`` if that is unknown."""
        if self.other_table or math.isnan(self.difference) or math.isnan(self.resolution):
            return None
        return abs(self.difference) <= self.resolution

    @property
    def verdict(self) -> str:
        """Word for ``inside``."""
        if self.inside is None:
            if math.isnan(self.mean):
                return "not run"
            return "other table" if self.other_table else "one seed"
        return "inside" if self.inside else "outside"

    def texts(self) -> tuple[str, str, str, str, str]:
        """Format published mean, ours, difference, resolution and verdict for a table."""
        cell = self.published
        digits = cell.digits
        theirs = formats.spread(cell.mean, math.nan if cell.std is None else cell.std, digits)
        return (
            theirs,
            formats.spread(self.mean, self.std, digits),
            formats.signed(self.difference, digits),
            formats.number(self.resolution, digits + 1),
            self.verdict,
        )


def compare(results: MeasuredResults) -> list[Comparison]:
    """Compare every cell of Tables 4 to 9 with the measured results."""
    return [_comparison(cell, results) for cell in published()]


def tables(comparisons: Sequence[Comparison]) -> Iterator[tuple[str, list[Comparison]]]:
    """Group comparisons by table of the paper, with its title."""
    for number, title in TITLES.items():
        yield (
            f"Table {number}: {title}",
            [comparison for comparison in comparisons if comparison.published.table == number],
        )


def cell_text(cell: Published) -> str:
    """Name the data set, budget and metric of a cell."""
    return f"{PROBLEM_NAMES[cell.problem]}, B = {cell.budget}, {_METRICS[cell.metric]}"


def rich_tables(comparisons: Sequence[Comparison]) -> Iterator[Table]:
    """Make tables for a terminal of 80 characters: one per table, problem and metric."""
    for title, rows in tables(comparisons):
        groups: dict[str, list[Comparison]] = {}
        for row in rows:
            cell = row.published
            groups.setdefault(
                f"{title}, {PROBLEM_NAMES[cell.problem]}, {_METRICS[cell.metric]}", []
            ).append(row)
        for heading, group in groups.items():
            table = titled_table(heading)
            table.add_column("method")
            for header in ("B", "paper", "ours", "diff.", "seeds ±", ""):
                table.add_column(header, justify="right", no_wrap=True)
            for row in group:
                style = {True: "", False: "yellow", None: "dim"}[row.inside]
                cell = row.published
                table.add_row(cell.row, str(cell.budget), *row.texts(), style=style)
            yield table


def _comparison(cell: Published, results: MeasuredResults) -> Comparison:
    try:
        sample = results.sample(cell.problem, cell.budget, cell.row, cell.metric)
    except NotMeasured:
        return Comparison(cell)
    std = float(sample.std(ddof=1)) if sample.size > 1 else math.nan
    return Comparison(
        cell,
        float(sample.mean()),
        std,
        sample.size,
        _resolution(cell, std, sample.size),
        results.other_tables.get(cell.problem, ""),
    )


def _resolution(cell: Published, std: float, n_seeds: int) -> float:
    if cell.table == DETERMINISTIC_TABLE:
        return 0.5 * 10.0**-cell.digits  # Only rounding in print.
    # Where the paper prints no standard deviation, ours stands in for it.
    theirs = std if cell.std is None else cell.std
    return _Z * math.sqrt(theirs**2 / N_SEEDS + std**2 / n_seeds)
