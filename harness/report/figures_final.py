"""Figures of a quantity when the budget is spent."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from harness.metrics import QUANTITIES
from harness.metrics.gap import FLOOR
from harness.report.drawn import Drawn
from harness.report.palette import Styles
from harness.report.quantity_axes import axis_title
from harness.report.quantity_axes import is_loss
from harness.report.quantity_axes import scale_axis
from harness.report.traces import base_figure


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
    figure = base_figure(axis_title(metric, drawn.problem), x_title="")
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
    scale_axis(figure, metric)
    return figure
