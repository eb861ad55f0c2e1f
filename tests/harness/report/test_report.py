from __future__ import annotations

import base64
from dataclasses import replace
import html
import io
from pathlib import Path

import numpy as np
import pandas as pd
from plotly.offline import get_plotlyjs
import pytest
from rich.console import Console
from toy import studies
from toy import study
from toy import table
from toy import tables

from harness.metrics import Budgets
from harness.metrics import summarize
from harness.metrics.precision import precision_curve
from harness.report import aggregate
from harness.report import dashboard
from harness.report import formats
from harness.report import leaderboard
from harness.report import rich_tables
from harness.report import write_dashboard
from harness.report.dashboard import headline
from harness.report.figures import precision_figure
from harness.report.heatmaps import correlations
from harness.report.palette import sampler_styles
from harness.report.provenance import problem_facts
from harness.report.provenance import run_facts
from harness.report.provenance import sampler_facts
from harness.report.tables import cell_text
from harness.report.tables import page_columns
from harness.report.tables import records
from harness.report.views import View
from harness.report.views import make_views
from harness.suites import ONE_TABLE


METRICS = ONE_TABLE.metrics


def budgets(*sizes: int) -> dict[str, Budgets]:
    return {one.text: Budgets(sizes) for one in tables()}


def summary_at(*sizes: int) -> pd.DataFrame:
    return summarize(studies(), tables(), budgets(*sizes))


def first_view() -> View:
    return make_views(studies(), tables(), summary_at(40), budgets(40))[0]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "dashboard.html"
    write_dashboard(
        studies(),
        tables(),
        summary_at(20, 40),
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
        suite = replace(ONE_TABLE, problems=tuple(one.text for one in tables()))
        console.print(rich_tables(summarize(studies(), tables()), [suite]))
    text = capture.get()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
    for part in ("40 evaluations, 6 seeds", "zaps against", "P@100 %", "repeats %", "CPU s"):
        assert part in text


def test_the_line_of_a_figure_is_the_mean_over_seeds() -> None:
    view = first_view()
    figure = precision_figure(view, sampler_styles(view.snapshots))
    line = next(t for t in figure.data if t.name == "zaps" and t.line.width)
    curves = [precision_curve(r.evaluated, table().top(100), 40) for r in view.snapshots["zaps"]]
    np.testing.assert_allclose(line.y, np.mean(curves, axis=0), rtol=1e-6)


def test_correlations_are_in_order_of_relevance() -> None:
    matrix = correlations(table())
    assert list(matrix.columns) == ["objective", "good", "noise"]
    assert matrix.loc["objective", "good"] > 0.99
    assert matrix.loc["objective", "noise"] < 0.25


def test_the_headline_is_computed() -> None:
    summary = summary_at(40).query(f"problem == '{table().text}'")
    means = summary.groupby("sampler")["precision"].mean()
    view = first_view()
    assert headline(view, ["random", "zaps", "tpe"]) == (
        f"zaps finds {means['zaps']:.1f} % of the true top 100 with 40 evaluations; "
        f"tpe {means['tpe']:.1f} %, random {means['random']:.1f} %."
    )


def test_the_headline_is_about_the_chosen_samplers() -> None:
    summary = summary_at(40).query(f"problem == '{table().text}'")
    means = summary.groupby("sampler")["precision"].mean()
    view = first_view()
    assert headline(view, ["random", "tpe"]) == (
        f"tpe finds {means['tpe']:.1f} % of the true top 100 with 40 evaluations; "
        f"random {means['random']:.1f} %."
    )
    assert headline(view, ["tpe"]).endswith("with 40 evaluations.")
    assert headline(view, []) == "No sampler is chosen."


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


def embedded(page: str, name: str) -> pd.DataFrame:
    uri = page.split(f'download="{name}" href="')[1].split('"', maxsplit=1)[0]
    return pd.read_csv(io.BytesIO(base64.b64decode(uri.partition("base64,")[2])))


def test_the_tables_are_within_the_page(page: str) -> None:
    summary = summary_at(20, 40)
    pd.testing.assert_frame_equal(
        embedded(page, "summary.csv"), summary, check_dtype=False, rtol=1e-5
    )
    board = leaderboard(summary, METRICS)
    means = embedded(page, "means.csv")
    assert means["sampler"].tolist() == board["sampler"].tolist()
    np.testing.assert_allclose(means["precision"], board["precision"], rtol=1e-5)


def test_too_many_studies_are_left_out_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page.html"
    results = studies(2)
    summary = summarize(results, tables())
    monkeypatch.setattr(dashboard, "_MAX_STUDY_ROWS", len(results))
    write_dashboard(results, tables(), summary, path)
    assert 'download="summary.csv"' in path.read_text(encoding="utf-8")
    monkeypatch.setattr(dashboard, "_MAX_STUDY_ROWS", len(results) - 1)
    write_dashboard(results, tables(), summary, path)
    page = path.read_text(encoding="utf-8")
    assert 'download="summary.csv"' not in page
    assert len(embedded(page, "means.csv")) == 6


def test_the_table_of_the_page_is_that_of_the_terminal(page: str) -> None:
    board = leaderboard(summary_at(20, 40), METRICS)
    for record in records(board):
        for column in page_columns(METRICS):
            text = html.escape(cell_text(column, record, "zaps"))
            assert f">{text}</" in page, (column.key, text)


def test_the_page_stands_alone_and_escapes(page: str) -> None:
    own = page.replace(get_plotlyjs(), "")
    assert len(own) < len(page) - 10**6
    for outside in ("http://", "https://", "@import"):
        assert outside not in own
    assert "second &lt;set&gt;" in page
    assert "second <set>" not in page.split('id="page-data"')[1].split("</script>", maxsplit=1)[0]
    assert 'download="summary.csv"' in page
    for script in own.split("<script")[2:]:
        assert "<set>" not in script.split("</script>", maxsplit=1)[0]
    assert len(page) < 6 * 2**20


def test_a_page_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one finished study"):
        write_dashboard([], [], summary_at(40), tmp_path / "page.html")
    with pytest.raises(ValueError, match="at least one finished study"):
        write_dashboard(
            studies(1), tables(), summary_at(41), tmp_path / "page.html", budgets=budgets(41)
        )


def test_numbers_as_a_reader_wants_them() -> None:
    assert formats.spread(52.34, 6.12) == "52.3 ± 6.1"
    assert formats.p_value(0.25) == "0.250"
    assert formats.p_value(1e-60) == "< 1e-24"
    assert formats.signed(-4.2) == "−4.2"
    assert formats.significant(0.0123) == "0.012"
    assert formats.number(float("nan")) == "–"
