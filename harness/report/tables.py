"""Tables of a comparison, each described once; terminal, page and files render the same.

Notations:
    studies: rows of the frame of :func:`harness.metrics.summarize`, one per study and budget.
    metrics: names of the quantities to show; the first, the primary one, ranks the samplers.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any

import numpy as np
import pandas as pd

from harness import statistics
from harness.metrics import QUANTITIES
from harness.metrics import quantity_of
from harness.metrics.metric import Quantity
from harness.problems import short_name
from harness.report import formats
from harness.report.aggregates import overview


Record = Mapping[str, Any]

_EQUAL = 0.5 * 10.0**-statistics.DIGITS  # Means that differ by less share a rank, too.
MOST_DETAILED = 5
"""Number of problems up to which the terminal shows each on its own."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        key: Column of the rows that it shows and is sorted by.
        title: Its head, with the unit.
        explanation: One sentence.
        text: Text of a cell, given a row.
        larger_is_better: Whether larger numbers are better, ``None`` where neither is.
        is_name: Whether it names the row.
        compares: Whether it compares the reference with the sampler of the row.
        wide: Whether only the page has room for it.
        sampler: Label of the sampler that the column is about, if it is about one.
        bar: Whether the number is a percentage that the page draws as a bar, too.
    """

    key: str
    title: str
    explanation: str
    text: Callable[[Record], str]
    larger_is_better: bool | None = None
    is_name: bool = False
    compares: bool = False
    wide: bool = False
    sampler: str | None = None
    bar: bool = False


@dataclass(frozen=True)
class Table:
    """A table with its description.

    Attributes:
        name: Identifier, and name of its file.
        title: Heading.
        explanation: How to read it.
        columns: Its columns; those that name a row come first.
        rows: Numbers by key of a column, and further ones for the file.
        best_of_row: Whether the best number of a row is marked, else that of a column.
        sorted_by: Key of the column by which rows are sorted, the best first; empty if by none.
    """

    name: str
    title: str
    explanation: str
    columns: tuple[Column, ...]
    rows: pd.DataFrame
    best_of_row: bool = False
    sorted_by: str = ""

    def order(self, column: Column) -> str:
        """Order of the rows by a column, in ARIA's words."""
        if column.key != self.sorted_by:
            return "none"
        return "descending" if column.larger_is_better else "ascending"

    @property
    def records(self) -> list[dict[str, Any]]:
        """Rows, as columns render them."""
        return records(self.rows)

    @property
    def numbers(self) -> pd.DataFrame:
        """Rows for a file, in which a column about a sampler is called by its label."""
        titles = {column.key: column.title for column in self.columns if column.sampler}
        return self.rows.rename(columns=titles)

    def best(self) -> list[set[str]]:
        """Keys of the cells to mark, for each row: the best of several numbers that differ."""
        ranked = [column for column in self.columns if column.larger_is_better is not None]
        if not ranked or self.rows.empty:
            return [set() for _ in range(len(self.rows))]
        losses = self.rows[[column.key for column in ranked]].astype(float).to_numpy().copy()
        losses *= [-1.0 if column.larger_is_better else 1.0 for column in ranked]
        axis = 1 if self.best_of_row else 0
        least = np.where(np.isnan(losses), np.inf, losses).min(axis=axis, keepdims=True)
        marked = np.isfinite(losses) & np.isclose(losses, least, rtol=1e-9, atol=_EQUAL)
        differs = (~marked & ~np.isnan(losses)).any(axis=axis, keepdims=True)
        return [
            {column.key for column, best in zip(ranked, row, strict=True) if best}
            for row in marked & differs
        ]


def problem_columns(
    metrics: Sequence[str], reference: str, studies: pd.DataFrame
) -> tuple[Column, ...]:
    """Columns of the samplers on one problem.

    Args:
        metrics: Quantities; the tests of the reference are on the first.
        reference: Sampler to compare the others with.
        studies: Studies on the problem.
    """
    primary, *others = (quantity_of(name, studies) for name in metrics)
    return (
        _SAMPLER,
        _SEEDS,
        _mean_column(primary, bar=primary.larger_is_better is True and primary.unit == "%"),
        *(_DETAILS[name] for name in metrics if name in _DETAILS),
        *map(_mean_column, others),
        _CPU_OF_ASK,
        *_test_columns(primary, reference),
    )


