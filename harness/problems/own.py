"""Problems of a user's own: files of results, and objects of Python modules.

Their texts are found by form, not in a list: ``runs.csv?params=lr,width&objective=score``,
``my_module:Sphere(dimension=3)``.
"""

from __future__ import annotations

from harness.problems import results_file
from harness.problems.options import Options
from harness.problems.options import compose
from harness.problems.options import decompose
from harness.problems.problem import Problem


OPTIONS = tuple(dict.fromkeys([*results_file.OPTIONS]))
"""Options that a text may have, of any form."""


def is_own(text: str) -> bool:
    """Whether a text names a file of results or an object."""
    return results_file.is_file(_target(text))


def with_options(text: str, options: Options) -> str:
    """Text that any process can resolve, with options where it has none of that name.

    Args:
        text: As a user writes it.
        options: Options for all problems of the user's own.

    Raises:
        ValueError: If the problem cannot have one of the options.
    """
    target, written = decompose(text, OPTIONS)
    both = {name: written[name] or list(options.get(name, ())) for name in OPTIONS}
    return results_file.resolved(compose(target, both))


def load(text: str) -> Problem:
    """Load a problem of the user's own.

    Raises:
        ValueError: If there is no such problem.
    """
    return results_file.load(text)


def short_name(text: str) -> str:
    """Short name of a problem of any family, for tables."""
    return results_file.short_name(text) if is_own(text) else text


def _target(text: str) -> str:
    return text.partition("?")[0]
