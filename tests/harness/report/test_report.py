from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
import gzip
from importlib.resources import files
import json
from pathlib import Path
import re

from markupsafe import escape
import numpy as np
import pandas as pd
from plotly.offline import get_plotlyjs
import pytest
from rich.console import Console
from toy import studies
from toy import study
from toy import table
from toy import tables

from harness.experiment import CellResult
from harness.metrics import Budgets
from harness.metrics import snapshots
from harness.metrics import summarize
from harness.metrics.metric import Floats
from harness.metrics.precision import precision_curve
from harness.problems import Problem
from harness.problems import load
from harness.report import dashboard
from harness.report import formats
from harness.report import make_views
from harness.report import rich_tables
from harness.report import write_dashboard
from harness.report.aggregates import aggregate
from harness.report.aggregates import leaderboard
from harness.report.drawn import Drawn
from harness.report.figures_progress import progress_figure
from harness.report.figures_progress import progress_numbers
from harness.report.findings import Clauses
from harness.report.findings import problem_clauses
from harness.report.findings import suite_findings
from harness.report.findings import verdict
from harness.report.heatmaps import correlations
from harness.report.palette import SCALES
from harness.report.palette import sampler_styles
from harness.report.provenance import problem_facts
from harness.report.provenance import run_facts
from harness.report.provenance import sampler_facts
from harness.report.tables import Column
from harness.report.tables import Table
from harness.report.tables import records
from harness.report.views import ProblemView
from harness.report.views import Views
from harness.suites import ONE_TABLE
from harness.suites import SUITES
from harness.suites import Suite


METRICS = ONE_TABLE.metrics
SUITE = replace(ONE_TABLE, problems=tuple(one.text for one in tables()))


def budgets(*sizes: int) -> dict[str, Budgets]:
    return {one.text: Budgets(sizes) for one in tables()}


def summary_at(*sizes: int) -> pd.DataFrame:
    return summarize(studies(), tables(), budgets(*sizes))


def views_at(*sizes: int) -> Views:
    return make_views(summary_at(*sizes), [SUITE])


def first_view() -> ProblemView:
    return views_at(40).problems[0]


def clauses() -> Clauses:
    return problem_clauses(first_view(), table())


def written(path: Path, results: list[CellResult], problems: Sequence[Problem]) -> str:
    """Page of studies on problems of one suite."""
    suite = replace(ONE_TABLE, problems=tuple(problem.text for problem in problems))
    views = make_views(summarize(results, problems), [suite])
    write_dashboard(views, results, problems, path)
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "dashboard.html"
    write_dashboard(
        views_at(20, 40),
        studies(),
        tables(),
        path,
        budgets=budgets(20, 40),
        command="zaps-harness compare",
    )
    return path.read_text(encoding="utf-8")


def test_aggregate_averages_over_seeds() -> None:
    summary = summarize(studies(), tables())
    board = aggregate(summary, METRICS).set_index(["problem", "sampler"])
    group = summary[(summary["problem"] == table().text) & (summary["sampler"] == "tpe")]
    row = board.loc[(table().text, "tpe")]
    assert row["n_seeds"] == 6
    assert row["precision"] == pytest.approx(np.mean(group["precision"]))
    assert row["precision_std"] == pytest.approx(np.std(group["precision"], ddof=1))
    assert row["found_optimum"] == pytest.approx(group["found_optimum"].mean())


def test_the_reference_is_zaps_and_the_best_is_first() -> None:
    board = leaderboard(summarize(studies(), tables()), METRICS)
    toy = board[board["problem"] == table().text]
    assert toy["sampler"].tolist() == ["zaps", "tpe", "random"]
    assert toy["difference"].isna().tolist() == [True, False, False]
    assert (toy["difference"].dropna() > 0).all()


