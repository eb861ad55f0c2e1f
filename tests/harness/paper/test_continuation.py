"""Committed studies count as finished as long as they can be repeated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
import os
from pathlib import Path

from made import measured
import pytest

from harness import problems
from harness.experiment import Cell
from harness.experiment import CellResult
from harness.experiment import SamplerSpec
from harness.metrics import Budgets
from harness.metrics import summarize
from harness.paper import committed
from harness.paper import published as paper
from harness.paper.continuation import Replay
from harness.paper.continuation import RowKey
from harness.paper.continuation import continued
from harness.paper.continuation import replays
from harness.paper.experiments import ANYTIME
from harness.paper.experiments import COMPARED
from harness.paper.experiments import EXPERIMENTS
from harness.paper.experiments import cells
from harness.paper.measured import MeasuredResults
from harness.problems.family import join
from harness.run.runner import run
from harness.run.runner import run_cell
from harness.run.store import Store


needs_tables = pytest.mark.skipif(
    "ZAPS_DATA_DIR" not in os.environ, reason="needs the development tables"
)
same_trees = pytest.mark.skipif(
    not version("xgboost").startswith("3.2."), reason="XGBoost 3.2 grew the committed trees"
)
ROW: RowKey = (*paper.CIFAR10, "made", "RS")


def study(seed: int, budget: int, spec: SamplerSpec, rows: Sequence[int] = ()) -> CellResult:
    cell = Cell(join(*paper.CIFAR10, "made"), "table", spec, seed, budget)
    asked = tuple(rows) or tuple(range(budget))
    zeros = (0.0,) * len(asked)
    return CellResult(cell, asked, zeros, zeros, ({},) * len(asked), {})


INEXACT = ("BANANAS", ANYTIME)

RS = SamplerSpec("RS", "random-distinct", {}, "code of then")
ZAPS = SamplerSpec("ZAPS", "zaps-paper", {}, "code of then", budget_aware=True)
NOW = replace(study(0, 300, RS).cell, sampler=replace(RS, fingerprint="code of now"))


def test_replays_are_spread_over_budgets_and_seeds() -> None:
    old = [study(seed, budget, ZAPS) for seed in range(3) for budget in (50, 100, 200, 300, 500)]
    present = replace(NOW, sampler=replace(ZAPS, fingerprint="code of now"))
    (found,) = replays([present], old).values()
    assert [(r.cell.budget, r.cell.seed) for r in found] == [(50, 0), (200, 1), (500, 2)]
    assert [len(r.expected) for r in found] == [50, 200, 500]
    assert {r.cell.sampler.fingerprint for r in found} == {"code of now"}


def test_a_sampler_that_knows_no_budget_is_replayed_to_200_evaluations() -> None:
    found = replays([NOW], [study(seed, 500, RS) for seed in range(9)])[ROW]
    assert [(r.cell.budget, r.cell.seed) for r in found] == [(200, 0), (200, 1), (200, 2)]
    assert found[0].expected == tuple(range(200))


def test_another_table_sampler_or_argument_is_not_replayed() -> None:
    assert replays([NOW], [study(0, 20, RS)])
    for other in (
        replace(NOW, problem_fingerprint="another"),
        replace(NOW, sampler=replace(RS, target="random")),
        replace(NOW, sampler=replace(RS, arguments={"seed_offset": 1})),
    ):
        assert not replays([other], [study(0, 20, RS)])


def made(n_seeds: int) -> MeasuredResults:
    """Metrics of a row that is replayed and of one that is not."""
    keys = [(paper.CIFAR10, 20, "RS"), (paper.CIFAR10, 20, "TPE")]
    found = measured({key: [1.0] * n_seeds for key in keys})
    found.metrics["run"] = 0
    return found


def test_a_row_stands_only_if_every_replay_evaluates_the_same_rows(tmp_path: Path) -> None:
    old = [study(seed, 20, RS) for seed in range(3)]
    replayed = replays([NOW], old)
    store = Store(tmp_path)
    for replay in replayed[ROW]:
        store.save(replace(old[0], cell=replay.cell))
    stands = continued(made(40), old, replayed, store)
    assert list(stands.results.metrics["sampler"].unique()) == ["RS"]
    assert stands.dropped == [
        "TPE on nasbench201 / cifar10: its table, sampler or arguments are not those of today."
    ]
    assert replace(NOW, seed=39, budget=20) in stands  # committed without its rows
    assert replace(NOW, seed=40, budget=20) not in stands
    assert replace(NOW, seed=39, budget=50) not in stands
    # One replay of three with two rows in another order.
    last = replayed[ROW][-1].cell
    store.save(study(last.seed, 20, last.sampler, [1, 0, *range(2, 20)]))
    stands = continued(made(40), old, replayed, store)
    assert stands.results.metrics.empty
    assert not stands.studies
    assert "RS on nasbench201 / cifar10: run again, its studies evaluate other rows." in (
        stands.dropped
    )


def test_trust_covers_other_rows_but_not_another_sampler(tmp_path: Path) -> None:
    old = [study(seed, 20, RS) for seed in range(3)]
    replayed, store = replays([NOW], old), Store(tmp_path)  # nothing was run: no replay agrees
    stands = continued(made(40), old, replayed, store, ["RS", "TPE"])
    assert list(stands.results.metrics["sampler"].unique()) == ["RS"]
    assert [text.partition(":")[0] for text in stands.trusted] == ["RS on nasbench201 / cifar10"]
    assert [text.partition(":")[0] for text in stands.dropped] == ["TPE on nasbench201 / cifar10"]


def present_replays() -> dict[RowKey, list[Replay]]:
    tables = [
        problems.load_table(join(*problem, ""))
        for problem in dict.fromkeys(p for e in EXPERIMENTS for p in e.problems)
    ]
    return replays(cells(EXPERIMENTS, tables, 1), committed.read_cells())


@needs_tables
@pytest.mark.parametrize("label", [pytest.param(paper.ZAPS, marks=same_trees), "RS"])
def test_a_committed_study_can_be_repeated(label: str) -> None:
    found = present_replays()[(*paper.CIFAR10, "suite-zero", label)]
    replay = min(found, key=lambda replay: replay.cell.budget)
    assert run_cell(replay.cell).evaluated == replay.expected


@needs_tables
def test_rows_that_several_versions_of_the_code_ran_are_compared_as_one_sampler(
    tmp_path: Path,
) -> None:
    tables = [problems.load_table(join(*problem, "")) for problem in paper.BOTH_CIFAR]
    few = [study for study in committed.read_cells() if study.cell.seed < 5]
    versions = [
        replace(r, cell=replace(r.cell, sampler=replace(r.cell.sampler, fingerprint=f"{i % 2}")))
        for i, r in enumerate(few)
    ]
    committed.write(committed.read(), versions, tmp_path)
    of_zaps = [r for r in committed.read_cells(tmp_path) if r.cell.sampler.label == paper.ZAPS]
    assert len({r.cell.sampler.fingerprint for r in of_zaps}) > 1
    found = committed.published_studies(tables, COMPARED, tmp_path)
    budgets = {table.text: Budgets((100, 200)) for table in tables}
    summary = summarize(found, tables, budgets)
    assert {f"{label} (published)" for label in COMPARED} == set(summary["sampler"])


@needs_tables
@pytest.mark.slow
def test_every_committed_row_stands(tmp_path: Path) -> None:
    replayed, store = present_replays(), Store(tmp_path)
    again = [replay.cell for chosen in replayed.values() for replay in chosen]
    assert not [outcome for outcome in run(again, store, n_jobs=1) if outcome.error]
    # What networks and processes choose depends on the rounding of the processor.
    stands = continued(committed.read(), committed.read_cells(), replayed, store, INEXACT)
    assert list(stands.dropped) == []
