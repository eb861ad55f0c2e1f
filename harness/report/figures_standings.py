"""Figures of standings: a critical-difference diagram, and a matrix of wins, ties and losses.

A line that is in the colour of the page's text has ``ink`` in its ``meta``; one that joins
samplers has their labels in ``meta["samplers"]``, by which the page shortens it.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from harness.report import formats
from harness.report.heatmaps import pairs_figure
from harness.report.palette import SamplerStyle
from harness.report.palette import Styles
from harness.report.tables import Record
from harness.report.tables import records


_INK = "#18212d"  # off the page, which has its own
_ROOM = 0.42  # of labels on either side, as a share of the axis
_GAP = 0.55  # between two bars
_LEVEL = 1.0  # between two labels
_MOST_DETAILED = 5  # Cells of more samplers have no room for a second line.


def groups_figure(ranks: pd.DataFrame, styles: Styles) -> go.Figure:
    """Critical-difference diagram (Demšar, 2006): mean ranks, and bars over groups.

    Args:
        ranks: Frame of :func:`harness.report.standings.group_frame`.
        styles: How samplers are drawn.
    """
    n_samplers = len(ranks)
    bars = [
        ranks.loc[ranks[name], ["sampler", "mean_rank"]]
        for name in ranks
        if str(name).startswith("group_")
    ]
    room = _ROOM * (n_samplers - 1)
    first_level = -_GAP * (len(bars) + 1) - _LEVEL / 2
    n_left = (n_samplers + 1) // 2
    figure = go.Figure(
        data=[
            _axis(n_samplers),
            *(_bar(bar, -_GAP * number) for number, bar in enumerate(bars, start=1)),
        ],
        layout={
            "template": "none",
            "hovermode": "closest",
            "showlegend": False,
            "margin": {"l": 4, "r": 4, "t": 40, "b": 8},
            "xaxis": {
                "range": [1 - room, n_samplers + room],
                "side": "top",
                "title": {"text": "mean rank (1 is best)", "standoff": 4},
                "showticklabels": False,
                "showgrid": False,
                "showline": False,
                "zeroline": False,
            },
            "yaxis": {
                "range": [first_level - _LEVEL * (n_left - 0.5), 0.8],
                "visible": False,
            },
        },
    )
    for position, row in enumerate(records(ranks)):
        # The best are on the left, the worst on the right, the outermost at the highest level.
        on_left = position < n_left
        depth = position if on_left else n_samplers - 1 - position
        edge = 1 - room if on_left else n_samplers + room
        style = styles[str(row["sampler"])]
        figure.add_trace(_stem(style, row["mean_rank"], first_level - _LEVEL * depth, edge))
    return figure


def wins_figure(wins: pd.DataFrame, styles: Styles, n_problems: int) -> go.Figure:
    """Each sampler against each other: wins, ties and losses over problems.

    Args:
        wins: Frame of :func:`harness.report.standings.wins`.
        styles: How samplers are drawn, in the order of the page.
        n_problems: Number of problems.
    """
    n_samplers = wins["sampler_a"].nunique()

    def text(pair: Record) -> str:
        second = f"<br>({pair['better']} / {pair['equal']} / {pair['worse']})"
        first = f"{pair['wins']} / {pair['ties']} / {pair['losses']}"
        return first + (second if n_samplers <= _MOST_DETAILED else "")

    def sentence(pair: Record) -> str:
        a, b = (styles[pair[side]].name for side in ("sampler_a", "sampler_b"))
        return (
            f"{a} against {b} on {n_problems} problems:<br>"
            f"significantly ahead on {pair['wins']}, behind on {pair['losses']};<br>"
            f"better mean on {pair['better']}, worse on {pair['worse']}, equal on {pair['equal']}."
        )

    return pairs_figure(
        wins,
        styles,
        colour=lambda pair: round((pair["wins"] - pair["losses"]) / n_problems, 3),
        text=text,
        sentence=sentence,
        bar_title="(wins −<br>losses)<br>/ problems",
        titles=("this sampler …", "… against this one"),
    )


def _axis(n_samplers: int) -> go.Scatter:
    ranks = list(range(1, n_samplers + 1))
    return go.Scatter(
        x=ranks,
        y=[0.0] * n_samplers,
        mode="lines+markers+text",
        text=[str(rank) for rank in ranks],
        textposition="top center",
        line={"width": 1.5, "color": _INK},
        marker={"symbol": "line-ns", "size": 9, "line": {"width": 1.5, "color": _INK}},
        meta={"ink": True},
        hoverinfo="skip",
    )


def _bar(members: pd.DataFrame, y: float) -> go.Scatter:
    """A bar over a group, with a dot at each member: one between two of them may be outside."""
    return go.Scatter(
        x=members["mean_rank"].round(4).tolist(),
        y=[y] * len(members),
        mode="lines+markers",
        line={"width": 5, "color": _INK},
        marker={"size": 9, "color": _INK, "line": {"width": 0}},
        meta={"ink": True, "samplers": members["sampler"].tolist(), "least": 2},
        hoverinfo="skip",
    )


def _stem(style: SamplerStyle, rank: float, y: float, edge: float) -> go.Scatter:
    """A line from the axis down to a label, which stands on it at the edge."""
    x: Sequence[float] = (round(float(rank), 4), round(float(rank), 4), edge)
    return go.Scatter(
        x=list(x),
        y=[0.0, y, y],
        mode="lines+text",
        text=["", "", f"{style.name} {formats.number(rank, 2)}"],
        textposition="top right" if edge < rank else "top left",
        name=style.name,
        meta={"sampler": style.label},
        line={"color": style.color, "width": 2, "dash": style.dash},
        hovertemplate=f"%{{fullData.name}}: mean rank {rank:.2f}<extra></extra>",
    )
