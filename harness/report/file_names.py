"""Names of the files of a comparison's tables and figures, on the page and in a directory."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
import re

from harness.problems import short_name
from harness.report.views import ProblemView
from harness.report.views import SuiteView


_LONGEST = 120  # characters of a name, which the kind of the figure and the ending follow


def file_names(views: Iterable[SuiteView | ProblemView]) -> dict[str, str]:
    """Part of a file's name that says which problem and budget it is about, by key of the view.

    Returns:
        Names that differ, of letters, digits, points, dashes and underscores only.
    """
    names: dict[str, str] = {}
    for view in views:
        subject = view.name if isinstance(view, SuiteView) else short_name(view.problem)
        name = slug(f"{subject}-{view.setting}")
        numbered = (name if number == 1 else f"{name}-{number}" for number in count(1))
        names[view.key] = next(each for each in numbered if each not in names.values())
    return names


def slug(text: str) -> str:
    """A text as part of a file's name on any system.

    Example:
        >>> slug("hpo/car@package, 100 evaluations")
        'hpo-car-package-100-evaluations'
    """
    return re.sub(r"[^a-zA-Z0-9_.-]+", "-", text).strip("-.")[:_LONGEST]
