"""The command, at a scale of seconds."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import replace
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

from harness import cli
from harness import problems
from harness.cli import reproduce
from harness.experiment import CellResult
from harness.paper import committed
from harness.paper import experiments
from harness.paper import published as paper
from harness.paper.experiments import Experiment
from harness.paper.experiments import Row
from harness.statistics import cliffs_delta
from harness.statistics import mann_whitney_p


SMALL = (
    Experiment(
        "main",
        (paper.CIFAR10,),
        (12, 20),
        (Row(paper.ZAPS, "zaps-paper"), Row("RS", "random"), Row("LS", "tpe", max_seeds=1)),
    ),
    Experiment("fusion", (paper.CIFAR10,), (12,), (Row("ZAPS", "zaps-paper"),)),
)


@pytest.fixture(autouse=True, scope="module")
def _small() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ZAPS_DATA_DIR", raising=False)  # the package's table, on any machine
        for module in (experiments, reproduce):
            patch.setattr(module, "EXPERIMENTS", SMALL)
        patch.setattr(reproduce, "BUDGETS", (12, 20))
        yield


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of three seeds of the main experiment, and of what they were written to."""
    folder = tmp_path_factory.mktemp("ran")
    call("reproduce", "main", "--seeds", "3", "--n-jobs", "1", "--output", str(folder / "run"),
         "--write", str(folder / "written"))  # fmt: skip
    return folder


def call(*arguments: str, code: int = 0) -> str:
    result = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"}).invoke(cli.app, list(arguments))
    assert result.exit_code == code, result.output
    return result.output


