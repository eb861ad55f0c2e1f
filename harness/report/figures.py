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
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import html
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go

from harness.metrics import QUANTITIES
from harness.metrics import Snapshot
from harness.metrics import geometric_mean
from harness.metrics import metric_of
from harness.metrics.gap import FLOOR
from harness.metrics.metric import Quantity
from harness.metrics.progress import Axis
from harness.metrics.progress import common_positions
from harness.metrics.progress import progress
from harness.metrics.progress import value_of
from harness.problems import Problem
from harness.problems import TabularBenchmark
from harness.report import formats
from harness.report.axes import axis_scale
from harness.report.axes import logarithmic
from harness.report.axes import position_name
from harness.report.palette import SamplerStyle


Floats = npt.NDArray[np.float64]
Styles = Mapping[str, SamplerStyle]

_N_OVER_TIME = 100  # positions of a curve over time
_MAX_POINTS = 500  # of a line: more cannot be told apart on a screen
_CLOCK_MS = 1e-3  # below the clock's resolution a time can read 0, which has no logarithm
_SHARES = ("found_optimum",)  # 0 or 100 for each study: their mean is a share of the seeds
_AXES = {
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


def progress_numbers(
    drawn: Drawn, styles: Styles, metric: str, axis: Axis = Axis.STEPS
) -> pd.DataFrame:
    """A quantity after each step of the budget, or over time.

    Returns:
        A row per sampler and position: ``sampler``, the position under the unit of the budget or
        ``seconds``, ``mean`` or ``geometric_mean``, and the quartiles except of a share of the
        seeds. Over time a sampler's rows begin when all of its studies have a first result.
    """
    of_loss = is_loss(QUANTITIES[metric])
    parts = []
    for label, at, curves in _curves_over(drawn, styles, metric, axis):
        part = pd.DataFrame({"sampler": label, position_name(axis, drawn.unit): at})
        if metric in _SHARES:
            parts.append(part.assign(mean=curves.mean(axis=0)))
        else:
            parts.append(part.assign(**band(curves, geometric=of_loss)))
    return pd.concat(parts, ignore_index=True)


def progress_figure(
    numbers: pd.DataFrame, drawn: Drawn, styles: Styles, metric: str, axis: Axis = Axis.STEPS
) -> go.Figure:
    """A quantity against the steps of the budget, or time: mean and interquartile band.

    Args:
        numbers: Frame of :func:`progress_numbers`.
        drawn: The studies.
        styles: How samplers are drawn.
        metric: The quantity.
        axis: Axis of the frame.
    """
    quantity, column = QUANTITIES[metric], position_name(axis, drawn.unit)
    factor, title = axis_scale(axis, drawn.unit, numbers[column].max())
    numbers = numbers.assign(**{column: numbers[column] * factor})
    figure = base_figure(_axis(drawn, metric), x_title=title)
    for style in drawn.styles(styles):
        mine = numbers[numbers["sampler"] == style.label]
        if metric in _SHARES:
            share = mine["mean"].to_numpy()
            steps = mine[column].to_numpy()
            figure.add_trace(line(style, steps, share, "%{y:.0f} %", shape="hv"))
        else:
            percent = "%{y:.3~g} %" if is_loss(quantity) else "%{y:.1f} %"
            hover = percent if quantity.unit == "%" else "%{y:.6~g}"
            add_band(figure, style, mine, x=column, hover=hover)
    _scale_axis(figure, metric)
    return figure if axis is Axis.STEPS else logarithmic(figure)


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


def final_numbers(drawn: Drawn, styles: Styles, metric: str) -> pd.DataFrame:
    """A quantity when the budget is spent: ``sampler``, ``seed`` and the quantity's name."""
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "sampler": style.label,
                    "seed": [s.result.cell.seed for s in drawn.snapshots[style.label]],
                    metric: drawn.curves(style.label, metric)[:, -1],
                }
            )
            for style in drawn.styles(styles)
        ],
        ignore_index=True,
    )


