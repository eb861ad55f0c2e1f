"""Studies as they stood when a budget was spent.

Notations:
    asked: configurations in order of the asks, repeated proposals included; (n_asks,).
    told: the same configurations in the order in which their trials ended, which differs from that
        of the asks where workers run side by side. It is the order of evaluation: the best after
        n evaluations is that of the first n that ended, whatever is still running.
    evaluated: configurations in order of their first evaluation, each once; (n_evaluated,).
    budget: number of distinct evaluations that count; or of trials, where a repeated proposal
        counts like any other, as it does for a user of Optuna.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.experiment import UNITS
from harness.experiment import CellResult


@dataclass(frozen=True)
class Budgets:
    """Budgets at which the studies on a problem are measured.

    Attributes:
        sizes: Number of distinct evaluations, or of trials.
        by_trials: Whether repeated proposals count, too.
    """

    sizes: tuple[int, ...]
    by_trials: bool = False


@dataclass(frozen=True)
class Snapshot:
    """A study as it stood after ``budget`` distinct evaluations, or trials.

    Attributes:
        result: The study.
        budget: Number of them, at most the study's own budget.
        by_trials: Whether repeated proposals count.
    """

    result: CellResult
    budget: int
    by_trials: bool = False

    @property
    def steps(self) -> tuple[int, ...]:
        """Configuration of each evaluation, or trial, that counts; at most ``budget``."""
        counted = self.result.told if self.by_trials else self.result.evaluated
        return counted[: self.budget]

    @property
    def step_seconds(self) -> npt.NDArray[np.float64] | None:
        """Time at which each step ended, length of ``steps``; ``None`` without a clock."""
        result = self.result
        if result.seconds is None:
            return None
        ends: dict[Any, float] = {}
        for position in result.order:
            step = position if self.by_trials else result.asked[position]
            ends.setdefault(step, result.seconds[position])
        return np.array(list(ends.values())[: self.budget], dtype=np.float64)

    @property
    def evaluated(self) -> tuple[int, ...]:
        """Distinct configurations within the budget, in order."""
        return tuple(dict.fromkeys(self.steps))

    def n_ended(self, times: npt.ArrayLike) -> npt.NDArray[np.intp]:
        """Number of steps that had ended at each time of the clock, of the shape of ``times``.

        Raises:
            ValueError: If the study has no clock.
        """
        seconds = self.step_seconds
        if seconds is None:
            raise ValueError("A study must have a clock, but none of its trials has a time.")
        return np.searchsorted(seconds, times, side="right")

    @property
    def n_asks(self) -> int:
        """Number of trials that ended within the budget."""
        if self.by_trials:
            return len(self.steps)
        return n_asks_within(self.result.told, self.budget)

    @property
    def identity(self) -> dict[str, Any]:
        """Columns of a summary that tell a snapshot from others."""
        cell = self.result.cell
        return {
            "problem": cell.problem,
            "in_flight": cell.in_flight,
            "durations": cell.durations,
            "unit": UNITS[self.by_trials],
            "budget": self.budget,
            "sampler": cell.sampler.label,
            "seed": cell.seed,
        }


def snapshots(
    results: Sequence[CellResult], budgets: Mapping[str, Budgets] | None = None
) -> list[Snapshot]:
    """Select the study to measure at each budget.

    A sampler that plans for its budget has a study of its own at each. Any other sampler does the
    same whatever the budget, so its longest study of a seed is measured at all budgets.

    Args:
        results: Finished studies, in any order.
        budgets: Budgets by text of the problem, by default those of the results. A study whose own
            budget counts trials is always measured by trials; no study has fewer of them than
            distinct evaluations.

    Returns:
        One snapshot per problem, sampler, trials in flight with their durations, unit, seed and
        budget, in the order of the results.

    Raises:
        ValueError: If one label stands for two samplers, or for two versions of one.
    """
    _check_labels(results)
    by_trials = {problem for problem, wanted in (budgets or {}).items() if wanted.by_trials}
    longest: dict[tuple[Any, ...], CellResult] = {}
    own: dict[tuple[str, bool], set[int]] = {}
    for result in results:
        cell = result.cell
        unit = (cell.problem, cell.by_trials or cell.problem in by_trials)
        own.setdefault(unit, set()).add(cell.budget)
        planned_for = cell.budget if cell.sampler.budget_aware else None
        workers = (cell.in_flight, cell.durations)
        key = (unit, cell.sampler.label, workers, cell.seed, planned_for)
        if key not in longest or cell.budget > longest[key].cell.budget:
            longest[key] = result
    return [
        Snapshot(result, budget, unit[1])
        for (unit, *_, planned_for), result in longest.items()
        for budget in sorted(own[unit] if budgets is None else set(budgets[unit[0]].sizes))
        if budget == planned_for or (planned_for is None and budget <= result.cell.budget)
    ]


def n_asks_within(told: Sequence[int], budget: int) -> int:
    """Number of trials up to the one that brought the ``budget``-th distinct configuration."""
    _, first = np.unique(np.asarray(told, dtype=np.intp), return_index=True)
    return int(np.sort(first)[budget - 1]) + 1 if len(first) >= budget else len(told)


def _check_labels(results: Sequence[CellResult]) -> None:
    meanings: dict[tuple[str, str], tuple[Any, ...]] = {}
    for result in results:
        spec = result.cell.sampler
        meaning = (spec.target, dict(spec.arguments), spec.fingerprint)
        known = meanings.setdefault((result.cell.problem, spec.label), meaning)
        if known != meaning:
            raise ValueError(
                f"A label must name one sampler, but {spec.label!r} stands for {known} and "
                f"{meaning}. Give them labels of their own, or report one version of the code."
            )
