"""Figures of Section 4: our numbers as lines with bands, the paper's as open markers.

Regret is drawn as the geometric mean over seeds, floored at 1e-5, as in the paper. The tables of
the paper have arithmetic means, which are therefore not drawn beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go

from harness.paper.measured import MeasuredResults
from harness.paper.published import ProblemKey
from harness.paper.published import published
from harness.report.heatmaps import OBJECTIVE
from harness.report.heatmaps import correlations_figure
from harness.report.palette import SamplerStyle
from harness.report.palette import sampler_styles
from harness.report.quantity_axes import log_gap_axis
from harness.report.traces import add_band
from harness.report.traces import band
from harness.report.traces import base_figure


_TITLES = {
    "precision": "true top 100 found (%)",
    "regret": "regret (%)",
    "spearman": "rank correlation with the truth",
}
_HOVER = {"precision": "%{y:.1f} %", "regret": "%{y:.3~g} %", "spearman": "%{y:.3f}"}

Line = tuple[str, ProblemKey, str]
"""Name of a line, and the problem and the row that it shows."""


Drawing = tuple[go.Figure, pd.DataFrame]
"""A figure and the numbers behind it."""


def lines_of(problem: ProblemKey, rows: Sequence[str]) -> list[Line]:
    """Make the lines of several rows on one problem."""
    return [(row, problem, row) for row in rows]


def budget_figure(
    results: MeasuredResults, lines: Sequence[Line], metric: str, *, logarithmic: bool = True
) -> Drawing:
    """Draw a metric against the budget.

    Args:
        results: The measured results; lines without any are left out.
        lines: Lines to draw.
        metric: ``"precision"``, ``"regret"`` or ``"spearman"``.
        logarithmic: Whether regret is drawn on a logarithmic axis, as a geometric mean.

    Returns:
        The figure, without traces if nothing was measured, and the numbers behind it.
    """
    parts = []
    figure = base_figure(_TITLES[metric], x_title="budget B (distinct evaluations)")
    styles = sampler_styles(name for name, _, _ in lines)
    geometric = metric == "regret" and logarithmic
    for name, problem, row in lines:
        curves = _curves(results, problem, row, metric)
        if curves is None:
            continue
        budgets, values = curves
        style = styles[name]
        numbers = pd.DataFrame({"line": name, "budget": budgets})
        numbers = numbers.assign(n_seeds=len(values), **band(values, geometric=geometric))
        add_band(figure, style, numbers, x="budget", hover=_HOVER[metric])
        figure.data[-1].update(mode="lines+markers", marker={"symbol": style.symbol, "size": 6})
        if metric == "precision":
            theirs = _published(problem, row)
            _add_published(figure, style, theirs)
            numbers = numbers.merge(theirs, on="budget", how="left")
        parts.append(numbers)
    if geometric:
        log_gap_axis(figure)
    elif metric != "spearman":
        figure.update_yaxes(rangemode="tozero")
    return figure, pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def proxies_figure(results: MeasuredResults, problem: ProblemKey) -> Drawing:
    """Draw absolute rank correlations: the objective, then the proxies by relevance."""
    matrix = results.correlations(problem).abs()
    order = matrix[OBJECTIVE].drop(OBJECTIVE).sort_values(ascending=False, kind="stable").index
    names = [OBJECTIVE, *order]
    drawn = matrix.loc[names, names]
    return correlations_figure(drawn), drawn.rename_axis("proxy").reset_index()


def _curves(
    results: MeasuredResults, problem: ProblemKey, row: str, metric: str
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]] | None:
    """Budgets, and one row per seed that was measured at all of them."""
    metrics = results.at(problem)
    mine = metrics[metrics["sampler"] == row]
    table = mine.pivot_table(index="seed", columns="budget", values=metric, aggfunc="first")
    table = table.dropna()
    if table.empty:
        return None
    return table.columns.to_numpy(np.intp), table.to_numpy(np.float64)


def _published(problem: ProblemKey, row: str) -> pd.DataFrame:
    """The paper's ``paper_mean`` and ``paper_std`` of a row by budget, NaN where not printed."""
    cells = {
        cell.budget: cell
        for cell in published()
        if (cell.problem, cell.row, cell.metric) == (problem, row, "precision")
    }
    return pd.DataFrame(
        {
            "budget": np.array(list(cells), dtype=np.intp),
            "paper_mean": np.array([cell.mean for cell in cells.values()], dtype=np.float64),
            "paper_std": np.array([cell.std for cell in cells.values()], dtype=np.float64),
        }
    )


def _add_published(figure: go.Figure, style: SamplerStyle, theirs: pd.DataFrame) -> None:
    """Add the paper's means of a row, with their standard deviations where printed."""
    if theirs.empty:
        return
    stds = [f" ± {std:g}" if np.isfinite(std) else "" for std in theirs["paper_std"]]
    figure.add_trace(
        go.Scatter(
            x=theirs["budget"].to_list(),
            y=theirs["paper_mean"].to_list(),
            text=stds,
            mode="markers",
            name=f"{style.name}, paper",
            legendgroup=style.name,
            showlegend=False,
            marker={
                "symbol": "circle-open",
                "size": 11,
                "color": style.color,
                "line": {"width": 2},
            },
            hovertemplate=f"{style.name}, paper: %{{y}} %%{{text}}<extra></extra>",
        )
    )
