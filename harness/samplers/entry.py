"""A sampler with a name, and what it needs to run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from harness import hub
from harness.problems import Problem


ArgumentsOf = Callable[[Problem, int], dict[str, Any]]


def no_arguments(problem: Problem, budget: int) -> dict[str, Any]:
    """No keyword arguments."""
    return {}


@dataclass(frozen=True)
class Entry:
    """Sampler with a name.

    Attributes:
        name: Its name.
        description: One line for ``zaps-harness list``.
        target: ``"module:Class"``.
        budget_aware: Whether it plans for a known budget; see
            :class:`harness.experiment.SamplerSpec`.
        arguments: Function of problem and budget that gives the keyword arguments.
        requires: Packages that it needs beside those of the harness, by the name that both pip
            and an import know them by.
    """

    name: str
    description: str
    target: str
    budget_aware: bool = False
    arguments: ArgumentsOf = no_arguments
    requires: tuple[str, ...] = ()

    @property
    def how_to_have(self) -> str:
        """Command that installs what is missing, empty where nothing is."""
        missing = [name for name in self.requires if find_spec(name) is None]
        commands = [f"pip install {' '.join(missing)}"] if missing else []
        module = self.target.partition(":")[0]
        if hub.is_package(module) and hub.folder(module) is None:
            commands.append(hub.how_to_have(module))
        return " && ".join(commands)
