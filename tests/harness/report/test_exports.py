from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
import io
import json
import math
from pathlib import Path
import re

import numpy as np
import pandas as pd
import plotly.io
import pytest
from toy import study
from toy import table
from typer.testing import CliRunner

from harness import cli
from harness.experiment import CellResult
from harness.metrics import summarize
from harness.problems import Problem
from harness.report import exports
from harness.report import formats
from harness.report import make_views
from harness.report import write_dashboard
from harness.report.exports import parse_formats
from harness.report.exports import write_exports
from harness.report.file_names import file_names
from harness.report.panel import Panel
from harness.report.tables import Column
from harness.report.tables import Record
from harness.report.tables import Table
from harness.report.views import Views
from harness.suites import ONE_TABLE


LABEL = "a|b_<i>&50%"
DATASETS = ("one", "one!")  # of one name as a file


def content(tmp_path: Path) -> tuple[Views, dict[str, Panel]]:
    """Two problems and two samplers, one of them with markup of every format in its label."""
    problems: list[Problem] = [table(dataset=dataset) for dataset in DATASETS]
    results: Sequence[CellResult] = [
        study([199 - seed - bias, 3, 5], label=label, seed=seed, on=problem)
        for problem in problems
        for bias, label in ((0, "zaps"), (100, LABEL))
        for seed in range(3)
    ]
    suite = replace(ONE_TABLE, problems=tuple(problem.text for problem in problems))
    views = make_views(summarize(results, problems), [suite])
    return views, write_dashboard(views, results, problems, tmp_path / "page.html")


def test_every_table_and_figure_has_a_file_in_each_format(tmp_path: Path) -> None:
    views, figures = content(tmp_path)
    chosen = parse_formats(["csv,json", "md", "latex", "csv"])
    assert chosen == ("csv", "json", "md", "latex")
    folders = write_exports(views, figures, tmp_path, chosen)
    assert folders == [tmp_path / "figures", tmp_path / "tables"]
    stems = [
        *(f"{name}-2-problems-3-evaluations" for name in ("ranks", "values", "pairs")),
        *(f"means-bench-one-made-3-evaluations{number}" for number in ("", "-2")),
    ]
    written = {path.name for path in (tmp_path / "tables").iterdir()}
    assert written == {f"{s}.{ending}" for s in stems for ending in ("csv", "json", "md", "tex")}
    files = {path.name for path in (tmp_path / "figures").iterdir()}
    assert files == {f"{name}.{ending}" for name in figures for ending in ("csv", "json")}


def test_numbers_are_whole_and_texts_as_the_page_shows_them(tmp_path: Path) -> None:
    views, figures = content(tmp_path)
    write_exports(views, figures, tmp_path, ("csv", "json", "md", "latex"))
    # Seeds 0, 1 and 2 of zaps see the values 200, 199 and 198 of at most 200.
    means = pd.read_csv(tmp_path / "tables" / "means-bench-one-made-3-evaluations.csv")
    gap = np.mean([0.0, 100 / 200, 100 * 2 / 200])
    assert means["gap"][0] == pytest.approx(gap, rel=1e-15)
    rows = json.loads(
        (tmp_path / "tables" / "means-bench-one-made-3-evaluations.json").read_text("utf-8")
    )
    assert rows[0]["gap"] == pytest.approx(gap, rel=1e-14)
    assert [row["sampler"] for row in rows] == ["zaps", LABEL]
    shown = (tmp_path / "tables" / "means-bench-one-made-3-evaluations.md").read_text("utf-8")
    assert "| **0.50** " in re.sub(" +", " ", shown)
    numbers = pd.read_csv(
        tmp_path / "figures" / "spread-precision-bench-one-made-3-evaluations.csv"
    )
    # The best of zaps, 200, 199 or 198, is of the top 100; that of the other, from 100, is not.
    assert numbers.set_index(["sampler", "seed"])["precision"].to_dict() == {
        ("zaps", 0): 1.0, ("zaps", 1): 1.0, ("zaps", 2): 1.0,
        (LABEL, 0): 0.0, (LABEL, 1): 0.0, (LABEL, 2): 0.0,
    }  # fmt: skip


def test_markup_in_a_label_stays_text(tmp_path: Path) -> None:
    views, figures = content(tmp_path)
    write_exports(views, figures, tmp_path, ("csv", "md", "latex"))
    stem = "values-2-problems-3-evaluations"
    file = {ending: (tmp_path / "tables" / f"{stem}.{ending}").read_text("utf-8")
            for ending in ("csv", "md", "tex")}  # fmt: skip
    assert pd.read_csv(io.StringIO(file["csv"])).columns.tolist() == ["problem", "zaps", LABEL]
    assert r"a\|b\_\<i>&50%" in file["md"]
    assert r"a$|$b\_$<$i$>$\&50\%" in file["tex"]


