"""Lines and bands of samplers, of which figures are made.

Each trace carries its sampler's label in ``meta``, by which the page filters. Colours of axes and
text are the page's; here is only what does not depend on its theme.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go

from harness.metrics import geometric_mean
from harness.metrics.gap import FLOOR
from harness.metrics.metric import Floats
from harness.report.palette import SamplerStyle


_MAX_POINTS = 500  # of a line: more cannot be told apart on a screen


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
    shown = numbers.iloc[shown_points(len(numbers))]
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


def shown_points(n_steps: int) -> npt.NDArray[np.intp]:
    """Positions of the steps that are drawn."""
    return np.unique(np.linspace(0, n_steps - 1, _MAX_POINTS).round().astype(np.intp))


def _small(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Positions in half of the bytes."""
    return x.astype(np.int32 if np.issubdtype(x.dtype, np.integer) else np.float32)
