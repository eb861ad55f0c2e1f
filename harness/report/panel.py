"""A figure of the page with its text and its numbers."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go


@dataclass(frozen=True)
class Panel:
    """A figure with its text.

    Attributes:
        name: Identifier.
        title: Heading.
        sentence: How to read it.
        figure: The figure.
        data: The numbers behind it, for a file.
    """

    name: str
    title: str
    sentence: str
    figure: go.Figure
    data: pd.DataFrame
