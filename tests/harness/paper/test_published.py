"""Spot checks of what was typed in, against the text of the paper."""

from __future__ import annotations

import math

from made import measured
import pytest

from harness.paper import published as paper
from harness.paper import rankings
from harness.paper.claims import UNTESTED
from harness.paper.claims import judge
from harness.paper.comparison import compare
from harness.paper.page import headline
from harness.paper.published import published


def test_there_is_a_cell_for_each_number_of_tables_4_to_9() -> None:
    counts = {table: 0 for table in paper.TITLES}
    for cell in published():
        counts[cell.table] += 1
    # Rows times columns: 12 x 4, 5 x 4, 3 x 4, 3 x 2, 4 x 4, 4 x 4.
    assert counts == {4: 48, 5: 20, 6: 12, 7: 6, 8: 16, 9: 16}


@pytest.mark.parametrize(
    ("cell", "mean", "std"),
    [
        ((4, paper.CIFAR10, 200, "ZAPS", "precision"), 52.3, 6.1),
        ((4, paper.CIFAR100, 300, "TPE", "regret"), 0.03, 0.14),
        ((4, paper.CIFAR10, 300, "LS", "precision"), 25.5, 10.1),
        ((5, paper.CIFAR100, 200, paper.BORDA, "regret"), 1.17, None),
        ((6, paper.CIFAR100, 200, paper.RANDOM_START, "regret"), 0.261, None),
        ((7, paper.CIFAR10, 200, paper.TOPOLOGY_ONLY, "precision"), 31.1, 8.0),
        ((8, paper.NASBENCH101, 300, "REA", "precision"), 12.0, None),
        ((9, paper.CIFAR100, 100, paper.TRANSFERRED, "precision"), 32.7, None),
        ((9, paper.IMAGENET16, 500, "ZAPS", "precision"), 68.1, None),
    ],
)
def test_a_number_is_where_the_paper_has_it(
    cell: tuple[int, paper.ProblemKey, int, str, str], mean: float, std: float | None
) -> None:
    (found,) = [p for p in published() if (p.table, p.problem, p.budget, p.row, p.metric) == cell]
    assert (found.mean, found.std) == (mean, std)


def test_the_rows_of_table_5_are_the_schemes_of_the_harness() -> None:
    rows = [cell.row for cell in published() if cell.table == 5]
    assert list(dict.fromkeys(rows)) == [scheme.name for scheme in rankings.SCHEMES]


def test_inside_is_1_96_standard_errors_of_both_by_hand() -> None:
    # Table 4: 52.3 +- 6.1 over 200 seeds. Ours: mean 54, standard deviation sqrt(8) over 5 seeds.
    # 1.96 sqrt(6.1^2 / 200 + 8 / 5) = 1.96 sqrt(0.18605 + 1.6) = 2.619...
    key = (paper.CIFAR10, 200, "ZAPS")
    ours = compare(measured({key: [50, 52, 56, 56, 56]}))[20]
    assert (ours.published.row, ours.published.table) == ("ZAPS", 4)
    assert ours.mean == pytest.approx(54.0)
    assert ours.std == pytest.approx(math.sqrt(8.0))
    assert ours.difference == pytest.approx(1.7)
    assert ours.resolution == pytest.approx(2.6194, abs=1e-3)
    assert ours.inside is True
    further = compare(measured({key: [51, 53, 57, 57, 57]}))[20]
    assert further.inside is False  # 2.7 > 2.62


def test_without_a_printed_deviation_ours_stands_in() -> None:
    ours = [
        c
        for c in compare(measured({(paper.NASBENCH101, 200, "REA"): [6, 8, 10]}))
        if c.published.row == "REA" and c.published.table == 8 and c.published.budget == 200
    ]
    assert ours[0].resolution == pytest.approx(1.96 * math.sqrt(4 / 200 + 4 / 3))


def test_nothing_follows_from_another_table_than_the_papers() -> None:
    key = (paper.CIFAR10, 200, "RS")
    made = measured({key: [1.0, 2.0]})
    assert headline(compare(made), judge(made)) == (
        "0 of 0 claims that can be tested hold; 1 of 1 table cells lie inside what the seeds can "
        "tell."
    )
    other = measured({key: [1.0, 2.0]})
    other.metrics["source"] = "package"
    cell = compare(other)[0]
    assert (cell.mean, cell.verdict, cell.inside) == (1.5, "other table", None)
    verdicts = judge(other)
    assert {verdict.status for verdict in verdicts} == {UNTESTED}
    (optima,) = [v for v in verdicts if "The optima are 91.57" in v.claim.sentence]
    assert "other accuracies than the paper's" in optima.figures
    assert headline(compare(other), verdicts).startswith("Nothing of the paper can be tested")


def test_one_seed_tells_nothing_and_no_seed_is_not_run() -> None:
    cells = compare(measured({(paper.CIFAR10, 200, "RS"): [1.0]}))
    assert cells[0].verdict == "one seed"
    assert cells[1].verdict == "not run"


def test_a_proxy_only_scheme_is_inside_only_as_printed() -> None:
    def verdict(value: float) -> str:
        cells = compare(measured({(paper.CIFAR10, 200, paper.SYNFLOW): [value]}))
        return next(
            c.verdict
            for c in cells
            if c.published.row == paper.SYNFLOW and c.published.problem == paper.CIFAR10
        )

    assert verdict(22.0) == "inside"
    assert verdict(23.0) == "outside"
