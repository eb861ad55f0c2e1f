"""Extension of Griffe: docstrings as Optuna writes them, read as Markdown."""

import re
from typing import Any

import griffe


_ROLE = re.compile(r":\w+:`~?(?:[^`<]*<)?([\w.]+)>?`")


class Docstrings(griffe.Extension):
    """Replace Sphinx roles by code, and name sections of examples as Griffe expects."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """See :class:`griffe.Extension`."""
        del kwargs
        if obj.docstring:
            text = re.sub(r"^( *)Example:$", r"\1Examples:", obj.docstring.value, flags=re.M)
            obj.docstring.value = _ROLE.sub(_code, text)


def _code(role: re.Match[str]) -> str:
    hides_module = "~" in role[0] or "<" in role[0]
    return f"`{role[1].rpartition('.')[2] if hides_module else role[1]}`"
