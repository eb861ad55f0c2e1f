"""A page in one file: its template, its assets and its data."""

from __future__ import annotations

from datetime import UTC
from datetime import datetime
from importlib.resources import files
import json
import re
from typing import Any

from jinja2 import Environment
from jinja2 import PackageLoader
from jinja2 import StrictUndefined
from markupsafe import Markup
from markupsafe import escape
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs


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
        script=Markup("\n").join([_asset("plots.js"), _asset(script)]),
        plotly=Markup(get_plotlyjs()),
        data=Markup(_script_json(data)),
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **content,
    )


def plain(figure: go.Figure) -> dict[str, Any]:
    """A figure as JSON, without Plotly's template."""
    content: dict[str, Any] = json.loads(figure.to_json())
    del content["layout"]["template"]
    return content


def _breakable(text: str) -> Markup:
    """Text that a narrow column may break after a slash, a dash or an underscore."""
    return Markup(re.sub(r"(?<=[/_-])", "<wbr>", str(escape(text))))


def _asset(name: str) -> Markup:
    return Markup(files("harness.report").joinpath(name).read_text(encoding="utf-8"))


def _script_json(content: Any) -> str:
    """JSON that nothing within can end the script element around it."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