def ranks_table(studies: pd.DataFrame, metric: str, n_problems: int) -> Table:
    """Describe the samplers over several problems of one setting."""
    quantity = quantity_of(metric, studies)
    title, mean = ("", "Mean") if quantity.larger_is_better else ("geo. ", "Geometric mean")
    return Table(
        "ranks",
        f"Samplers over the {n_problems} problems",
        f"Ranks are by mean {noun(quantity)} on each problem, among all samplers compared.",
        (
            _SAMPLER,
            Column(
                "n_seeds",
                "seeds",
                "Number of studies on a problem, each with a seed of its own.",
                lambda row: f"{row['n_seeds']:.0f}",
            ),
            Column(
                "mean_rank",
                "mean rank",
                "Mean over the problems of the sampler's rank, 1 for the best; equal samplers "
                "share their mean rank.",
                lambda row: formats.number(row["mean_rank"], 2),
                larger_is_better=False,
            ),
            Column(
                "n_first",
                "best on",
                "Number of problems on which no sampler is better.",
                lambda row: f"{row['n_first']:.0f}",
                larger_is_better=True,
            ),
            Column(
                "mean",
                f"{title}{quantity.title}",
                f"{mean} over the problems. {quantity.explanation}",
                lambda row: formats.quantity(row["mean"], quantity.digits),
                larger_is_better=quantity.larger_is_better,
            ),
            *(_mean_column(QUANTITIES[name]) for name in ("repeat_share", "cpu_seconds")),
        ),
        overview(studies, metric).rename_axis("sampler").reset_index(),
        sorted_by="mean_rank",
    )


def values_table(means: pd.DataFrame, quantity: Quantity, setting: str) -> Table:
    """Describe the primary quantity on each problem.

    Args:
        means: Frame of :func:`harness.statistics.means`.
        quantity: The quantity.
        setting: Budget and trials in flight.
    """
    keys = {f"of {label}": str(label) for label in means.columns}  # none is called "problem"
    values = means.set_axis(list(keys), axis="columns")

    def column(key: str, label: str) -> Column:
        return Column(
            key,
            label,
            f"{label}: {quantity.explanation}",
            lambda row: formats.quantity(row[key], quantity.digits),
            larger_is_better=quantity.larger_is_better,
            sampler=label,
        )

    return Table(
        "values",
        capitalised(f"{quantity.title} after {setting}, mean over seeds"),
        quantity.explanation,
        (
            Column(
                "problem",
                "problem",
                "Name of the problem.",
                lambda row: short_name(str(row["problem"])),
                is_name=True,
            ),
            *(column(key, label) for key, label in keys.items()),
        ),
        values.rename_axis("problem").reset_index(),
        best_of_row=True,
    )


