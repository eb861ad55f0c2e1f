"""Colours, labels and style of all figures."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from html import escape
import math
import textwrap
from typing import Any

import numpy as np
import plotly.graph_objects as go

from optuna_zaps._rounding import N_DIGITS
from optuna_zaps._rounding import significant


N_POINTS = 500
"""Largest number of points of a trace; of more, evenly spaced ones are drawn."""

BLUE, ORANGE, GREEN, RED, GRAY = "#1f77c9", "#d55e00", "#009e73", "#b3261e", "#9aa3ad"
PALE = "#dfe3e8"
BLUES = [[0.0, "#dbe9f6"], [0.5, "#5b9bd5"], [1.0, "#0c3c6e"]]

_N_LETTERS = 24
_LINE = 84  # letters of a sentence in a figure half as wide as a page


def spaced(n: int, most: int = N_POINTS) -> list[int]:
    """Evenly spaced positions below ``n``, at most so many, both ends among them."""
    if n <= most:
        return list(range(n))
    return [int(position) for position in np.linspace(0, n - 1, most)]


def rounded(numbers: Iterable[float], digits: int = N_DIGITS) -> list[float | None]:
    """Numbers as short texts of JSON, which has no NaN."""
    return [significant(each, digits) if math.isfinite(each) else None for each in numbers]


def extent(values: Sequence[float], *, maximize: bool) -> tuple[float, float]:
    """Range of values, less those that are worse by far, which would hide all differences.

    Far out begins three interquartile ranges beyond the quartile (Tukey, 1977).
    """
    low, high = float(min(values)), float(max(values))
    quartiles = np.quantile(values, [0.25, 0.75])
    reach = 3 * float(quartiles[1] - quartiles[0])
    if reach > 0 and maximize:
        low = max(low, float(quartiles[0]) - reach)
    elif reach > 0:
        high = min(high, float(quartiles[1]) + reach)
    return low, high


def padded(ends: tuple[float, float]) -> list[float]:
    """Range of an axis, with room for the marks at its ends."""
    room = 0.05 * (ends[1] - ends[0]) or 1.0
    return [ends[0] - room, ends[1] + room]


def outside(values: Sequence[float], ends: tuple[float, float]) -> str:
    """Sentence on the values that an axis leaves out, if there are any."""
    n = sum(not ends[0] <= value <= ends[1] for value in values)
    if not n:
        return ""
    return f" {n} far worse value{'s lie' if n > 1 else ' lies'} outside: double-click to see."


def short(name: str) -> str:
    """Name that fits beside an axis and that plotly does not take for HTML."""
    return escape(name if len(name) <= _N_LETTERS else f"{name[: _N_LETTERS - 1]}…")


def named_rows(names: Sequence[str]) -> dict[str, Any]:
    """Axis whose positions 0, 1, ... have names, the first on top.

    A categorical axis would take names such as ``"8"`` for numbers.
    """
    return {
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [short(name) for name in names],
        "range": [len(names) - 0.5, -0.5],
    }


def styled(figure: go.Figure, title: str, words: str) -> go.Figure:
    """Give a figure its title, sentences below it, and the common style."""
    lines = textwrap.wrap(words, _LINE)
    subtitle = "".join(
        f'<br><span style="font-size:11px;color:#555">{escape(line)}</span>' for line in lines
    )
    axis = {"gridcolor": "#e3e6ea", "zerolinecolor": "#e3e6ea", "automargin": True}
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    figure.update_layout(
        # Plotly's own template alone takes 6 KB.
        template=go.layout.Template(),
        title={
            "text": f"<b>{title}</b>{subtitle}",
            "x": 0.02,
            "xanchor": "left",
            "y": 0.955,
            "yanchor": "top",
            "font": {"size": 16},
        },
        margin={"l": 60, "r": 20, "t": 45 + 21 * len(lines), "b": 50},
        font={"size": 12},
        plot_bgcolor="#ffffff",
        paper_bgcolor="#ffffff",
        hovermode="closest",
    )
    return figure
