"""Which study speaks for which budget.

Notations:
    asked: rows in order of the asks, repeated proposals included; (n_asks,).
    budget: number of distinct evaluations that count; or of trials, where a repeated proposal
        counts like any other, as it does for a user of Optuna.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from typing import TypeVar

import numpy as np

from harness.experiment import CellResult
from harness.experiment import SamplerSpec
from harness.problems.problem import Problem
from harness.samplers import is_budget_aware


BenchmarkKey = tuple[str, str, str]
P = TypeVar("P", bound=Problem)


@dataclass(frozen=True)
class Reading:
    """A study read off after ``budget`` distinct evaluations, or trials.

    Attributes:
        result: The study.
        budget: Number of them, at most the study's own budget.
        by_trials: Whether repeated proposals count.
    """

    result: CellResult
    budget: int
    by_trials: bool = False

    @property
    def evaluated(self) -> tuple[int, ...]:
        """Distinct rows within the budget, in order."""
        if self.by_trials:
            return tuple(dict.fromkeys(self.result.asked[: self.budget]))
        return self.result.evaluated[: self.budget]

    @property
    def n_asks(self) -> int:
        """Number of asks within the budget."""
        if self.by_trials:
            return min(self.budget, len(self.result.asked))
        return n_asks_within(self.result.asked, self.budget)

    @property
    def identity(self) -> dict[str, Any]:
        """What tells a reading from others, as columns of a summary."""
        cell = self.result.cell
        return {
            "benchmark": cell.benchmark,
            "dataset": cell.dataset,
            "source": cell.source,
            "in_flight": cell.in_flight,
            "budget": self.budget,
            "sampler": cell.sampler.label,
            "seed": cell.seed,
        }

    @property
    def cpu_seconds(self) -> float:
        """CPU time of the sampler up to the budget."""
        ask, tell = self.result.ask_seconds, self.result.tell_seconds
        return sum(ask[: self.n_asks]) + sum(tell[: self.n_asks])


def read_off(
    results: Sequence[CellResult],
    budgets: Sequence[int] | None = None,
    *,
    budget_aware: Callable[[SamplerSpec], bool] = is_budget_aware,
    by_trials: bool = False,
) -> list[Reading]:
    """Say which study speaks for which budget.

    A sampler that plans for its budget has a study of its own at each. Any other sampler does the
    same whatever the budget, so its longest study of a seed is read off at all budgets.

    Args:
        results: Finished studies, in any order.
        budgets: Budgets to read off at, by default those of the results.
        budget_aware: Whether a sampler plans for its budget.
        by_trials: Whether the budgets count trials, repeated proposals included. No study has
            fewer of them than distinct evaluations. A study whose own budget counts trials is
            always read off so.

    Returns:
        One reading per data set, sampler, trials in flight, seed and budget, in the order of the
        results.

    Raises:
        ValueError: If one label stands for two samplers, or for two versions of one.
    """
    _check_labels(results)
    wanted = sorted(set(budgets or {result.cell.budget for result in results}))
    longest: dict[tuple[Any, ...], CellResult] = {}
    for result in results:
        cell = result.cell
        planned_for = cell.budget if budget_aware(cell.sampler) else None
        work = (*benchmark_key(result), cell.sampler.label, cell.in_flight, cell.seed)
        key = (*work, planned_for)
        if key not in longest or cell.budget > longest[key].cell.budget:
            longest[key] = result
    return [
        Reading(result, budget, by_trials or result.cell.by_trials)
        for (*_, planned_for), result in longest.items()
        for budget in wanted
        if budget == planned_for or (planned_for is None and budget <= result.cell.budget)
    ]


def benchmark_key(result: CellResult) -> BenchmarkKey:
    """(name, data set, source) of the table that a study ran on."""
    return (result.cell.benchmark, result.cell.dataset, result.cell.source)


def keyed(problems: Iterable[P]) -> dict[BenchmarkKey, P]:
    """Problems by the key that :func:`benchmark_key` gives their studies."""
    return {(problem.name, problem.dataset, problem.source): problem for problem in problems}


def n_asks_within(asked: Sequence[int], budget: int) -> int:
    """Number of asks up to the one that brought the ``budget``-th distinct row."""
    _, first = np.unique(np.asarray(asked, dtype=np.intp), return_index=True)
    return int(np.sort(first)[budget - 1]) + 1 if len(first) >= budget else len(asked)


def _check_labels(results: Sequence[CellResult]) -> None:
    meanings: dict[tuple[str, ...], tuple[Any, ...]] = {}
    for result in results:
        spec = result.cell.sampler
        meaning = (spec.target, dict(spec.arguments), spec.fingerprint)
        known = meanings.setdefault((*benchmark_key(result), spec.label), meaning)
        if known != meaning:
            raise ValueError(
                f"A label must name one sampler, but {spec.label!r} stands for {known} and "
                f"{meaning}. Give them labels of their own, or report one version of the code."
            )