def pairs_table(losses: pd.DataFrame, alpha: float) -> Table:
    """Describe the tests of each pair of samplers over several problems.

    Args:
        losses: Frame of :func:`harness.statistics.mean_losses`.
        alpha: Level of significance; a note says where no pair can reach it.
    """
    n_problems, n_samplers = losses.shape
    # Least two-sided p of Wilcoxon's test, 2 / 2^n, times Holm's factor.
    can_tell = math.comb(n_samplers, 2) * 2.0 ** (1 - n_problems) < alpha
    caution = f" With {n_problems} problems no pair can reach p < {alpha} after adjustment."
    counts = (("n_better", "better"), ("n_worse", "worse"), ("n_equal", "equal"))
    return Table(
        "pairs",
        f"Pairs, Wilcoxon's signed ranks over the problems{_friedman(losses)}",
        "A problem is one observation: the mean over its seeds." + ("" if can_tell else caution),
        (
            _SAMPLER,
            Column(
                "sampler_b",
                "against",
                "Label of the sampler that it is compared with.",
                _name("sampler_b"),
                is_name=True,
            ),
            *(
                Column(
                    key,
                    word,
                    f"Number of problems on which the sampler is {word} than the other."
                    if word != "equal"
                    else "Number of problems on which the two are equal.",
                    lambda row, key=key: str(row[key]),  # type: ignore[misc]
                )
                for key, word in counts
            ),
            Column(
                "p_value",
                "p",
                "Two-sided p-value of Wilcoxon's signed-rank test over the problems.",
                lambda row: formats.p_value(row["p_value"]),
            ),
            Column(
                "p_holm",
                "p (Holm)",
                "The p-value after Holm's adjustment over all pairs.",
                lambda row: formats.p_value(row["p_holm"]),
            ),
        ),
        statistics.pairs(losses).rename(columns={"sampler_a": "sampler"}),
    )


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a frame."""
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]


def difference_digits(quantity: Quantity) -> int:
    """Decimals of a difference of means, which spans fewer magnitudes than the means."""
    return 3 if quantity.digits is None else quantity.digits


def noun(quantity: Quantity) -> str:
    """Title of a quantity for a sentence, without its unit."""
    return quantity.title.removesuffix(" %").removesuffix(" s")


def capitalised(text: str) -> str:
    """A text with its first letter in upper case, the others as they are."""
    return text[:1].upper() + text[1:]


def columns_within(table: Table, *, compares: bool) -> Iterable[Column]:
    """Columns for which a terminal has room: the means, or the comparison with the reference."""
    return (c for c in table.columns if not c.wide and (c.is_name or c.compares == compares))


def _friedman(losses: pd.DataFrame) -> str:
    p = statistics.friedman_p(losses)
    return "" if pd.isna(p) else f" (Friedman over all: {formats.p_statement(p)})"


def _name(key: str) -> Callable[[Record], str]:
    return lambda row: str(row[key])


def _mean_column(quantity: Quantity, *, bar: bool = False) -> Column:
    name = quantity.name

    def text(row: Record) -> str:
        if quantity.spread:
            std = row.get(f"{name}_std", np.nan)
            return formats.spread(row[name], std, quantity.digits or 0)
        return formats.quantity(row[name], quantity.digits)

    return Column(
        name,
        quantity.title,
        quantity.explanation,
        text,
        larger_is_better=quantity.larger_is_better,
        bar=bar,
    )


def _test_columns(primary: Quantity, reference: str) -> Iterable[Column]:
    """Columns of the tests of the reference against the sampler of a row."""
    digits = difference_digits(primary)

    def difference(row: Record) -> str:
        ends = [formats.number(row[end], digits) for end in ("ci_low", "ci_high")]
        interval = "" if np.isnan(row["ci_low"]) else f" [{', '.join(ends)}]"
        return formats.signed(row["difference"], digits) + interval

    columns: tuple[tuple[str, str, str, Callable[[Record], str]], ...] = (
        (
            "difference",
            "ahead" if primary.larger_is_better else "difference",
            f"Mean {primary.title} of {reference} minus that of this sampler, with its "
            "bootstrap interval (95 %) from five seeds on.",
            difference,
        ),
        (
            "p_holm",
            "p (Holm)",
            f"One-sided Mann–Whitney U test that {reference} is ahead, after Holm's adjustment "
            "over all pairs.",
            lambda row: formats.p_value(row["p_holm"]),
        ),
        (
            "cliffs_delta",
            "Cliff's δ",
            f"Effect size of {reference} against this sampler: 1 if every seed is ahead, 0 if it "
            "is even; below 0.15 negligible, above 0.47 large.",
            lambda row: formats.number(row["cliffs_delta"], 2),
        ),
    )
    for key, title, explanation, text in columns:
        yield Column(key, title, explanation, _of_others(text, reference), compares=True)


def _of_others(text: Callable[[Record], str], reference: str) -> Callable[[Record], str]:
    """A text that does not compare the reference with itself."""
    return lambda row: formats.NOTHING if row["sampler"] == reference else text(row)


_SAMPLER = Column("sampler", "sampler", "Label of the sampler.", _name("sampler"), is_name=True)
_SEEDS = Column(
    "n_seeds",
    "seeds",
    "Number of studies, each with a seed of its own; capped if some ended before their budget was "
    "spent.",
    lambda row: f"{row['n_seeds']}{' (capped)' if row['n_capped'] else ''}",
    wide=True,
)
_CPU_OF_ASK = Column(
    "cpu_ms_per_trial",
    "CPU ms/ask",
    "CPU time of the sampler for one ask and its tell, mean over a study and seeds.",
    lambda row: formats.significant(row["cpu_ms_per_trial"]),
    larger_is_better=False,
    wide=True,
)
_DETAILS = {
    "gap": Column(
        "gap_geometric",
        "geo. gap %",
        "Geometric mean of the gap over seeds, each floored at 0.00001 %.",
        lambda row: formats.loss(row["gap_geometric"]),
        larger_is_better=False,
        wide=True,
    ),
    "found_optimum": Column(
        "trials_to_optimum",
        "steps to optimum",
        "Median number of evaluations (or trials, where the budget counts those) up to the "
        "optimum; a seed that missed it counts as more.",
        lambda row: (
            f"> {row['budget']}"
            if np.isinf(row["trials_to_optimum"])
            else formats.number(row["trials_to_optimum"], 0)
        ),
        larger_is_better=False,
        wide=True,
    ),
}
"""Columns of the page beside those of a quantity."""
