"""Axes of quantities: their titles and scales.

Notations:
    loss: quantity in percent of which smaller numbers are better; it is drawn as its geometric
        mean on a logarithmic axis, floored at 0.00001 %.
"""

from __future__ import annotations

import html

import numpy as np
import plotly.graph_objects as go

from harness.metrics import QUANTITIES
from harness.metrics.gap import FLOOR
from harness.metrics.metric import Quantity
from harness.problems import Problem
from harness.problems import TabularBenchmark


_SHARES = ("found_optimum",)  # 0 or 100 for each study: their mean is a share of the seeds
_AXES = {
    "gap": "gap to the optimum (%)",
    "regret": "normalised regret (%)",
    "hypervolume": "hypervolume of the true front (%)",
    "found_optimum": "seeds that found the optimum (%)",
}


def is_loss(quantity: Quantity) -> bool:
    """Whether a quantity is drawn on a logarithmic axis."""
    return quantity.larger_is_better is False and quantity.unit == "%"


def is_share(metric: str) -> bool:
    """Whether the mean of a quantity over seeds is a share of them."""
    return metric in _SHARES


def axis_title(metric: str, problem: Problem) -> str:
    """Title of the axis of a quantity; one in the unit of the objective has the objective's."""
    quantity = QUANTITIES[metric]
    if not quantity.unit:
        return html.escape(f"{quantity.title}: {problem.objectives[0]}")
    if metric == "precision" and isinstance(problem, TabularBenchmark):
        return f"true top {problem.n_top} found (%)"
    return _AXES.get(metric, quantity.title)


def scale_axis(figure: go.Figure, metric: str) -> None:
    """Scale the axis of a quantity: logarithmic for a loss, 0 to 100 for a share of the seeds."""
    quantity = QUANTITIES[metric]
    if is_loss(quantity):
        log_gap_axis(figure)
    elif is_share(metric):
        figure.update_yaxes(range=[-2, 102])
    elif quantity.unit:
        figure.update_yaxes(rangemode="tozero")


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
