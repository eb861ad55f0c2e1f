"""A page in one file: its template, its assets and its data.

Plotly and the data are compressed and unpacked by the browser, which makes the page a third of
its size.
"""

from __future__ import annotations

import base64
from datetime import UTC
from datetime import datetime
from functools import cache
import gzip
from importlib.resources import files
import json
import math
import re
from typing import Any

from jinja2 import Environment
from jinja2 import PackageLoader
from jinja2 import StrictUndefined
from markupsafe import Markup
from markupsafe import escape
import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs


_MAX_ROWS = 5_000  # of the numbers behind a figure within the page
_DIGITS = 6  # significant ones of a number within the page


def render(template: str, *, script: str, data: Any, **content: Any) -> str:
    """A page with its style, its scripts, Plotly and its data.

    Args:
        template: File of the template beside this module.
        script: File of the page's script beside this module.
        data: What the script reads as JSON.
        **content: What the template reads.

    Returns:
        HTML that needs nothing outside itself.
    """
    environment = Environment(
        loader=PackageLoader("harness", "report"), autoescape=True, undefined=StrictUndefined
    )
    environment.filters["breakable"] = _breakable
    return environment.get_template(template).render(
        style=_asset("dashboard.css"),
        script=Markup("\n").join(map(_asset, ("packed.js", "plots.js", script))),
        plotly=_plotly(),
        data=_packed(json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)),
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **content,
    )


def plain(figure: go.Figure, numbers: pd.DataFrame | None = None) -> dict[str, Any]:
    """A figure as JSON, without Plotly's template.

    Args:
        figure: The figure.
        numbers: Numbers behind it, which the page offers as a file unless they are very many.
    """
    content: dict[str, Any] = _decoded(json.loads(figure.to_json()))
    del content["layout"]["template"]
    if numbers is not None and len(numbers) <= _MAX_ROWS:
        content["numbers"] = columns(numbers)
    return content


def columns(frame: pd.DataFrame) -> list[tuple[str, list[Any]]]:
    """Columns of a frame as JSON, for ``save`` of ``packed.js``; infinite numbers are text."""
    return [
        (str(name), [_json_value(value, str(value)) for value in column.tolist()])
        for name, column in frame.items()
    ]


def _decoded(content: Any) -> Any:
    """JSON of Plotly with its binary arrays as lists, which compress better."""
    if isinstance(content, dict):
        if "bdata" in content:
            values = np.frombuffer(base64.b64decode(content["bdata"]), dtype=content["dtype"])
            return [_json_value(value, None) for value in values.tolist()]
        return {name: _decoded(value) for name, value in content.items()}
    return [_decoded(value) for value in content] if isinstance(content, list) else content


def _json_value(value: Any, infinite: str | None) -> Any:
    """A value for JSON: few digits, nothing for NaN."""
    if not isinstance(value, float):
        return value
    if math.isfinite(value):
        return float(f"{value:.{_DIGITS}g}")
    return None if math.isnan(value) else infinite


@cache
def _plotly() -> Markup:
    return _packed(get_plotlyjs())


def _packed(text: str) -> Markup:
    """Text for ``read`` of ``packed.js``; the same text has the same bytes.

    Base 85 takes 6 % less than base 64. Its "<" becomes ",", which it has not, so that nothing
    within can end the element around it.
    """
    compressed = gzip.compress(text.encode(), compresslevel=9, mtime=0)
    return Markup(base64.b85encode(compressed).decode().replace("<", ","))


def _breakable(text: str) -> Markup:
    """Text that a narrow column may break after a slash, a dash or an underscore."""
    return Markup(re.sub(r"(?<=[/_-])", "<wbr>", str(escape(text))))


def _asset(name: str) -> Markup:
    return Markup(files("harness.report").joinpath(name).read_text(encoding="utf-8"))
