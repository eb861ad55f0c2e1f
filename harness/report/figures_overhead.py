"""Figures of the CPU time that samplers take for themselves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from harness.metrics.metric import Floats
from harness.report import formats
from harness.report.drawn import Drawn
from harness.report.palette import Styles
from harness.report.traces import base_figure
from harness.report.traces import line
from harness.report.traces import shown_points


_CLOCK_MS = 1e-3  # below the clock's resolution a time can read 0, which has no logarithm


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
        points = shown_points(len(mine))
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


def _asks_of_most(times: list[Floats]) -> Floats:
    """Median over studies, up to the number of asks that at least half of them made."""
    lengths = sorted(len(study) for study in times)
    n_asks = lengths[len(lengths) // 2]
    padded = np.full((len(times), n_asks), np.nan)
    for row, study in zip(padded, times, strict=True):
        row[: len(study)] = study[:n_asks]
    return np.asarray(np.nanmedian(padded, axis=0))