def test_the_terminal_needs_no_more_than_80_characters() -> None:
    console = Console(width=80, record=True, file=None, quiet=False)
    with console.capture() as capture:
        console.print(rich_tables(make_views(summarize(studies(), tables()), [SUITE])))
    text = capture.get()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
    for part in (
        "Samplers over the 2 problems",
        "Friedman",
        "40 evaluations, 6 seeds",
        "zaps against",
        "P@100 %",
        "repeats %",
        "CPU s",
    ):
        assert part in text


def test_the_line_of_a_figure_is_the_mean_over_seeds() -> None:
    wanted = {"problem": table().text, "sampler": "zaps"}
    mine = [s for s in snapshots(studies()) if wanted.items() <= s.identity.items()]
    drawn = Drawn(table(), "evaluations", 40, {"zaps": mine})
    styles = sampler_styles(["zaps"])
    numbers = progress_numbers(drawn, styles, "precision")
    figure = progress_figure(numbers, drawn, styles, "precision")
    line = next(t for t in figure.data if t.name == "zaps" and t.line.width)
    curves = [precision_curve(s.result.evaluated, table().top(100), 40) for s in mine]
    np.testing.assert_allclose(line.y, np.mean(curves, axis=0), rtol=1e-6)
    np.testing.assert_allclose(numbers["mean"], np.mean(curves, axis=0))
    np.testing.assert_allclose(numbers["upper_quartile"], np.quantile(curves, 0.75, axis=0))


def test_correlations_are_in_order_of_relevance() -> None:
    matrix = correlations(table())
    assert list(matrix.columns) == ["objective", "good", "noise"]
    assert matrix.loc["objective", "good"] > 0.99
    assert matrix.loc["objective", "noise"] < 0.25


def test_the_headline_is_computed() -> None:
    summary = summary_at(40).query(f"problem == '{table().text}'")
    means = summary.groupby("sampler")["precision"].mean()
    assert clauses().headline(["random", "zaps", "tpe"]) == (
        f"zaps finds {means['zaps']:.1f} % of the true top 100 with 40 evaluations; "
        f"tpe {means['tpe']:.1f} %, random {means['random']:.1f} %."
    )


def test_the_headline_is_about_the_chosen_samplers() -> None:
    summary = summary_at(40).query(f"problem == '{table().text}'")
    means = summary.groupby("sampler")["precision"].mean()
    assert clauses().headline(["random", "tpe"]) == (
        f"tpe finds {means['tpe']:.1f} % of the true top 100 with 40 evaluations; "
        f"random {means['random']:.1f} %."
    )
    assert clauses().headline(["tpe"]).endswith("with 40 evaluations.")
    assert clauses().headline([]) == "No sampler is chosen."


def test_several_problems_open_with_mean_ranks(page: str) -> None:
    (view,) = views_at(40).suites
    found = suite_findings(view)
    assert found.headline == (
        "zaps has the best mean rank over the 2 problems after 40 evaluations, 1.00; tpe 2.00, "
        "random 3.00."
    )
    assert found.verdict == (
        "zaps is better than tpe on 2 problems, worse on 0 and equal on 0 (Wilcoxon's signed "
        "ranks, Holm-adjusted: p = 1.000, not significant)."
    )
    assert f"<title>{suite_findings(views_at(20, 40).suites[0]).headline}</title>" in page
    assert [table.name for table in view.tables] == ["ranks", "values", "pairs"]


def test_each_problem_has_its_number_with_the_best_marked(page: str) -> None:
    values = next(t for t in views_at(40).suites[0].tables if t.name == "values")
    means = summary_at(40).groupby(["problem", "sampler"])["precision"].mean()
    for record in values.records:
        for column in values.columns[1:]:
            expected = means[record["problem"], column.title]
            assert record[column.key] == pytest.approx(expected)
            assert f">{formats.number(expected)}</td>" in page
    keys = {column.title: column.key for column in values.columns}
    assert values.best() == [{keys["zaps"]}, {keys["zaps"]}]


