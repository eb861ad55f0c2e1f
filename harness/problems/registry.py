"""Problems by their texts.

A text is ``FAMILY/PROBLEM[@SOURCE]``: ``nasbench201/cifar10``, ``functions/branin``,
``hpo/australian@package-costs``. A new table is a module with a ``FAMILY``, named in
:data:`FAMILIES`. Any other problem is a user's own (:mod:`harness.problems.own`).
"""

from __future__ import annotations

from collections.abc import Iterable
import difflib

from harness.problems import fronts
from harness.problems import functions
from harness.problems import hard
from harness.problems import hpo
from harness.problems import limits
from harness.problems import nasbench101
from harness.problems import nasbench201
from harness.problems import own
from harness.problems import tradeoffs
from harness.problems.family import Family
from harness.problems.family import join
from harness.problems.family import split
from harness.problems.problem import Problem
from harness.problems.table import TabularBenchmark


FAMILIES: tuple[Family, ...] = (
    nasbench201.FAMILY,
    nasbench101.FAMILY,
    hpo.FAMILY,
    functions.FAMILY,
    hard.FAMILY,
    tradeoffs.FAMILY,
    fronts.FAMILY,
    limits.FAMILY,
)

_N_NEAREST = 5


def load(text: str) -> Problem:
    """Load the problem of a text; a second call in the same process returns the same object.

    Args:
        text: ``FAMILY/PROBLEM[@SOURCE]``, or that of a user's own problem. Without a source, the
            family's usual one, else the first that this machine has.

    Returns:
        The problem. Its ``text`` is found in any process, on any machine that has the numbers.

    Raises:
        ValueError: If there is no such problem or source. The message has the nearest texts.

    Example:
        >>> problem = load("nasbench201/cifar10@package")
        >>> problem.text, round(problem.optimum, 2)
        ('nasbench201/cifar10@package', 91.61)
    """
    if own.is_own(text):
        return own.load(text)
    name, problem, source = split(text)
    family = _family(name, problem)
    if family is None:
        raise ValueError(unknown("problem", text, texts()))
    return family.load(problem, source)


def load_table(text: str) -> TabularBenchmark:
    """Load a problem that is a table of one value per configuration.

    Raises:
        ValueError: If there is no such problem or source, or it is not a table.
    """
    problem = load(text)
    if not isinstance(problem, TabularBenchmark):
        raise ValueError(f"{text} must be a table of one value, but it is a {problem.kind}.")
    return problem


def texts() -> list[str]:
    """Texts of all problems, without their sources."""
    return [text for family in FAMILIES for text in family.texts]


def text_of(family: str, problem: str, source: str) -> str:
    """Text of a problem from its three parts, without its family's usual source."""
    known = _family(family, problem)
    return known.text(problem, source) if known else join(family, problem, source)


def parts_of(text: str) -> tuple[str, str, str]:
    """Family, problem and source of the text of a problem; the usual source is filled in."""
    name, problem, source = split(text)
    family = _family(name, problem)
    return name, problem, source or (family.default_source if family else None) or ""


def unknown(what: str, text: str, known: Iterable[str]) -> str:
    """Message about a name that is not known, with the nearest that are."""
    known = list(known)
    last = text.rpartition("/")[2]
    nearest = [each for each in known if each.rpartition("/")[2] == last]
    nearest += difflib.get_close_matches(text, known, n=_N_NEAREST, cutoff=0.5)
    listed = ", ".join(dict.fromkeys(nearest or known[:_N_NEAREST]))
    return f"There is no {what} {text!r}. The nearest: {listed}. All of them: zaps-harness list."


def _family(name: str, problem: str) -> Family | None:
    found = [each for each in FAMILIES if each.name == name and problem in each.problems]
    return found[0] if found else None
