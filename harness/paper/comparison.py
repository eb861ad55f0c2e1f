"""Ours against the published number, cell by cell.

Notations:
    s1, n1: standard deviation and number of seeds of the paper; s2, n2 ours.
    resolution: 1.96 sqrt(s1^2 / n1 + s2^2 / n2), the largest difference that the seeds of both
        would show by chance in 95 of 100 cases if the true means were equal.
        Proxy-only schemes have no seeds: theirs is half a unit of the last printed digit.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
import math

from rich import box
from rich.table import Table
from rich.text import Text

from harness.paper.evidence import Evidence
from harness.paper.evidence import NotMeasured
from harness.paper.published import DETERMINISTIC_TABLE
from harness.paper.published import N_SEEDS
from harness.paper.published import PLACES
from harness.paper.published import TITLES
from harness.paper.published import Published
from harness.paper.published import published
from harness.report import formats


_Z = 1.96
_METRICS = {"precision": "P@100 %", "regret": "regret %"}


@dataclass(frozen=True)
class Comparison:
    """A cell of a table beside what was measured here.

    Attributes:
        published: The cell.
        mean: Our mean, NaN if nothing was measured.
        std: Our standard deviation over seeds, NaN for fewer than two.
        n_seeds: Our number of seeds.
        resolution: See the module's notations; NaN if it cannot be known.
        other_table: Which table ours was measured on, if that is not the paper's.
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
        """Whether the seeds could not tell the two apart, ``None`` if that cannot be known."""
        if self.other_table or math.isnan(self.difference) or math.isnan(self.resolution):
            return None
        return abs(self.difference) <= self.resolution

    @property
    def verdict(self) -> str:
        """``inside`` in a word."""
        if self.inside is None:
            if math.isnan(self.mean):
                return "not run"
            return "other table" if self.other_table else "one seed"
        return "inside" if self.inside else "outside"

    def texts(self) -> tuple[str, str, str, str, str]:
        """Published, ours, difference, resolution and verdict, as a table shows them."""
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


def compare(evidence: Evidence) -> list[Comparison]:
    """Every cell of Tables 4 to 9 beside what was measured."""
    return [_comparison(cell, evidence) for cell in published()]


def tables(comparisons: Sequence[Comparison]) -> Iterator[tuple[str, list[Comparison]]]:
    """The comparisons of each table of the paper, with its title."""
    for number, title in TITLES.items():
        yield (
            f"Table {number}: {title}",
            [comparison for comparison in comparisons if comparison.published.table == number],
        )


def place_text(cell: Published) -> str:
    """Data set, budget and metric of a cell."""
    return f"{PLACES[cell.place]}, B = {cell.budget}, {_METRICS[cell.metric]}"


def rich_tables(comparisons: Sequence[Comparison]) -> Iterator[Table]:
    """Tables for a terminal of 80 characters: one per table of the paper, place and metric."""
    for title, rows in tables(comparisons):
        groups: dict[str, list[Comparison]] = {}
        for row in rows:
            cell = row.published
            groups.setdefault(
                f"{title}, {PLACES[cell.place]}, {_METRICS[cell.metric]}", []
            ).append(row)
        for heading, group in groups.items():
            table = Table(
                title=Text(heading, style="bold"),
                title_justify="left",
                box=box.SIMPLE_HEAD,
                padding=(0, 1),
            )
            table.add_column("method")
            for header in ("B", "paper", "ours", "diff.", "seeds ±", ""):
                table.add_column(header, justify="right", no_wrap=True)
            for row in group:
                style = {True: "", False: "yellow", None: "dim"}[row.inside]
                cell = row.published
                table.add_row(cell.row, str(cell.budget), *row.texts(), style=style)
            yield table


def _comparison(cell: Published, evidence: Evidence) -> Comparison:
    try:
        sample = evidence.sample(cell.place, cell.budget, cell.row, cell.metric)
    except NotMeasured:
        return Comparison(cell)
    std = float(sample.std(ddof=1)) if sample.size > 1 else math.nan
    return Comparison(
        cell,
        float(sample.mean()),
        std,
        sample.size,
        _resolution(cell, std, sample.size),
        evidence.other_tables.get(cell.place, ""),
    )


def _resolution(cell: Published, std: float, n_seeds: int) -> float:
    if cell.table == DETERMINISTIC_TABLE:
        return 0.5 * 10.0**-cell.digits  # Only the rounding of the print.
    # Where the paper prints no standard deviation, ours stands in for it.
    theirs = std if cell.std is None else cell.std
    return _Z * math.sqrt(theirs**2 / N_SEEDS + std**2 / n_seeds)