def test_the_best_is_marked_where_numbers_differ() -> None:
    def column(key: str, larger_is_better: bool | None) -> Column:
        return Column(key, key, "", str, larger_is_better=larger_is_better)

    rows = pd.DataFrame(
        {"gain": [1.0, 2.0, np.nan], "loss": [0.5, 0.5, 0.7], "same": [3.0] * 3, "no": [1, 2, 3]}
    )
    columns = tuple(
        column(key, better)
        for key, better in (("gain", True), ("loss", False), ("same", True), ("no", None))
    )
    assert Table("t", "", "", columns, rows).best() == [{"loss"}, {"gain", "loss"}, set()]
    assert Table("t", "", "", columns, rows.iloc[:0]).best() == []


def test_few_seeds_have_no_interval_and_no_word_of_size(tmp_path: Path) -> None:
    few = make_views(summarize(studies(4), tables()), [SUITE]).problems[0]
    many = first_view()
    for view, n_known in ((few, 0), (many, 6)):
        tests = view.tests["precision"]
        assert tests["ci_low"].notna().sum() == n_known
        assert (tests["effect"] != "").sum() == n_known
    sentence = verdict(records(few.tests["precision"])[0], few.quantity("precision"))
    assert "interval" not in sentence
    assert sentence.endswith("1.00.")
    assert "95 % interval" in verdict(
        records(many.tests["precision"])[0], many.quantity("precision")
    )
    text = written(tmp_path / "page.html", studies(4), tables())
    assert "interval" not in unpacked(text, "page-data")


def test_seeds_that_cannot_tell_are_said() -> None:
    # Three samplers, six tests: 6 / C(6, 3) = 0.3, but 6 / C(12, 6) = 0.006.
    few = make_views(summarize(studies(3), tables()), [SUITE]).problems[0]
    assert few.cautions[-1].startswith("With 3 seeds no test of these samplers can reach p < 0.05")
    assert not any("seeds" in each for each in first_view().cautions)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_digits_of_matrices_are_legible(theme: str) -> None:
    css = files("harness.report").joinpath("dashboard.css").read_text(encoding="utf-8")
    ink = dict(zip(("light", "dark"), re.findall(r"--ink: (#\w{6})", css), strict=True))[theme]
    for scale in SCALES[theme].values():
        positions, colors = zip(*scale, strict=True)
        channels = np.array([rgb(color) for color in colors])
        for at in np.linspace(0, 1, 101):
            color = np.array([np.interp(at, positions, channel) for channel in channels.T])
            assert contrast(color, rgb(ink)) >= 4.5


def rgb(color: str) -> Floats:
    return np.array([int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)])


def contrast(first: Floats, second: Floats) -> float:
    """Ratio of two colours' luminances (WCAG 2.1)."""
    linear = [
        np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)
        for color in (first, second)
    ]
    low, high = sorted(float(c @ [0.2126, 0.7152, 0.0722]) for c in linear)
    return (high + 0.05) / (low + 0.05)


def test_columns_of_the_top_are_only_where_a_table_has_it(tmp_path: Path) -> None:
    branin = load("functions/branin")
    asked = list(range(12))
    results = [
        replace(
            study(asked, label=label, seed=seed, on=branin),
            configurations=tuple({"x": float(i), "y": 0.0} for i in asked),
            values=tuple(float(20 - i + seed + bias) for i in asked),
        )
        for label, bias in (("tpe", 0), ("random", 3))
        for seed in range(5)
    ]
    suite = Suite("", "", (branin.text,), ("regret", "best_value", "cpu_seconds"), (12,), 5, ())
    views = make_views(summarize(results, [branin]), [suite])
    path = tmp_path / "page.html"
    write_dashboard(views, results, [branin], path)
    page = path.read_text(encoding="utf-8")
    assert "tpe reaches a regret of" in page
    assert 'id="card-progress-regret"' in page
    for other in ("P@100", "hypervolume", "proxies", 'class="suite"'):
        assert other not in page.split("</style>")[1].split("<script")[0], other


