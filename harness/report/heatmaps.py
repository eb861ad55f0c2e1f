"""Two matrices: tests between samplers, and correlations between proxies.

A matrix of samplers carries their labels in ``meta``, by which the page filters rows and columns;
``meta["scale"]`` names the colour scale that the page replaces by that of its theme. The layout's
``meta["width"]`` is the least width in pixels.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
import html
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from harness.metrics.metric import Quantity
from harness.problems import TabularBenchmark
from harness.report import formats
from harness.report.findings import verdict
from harness.report.palette import SCALES
from harness.report.palette import SamplerStyle
from harness.report.tables import Record
from harness.report.tables import difference_digits
from harness.report.tables import records


OBJECTIVE = "objective"

_CELL_PX, _MARGIN_PX = 62, 110  # least width of a cell, and of what stands beside them


def tests_figure(
    tests: pd.DataFrame, styles: Mapping[str, SamplerStyle], quantity: Quantity
) -> go.Figure:
    """Each sampler against each other: effect as colour, difference and stars as text.

    Args:
        tests: Rows of :func:`harness.statistics.compare` for all pairs.
        styles: How samplers are drawn, in the order of the page.
        quantity: Quantity that is tested.
    """
    digits = difference_digits(quantity)
    return pairs_figure(
        tests,
        styles,
        colour=lambda test: _json_number(test["cliffs_delta"]),
        text=lambda test: _difference_text(test, digits),
        sentence=lambda test: _wrapped(verdict(test, quantity)),
        bar_title="Cliff's δ",
        titles=("is this one better …", "… than this one"),
    )


def pairs_figure(
    pairs: pd.DataFrame,
    styles: Mapping[str, SamplerStyle],
    *,
    colour: Callable[[Record], float | None],
    text: Callable[[Record], str],
    sentence: Callable[[Record], str],
    bar_title: str,
    titles: tuple[str, str],
) -> go.Figure:
    """A matrix of each sampler against each other.

    Args:
        pairs: Frame with the columns ``sampler_a``, the row of the matrix, and ``sampler_b``.
        styles: How samplers are drawn, in the order of the page.
        colour: Number from -1 to 1 that the colour of a pair stands for.
        text: Text of a pair.
        sentence: What a pair says when one points at it.
        bar_title: Heading of the scale of colours.
        titles: Titles of rows and columns.
    """
    found = {(str(pair["sampler_a"]), str(pair["sampler_b"])): pair for pair in records(pairs)}
    named = {label for pair in found for label in pair}
    labels = [label for label in styles if label in named]

    def cells(of_pair: Callable[[Record], Any], of_itself: Any) -> list[list[Any]]:
        return [
            [of_pair(found[a, b]) if (a, b) in found else of_itself for b in labels]
            for a in labels
        ]

    figure = matrix_figure(
        [styles[label].name for label in labels],
        z=cells(colour, None),
        text=cells(text, ""),
        hovertext=cells(sentence, ""),
        scale="diverging",
        bounds=(-1.0, 1.0),
        bar_title=bar_title,
    )
    with_samplers(figure, labels)
    figure.update_xaxes(title={"text": titles[1]})
    figure.update_yaxes(title={"text": titles[0], "standoff": 8})
    return figure


def correlations(benchmark: TabularBenchmark) -> pd.DataFrame:
    """Absolute Spearman correlations of the objective and the proxies.

    Returns:
        Square frame, the objective first and then the proxies from the most to the least
        relevant. A constant proxy correlates with nothing.
    """
    columns = benchmark.proxies.select_dtypes("number").assign(**{OBJECTIVE: benchmark.values})
    ranks = columns.rank()
    varying = ranks.loc[:, ranks.nunique() > 1]
    matrix = (
        varying.corr().abs().reindex(index=columns.columns, columns=columns.columns).fillna(0.0)
    )
    order = matrix[OBJECTIVE].drop(OBJECTIVE).sort_values(ascending=False, kind="stable").index
    ordered = [OBJECTIVE, *order]
    return matrix.loc[ordered, ordered]


def correlations_figure(matrix: pd.DataFrame) -> go.Figure:
    """A square frame of absolute correlations in the order that it has."""
    names = [html.escape(str(name)) for name in matrix.columns]
    values = matrix.to_numpy().round(3).tolist()
    return matrix_figure(
        names,
        z=values,
        text=[
            [f"{value:.2f}".lstrip("0") if value < 1 else "1" for value in row] for row in values
        ],
        hovertext=[
            [f"{a} and {b}: |ρ| = {value:.3f}" for b, value in zip(names, row, strict=True)]
            for a, row in zip(names, values, strict=True)
        ],
        scale="sequential",
        bounds=(0.0, 1.0),
        bar_title="|ρ|",
    )


def with_samplers(figure: go.Figure, labels: list[str]) -> None:
    """Let the page filter a matrix of samplers, and give each of them the room that it needs."""
    figure.data[0].meta = {"samplers": labels, "scale": "diverging"}
    figure.update_layout(meta={"width": _MARGIN_PX + _CELL_PX * len(labels)})


def matrix_figure(
    names: list[str],
    *,
    z: list[list[Any]],
    text: list[list[str]],
    hovertext: list[list[str]],
    scale: str,
    bounds: tuple[float, float],
    bar_title: str,
) -> go.Figure:
    """A square matrix with a text in each cell.

    Args:
        names: Names of rows and columns.
        z: Numbers that colours stand for, by row.
        text: Text of each cell.
        hovertext: What a cell says.
        scale: Name of the scale of colours.
        bounds: Numbers at the ends of the scale.
        bar_title: Heading of the scale.
    """
    heatmap = go.Heatmap(
        x=names,
        y=names,
        z=z,
        text=text,
        hovertext=hovertext,
        texttemplate="%{text}",
        hovertemplate="%{hovertext}<extra></extra>",
        hoverongaps=False,
        zmin=bounds[0],
        zmax=bounds[1],
        colorscale=SCALES["light"][scale],
        colorbar={
            "title": {"text": f"{bar_title}<br> "},
            "thickness": 10,
            "outlinewidth": 0,
            "nticks": 5,
        },
        xgap=2,
        ygap=2,
        meta={"scale": scale},
    )
    axis = {"type": "category", "showgrid": False, "automargin": True, "ticks": ""}
    return go.Figure(
        data=[heatmap],
        layout={
            "template": "none",
            "margin": {"l": 62, "r": 12, "t": 12, "b": 46},
            "xaxis": axis,
            "yaxis": {**axis, "autorange": "reversed"},
        },
    )


def _difference_text(test: Mapping[str, Any], digits: int) -> str:
    mark = formats.stars(test["p_holm"])
    return formats.signed(test["difference"], digits) + (f"<br>{mark}" if mark else "")


def _json_number(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 4)


def _wrapped(sentence: str) -> str:
    """Escape for Plotly, whose hover boxes do not wrap lines by themselves."""
    return html.escape(sentence, quote=False).replace("). ", ").<br>").replace("; ", ";<br>")
