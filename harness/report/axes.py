"""Axes of figures: their titles, units and ticks."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from harness.metrics.progress import Axis


STEPS = {"evaluations": "distinct evaluations", "trials": "trials"}
"""Title of an axis by the unit of the budget."""

_FEW_POWERS = 300.0  # ratio of the ends of an axis
_HOUR = 3600.0
_HOURS_FROM = 2 * _HOUR  # a longer axis is in hours


def position_name(axis: Axis, unit: str) -> str:
    """Name of the positions in a frame, given the unit of the budget."""
    return unit if axis is Axis.STEPS else "seconds"


def axis_scale(axis: Axis, unit: str, longest: float) -> tuple[float, str]:
    """Factor from positions to those on a figure, and title of its axis.

    Args:
        axis: The axis.
        unit: Unit of the budget.
        longest: Largest position.
    """
    if axis is Axis.STEPS:
        return 1, STEPS[unit]
    factor, time = (1.0 / _HOUR, "h") if longest >= _HOURS_FROM else (1.0, "s")
    what = "CPU time of the sampler" if axis is Axis.CPU else "wall-clock time"
    return factor, f"{what} ({time})"


def logarithmic(figure: go.Figure) -> go.Figure:
    """Make the x-axis logarithmic, with ticks at 1, 2 and 5 where there are few powers of ten."""
    at = np.concatenate([np.asarray(trace.x, dtype=np.float64) for trace in figure.data])
    dtick = "D2" if at.max() < _FEW_POWERS * at.min() else 1
    return figure.update_xaxes(type="log", tickformat="~g", dtick=dtick)