def test_provenance_lists_what_differs(page: str) -> None:
    results = studies(2)
    other = replace(results[0], provenance={**results[0].provenance, "optuna": "4.8.0"})
    rows = {fact.name: fact.value for fact in run_facts([*results, other])}
    assert rows["optuna"] == "5.0.0; 4.8.0"
    assert rows["computed"] == "2026-01-01T00:00:00 to 2026-01-01T00:00:01"
    samplers = {fact.name: fact.value for fact in sampler_facts(results)}
    assert samplers["zaps"] == "zaps(); 4 studies of 40 evaluations, 2 seeds from 0 to 1"
    tables_of = {fact.name: fact.value for fact in problem_facts(tables())}
    assert "Made up." in tables_of["bench/toy@made"]
    assert f"fingerprint {table().fingerprint}." in tables_of["bench/toy@made"]
    for text in ("zaps-harness compare", "5.0.0", "zaps(); 12 studies", "bench/toy@made"):
        assert text in page.split('id="provenance-title"')[1].split("<script", maxsplit=1)[0]


def test_one_label_of_two_samplers_is_not_hidden() -> None:
    tpe = study([1, 2], label="a", target="tpe")
    spec = replace(tpe.cell.sampler, arguments={"multivariate": True})
    other = replace(tpe, cell=replace(tpe.cell, sampler=spec))
    facts = sampler_facts([tpe, other])
    assert [fact.name for fact in facts] == ["a", "a"]
    assert facts[0].value.startswith("tpe(); 1 studies")
    assert facts[1].value.startswith("tpe(multivariate=True); 1 studies")


def unpacked(page: str, name: str) -> str:
    """Text that the page carries compressed."""
    content = page.split(f'id="{name}"')[1].split(">", maxsplit=1)[1].split("<", maxsplit=1)[0]
    return gzip.decompress(base64.b85decode(content.replace(",", "<"))).decode()


def embedded(page: str, name: str) -> pd.DataFrame:
    return pd.DataFrame(dict(json.loads(unpacked(page, "page-data"))["files"][name]))


def test_the_tables_are_within_the_page(page: str) -> None:
    summary = summary_at(20, 40)
    found = embedded(page, "summary")
    assert found.columns.tolist() == summary.columns.tolist()
    known, wanted = (each.dropna(axis="columns", how="all") for each in (found, summary))
    pd.testing.assert_frame_equal(known, wanted, check_dtype=False, rtol=1e-5)
    board = leaderboard(summary, METRICS)
    means = embedded(page, "means")
    assert means["sampler"].tolist() == board["sampler"].tolist()
    np.testing.assert_allclose(means["precision"], board["precision"], rtol=1e-5)


def test_too_many_studies_are_left_out_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page.html"
    results = studies(2)
    monkeypatch.setattr(dashboard, "_MAX_STUDY_ROWS", len(results))
    assert 'data-file="summary"' in written(path, results, tables())
    monkeypatch.setattr(dashboard, "_MAX_STUDY_ROWS", len(results) - 1)
    page = written(path, results, tables())
    assert 'data-file="summary"' not in page
    assert "summary" not in json.loads(unpacked(page, "page-data"))["files"]
    assert len(embedded(page, "means")) == 6


def test_the_tables_of_the_page_are_those_of_the_terminal(page: str) -> None:
    views = views_at(20, 40)
    shown = [table for part in views.suites for table in part.tables]
    for table_ in [*shown, *(view.table for view in views.problems)]:
        for record in table_.records:
            for column in table_.columns:
                text = escape(column.text(record))
                assert column.key == "problem" or f">{text}</" in page, (column.key, text)
                assert column.explanation
                assert f'title="{escape(column.explanation)}"' in page


