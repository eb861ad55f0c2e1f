"""The page: figures and tables made here, chosen and coloured by a little script in the browser.

Everything is in one file, Plotly included, so that the page opens from a disk without a network.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
import pandas as pd
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from harness.benchmarks.base import TabularBenchmark
from harness.experiment import CellResult
from harness.experiment import SamplerSpec
from harness.metrics import summarize
from harness.readings import BenchmarkKey
from harness.report import figures
from harness.report import heatmaps
from harness.report.palette import SCALES
from harness.report.palette import SamplerStyle
from harness.report.palette import sampler_styles
from harness.report.tables import COLUMNS
from harness.report.tables import cell_text
from harness.report.tables import default_reference
from harness.report.tables import leaderboard
from harness.report.tables import records
from harness.report.views import View
from harness.report.views import make_views
from harness.samplers import is_budget_aware


Styles = Mapping[str, SamplerStyle]


@dataclass(frozen=True)
class Panel:
    """A figure of the page.

    Attributes:
        key: Identifier.
        title: Its heading.
        explanation: What is drawn, in a sentence.
        draw: Makes the figure of a view.
    """

    key: str
    title: str
    explanation: str
    draw: Callable[[View, Styles], go.Figure]


PANELS = (
    Panel(
        "precision",
        "How much of the top is found",
        "P@100: share of the true 100 best configurations among those evaluated. Line: mean over "
        "seeds; band: middle half of the seeds.",
        figures.precision_figure,
    ),
    Panel(
        "regret",
        "How good the best find is",
        "Regret: distance of the best value found from the optimum, relative to the optimum. "
        "Line: geometric mean over seeds, each floored at 0.00001 %; band: middle half.",
        figures.regret_figure,
    ),
    Panel(
        "box",
        "How much seeds differ",
        "P@100 at the budget, a point per seed. Box: middle half and median; dashed: mean.",
        figures.box_figure,
    ),
    Panel(
        "optimum",
        "How soon the optimum is found",
        "Share of the seeds that have evaluated the best configuration of all.",
        figures.optimum_figure,
    ),
    Panel(
        "tests",
        "Which differences are real: P@100",
        "Difference of means in points, row minus column. Stars: one-sided Mann–Whitney U after "
        "Holm, * p < 0.05, ** < 0.01, *** < 0.001. Colour: Cliff's δ, blue where the row leads.",
        lambda view, styles: heatmaps.tests_figure(view, styles, "precision"),
    ),
    Panel(
        "tests_regret",
        "Which differences are real: regret",
        "The same for regret, of which less is better: blue where the row has less of it.",
        lambda view, styles: heatmaps.tests_figure(view, styles, "regret"),
    ),
    Panel(
        "proxies",
        "What the proxies know",
        "Absolute Spearman correlation over the whole table: with the objective in the first row, "
        "with each other below, most relevant first.",
        lambda view, styles: heatmaps.proxies_figure(view.benchmark),
    ),
    Panel(
        "overhead",
        "What a sampler costs",
        "CPU time of each ask, median over seeds, evaluation excluded.",
        figures.overhead_figure,
    ),
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
        benchmarks: Their tables by (name, data set, source).
        path: File to write.
        budgets: Budgets to offer, by default those of the results.
        budget_aware: Whether a sampler plans for its budget.
        command: Command line that made the results.

    Raises:
        ValueError: If there are no results.
    """
    if not results:
        raise ValueError("A dashboard needs at least one finished study, but got none.")
    views = make_views(results, benchmarks, budgets=budgets, budget_aware=budget_aware)
    styles = sampler_styles(result.cell.sampler.label for result in results)
    summary = summarize(results, benchmarks, budgets, budget_aware=budget_aware)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True
    )
    page = environment.get_template("template.html.jinja").render(
        plotly=get_plotlyjs(),
        data=_script_json(_page_data(views, styles, summary)),
        panels=PANELS,
        styles=styles.values(),
        columns=COLUMNS,
        places=list(dict.fromkeys(view.place for view in views)),
        budgets=sorted({view.budget for view in views}),
        provenance=provenance_rows(results, benchmarks, command),
        csv="data:text/csv;charset=utf-8," + quote(summary.to_csv(index=False)),
    )
    path.write_text(page, encoding="utf-8")


def headline(summary: pd.DataFrame, budget: int) -> str:
    """What a view says, in a sentence."""
    means = summary.groupby("sampler", sort=False)["precision"].mean()
    reference = default_reference(summary)
    text = (
        f"{reference} finds {means[reference]:.1f} % of the true top 100 with {budget} evaluations"
    )
    others = [
        f"{label} {mean:.1f} %"
        for label, mean in means.sort_values(ascending=False).items()
        if label != reference
    ]
    return f"{text}; {', '.join(others)}." if others else f"{text}."


def provenance_rows(
    results: Sequence[CellResult],
    benchmarks: Mapping[BenchmarkKey, TabularBenchmark],
    command: str,
) -> list[tuple[str, str]]:
    """Where the numbers come from, as (what, value); differing values are all listed."""
    rows: dict[str, list[str]] = {"command": [command] if command else []}
    for benchmark in benchmarks.values():
        name = f"{benchmark.name} / {benchmark.dataset}"
        rows[name] = [f"source {benchmark.source}, fingerprint {benchmark.fingerprint}"]
        rows[name] += benchmark.notes
    seeds = pd.DataFrame(
        {"sampler": r.cell.sampler.label, "seed": r.cell.seed, "budget": r.cell.budget}
        for r in results
    )
    for label, group in seeds.groupby("sampler", sort=False):
        rows[f"seeds of {label}"] = [
            f"{group['seed'].nunique()}, from {group['seed'].min()} to {group['seed'].max()}"
        ]
    finished = sorted(str(result.provenance.get("finished", "")) for result in results)
    rows["computed"] = [f"{finished[0]} to {finished[-1]}"]
    for result in results:
        for key, value in result.provenance.items():
            known = rows.setdefault(key, [])
            if key != "finished" and str(value) not in known:
                known.append(str(value))
    return [(key, "; ".join(values)) for key, values in rows.items() if values]


def _page_data(views: Sequence[View], styles: Styles, summary: pd.DataFrame) -> dict[str, Any]:
    board = leaderboard(summary)
    reference = default_reference(summary)
    return {
        "scales": SCALES,
        "samplers": list(styles),
        "columns": [column.key for column in COLUMNS],
        "views": {
            view.key: {
                "headline": headline(view.summary, view.budget),
                "planned": view.planned,
                "notes": view.benchmark.notes,
                "rows": _rows(board, view, reference),
                "figures": {
                    panel.key: json.loads(panel.draw(view, styles).to_json()) for panel in PANELS
                },
            }
            for view in views
        },
    }


def _rows(board: pd.DataFrame, view: View, reference: str) -> list[dict[str, Any]]:
    benchmark = view.benchmark
    chosen = board[
        (board["benchmark"] == benchmark.name)
        & (board["dataset"] == benchmark.dataset)
        & (board["source"] == benchmark.source)
        & (board["budget"] == view.budget)
    ]
    return [
        {
            "sampler": str(record["sampler"]),
            "cells": [cell_text(column, record, reference) for column in COLUMNS],
        }
        for record in records(chosen)
    ]


def _script_json(data: Mapping[str, Any]) -> str:
    """JSON that may stand inside a script element."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
