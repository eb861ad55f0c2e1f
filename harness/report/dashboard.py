"""One self-contained page: figures and tables of every view, and the filters between them.

Figures are built here and embedded as JSON; ``dashboard.js`` picks, filters and draws them. The
page has no address of anything outside itself, so it opens offline and stays as it was.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from harness.experiment import CellResult
from harness.experiment import SamplerSpec
from harness.metrics import N_TOP
from harness.metrics import summarize
from harness.problems.base import TabularBenchmark
from harness.readings import BenchmarkKey
from harness.report import embed
from harness.report import figures
from harness.report import formats
from harness.report import heatmaps
from harness.report import provenance
from harness.report.palette import SCALES
from harness.report.palette import sampler_styles
from harness.report.tables import COLUMNS
from harness.report.tables import cell_text
from harness.report.tables import default_reference
from harness.report.tables import leaderboard
from harness.report.tables import records
from harness.report.views import View
from harness.report.views import make_views
from harness.run.files import write_whole
from harness.samplers import is_budget_aware


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
        "regret",
        "Regret",
        "Distance of the best evaluated configuration from the optimum, relative to it; geometric "
        "mean over seeds, each floored at 0.00001 %, with quartiles. Lower is better.",
        figures.regret_figure,
    ),
    Panel(
        "box",
        "Spread over seeds",
        "P@100 when the budget is spent: a point is a study, the box holds the middle half, the "
        "dashed line is the mean. With one study to run, the spread is your risk.",
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
        "tests_regret",
        "Tests on regret",
        "The same for regret, where a negative difference is better. Finding the top 100 and "
        "finding the single best are different feats.",
        partial(heatmaps.tests_figure, metric="regret"),
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
    "What the proxies know",
    "Absolute Spearman correlation of each proxy with the objective (first row) and with each "
    "other; the most relevant first. Near 1 between two proxies means redundant.",
    lambda view, styles: heatmaps.proxies_figure(view.benchmark),
)


def write_dashboard(
    results: Sequence[CellResult],
    benchmarks: Mapping[BenchmarkKey, TabularBenchmark],
    path: Path,
    *,
    budgets: Sequence[int] | None = None,
    budget_aware: Callable[[SamplerSpec], bool] = is_budget_aware,
    command: str = "",
) -> None:
    """Write the page of a comparison.

    Args:
        results: Finished studies.
        benchmarks: Tables by (name, data set, source).
        path: File to write.
        budgets: Budgets to show, by default those of the results.
        budget_aware: Whether a sampler plans for its budget.
        command: Command line that made the page, shown to the reader.

    Raises:
        ValueError: If there is nothing to show.
    """
    views = make_views(results, benchmarks, budgets=budgets, budget_aware=budget_aware)
    if not views:
        raise ValueError(
            f"A dashboard needs at least one finished study, but none of the {len(results)} "
            f"results speaks for the budgets {budgets}."
        )
    summary = summarize(results, benchmarks, budgets, budget_aware=budget_aware)
    tests = pd.concat([view.tests["precision"] for view in views], ignore_index=True)
    reference = default_reference(summary)
    board = leaderboard(summary, reference=reference, tests=tests)
    styles = sampler_styles(summary["sampler"])
    html = embed.render(
        "template.html.jinja",
        script="dashboard.js",
        data=_page_data(views, styles),
        views=views,
        boards={view.key: _board_of(view, board) for view in views},
        cell_text=cell_text,
        columns=[column for column in COLUMNS if not column.compares or len(styles) > 1],
        reference=reference,
        styles=styles,
        panels=(*PANELS, PROXIES),
        headline=headline(views[0], list(styles)),
        budgets=sorted({view.budget for view in views}),
        places={view.place: _place_text(view) for view in views},
        downloads=_downloads(summary, board),
        facts={
            "Studies": provenance.run_facts(results),
            "Samplers": provenance.sampler_facts(results),
            "Tables": provenance.benchmark_facts(
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
                "where": f"{_place_text(view)}, {view.budget} evaluations",
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
            label: f"{label} finds {share} of the true top {n_top} with {view.budget} evaluations"
            for label, share in shares.items()
        },
        "follow": {label: f"{label} {share}" for label, share in shares.items()},
        "verdicts": verdicts,
    }


def _place_text(view: View) -> str:
    benchmark = view.benchmark
    text = f"{benchmark.name} / {benchmark.dataset} ({benchmark.source})"
    return text + formats.in_flight(view.in_flight)


def _board_of(view: View, board: pd.DataFrame) -> list[dict[str, Any]]:
    benchmark = view.benchmark
    chosen = (
        (board["benchmark"] == benchmark.name)
        & (board["dataset"] == benchmark.dataset)
        & (board["source"] == benchmark.source)
        & (board["in_flight"] == view.in_flight)
        & (board["budget"] == view.budget)
    )
    return records(board[chosen])


def _downloads(summary: pd.DataFrame, board: pd.DataFrame) -> list[tuple[str, str, str]]:
    """(text, file name, data URI) of each table that the page carries."""
    tables = [("Means (CSV)", "means.csv", board)]
    if len(summary) <= _MAX_STUDY_ROWS:
        tables.append(("Every study (CSV)", "summary.csv", summary))
    return [(text, name, _data_uri(frame)) for text, name, frame in tables]


def _data_uri(frame: pd.DataFrame) -> str:
    content = frame.to_csv(index=False, float_format="%.6g").encode()
    return "data:text/csv;charset=utf-8;base64," + base64.b64encode(content).decode()
