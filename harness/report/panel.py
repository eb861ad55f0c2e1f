"""A figure of the page with its text and its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pandas as pd
import plotly.graph_objects as go

from harness.metrics.progress import Axis


@dataclass(frozen=True)
class Panel:
    """A figure with its text.

    Attributes:
        name: Identifier.
        title: Heading.
        sentence: How to read it.
        figure: The figure.
        data: The numbers behind it, for a file.
        axis: Axis that it is drawn over; empty if it has no such choice. Figures over several axes
            have one name.
    """

    name: str
    title: str
    sentence: str
    figure: go.Figure
    data: pd.DataFrame
    axis: Axis | Literal[""] = ""

    @property
    def key(self) -> str:
        """Identifier of the figure among those of all axes."""
        return f"{self.name}@{self.axis}" if self.axis else self.name

    @property
    def file(self) -> str:
        """Name of its files, apart from what it is about."""
        return self.name if self.axis in ("", Axis.STEPS) else f"{self.name}-{self.axis}"
