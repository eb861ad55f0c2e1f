"""Benchmarks by name: tables in which every configuration has been evaluated, and other problems.

A module of tables offers ``NAME``, ``DESCRIPTION``, ``DATASETS``, ``SOURCES``, ``load`` and
``present_sources``; a new one is a module and a name in ``_MODULES``. A module of other problems
offers ``NAME`` and ``load``, and is named in ``_OTHERS``.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from harness.problems import functions
from harness.problems import hpo
from harness.problems import limits
from harness.problems import nasbench101
from harness.problems import nasbench201
from harness.problems import tradeoffs
from harness.problems.base import TabularBenchmark
from harness.problems.problem import Problem


__all__ = [
    "BenchmarkInfo",
    "Problem",
    "TabularBenchmark",
    "available",
    "is_table",
    "load",
    "load_problem",
]

_MODULES: dict[str, ModuleType] = {
    module.NAME: module for module in (nasbench201, nasbench101, hpo)
}
_OTHERS: dict[str, ModuleType] = {module.NAME: module for module in (functions, tradeoffs, limits)}


@dataclass(frozen=True)
class BenchmarkInfo:
    """What can be loaded under one name.

    Attributes:
        name: Name of the benchmark.
        description: One sentence.
        datasets: Names of its data sets.
        sources: Sources of its numbers and what each is, the preferred one first.
        present: Those of ``sources`` that this machine has.
    """

    name: str
    description: str
    datasets: tuple[str, ...]
    sources: dict[str, str]
    present: tuple[str, ...]

    @property
    def default_source(self) -> str | None:
        """The source that :func:`load` takes when none is named, None if there is none."""
        return self.present[0] if self.present else None


def available() -> tuple[BenchmarkInfo, ...]:
    """What :func:`load` knows, and what of it is on this machine."""
    return tuple(
        BenchmarkInfo(
            name=name,
            description=module.DESCRIPTION,
            datasets=tuple(module.DATASETS),
            sources=dict(module.SOURCES),
            present=module.present_sources(),
        )
        for name, module in _MODULES.items()
    )


def load(name: str, dataset: str, source: str | None = None) -> TabularBenchmark:
    """Load a benchmark; a second call in the same process returns the same object.

    Args:
        name: Name of the benchmark, e.g. ``"nasbench201"``.
        dataset: Name of its data set, e.g. ``"cifar10"``.
        source: Source of the numbers, by default the first that is on this machine.

    Returns:
        The benchmark.

    Raises:
        ValueError: If there is no such benchmark, data set or source. The message says what there
            is.

    Example:
        >>> benchmark = load("nasbench201", "cifar10", "package")
        >>> benchmark.parameters.shape
        (15625, 6)
        >>> round(benchmark.optimum, 2)
        91.61
    """
    if name not in _MODULES:
        raise ValueError(f"The benchmark must be one of {sorted(_MODULES)}, but got {name!r}.")
    benchmark: TabularBenchmark = _MODULES[name].load(dataset, source)
    return benchmark


def is_table(name: str) -> bool:
    """Whether the benchmark of a name is one of :func:`load`: one value for each row."""
    return name in _MODULES


def load_problem(name: str, dataset: str, source: str | None = None) -> Problem:
    """Load whatever a study can search: a benchmark of :func:`load`, or another problem.

    Args:
        name: Name of the benchmark, e.g. ``"hpo"`` or ``"functions"``.
        dataset: Which of its problems, e.g. ``"car"`` or ``"branin"``.
        source: Source of the numbers, by default the first that is on this machine.

    Raises:
        ValueError: If there is no such problem. The message says what there is.
    """
    if is_table(name):
        return load(name, dataset, source)
    if name not in _OTHERS:
        known = sorted(_MODULES | _OTHERS)
        raise ValueError(f"The benchmark must be one of {known}, but got {name!r}.")
    problem: Problem = _OTHERS[name].load(dataset, source)
    return problem