def test_it_runs_resumes_shows_and_writes(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    first = call("reproduce", "main", "--seeds", "1", "--n-jobs", "1", "--output", folder)
    for text in ("Table 4", "Table 9", "52.3 ± 6.1", "not testable here",
                 "Nothing of the paper can be tested with what is here"):  # fmt: skip
        assert text in first
    # ZAPS has a study for each budget, the others one each.
    assert len(list((tmp_path / "run" / "cells").iterdir())) == 4
    again = call("reproduce", "main", "--seeds", "2", "--n-jobs", "1", "--output", folder,
                 "--write", str(tmp_path / "parquet"))  # fmt: skip
    assert "4 of 7 studies are already done" in again
    page = (tmp_path / "run" / "paper.html").read_text(encoding="utf-8")
    for text in ("Rank correlation", "data-figure", "52.3 ± 6.1", "zaps-harness"):
        assert text in page
    # What was written is read back.
    results = committed.read(tmp_path / "parquet")
    assert len(results.metrics) == len(results.metrics.drop_duplicates())
    assert results.sample(paper.CIFAR10, 12, paper.ZAPS).shape == (2,)
    assert results.sizes == {paper.CIFAR10: 15_625}
    assert results.facts["Samplers"]
    shown = call("reproduce", "all", "--seeds", "2", "--n-jobs", "1", "--output", folder)
    assert "7 of 7 studies are already done" in shown


def test_no_run_replaces_the_page_of_the_published_results(tmp_path: Path) -> None:
    folder = str(tmp_path)
    call("reproduce", "--published", "--output", folder)
    published = (tmp_path / "published.html").read_bytes()
    call("reproduce", "fusion", "--seeds", "1", "--n-jobs", "1", "--output", folder)
    assert (tmp_path / "published.html").read_bytes() == published
    assert (tmp_path / "paper.html").read_bytes() != published


def evaluated(studies: Sequence[CellResult]) -> dict[tuple[Any, ...], tuple[int, ...]]:
    return {
        (*committed.row_of(study.cell), study.cell.seed, study.cell.budget): study.evaluated
        for study in studies
    }


def test_committed_studies_are_not_run_again(
    ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, studies = committed.read(ran / "written"), committed.read_cells(ran / "written")
    # Other code made those of RS.
    other = [
        replace(study, asked=study.asked[::-1]) if study.cell.sampler.label == "RS" else study
        for study in studies
    ]
    committed.write(whole, other, tmp_path / "committed")
    monkeypatch.setattr(committed, "default_directory", lambda: tmp_path / "committed")
    output = call("reproduce", "main", "--n-jobs", "1", "--output", str(tmp_path / "second"),
                  "--seeds", "3", "--continue-published", "--write",
                  str(tmp_path / "new"))  # fmt: skip
    assert "Not reused: RS on nasbench201 / cifar10: run again, its studies evaluate other" in (
        " ".join(output.split())
    )
    # Three of the six of ZAPS are replayed, the one of LS, and those of RS.
    assert len(list((tmp_path / "second" / "cells").iterdir())) == 3 + 1 + 3
    columns = ["sampler", "budget", "seed", "precision", "regret", "best_value", "spearman"]
    new = committed.read(tmp_path / "new")
    pd.testing.assert_frame_equal(new.metrics[columns], whole.metrics[columns])
    assert len(new.runs) == 2
    assert evaluated(committed.read_cells(tmp_path / "new")) == evaluated(studies)


def test_nothing_is_run_if_so_asked_and_an_unknown_row_is_refused(tmp_path: Path) -> None:
    call("reproduce", "main", "--seeds", "1", "--no-run", "--output", str(tmp_path))
    assert not (tmp_path / "cells").exists()
    output = call("reproduce", "main", "--row", "zaps", "--output", str(tmp_path), code=2)
    assert "must be one of ['ZAPS', 'RS', 'LS'], but got 'zaps'" in " ".join(output.split())


def test_trust_needs_something_committed_to_continue(tmp_path: Path) -> None:
    output = call("reproduce", "main", "--trust", "RS", "--output", str(tmp_path), code=2)
    assert "add --continue-published" in " ".join(output.split())


def test_the_order_is_by_seeds_and_shared_rows_run_once() -> None:
    tables, _ = experiments.available_tables()
    made = experiments.cells(SMALL, tables, 3)
    assert [cell.seed for cell in made] == [0] * 4 + [1] * 3 + [2] * 3
    assert len({cell.key for cell in made}) == len(made)


def test_experiments_are_told_apart_by_arguments_alone() -> None:
    table = problems.load_table("nasbench201/cifar10@package")
    spec = Row("a", "zaps-paper", experiments.all_proxies).spec(table)
    assert spec.target == "zaps-paper"
    assert spec.arguments == {"initial_proxies": list(table.proxies.columns)}


def test_too_large_results_are_refused(
    ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(committed, "MAX_BYTES", 10)
    assert "must have at most 10 bytes" in call(
        "reproduce", "main", "--seeds", "1", "--output", str(ran / "run"), "--write",
        str(tmp_path / "parquet"), code=2)  # fmt: skip
    assert not (tmp_path / "parquet").exists()


def test_without_results_the_reader_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"has no metrics.parquet.*--write"):
        committed.read(tmp_path)


def test_compare_against_published(
    ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(committed, "default_directory", lambda: ran / "written")
    output = call(
        "compare",
        "nasbench201/cifar10@package",
        "-s",
        "tpe",
        "--budget",
        "12",
        "--seeds",
        "1",
        "--n-jobs",
        "1",
        "--against-published",
        "--output",
        str(tmp_path / "new"),
    )
    assert "published studies of 3 seeds" in output
    summary = pd.read_csv(tmp_path / "new" / "summary.csv")
    assert set(summary["sampler"]) == {"tpe", "ZAPS (published)", "RS (published)",
                                       "LS (published)"}  # fmt: skip
    # Nothing of it was run: the store holds the one new study.
    assert len(list((tmp_path / "new" / "cells").iterdir())) == 1
    other = call("compare", "nasbench201/cifar100@package", "-s", "random",
                 "--budget", "12", "--seeds", "1", "--n-jobs", "1", "--against-published",
                 "--output", str(tmp_path / "new"))  # fmt: skip
    assert "no published studies on these tables" in other


@pytest.mark.skipif("ZAPS_DATA_DIR" not in os.environ, reason="needs the development tables")
def test_committed_metrics_by_another_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """P@100, regret, U and delta from the raw rows, with NumPy and SciPy alone."""
    table = pd.read_parquet(Path(DATA) / "nasbench201.parquet")
    accuracy = table["accuracy__cifar10"].to_numpy(np.float64)
    top = set(np.argsort(-accuracy, kind="stable")[:100].tolist())
    results, cells = committed.read(), committed.read_cells()
    samples: dict[str, list[float]] = {}
    for result in cells:
        cell = result.cell
        if (cell.problem, cell.sampler.label) not in {
            ("nasbench201/cifar10@suite-zero", row) for row in ("ZAPS", "RS", "REA", "TPE")
        }:
            continue
        rows = [int(row) for row in result.asked]
        assert len(rows) == len(set(rows)) == cell.budget
        for budget in {200, 300, 500} & set(range(cell.budget + 1)):
            if cell.sampler.label == "ZAPS" and budget != cell.budget:
                continue
            precision = 100.0 * len(top & set(rows[:budget])) / 100
            regret = 100.0 * (accuracy.max() - accuracy[rows[:budget]].max()) / accuracy.max()
            problem = (paper.CIFAR10, budget, cell.sampler.label)
            assert results.sample(*problem)[cell.seed] == pytest.approx(precision)
            committed_regret = results.sample(*problem, "regret")[cell.seed]
            assert committed_regret == pytest.approx(regret, rel=1e-4, abs=1e-6)
            if budget == 200:
                samples.setdefault(cell.sampler.label, []).append(precision)
    ours = np.asarray(samples["ZAPS"])
    for row in ("RS", "REA", "TPE"):
        theirs = np.asarray(samples[row])
        wins = (ours[:, np.newaxis] > theirs).sum() + 0.5 * (ours[:, np.newaxis] == theirs).sum()
        pairs = ours.size * theirs.size
        test = stats.mannwhitneyu(ours, theirs, alternative="greater")
        assert test.statistic == pytest.approx(wins)
        assert cliffs_delta(ours, theirs) == pytest.approx(2 * wins / pairs - 1)
        assert mann_whitney_p(ours, theirs) == pytest.approx(float(test.pvalue))


DATA: Any = os.environ.get("ZAPS_DATA_DIR", "")


def test_a_published_study_is_a_study_of_its_cell() -> None:
    results = committed.read_cells()
    first = results[0]
    assert first.evaluated == first.asked
    assert sum(first.ask_seconds) == pytest.approx(first.ask_seconds[0] * len(first.asked))
    relabelled = replace(first.cell.sampler, label="x")
    assert replace(first.cell, sampler=relabelled).key == first.cell.key
