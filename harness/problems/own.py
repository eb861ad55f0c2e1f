"""Problems of a user's own: files of results, and objects of Python modules.

Their texts are found by form, not in a list: ``runs.csv?params=lr,width&objective=score``,
``my_module:Sphere(dimension=3)``.
"""

from __future__ import annotations

from harness.problems import objects
from harness.problems import results_file
from harness.problems.options import Options
from harness.problems.options import compose
from harness.problems.options import decompose
from harness.problems.problem import Problem


OPTIONS = tuple(dict.fromkeys([*results_file.OPTIONS, *objects.OPTIONS]))
"""Options that a text may have, of any form."""


def is_own(text: str) -> bool:
    """Whether a text names a file of results or an object."""
    target = text.partition("?")[0]
    return results_file.is_file(target) or objects.is_object(target)


def with_options(text: str, options: Options) -> str:
    """Text that any process can resolve, with options where it has none of that name.

    Args:
        text: As a user writes it.
        options: Options for all problems of the user's own. Those that this one cannot have are
            for another.
    """
    target, written = decompose(text, OPTIONS)
    is_file = results_file.is_file(target)
    known = results_file.OPTIONS if is_file else objects.OPTIONS
    both = written | {name: written[name] or list(options.get(name, ())) for name in known}
    composed = compose(target, both)
    return results_file.resolved(composed) if is_file else objects.resolved(composed)


def load(text: str) -> Problem:
    """Load a problem of the user's own.

    Raises:
        ValueError: If there is no such problem.
    """
    if results_file.is_file(text.partition("?")[0]):
        return results_file.load(text)
    return objects.load(objects.resolved(text))


def work(text: str) -> str:
    """Text without what does not decide the course of a study: the optimum."""
    if not is_own(text):
        return text
    target, options = decompose(text, OPTIONS)
    return compose(target, options | {"optimum": []})


def short_name(text: str) -> str:
    """Short name of a problem of any family, for tables."""
    if not is_own(text):
        return text
    is_file = results_file.is_file(text.partition("?")[0])
    return results_file.short_name(text) if is_file else objects.short_name(text)