def test_tables_over_problems_are_files_too(page: str) -> None:
    values = embedded(page, "values-2-problems-40-evaluations")
    assert values.columns.tolist() == ["problem", "zaps", "tpe", "random"]
    assert values["problem"].tolist() == [one.text for one in tables()]
    assert embedded(page, "ranks-2-problems-40-evaluations")["mean_rank"].tolist() == [1, 2, 3]
    assert len(embedded(page, "pairs-2-problems-40-evaluations")) == 3


def test_the_page_stands_alone_and_escapes(page: str) -> None:
    for outside in ("http://", "https://", "@import"):
        assert outside not in page
    assert "second &lt;set&gt;" in page
    assert "<set>" not in page
    assert unpacked(page, "plotly") == get_plotlyjs()
    assert 'data-file="summary"' in page


def test_numbers_behind_a_figure_are_within_the_page(page: str) -> None:
    content = json.loads(unpacked(page, "page-data"))
    figure = content["views"][f"{table().text}@20"]["figures"]["progress-precision@steps"]
    numbers = pd.DataFrame(dict(figure["numbers"]))
    assert numbers.columns.tolist() == [
        "sampler", "evaluations", "mean", "lower_quartile", "upper_quartile"
    ]  # fmt: skip
    mine = [s for s in snapshots(studies(), budgets(20)) if s.identity["sampler"] == "tpe"]
    curves = [
        precision_curve(s.result.evaluated, table().top(100), 20)
        for s in mine
        if s.identity["problem"] == table().text
    ]
    found = numbers[numbers["sampler"] == "tpe"]["mean"]
    np.testing.assert_allclose(found, np.mean(curves, axis=0), rtol=1e-5)


def test_a_page_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one finished study"):
        write_dashboard(make_views(summary_at(41), [SUITE]), [], [], tmp_path / "page.html")


def test_numbers_as_a_reader_wants_them() -> None:
    assert formats.spread(52.34, 6.12) == "52.3 ± 6.1"
    assert formats.p_value(0.25) == "0.250"
    assert formats.p_value(1e-60) == "< 1e-24"
    assert formats.signed(-4.2) == "−4.2"
    assert [formats.signed(value, 3) for value in (-3e-8, 3e-8, 0.0)] == ["0.000"] * 3
    assert [formats.signed(value) for value in (0.06, np.inf, -np.inf)] == ["+0.1", "+∞", "−∞"]
    assert formats.significant(0.0123) == "0.012"
    assert formats.number(float("nan")) == "–"


def test_a_regret_close_to_zero_reads_the_same_in_every_table() -> None:
    regrets = {"a": 4e-11, "b": 2e-11, "c": 0.5}
    summary = pd.DataFrame(
        [
            {"problem": problem, "in_flight": 1, "durations": "", "unit": "trials", "budget": 9,
             "sampler": label, "seed": seed, "capped": False, "regret": value,
             "repeat_share": 0.0, "cpu_seconds": 1.0, "ask_ms": 1.0, "tell_ms": 0.0}
            for problem in ("hard/p", "hard/q")
            for label, value in regrets.items()
            for seed in range(2)
        ]
    )  # fmt: skip
    suite = replace(SUITES["hard"], problems=("hard/p", "hard/q"), metrics=("regret",))
    views = make_views(summary, [suite])
    of_problem = [f"of {label}" for label in regrets]
    for shown_table in (views.suites[0].tables[1], views.problems[0].table):
        shown = [c for c in shown_table.columns if c.key in {"regret", *of_problem}]
        cells = {column.text(row) for row in shown_table.records for column in shown}
        assert cells == {"0.50", "< 0.0001"}
    # Neither is ahead of the other by what floating-point numbers lose.
    assert views.suites[0].mean_ranks.to_dict() == {"a": 1.5, "b": 1.5, "c": 3.0}
    assert views.suites[0].tables[1].best() == [{"of a", "of b"}] * 2
