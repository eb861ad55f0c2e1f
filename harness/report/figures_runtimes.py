"""Figures of mean ranks and of runtimes, a line per sampler over one of the axes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from harness.metrics.metric import Floats
from harness.metrics.progress import Axis
from harness.report.axes import axis_scale
from harness.report.axes import logarithmic
from harness.report.palette import SamplerStyle
from harness.report.palette import Styles
from harness.report.traces import add_area
from harness.report.traces import base_figure
from harness.report.traces import line


def ranks_figure(curves: pd.DataFrame, styles: Styles, axis: Axis, unit: str) -> go.Figure:
    """Mean ranks with their bands.

    Args:
        curves: Frame of :func:`harness.report.rank_curves.rank_curves`.
        styles: How samplers are drawn, in the order of the page.
        axis: Axis of the frame.
        unit: Unit of the budget.
    """
    factor, title = axis_scale(axis, unit, curves["at"].max())
    figure = base_figure("mean rank (1 is best)", title)
    for style, rows in _by_sampler(curves, styles):
        at, low, high = (rows[name].to_numpy() for name in ("at", "low", "high"))
        at = at * factor
        if not np.isnan(low).any():
            add_area(figure, style, at, low, high, name="95 % interval")
        figure.add_trace(line(style, at, rows["mean_rank"].to_numpy(), "%{y:.2f}"))
    n_samplers = curves["sampler"].nunique()
    figure.update_yaxes(range=[n_samplers + 0.1, 0.9], dtick=1)
    if axis is not Axis.STEPS:
        logarithmic(figure)
    return figure


def reached_figure(steps: pd.DataFrame, styles: Styles, axis: Axis, unit: str) -> go.Figure:
    """Shares of the targets that were reached, with a cross where the last study ended.

    Args:
        steps: Frame of :func:`harness.report.runtimes.reached`, sampled.
        styles: How samplers are drawn, in the order of the page.
        axis: Axis of the frame.
        unit: Unit of the budget.
    """
    factor, title = axis_scale(axis, unit, steps["at"].max())
    figure = base_figure("targets reached (%)", title)
    for style, rows in _by_sampler(steps, styles):
        at, shares = rows["at"].to_numpy() * factor, rows["share"].to_numpy()
        figure.add_trace(_steps(style, at, shares))
        if axis is not Axis.STEPS:
            end = int(rows["ended"].to_numpy().argmax())
            figure.add_trace(_cross(style, at[end], shares[end]))
    return _of_shares(figure)


def profile_figure(steps: pd.DataFrame, styles: Styles, axis: Axis, unit: str) -> go.Figure:
    """Performance profile.

    Args:
        steps: Frame of :func:`harness.report.runtimes.profile`, sampled.
        styles: How samplers are drawn, in the order of the page.
        axis: Axis of the runtimes.
        unit: Unit of the budget.
    """
    what = {Axis.STEPS: unit, Axis.CPU: "CPU time", Axis.CLOCK: "wall-clock time"}[axis]
    figure = base_figure("targets (%)", f"{what} relative to the best")
    for style, rows in _by_sampler(steps, styles):
        figure.add_trace(_steps(style, rows["ratio"].to_numpy(), rows["share"].to_numpy()))
    return _of_shares(figure)


def _by_sampler(
    frame: pd.DataFrame, styles: Styles
) -> Iterator[tuple[SamplerStyle, pd.DataFrame]]:
    """Rows of each sampler, in the order of the page."""
    rows = dict(iter(frame.groupby("sampler", sort=False)))
    return ((style, rows[label]) for label, style in styles.items() if label in rows)


def _steps(style: SamplerStyle, at: Floats, shares: Floats) -> go.Scatter:
    return line(style, at, shares, "%{y:.1f} %", shape="hv")


def _cross(style: SamplerStyle, x: float, y: float) -> go.Scatter:
    return go.Scatter(
        x=[x],
        y=[y],
        name=style.name,
        legendgroup=style.name,
        meta={"sampler": style.label},
        mode="markers",
        marker={"symbol": "x", "size": 9, "color": style.color},
        hoverinfo="skip",
        showlegend=False,
    )


def _of_shares(figure: go.Figure) -> go.Figure:
    figure.update_yaxes(range=[-2, 102])
    return logarithmic(figure)
