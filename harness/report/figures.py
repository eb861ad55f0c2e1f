"""Figures over evaluations and over seeds, a trace or two per sampler.

Each trace carries its sampler's label in ``meta``, by which the page filters. Colours of axes and
text are the page's; here is only what does not depend on its theme.

Notations:
    curves: one row per study of a sampler, shape (n_studies, budget).
    loss: quantity in percent of which smaller numbers are better; it is drawn as its geometric
        mean on a logarithmic axis, floored at 0.00001 %.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import html
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from harness.metrics import QUANTITIES
from harness.metrics import Snapshot
from harness.metrics import geometric_mean
from harness.metrics import metric_of
from harness.metrics.gap import FLOOR
from harness.metrics.metric import Quantity
from harness.problems import Problem
from harness.report import formats
from harness.report.palette import SamplerStyle


Floats = npt.NDArray[np.float64]
Styles = Mapping[str, SamplerStyle]

_MAX_POINTS = 500  # of a line: more cannot be told apart on a screen
_CLOCK_MS = 1e-3  # below the clock's resolution a time can read 0, which has no logarithm
_STEPS = {"evaluations": "distinct evaluations", "trials": "trials"}
_SHARES = ("found_optimum",)  # 0 or 100 for each study: their mean is a share of the seeds
_AXES = {
    "precision": "true top 100 found (%)",
    "gap": "gap to the optimum (%)",
    "regret": "normalised regret (%)",
    "hypervolume": "hypervolume of the true front (%)",
    "found_optimum": "seeds that found the optimum (%)",
}


@dataclass(frozen=True)
class Drawn:
    """Studies that figures are drawn of.

    Attributes:
        problem: Their problem.
        unit: Unit of the budget, ``"evaluations"`` or ``"trials"``.
        budget: Number of them.
        snapshots: Studies by sampler.
    """

    problem: Problem
    unit: str
    budget: int
    snapshots: Mapping[str, Sequence[Snapshot]]

    def curves(self, label: str, metric: str) -> Floats:
        """A metric after each step, a row per study of a sampler."""
        curve = metric_of(metric, self.problem.kind).curve
        assert curve is not None
        return np.stack([curve(snapshot, self.problem) for snapshot in self.snapshots[label]])

    def styles(self, styles: Styles) -> Iterable[SamplerStyle]:
        """Styles of the samplers that have studies, in the order of the page."""
        return (style for label, style in styles.items() if label in self.snapshots)


def has_curve(metric: str, problem: Problem) -> bool:
    """Whether a quantity is known after each step of a study."""
    found = metric_of(metric, problem.kind)
    return found.curve is not None and found.quantities[0].name == metric


def is_loss(quantity: Quantity) -> bool:
    """Whether a quantity is drawn on a logarithmic axis."""
    return quantity.larger_is_better is False and quantity.unit == "%"


def progress_figure(drawn: Drawn, styles: Styles, metric: str) -> go.Figure:
    """A quantity against the steps of the budget: mean and interquartile band."""
    quantity = QUANTITIES[metric]
    steps = np.arange(1, drawn.budget + 1)
    figure = base_figure(_axis(drawn, metric), x_title=_STEPS[drawn.unit])
    for style in drawn.styles(styles):
        curves = drawn.curves(style.label, metric)
        if metric in _SHARES:
            share = curves.mean(axis=0)
            figure.add_trace(line(style, steps, share, "%{y:.0f} %", shape="hv"))
        elif is_loss(quantity):
            floored = np.maximum(curves, FLOOR)
            center = geometric_mean(curves)
            add_band(figure, style, steps, floored, center=center, hover="%{y:.3~g} %")
        else:
            hover = "%{y:.1f} %" if quantity.unit == "%" else "%{y:.6~g}"
            add_band(figure, style, steps, curves, center=curves.mean(axis=0), hover=hover)
    _scale_axis(figure, metric)
    return figure


def log_gap_axis(figure: go.Figure) -> None:
    """Powers of ten from the floor of the gap upwards; more ticks where those are few."""
    numbers = [np.asarray(trace.y, dtype=np.float64) for trace in figure.data]
    low = min((part.min() for part in numbers), default=FLOOR)
    high = max((part.max() for part in numbers), default=100.0)
    if high < 100.0 * low:
        dtick = "D2" if high > 8.0 * low else None  # 10, 20, 50, 100
        figure.update_yaxes(type="log", tickformat="~g", dtick=dtick)
        return
    powers = range(-5, 3)
    figure.update_yaxes(
        type="log",
        tickvals=[10.0**power for power in powers],
        ticktext=["≤ 0.00001", *(f"{10.0**power:.{max(-power, 0)}f}" for power in powers[1:])],
    )


def box_figure(drawn: Drawn, styles: Styles, metric: str) -> go.Figure:
    """A quantity when the budget is spent: a box per sampler and a point per seed."""
    figure = base_figure(_axis(drawn, metric), x_title="")
    for style in drawn.styles(styles):
        values = drawn.curves(style.label, metric)[:, -1]
        if is_loss(QUANTITIES[metric]):
            values = np.maximum(values, FLOOR)
        figure.add_trace(
            go.Box(
                y=values.astype(np.float32),
                text=[f"seed {s.result.cell.seed}" for s in drawn.snapshots[style.label]],
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
    figure.update_layout(hovermode="closest", margin_t=8)
    figure.update_xaxes(type="category")
    _scale_axis(figure, metric)
    return figure


def overhead_figure(drawn: Drawn, styles: Styles) -> go.Figure:
    """CPU milliseconds of each ask against its number: median over seeds."""
    figure = base_figure("CPU time of an ask (ms)", x_title="ask")
    for style in drawn.styles(styles):
        milliseconds = _asks_of_most(
            [
                1e3 * np.asarray(snapshot.result.ask_seconds[: snapshot.n_asks])
                for snapshot in drawn.snapshots[style.label]
            ]
        )
        asks = np.arange(1, len(milliseconds) + 1)
        spent = np.cumsum(milliseconds)
        share = 100.0 * spent / max(spent[-1], _CLOCK_MS)
        points = _points(len(asks))
        curve = line(style, asks[points], np.maximum(milliseconds, _CLOCK_MS)[points], "")
        curve.customdata = share[points].astype(np.float32)
        curve.hovertemplate = (
            "%{fullData.name}: %{y:.3~g} ms, %{customdata:.0f} % of "
            f"{formats.significant(spent[-1] / 1e3)} s spent<extra></extra>"
        )
        curve.line.width = 1.5
        figure.add_trace(curve)
    figure.update_yaxes(type="log", dtick=1)
    return figure


def _points(n_steps: int) -> npt.NDArray[np.intp]:
    """Positions of the steps that are drawn."""
    return np.unique(np.linspace(0, n_steps - 1, _MAX_POINTS).round().astype(np.intp))


def _axis(drawn: Drawn, metric: str) -> str:
    """Title of the axis of a quantity; one in the unit of the objective has the objective's."""
    quantity = QUANTITIES[metric]
    if not quantity.unit:
        return html.escape(f"{quantity.title}: {drawn.problem.objectives[0]}")
    return _AXES.get(metric, quantity.title)


def _scale_axis(figure: go.Figure, metric: str) -> None:
    quantity = QUANTITIES[metric]
    if is_loss(quantity):
        log_gap_axis(figure)
    elif metric in _SHARES:
        figure.update_yaxes(range=[-2, 102])
    elif quantity.unit:
        figure.update_yaxes(rangemode="tozero")


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
        hovertemplate=f"%{{fullData.name}}: {hover}<extra></extra>",
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
    points = _points(len(x))
    low, high = np.quantile(curves[:, points], (0.25, 0.75), axis=0)
    x = x[points].astype(np.int32)
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
    figure.add_trace(line(style, x, center[points], hover))


def _asks_of_most(times: list[Floats]) -> Floats:
    """Median over studies, up to the number of asks that at least half of them made."""
    lengths = sorted(len(study) for study in times)
    n_asks = lengths[len(lengths) // 2]
    padded = np.full((len(times), n_asks), np.nan)
    for row, study in zip(padded, times, strict=True):
        row[: len(study)] = study[:n_asks]
    return np.asarray(np.nanmedian(padded, axis=0))
