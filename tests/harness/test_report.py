from __future__ import annotations

from pathlib import Path

import numpy as np
from plotly.offline import get_plotlyjs
import pytest
from rich.console import Console
from toy import studies
from toy import table
from toy import tables

from harness.metrics import precision_curve
from harness.metrics import summarize
from harness.report import aggregate
from harness.report import formats
from harness.report import leaderboard
from harness.report import rich_table
from harness.report import write_dashboard
from harness.report.dashboard import headline
from harness.report.dashboard import provenance_rows
from harness.report.figures import precision_figure
from harness.report.heatmaps import correlations
from harness.report.palette import sampler_styles
from harness.report.views import make_views


def never(spec: object) -> bool:
    return False


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "dashboard.html"
    write_dashboard(studies(), tables(), path, budgets=[20, 40], command="zaps-harness compare")
    return path.read_text(encoding="utf-8")


def test_aggregate_averages_over_seeds() -> None:
    summary = summarize(studies(), tables())
    board = aggregate(summary).set_index(["dataset", "sampler"])
    group = summary[(summary["dataset"] == "toy") & (summary["sampler"] == "tpe")]
    row = board.loc[("toy", "tpe")]
    assert row["n_seeds"] == 6
    assert row["precision_mean"] == pytest.approx(np.mean(group["precision"]))
    assert row["precision_std"] == pytest.approx(np.std(group["precision"], ddof=1))
    assert row["found_optimum"] == pytest.approx(100 * group["found_optimum"].mean())


def test_the_reference_is_zaps_and_the_best_is_first() -> None:
    board = leaderboard(summarize(studies(), tables()))
    toy = board[board["dataset"] == "toy"]
    assert toy["sampler"].tolist() == ["zaps", "tpe", "random"]
    assert toy["difference"].isna().tolist() == [True, False, False]
    assert (toy["difference"].dropna() > 0).all()


def test_the_terminal_needs_no_more_than_80_characters() -> None:
    console = Console(width=80, record=True, file=None, quiet=False)
    with console.capture() as capture:
        console.print(rich_table(summarize(studies(), tables())))
    text = capture.get()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
    for part in ("40 evaluations, 6 seeds", "zaps against", "P@100 %", "repeats %", "CPU s"):
        assert part in text


def test_the_line_of_a_figure_is_the_mean_over_seeds() -> None:
    view = make_views(studies(), tables(), budgets=None, budget_aware=never)[0]
    figure = precision_figure(view, sampler_styles(view.readings))
    line = next(t for t in figure.data if t.name == "zaps" and t.line.width)
    curves = [precision_curve(r.evaluated, table().top(100), 40) for r in view.readings["zaps"]]
    np.testing.assert_allclose(line.y, np.mean(curves, axis=0), rtol=1e-6)


def test_correlations_are_in_order_of_relevance() -> None:
    matrix = correlations(table())
    assert list(matrix.columns) == ["objective", "good", "noise"]
    assert matrix.loc["objective", "good"] > 0.99
    assert matrix.loc["objective", "noise"] < 0.25


def test_the_headline_is_computed() -> None:
    summary = summarize(studies(), tables(), [40]).query("dataset == 'toy'")
    means = summary.groupby("sampler")["precision"].mean()
    assert headline(summary, 40) == (
        f"zaps finds {means['zaps']:.1f} % of the true top 100 with 40 evaluations; "
        f"tpe {means['tpe']:.1f} %, random {means['random']:.1f} %."
    )


def test_provenance_lists_what_differs() -> None:
    rows = dict(provenance_rows(studies(2), tables(), "the command"))
    assert rows["command"] == "the command"
    assert rows["optuna"] == "5.0.0"
    assert rows["seeds of zaps"] == "2, from 0 to 1"
    assert "Made up." in rows["bench / toy"]


def test_the_page_stands_alone_and_escapes(page: str) -> None:
    own = page.replace(get_plotlyjs(), "")
    assert len(own) < len(page) - 10**6
    for outside in ("http://", "https://", "@import"):
        assert outside not in own
    assert "second &lt;set&gt;" in page
    assert "second <set>" not in page.split('id="data"')[1].split("</script>", maxsplit=1)[0]
    assert 'download="summary.csv"' in page
    assert len(page) < 6 * 2**20


def test_a_page_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one finished study"):
        write_dashboard([], {}, tmp_path / "page.html")


def test_numbers_as_a_reader_wants_them() -> None:
    assert formats.spread(52.34, 6.12) == "52.3 ± 6.1"
    assert formats.p_value(0.25) == "0.250"
    assert formats.p_value(1e-60) == "< 1e-24"
    assert formats.signed(-4.2) == "−4.2"
    assert formats.significant(0.0123) == "0.012"
    assert formats.number(float("nan")) == "–"