def box_figure(numbers: pd.DataFrame, drawn: Drawn, styles: Styles, metric: str) -> go.Figure:
    """A quantity when the budget is spent: a box per sampler and a point per seed.

    Args:
        numbers: Frame of :func:`final_numbers`.
        drawn: The studies.
        styles: How samplers are drawn.
        metric: The quantity.
    """
    figure = base_figure(_axis(drawn, metric), x_title="")
    for style in drawn.styles(styles):
        mine = numbers[numbers["sampler"] == style.label]
        values = mine[metric].to_numpy()
        if is_loss(QUANTITIES[metric]):
            values = np.maximum(values, FLOOR)
        figure.add_trace(
            go.Box(
                y=values.astype(np.float32),
                text=[f"seed {seed}" for seed in mine["seed"]],
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


def overhead_numbers(drawn: Drawn, styles: Styles) -> pd.DataFrame:
    """CPU time of each ask, median over seeds: ``sampler``, ``ask`` and ``cpu_ms``."""
    parts = []
    for style in drawn.styles(styles):
        milliseconds = _asks_of_most(
            [
                1e3 * np.asarray(snapshot.result.ask_seconds[: snapshot.n_asks])
                for snapshot in drawn.snapshots[style.label]
            ]
        )
        asks = np.arange(1, len(milliseconds) + 1)
        parts.append(pd.DataFrame({"sampler": style.label, "ask": asks, "cpu_ms": milliseconds}))
    return pd.concat(parts, ignore_index=True)


def overhead_figure(numbers: pd.DataFrame, drawn: Drawn, styles: Styles) -> go.Figure:
    """CPU milliseconds of each ask against its number: median over seeds.

    Args:
        numbers: Frame of :func:`overhead_numbers`.
        drawn: The studies.
        styles: How samplers are drawn.
    """
    figure = base_figure("CPU time of an ask (ms)", x_title="ask")
    for style in drawn.styles(styles):
        mine = numbers[numbers["sampler"] == style.label]
        milliseconds = mine["cpu_ms"].to_numpy()
        spent = np.cumsum(milliseconds)
        share = 100.0 * spent / max(spent[-1], _CLOCK_MS)
        points = _points(len(mine))
        asks = mine["ask"].to_numpy()[points]
        curve = line(style, asks, np.maximum(milliseconds, _CLOCK_MS)[points], "")
        curve.customdata = share[points].astype(np.float32)
        curve.hovertemplate = (
            "%{fullData.name}: %{y:.3~g} ms, %{customdata:.0f} % of "
            f"{formats.significant(spent[-1] / 1e3)} s spent<extra></extra>"
        )
        curve.line.width = 1.5
        figure.add_trace(curve)
    narrow = numbers["cpu_ms"].max() < 10.0 * max(numbers["cpu_ms"].min(), _CLOCK_MS)
    figure.update_yaxes(type="log", dtick="D2" if narrow else 1)  # one power of ten has one tick
    return figure


def _curves_over(
    drawn: Drawn, styles: Styles, metric: str, axis: Axis
) -> Iterator[tuple[str, npt.NDArray[Any], Floats]]:
    """Label, positions and curves of each sampler, a row per study."""
    labels = [style.label for style in drawn.styles(styles)]
    if axis is Axis.STEPS:
        for label in labels:
            yield label, np.arange(1, drawn.budget + 1), drawn.curves(label, metric)
        return
    followed = {
        label: [progress(study, drawn.problem, metric, axis) for study in drawn.snapshots[label]]
        for label in labels
    }
    positions = common_positions(followed.values(), axis, _N_OVER_TIME)
    for label, own in followed.items():
        known = positions >= max(one.at[0] for one in own)
        losses = np.stack([one.until(positions[known]) for one in own])
        yield label, positions[known], value_of(losses, metric)


def _points(n_steps: int) -> npt.NDArray[np.intp]:
    """Positions of the steps that are drawn."""
    return np.unique(np.linspace(0, n_steps - 1, _MAX_POINTS).round().astype(np.intp))


def _axis(drawn: Drawn, metric: str) -> str:
    """Title of the axis of a quantity; one in the unit of the objective has the objective's."""
    quantity = QUANTITIES[metric]
    if not quantity.unit:
        return html.escape(f"{quantity.title}: {drawn.problem.objectives[0]}")
    if metric == "precision" and isinstance(drawn.problem, TabularBenchmark):
        return f"true top {drawn.problem.n_top} found (%)"
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
        x=_small(x),
        y=y.astype(np.float32),
        name=style.name,
        legendgroup=style.name,
        meta={"sampler": style.label},
        mode="lines",
        line={"color": style.color, "width": 2.25, "dash": style.dash, "shape": shape},
        hovertemplate=f"%{{fullData.name}}: {hover}<extra></extra>",
    )


def band(curves: Floats, *, geometric: bool) -> dict[str, Floats]:
    """Mean and quartiles over studies.

    Args:
        curves: One row per study, shape (n_studies, n_points).
        geometric: Whether the mean is geometric, and every number floored.

    Returns:
        Columns of shape (n_points,): ``mean`` or ``geometric_mean``, and the quartiles.
    """
    values = np.maximum(curves, FLOOR) if geometric else curves
    low, high = _quartiles(values)
    center = geometric_mean(curves) if geometric else curves.mean(axis=0)
    name = "geometric_mean" if geometric else "mean"
    return {name: center, "lower_quartile": low, "upper_quartile": high}


def _quartiles(values: Floats) -> Floats:
    """Quartiles of each column, shape (2, n_columns); infinite where the nearest value is."""
    with np.errstate(invalid="ignore"):
        between = np.quantile(values, (0.25, 0.75), axis=0)
    # A study without a finite value has infinite ones, and no line leads from one to the next.
    nearest = np.quantile(values, (0.25, 0.75), axis=0, method="nearest")
    return np.where(np.isnan(between), nearest, between)


def add_band(
    figure: go.Figure, style: SamplerStyle, numbers: pd.DataFrame, *, x: str, hover: str
) -> None:
    """Add the line of the mean over the area between the quartiles.

    Args:
        figure: What to add to.
        style: How the sampler is drawn.
        numbers: Columns of :func:`band`.
        x: Column of the steps.
        hover: What a point says, as Plotly's template.
    """
    shown = numbers.iloc[_points(len(numbers))]
    center = shown["mean"] if "mean" in shown else shown["geometric_mean"]
    low, high = (shown[side].to_numpy() for side in ("lower_quartile", "upper_quartile"))
    steps = shown[x].to_numpy()
    add_area(figure, style, steps, low, high, name="quartiles")
    figure.add_trace(line(style, steps, center.to_numpy(), hover))


def add_area(
    figure: go.Figure,
    style: SamplerStyle,
    x: npt.NDArray[Any],
    low: Floats,
    high: Floats,
    *,
    name: str,
) -> None:
    """Add the area between two curves of a sampler; ``name`` is what they are."""
    figure.add_trace(
        go.Scatter(
            x=_small(np.concatenate([x, x[::-1]])),
            y=np.concatenate([high, low[::-1]]).astype(np.float32),
            name=f"{style.name}, {name}",
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


def _small(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Positions in half of the bytes."""
    return x.astype(np.int32 if np.issubdtype(x.dtype, np.integer) else np.float32)


def _asks_of_most(times: list[Floats]) -> Floats:
    """Median over studies, up to the number of asks that at least half of them made."""
    lengths = sorted(len(study) for study in times)
    n_asks = lengths[len(lengths) // 2]
    padded = np.full((len(times), n_asks), np.nan)
    for row, study in zip(padded, times, strict=True):
        row[: len(study)] = study[:n_asks]
    return np.asarray(np.nanmedian(padded, axis=0))