def made(rows: pd.DataFrame) -> Table:
    """Table of a sampler and its loss."""

    def loss(row: Record) -> str:
        return formats.number(row["loss"])

    columns = (
        Column("sampler", "sampler", "Label.", lambda row: str(row["sampler"]), is_name=True),
        Column(
            "loss",
            "loss ±",
            "Loss.",
            loss,
            larger_is_better=False,
        ),
    )
    return Table("made", "50 % of all", "Made up.", columns, rows)


def test_files_of_a_table_worked_by_hand() -> None:
    rows = pd.DataFrame({"sampler": ["x", "y"], "loss": [0.123456789012345, math.inf]})
    assert exports._markdown(made(rows)) == (
        "### 50 % of all\n\nMade up.\n\n"
        "| sampler   |   loss ± |\n"
        "|:----------|---------:|\n"
        "| x         |  **0.1** |\n"
        "| y         |        ∞ |\n"
    )
    tex = exports._latex(made(rows), "made")
    assert {
        r"\caption{50 \% of all}",
        r"\label{tab:made}",
        r"\begin{tabular}{lr}",
        r"sampler & loss $\pm$ \\",
        r"x & \textbf{0.1} \\",
        r"y & $\infty$ \\",
    } <= set(tex.splitlines())
    assert json.loads(exports._numbers(rows, "json")) == [
        {"sampler": "x", "loss": 0.123456789012345},
        {"sampler": "y", "loss": "inf"},
    ]
    assert exports._numbers(rows, "csv") == "sampler,loss\nx,0.123456789012345\ny,inf\n"


def test_names_of_files_differ_and_are_names_anywhere() -> None:
    problems = [table(dataset=dataset) for dataset in ("a/b", "a b", "ä" * 300, "..")]
    suite = replace(ONE_TABLE, problems=tuple(problem.text for problem in problems))
    results = [study([1, 2], on=problem) for problem in problems]
    names = file_names(make_views(summarize(results, problems), [suite]).problems)
    assert len(set(names.values())) == len(problems)
    for name in names.values():
        assert re.fullmatch(r"[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,130}", name), name


def test_images_are_refused_where_nothing_draws_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"--format svg needs kaleido.*optuna-zaps\[images\]"):
        parse_formats(["csv,svg"])
    with pytest.raises(ValueError, match="of csv, json, md, latex, svg, png, but got 'xls'"):
        parse_formats(["xls"])
    monkeypatch.setattr(exports, "find_spec", lambda name: object())
    assert parse_formats(["PNG, svg"]) == ("png", "svg")

    def no_browser(*args: object, **kwargs: object) -> None:
        raise RuntimeError("No Chrome was found.")

    monkeypatch.setattr(plotly.io, "write_images", no_browser)
    views, figures = content(tmp_path)
    with pytest.raises(ValueError, match=r"need Chrome or Chromium.*No Chrome was found"):
        write_exports(views, figures, tmp_path, ("svg", "csv"))
    # Everything else is there.
    assert len(list((tmp_path / "figures").iterdir())) == len(figures)


def test_images_are_those_of_all_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(figures: list[object], files: list[Path], **size: int) -> None:
        assert len(figures) == len(files)
        for file in files:
            file.write_bytes(b"drawn")

    monkeypatch.setattr(plotly.io, "write_images", drawn)
    views, figures = content(tmp_path)
    assert write_exports(views, figures, tmp_path, ("svg", "png")) == [tmp_path / "figures"]
    files = {path.name for path in (tmp_path / "figures").iterdir()}
    assert files == {f"{name}.{ending}" for name in figures for ending in ("svg", "png")}


def test_the_commands_write_what_is_asked_and_refuse_before_they_run(tmp_path: Path) -> None:
    def call(*arguments: str) -> tuple[int, str]:
        runner = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"})
        result = runner.invoke(cli.app, [*arguments])
        return result.exit_code, result.output

    folder = tmp_path / "run"
    compare = ["compare", "functions/branin", "-s", "random", "--budget", "3", "--seeds", "2",
               "--n-jobs", "1", "--output", str(folder)]  # fmt: skip
    code, output = call(*compare, "--format", "xls")
    assert code == 2
    assert "'xls'" in output
    assert not folder.exists()
    code, output = call(*compare, "--format", "csv")
    assert code == 0, output
    assert f"Files: {folder / 'tables'}" in output.replace("\n", "")
    means = folder / "tables" / "means-functions-branin-3-evaluations.csv"
    assert pd.read_csv(means)["n_seeds"].tolist() == [2]
    assert (folder / "figures" / "progress-regret-functions-branin-3-evaluations.csv").exists()
    code, output = call("report", str(folder), "--format", "md,latex")
    assert code == 0, output
    assert means.with_suffix(".md").exists()
    assert means.with_suffix(".tex").exists()
