"""A family of problems that one module reads, and where its numbers come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.problems.problem import Problem


@dataclass(frozen=True)
class Source:
    """A source of the numbers of a family.

    Attributes:
        name: Its name, behind the ``@`` of a problem's text.
        description: One line for ``zaps-harness list``.
        is_present: Whether this machine has it.
        how_to_have: What a person must do to have it, as a clause.
    """

    name: str
    description: str
    is_present: Callable[[], bool] = lambda: True
    how_to_have: Callable[[], str] = lambda: ""


@dataclass(frozen=True)
class Family:
    """Problems that share their search space.

    Attributes:
        name: First part of their texts.
        description: One line for ``zaps-harness list``.
        problems: Last parts of their texts.
        sources: Sources of the numbers, the preferred one first.
        read: Function of the last part and the source that gives the problem; called twice, it
            gives the same object.
        usual_source: Source that a text leaves out. Without one, a text that names no source
            stands for the first that this machine has, and the text of the problem names it.
    """

    name: str
    description: str
    problems: tuple[str, ...]
    sources: tuple[Source, ...]
    read: Callable[[str, str], Problem]
    usual_source: str | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """Texts of its problems, from its usual source."""
        return tuple(join(self.name, problem, "") for problem in self.problems)

    @property
    def present_sources(self) -> tuple[str, ...]:
        """Names of the sources that this machine has, the preferred one first."""
        return tuple(source.name for source in self.sources if source.is_present())

    @property
    def default_source(self) -> str | None:
        """Source of a text that names none; ``None`` if there is none on this machine."""
        present = self.present_sources
        return self.usual_source or (present[0] if present else None)

    def text(self, problem: str, source: str) -> str:
        """Text of a problem, ``"hpo/car"`` or ``"hpo/car@package-costs"``."""
        return join(self.name, problem, "" if source == self.usual_source else source)

    def load(self, problem: str, source: str = "") -> Problem:
        """Load a problem.

        Args:
            problem: One of ``problems``.
            source: Source of its numbers, by default ``default_source``.

        Raises:
            ValueError: If there is no such source, or this machine does not have it.
        """
        known = {each.name: each for each in self.sources}
        if source and source not in known:
            raise ValueError(
                f"The source of {self.name}/{problem} must be one of {list(known)}, but got "
                f"{source!r}."
            )
        present = self.present_sources
        chosen = source or self.default_source
        if chosen not in present:
            wanted = [known[chosen]] if chosen else self.sources
            raise ValueError(
                f"No numbers for {self.name}: "
                f"{'; or '.join(each.how_to_have() for each in wanted)}. Sources on this machine: "
                f"{', '.join(present) or 'none'}."
            )
        return self.read(problem, chosen)


def join(family: str, problem: str, source: str) -> str:
    """Text of a problem from its parts; without a source where that is empty."""
    return f"{family}/{problem}{source and '@'}{source}"


def split(text: str) -> tuple[str, str, str]:
    """Family, problem and source of a text; the source is empty where none is named.

    Example:
        >>> split("hpo/car@package-costs"), split("functions/branin")
        (('hpo', 'car', 'package-costs'), ('functions', 'branin', ''))
    """
    path, _, source = text.partition("@")
    family, _, problem = path.partition("/")
    return family, problem, source
