"""Colours: one for each sampler in every figure, and scales for heatmaps.

Each colour has a contrast of at least 3 : 1 with the light and with the dark page. The order keeps
neighbours apart in the common colour-vision deficiencies; dashes tell them apart in print.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
import html


_ZAPS = ("#1f77c9", "#0f9aa8", "#8a63d2")
_OTHERS = ("#d55e00", "#c45a97", "#b98300", "#009e73", "#a8632f")
_RANDOM = "#7d8590"  # the baseline of chance, in the colour of the axes
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
_SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross")

Scale = list[tuple[float, str]]
SCALES: dict[str, dict[str, Scale]] = {
    "light": {
        "diverging": [(0.0, "#ee9a5c"), (0.5, "#f3f4f5"), (1.0, "#79b2e8")],
        "sequential": [(0.0, "#f1f5f9"), (0.5, "#b3d2ee"), (1.0, "#6aa6df")],
    },
    "dark": {
        "diverging": [(0.0, "#8f4512"), (0.5, "#242b34"), (1.0, "#1f5f9e")],
        "sequential": [(0.0, "#1c232c"), (0.5, "#1e4568"), (1.0, "#22649f")],
    },
}
"""Scales of each theme; its text has a contrast of at least 4.5 : 1 with every colour of them."""


@dataclass(frozen=True)
class SamplerStyle:
    """Style in which a sampler is drawn.

    Attributes:
        label: Its label as it is.
        color: ``#rrggbb``.
        dash: Plotly's name of the line's dashes.
        symbol: Plotly's name of the marker.
    """

    label: str
    color: str
    dash: str
    symbol: str

    @property
    def name(self) -> str:
        """Label for Plotly, which reads its texts as HTML and fills in ``%{...}``."""
        return html.escape(self.label).replace("%{", "&#37;{")

    def tint(self, opacity: float) -> str:
        """Colour with an opacity in [0, 1], for areas."""
        red, green, blue = (int(self.color[start : start + 2], 16) for start in (1, 3, 5))
        return f"rgba({red},{green},{blue},{opacity})"


Styles = Mapping[str, SamplerStyle]
"""Styles by label, in the order of the page."""


def is_zaps(label: str) -> bool:
    """Whether a label names a form of ZAPS."""
    return label.lower().startswith("zaps")


def sampler_styles(labels: Iterable[str]) -> Mapping[str, SamplerStyle]:
    """Give each sampler its style, the forms of ZAPS first.

    Args:
        labels: Labels; repeated ones count once.

    Returns:
        Styles by label, forms of ZAPS first, else in the order given.
    """
    ordered = sorted(
        dict.fromkeys(labels), key=lambda label: (label != "zaps", not is_zaps(label))
    )
    zaps = [label for label in ordered if is_zaps(label)]
    others = [label for label in ordered if not is_zaps(label) and label != "random"]
    colors = {label: _ZAPS[index % len(_ZAPS)] for index, label in enumerate(zaps)}
    colors |= {label: _OTHERS[index % len(_OTHERS)] for index, label in enumerate(others)}
    colors["random"] = _RANDOM
    rank = {label: index for family in (zaps, others) for index, label in enumerate(family)}
    return {
        label: SamplerStyle(
            label=label,
            color=colors[label],
            dash=_DASHES[rank.get(label, 2) % len(_DASHES)],
            symbol=_SYMBOLS[rank.get(label, 2) % len(_SYMBOLS)],
        )
        for label in ordered
    }
