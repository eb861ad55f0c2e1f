"""Figures of a quantity over evaluations or over time.

Notations:
    curves: one row per study of a sampler, shape (n_studies, budget).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go

from harness.metrics import QUANTITIES
from harness.metrics.metric import Floats
from harness.metrics.progress import Axis
from harness.metrics.progress import common_positions
from harness.metrics.progress import progress
from harness.metrics.progress import value_of
from harness.report.axes import axis_scale
from harness.report.axes import logarithmic
from harness.report.axes import position_name
from harness.report.drawn import Drawn
from harness.report.palette import Styles
from harness.report.quantity_axes import axis_title
from harness.report.quantity_axes import is_loss
from harness.report.quantity_axes import is_share
from harness.report.quantity_axes import scale_axis
from harness.report.traces import add_band
from harness.report.traces import band
from harness.report.traces import base_figure
from harness.report.traces import line


_N_OVER_TIME = 100  # positions of a curve over time


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
        if is_share(metric):
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
    figure = base_figure(axis_title(metric, drawn.problem), x_title=title)
    for style in drawn.styles(styles):
        mine = numbers[numbers["sampler"] == style.label]
        if is_share(metric):
            share = mine["mean"].to_numpy()
            steps = mine[column].to_numpy()
            figure.add_trace(line(style, steps, share, "%{y:.0f} %", shape="hv"))
        else:
            percent = "%{y:.3~g} %" if is_loss(quantity) else "%{y:.1f} %"
            hover = percent if quantity.unit == "%" else "%{y:.6~g}"
            add_band(figure, style, mine, x=column, hover=hover)
    scale_axis(figure, metric)
    return figure if axis is Axis.STEPS else logarithmic(figure)


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
