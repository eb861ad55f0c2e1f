"""One self-contained page: figures and tables of every view, and the filters between them.

Figures are built here and embedded as JSON; ``dashboard.js`` picks, filters and draws them. The
page has no address of anything outside itself, so it opens offline and stays as it was.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from harness.experiment import CellResult
from harness.metrics import GROUP
from harness.metrics import Budgets
from harness.metrics.precision import N_TOP
from harness.problems import Problem
from harness.problems import TabularBenchmark
from harness.report import embed
from harness.report import figures
from harness.report import formats
from harness.report import heatmaps
from harness.report import provenance
from harness.report.palette import SCALES
from harness.report.palette import sampler_styles
from harness.report.tables import cell_text
from harness.report.tables import default_reference
from harness.report.tables import leaderboard
from harness.report.tables import page_columns
from harness.report.tables import records
from harness.report.views import View
from harness.report.views import make_views
from harness.run.files import write_whole
from harness.suites import ONE_TABLE


_MAX_STUDY_ROWS = 3_000  # of the table of studies within the page, about 350 KB
_MAX_NAMED = 3  # samplers in the headline


@dataclass(frozen=True)
class Panel:
    """A figure with its text.

    Attributes:
        name: Identifier.
        title: Heading.
        sentence: How to read it.
        build: Function of view and styles.
    """

    name: str
    title: str
    sentence: str
    build: Callable[[View, figures.Styles], go.Figure]


PANELS = (
    Panel(
        "precision",
        "Share of the top 100 found",
        "P@100, the percentage of the true 100 best configurations among those evaluated; the "
        "line is the mean over seeds, the band holds the middle half of them. Higher is better.",
        figures.precision_figure,
    ),
    Panel(
        "gap",
        "Gap to the optimum",
        "Distance of the best evaluated configuration from the optimum, relative to it; geometric "
        "mean over seeds, each floored at 0.00001 %, with quartiles. Lower is better.",
        figures.gap_figure,
    ),
    Panel(
        "box",
        "Spread over seeds",
        "P@100 when the budget is spent: a point is a study, the box holds the middle half, the "
        "dashed line is the mean. If you can run only one study, this spread is your risk.",
        figures.box_figure,
    ),
    Panel(
        "optimum",
        "Optimum found",
        "Percentage of seeds that have evaluated the very best configuration by then. Earlier and "
        "higher is better.",
        figures.optimum_figure,
    ),
    Panel(
        "tests_precision",
        "Tests on the top 100",
        "Is the row ahead of the column? Text: difference of mean P@100 in points; stars: "
        "one-sided Mann–Whitney U, Holm-adjusted (* p < 0.05, ** 0.01, *** 0.001); colour: "
        "Cliff's δ, blue where the row is better.",
        partial(heatmaps.tests_figure, metric="precision"),
    ),
    Panel(
        "tests_gap",
        "Tests on the gap",
        "The same for the gap to the optimum, where a negative difference is better. Finding the "
        "top 100 and finding the single best are different goals.",
        partial(heatmaps.tests_figure, metric="gap"),
    ),
    Panel(
        "overhead",
        "Time of the sampler",
        "CPU time of each ask, median over seeds; the evaluation itself is not in it. Hover for "
        "the share of the study's total that was spent by then.",
        figures.overhead_figure,
    ),
)
PROXIES = Panel(
    "proxies",
    "Proxies and the objective",
    "Absolute Spearman correlation of each proxy with the objective (first row) and with each "
    "other; the most relevant first. Near 1 between two proxies means redundant.",
    lambda view, styles: heatmaps.proxies_figure(view.benchmark),
)


def write_dashboard(
    results: Sequence[CellResult],
    problems: Iterable[Problem],
    summary: pd.DataFrame,
    path: Path,
    *,
    budgets: Mapping[str, Budgets] | None = None,
    command: str = "",
) -> None:
    """Write the page of a comparison on tables.

    Args:
        results: Finished studies; those on other problems than tables are left out.
        problems: Their problems.
        summary: Frame of :func:`harness.metrics.summarize` of these studies.
        path: File to write.
        budgets: Budgets by text of the problem, as for the summary.
        command: Command line that made the page, shown to the reader.

    Raises:
        ValueError: If there is nothing to show.
    """
    tables = [problem for problem in problems if isinstance(problem, TabularBenchmark)]
    texts = {table.text for table in tables}
    results = [result for result in results if result.cell.problem in texts]
    summary = summary[summary["problem"].isin(texts)]
    if summary.empty:
        raise ValueError(
            "A dashboard needs at least one finished study on a table at the budgets asked for, "
            f"but got none of the {len(results)}."
        )
    views = make_views(results, tables, summary, budgets)
    tests = pd.concat([view.tests["precision"] for view in views], ignore_index=True)
    reference = default_reference(summary)
    metrics = ONE_TABLE.metrics
    board = leaderboard(summary, metrics, reference=reference, tests=tests)
    styles = sampler_styles(summary["sampler"])
    html = embed.render(
        "template.html.jinja",
        script="dashboard.js",
        data=_page_data(views, styles),
        views=views,
        boards={view.key: _board_of(view, board) for view in views},
        cell_text=cell_text,
        columns=[c for c in page_columns(metrics) if not c.compares or len(styles) > 1],
        reference=reference,
        styles=styles,
        panels=(*PANELS, PROXIES),
        headline=headline(views[0], list(styles)),
        budgets=sorted({view.budget for view in views}),
        places={view.place: view.place for view in views},
        downloads=_downloads(summary, board),
        facts={
            "Studies": provenance.run_facts(results),
            "Samplers": provenance.sampler_facts(results),
            "Tables": provenance.problem_facts(
                {id(view.benchmark): view.benchmark for view in views}.values()
            ),
        },
        command=command,
        n_studies=len(results),
    )
    write_whole(path, html)


def headline(view: View, chosen: Collection[str]) -> str:
    """The key message of a view about chosen samplers, as ``dashboard.js`` puts it together."""
    clauses = _headline(view)
    order = [label for label in clauses["order"] if label in chosen]
    if not order:
        return "No sampler is chosen."
    others = ", ".join(clauses["follow"][label] for label in order[1:_MAX_NAMED])
    return "; ".join(filter(None, (clauses["lead"][order[0]], others))) + "."


def _page_data(views: Sequence[View], styles: figures.Styles) -> dict[str, Any]:
    return {
        "samplers": list(styles),
        "named": _MAX_NAMED,
        "scales": SCALES,
        "views": {
            view.key: {
                "place": view.place,
                "budget": view.budget,
                "figures": {
                    panel.name: embed.plain(panel.build(view, styles)) for panel in PANELS
                },
                "headline": _headline(view),
                "where": f"{view.benchmark.text}, {view.setting}",
                "notes": view.benchmark.notes,
                "planned": view.planned,
            }
            for view in views
        },
        "proxies": {
            view.place: embed.plain(PROXIES.build(view, styles))
            for view in views
            if view.benchmark.proxies.shape[1]
        },
    }


def _headline(view: View) -> dict[str, Any]:
    """Clauses of the key message: the page joins those of the samplers that are chosen."""
    means = view.summary.groupby("sampler", sort=False)["precision"].mean()
    means = means.sort_values(ascending=False, kind="stable")
    shares = {str(label): f"{formats.number(mean)} %" for label, mean in means.items()}
    n_top = len(view.benchmark.top(N_TOP))
    order = list(shares)
    verdicts: dict[str, dict[str, str]] = {}
    for test in records(view.tests["precision"]):
        a, b = str(test["sampler_a"]), str(test["sampler_b"])
        if order.index(a) < order.index(b):
            verdicts.setdefault(a, {})[b] = heatmaps.verdict(test, "precision")
    return {
        "order": order,
        "lead": {
            label: f"{label} finds {share} of the true top {n_top} with {view.budget} {view.unit}"
            for label, share in shares.items()
        },
        "follow": {label: f"{label} {share}" for label, share in shares.items()},
        "verdicts": verdicts,
    }


def _board_of(view: View, board: pd.DataFrame) -> list[dict[str, Any]]:
    group = (view.benchmark.text, view.in_flight, view.unit, view.budget)
    return records(board[(board[list(GROUP)] == list(group)).all(axis="columns")])


def _downloads(summary: pd.DataFrame, board: pd.DataFrame) -> list[tuple[str, str, str]]:
    """(text, file name, data URI) of each table that the page carries."""
    tables = [("Means (CSV)", "means.csv", board)]
    if len(summary) <= _MAX_STUDY_ROWS:
        tables.append(("Every study (CSV)", "summary.csv", summary))
    return [(text, name, _data_uri(frame)) for text, name, frame in tables]


def _data_uri(frame: pd.DataFrame) -> str:
    content = frame.to_csv(index=False, float_format="%.6g").encode()
    return "data:text/csv;charset=utf-8;base64," + base64.b64encode(content).decode()
