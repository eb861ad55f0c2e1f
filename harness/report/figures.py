"""The figures over evaluations and over seeds, a trace or two per sampler.

Each trace carries its sampler's label in ``meta``, by which the page filters. Colours of axes and
text are the page's; here is only what does not depend on its theme.

Notations:
    curves: one row per study of a sampler, shape (n_studies, budget).
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from harness.metrics import geometric_mean
from harness.metrics import metric_of
from harness.metrics.gap import FLOOR
from harness.report import formats
from harness.report.palette import SamplerStyle
from harness.report.views import View


Floats = npt.NDArray[np.float64]
Styles = Mapping[str, SamplerStyle]

_MAX_POINTS = 500  # of a line: more cannot be told apart on a screen
_CLOCK_MS = 1e-3  # below the clock's resolution a time can read 0, which has no logarithm


def precision_figure(view: View, styles: Styles) -> go.Figure:
    """P@100 against evaluations: mean and interquartile band."""
    evaluations = np.arange(1, view.budget + 1)
    figure = base_figure("true top 100 found (%)")
    for style in _drawn(view, styles):
        curves = _curves(view, style.label, "precision")
        add_band(
            figure, style, evaluations, curves, center=curves.mean(axis=0), hover="%{y:.1f} %"
        )
    figure.update_yaxes(rangemode="tozero")
    return figure


def gap_figure(view: View, styles: Styles) -> go.Figure:
    """Gap against evaluations: geometric mean and interquartile band, both floored."""
    evaluations = np.arange(1, view.budget + 1)
    figure = base_figure("gap to the optimum (%)")
    for style in _drawn(view, styles):
        curves = _curves(view, style.label, "gap")
        floored = np.maximum(curves, FLOOR)
        add_band(
            figure,
            style,
            evaluations,
            floored,
            center=geometric_mean(curves),
            hover="%{y:.3~g} %",
        )
    log_gap_axis(figure)
    return figure


def log_gap_axis(figure: go.Figure) -> None:
    """Powers of ten from the floor of the gap upwards."""
    powers = range(-5, 3)
    figure.update_yaxes(
        type="log",
        tickvals=[10.0**power for power in powers],
        ticktext=["≤ 0.00001", *(f"{10.0**power:.{max(-power, 0)}f}" for power in powers[1:])],
    )


def optimum_figure(view: View, styles: Styles) -> go.Figure:
    """Share of seeds that have evaluated the optimum, against evaluations."""
    figure = base_figure("seeds that found the optimum (%)")
    evaluations = np.arange(1, view.budget + 1)
    for style in _drawn(view, styles):
        found = view.summary.loc[view.summary["sampler"] == style.label, "trials_to_optimum"]
        times = np.sort(found.dropna().to_numpy())
        share = 100.0 * np.searchsorted(times, evaluations, side="right") / len(found)
        figure.add_trace(line(style, evaluations, share, "%{y:.0f} %", shape="hv"))
    figure.update_yaxes(range=[-2, 102])
    return figure


def box_figure(view: View, styles: Styles) -> go.Figure:
    """P@100 at the budget: a box per sampler and a point per seed."""
    figure = base_figure("true top 100 found (%)", x_title="")
    for style in _drawn(view, styles):
        studies = view.summary[view.summary["sampler"] == style.label]
        figure.add_trace(
            go.Box(
                y=studies["precision"].to_numpy(np.float32),
                text=[f"seed {seed}" for seed in studies["seed"]],
                name=style.name,
                meta={"sampler": style.label},
                boxpoints="all",
                jitter=0.45,
                pointpos=0,
                boxmean=True,
                width=0.5,
                line={"color": style.color, "width": 1.5},
                fillcolor=style.tint(0.15),
                marker={"size": 4, "opacity": 0.5, "color": style.color, "symbol": style.symbol},
                showlegend=False,
            )
        )
    figure.update_layout(hovermode="closest")
    figure.update_yaxes(rangemode="tozero")
    return figure


def overhead_figure(view: View, styles: Styles) -> go.Figure:
    """CPU milliseconds of each ask against its number: median over seeds."""
    figure = base_figure("CPU time of an ask (ms)", x_title="ask")
    for style in _drawn(view, styles):
        milliseconds = _asks_of_most(
            [
                1e3 * np.asarray(snapshot.result.ask_seconds[: snapshot.n_asks])
                for snapshot in view.snapshots[style.label]
            ]
        )
        asks = np.arange(1, len(milliseconds) + 1)
        spent = np.cumsum(milliseconds)
        share = 100.0 * spent / max(spent[-1], _CLOCK_MS)
        drawn = np.unique(np.linspace(0, len(asks) - 1, _MAX_POINTS).round().astype(np.intp))
        curve = line(style, asks[drawn], np.maximum(milliseconds, _CLOCK_MS)[drawn], "")
        curve.customdata = share[drawn].astype(np.float32)
        curve.hovertemplate = (
            f"{style.name}: %{{y:.3~g}} ms, %{{customdata:.0f}} % of "
            f"{formats.significant(spent[-1] / 1e3)} s spent<extra></extra>"
        )
        curve.line.width = 1.5
        figure.add_trace(curve)
    figure.update_yaxes(type="log", dtick=1)
    return figure


def _curves(view: View, label: str, metric: str) -> Floats:
    """A metric after each evaluation, a row per study of a sampler."""
    curve = metric_of(metric, view.benchmark.kind).curve
    assert curve is not None
    return np.stack([curve(snapshot, view.benchmark) for snapshot in view.snapshots[label]])


def _drawn(view: View, styles: Styles) -> Iterable[SamplerStyle]:
    return (style for label, style in styles.items() if label in view.snapshots)


def base_figure(y_title: str, x_title: str = "distinct evaluations") -> go.Figure:
    """An empty figure in the style of the page."""
    return go.Figure(
        layout={
            "template": "none",
            "hovermode": "x unified",
            "margin": {"l": 62, "r": 12, "t": 34, "b": 46},
            "xaxis": {"title": {"text": x_title}, "zeroline": False, "automargin": True},
            "yaxis": {
                "title": {"text": y_title, "standoff": 8},
                "zeroline": False,
                "automargin": True,
            },
            "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        }
    )


def line(
    style: SamplerStyle, x: npt.NDArray[Any], y: Floats, hover: str, *, shape: str = "linear"
) -> go.Scatter:
    """A sampler's line; ``hover`` is what a point says, as Plotly's template."""
    return go.Scatter(
        x=x.astype(np.int32),
        y=y.astype(np.float32),
        name=style.name,
        legendgroup=style.name,
        meta={"sampler": style.label},
        mode="lines",
        line={"color": style.color, "width": 2.25, "dash": style.dash, "shape": shape},
        hovertemplate=f"{style.name}: {hover}<extra></extra>",
    )


def add_band(
    figure: go.Figure,
    style: SamplerStyle,
    x: npt.NDArray[np.integer],
    curves: Floats,
    *,
    center: Floats,
    hover: str,
) -> None:
    """Add the line of the centre over the area between the quartiles.

    Args:
        figure: What to add to.
        style: How the sampler is drawn.
        x: Evaluations, shape (n_points,).
        curves: One row per study, shape (n_studies, n_points).
        center: Shape (n_points,).
        hover: What a point says, as Plotly's template.
    """
    drawn = np.unique(np.linspace(0, len(x) - 1, _MAX_POINTS).round().astype(np.intp))
    low, high = np.quantile(curves[:, drawn], (0.25, 0.75), axis=0)
    x = x[drawn].astype(np.int32)
    figure.add_trace(
        go.Scatter(
            x=np.concatenate([x, x[::-1]]),
            y=np.concatenate([high, low[::-1]]).astype(np.float32),
            name=f"{style.name}, quartiles",
            legendgroup=style.name,
            meta={"sampler": style.label},
            mode="lines",
            line={"width": 0},
            fill="toself",
            fillcolor=style.tint(0.16),
            hoverinfo="skip",
            showlegend=False,
        )
    )
    figure.add_trace(line(style, x, center[drawn], hover))


def _asks_of_most(times: list[Floats]) -> Floats:
    """Median over studies, up to the number of asks that at least half of them made."""
    lengths = sorted(len(study) for study in times)
    n_asks = lengths[len(lengths) // 2]
    padded = np.full((len(times), n_asks), np.nan)
    for row, study in zip(padded, times, strict=True):
        row[: len(study)] = study[:n_asks]
    return np.asarray(np.nanmedian(padded, axis=0))
