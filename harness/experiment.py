"""Cells of a comparison, samplers x problems x seeds x budgets, and their results.

A cell is one study: a sampler with its arguments on one problem, with one seed and one budget. It
travels as text: any process finds its problem and its sampler by their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import asdict
from dataclasses import dataclass
from dataclasses import field
import hashlib
import json
from typing import Any

from harness.problems import Problem
from harness.problems import work


UNITS = {False: "evaluations", True: "trials"}
"""Unit of a budget by whether it counts trials."""

MEASURED = "measured"
CLOCKS = (MEASURED, "lognormal", "equal")
"""Durations of trials on a simulated clock (:mod:`harness.run.workers`)."""


@dataclass(frozen=True)
class SamplerSpec:
    """Specification of a sampler.

    Attributes:
        label: Its name in tables and figures.
        target: Name in the registry (``"zaps"``), or ``"module:Class"``.
        arguments: Keyword arguments that override the registry's.
        fingerprint: Identifies the code behind the target (a version or a hash of sources), so
            that results of other code are never mistaken for this one's.
        budget_aware: Whether the sampler plans for its budget. Then it has a study of its own at
            each; any other has one at the largest, which is cut at the smaller ones.
    """

    label: str
    target: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str = ""
    budget_aware: bool = False


@dataclass(frozen=True)
class Cell:
    """One study of a comparison.

    Attributes:
        problem: Text of the problem (:func:`harness.problems.load`).
        problem_fingerprint: Hash of its numbers.
        sampler: The sampler and its arguments.
        seed: Seed of the sampler.
        budget: Number of distinct configurations to evaluate.
        by_trials: Whether the budget is a number of trials instead, repeated proposals included.
        in_flight: Number of trials that run side by side, the workers. Without a clock the oldest
            is told before the next is asked.
        durations: Durations of the trials on a simulated clock, one of :data:`CLOCKS`: the trial
            that ends first is told before the next is asked. Empty without a clock.

    Raises:
        ValueError: If fewer than one trial is in flight, or there are no such durations.
    """

    problem: str
    problem_fingerprint: str
    sampler: SamplerSpec
    seed: int
    budget: int
    by_trials: bool = False
    in_flight: int = 1
    durations: str = ""

    def __post_init__(self) -> None:
        if self.in_flight < 1:
            raise ValueError(
                f"The number of trials in flight must be at least 1, but got {self.in_flight}."
            )
        if self.durations not in ("", *CLOCKS):
            raise ValueError(
                f"Durations must be one of {list(CLOCKS)}, but got {self.durations!r}."
            )

    @property
    def unit(self) -> str:
        """Unit of the budget, ``"evaluations"`` or ``"trials"``."""
        return UNITS[self.by_trials]

    @property
    def key(self) -> str:
        """Content hash: equal for equal work. The label is a name, not work."""
        content = asdict(self)
        del content["sampler"]["label"]
        content["problem"] = work(self.problem)
        if not self.durations:  # Cells without a clock keep the keys that they had before it.
            del content["durations"]
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:20]


@dataclass(frozen=True)
class CellResult:
    """Record of a finished study.

    Attributes:
        cell: The study.
        asked: Number of the configuration for each ask, in order, repeated proposals included;
            length (n_asks,). Of a table it is the row; without one, configurations are numbered
            as the study came upon them.
        ask_seconds: CPU seconds of each ask (``ask`` and all ``suggest_*``), length (n_asks,).
        tell_seconds: CPU seconds of the tell of each of them, length (n_asks,).
        user_attrs: User attributes that the sampler gave each trial, length (n_asks,).
        provenance: Versions, commit, machine and time of the run.
        spearman: Rank correlation of the sampler's final prediction with the values of the whole
            table, ``None`` if it predicts nothing.
        configurations: Parameters by number, where there is no table.
        values: Value by number, where there is no table: of several objectives a value for each,
            NaN where an evaluation failed.
        constraints: Constraints by number, where there is no table and there are any.
        seconds: Time at which each of the asked trials ended, length (n_asks,): on the simulated
            clock of the cell, or the wall-clock time of a study that a user ran. ``None`` without
            a clock: trials end in the order in which they were asked.
        recommended: Number of the configuration that the sampler's own ranking puts first among
            those evaluated, where values are noisy; ``None`` if it ranks nothing.
    """

    cell: Cell
    asked: tuple[int, ...]
    ask_seconds: tuple[float, ...]
    tell_seconds: tuple[float, ...]
    user_attrs: tuple[Mapping[str, Any], ...]
    provenance: Mapping[str, Any]
    spearman: float | None = None
    configurations: tuple[Mapping[str, Any], ...] = ()
    values: tuple[float | Sequence[float], ...] = ()
    constraints: tuple[Mapping[str, float], ...] = ()
    seconds: tuple[float, ...] | None = None
    recommended: int | None = None

    @property
    def order(self) -> tuple[int, ...]:
        """Positions of the asks in the order in which their trials ended, length (n_asks,)."""
        positions = range(len(self.asked))
        if self.seconds is None:
            return tuple(positions)
        return tuple(sorted(positions, key=self.seconds.__getitem__))  # The older of two first.

    @property
    def told(self) -> tuple[int, ...]:
        """Number of the configuration of each trial, in the order in which trials ended."""
        return tuple(self.asked[position] for position in self.order)

    @property
    def evaluated(self) -> tuple[int, ...]:
        """Distinct numbers in the order in which their first trials ended, length <= budget."""
        return tuple(dict.fromkeys(self.told))

    @property
    def capped(self) -> bool:
        """Whether the cap on asks ended the study before its budget was spent."""
        return len(self.evaluated) < self.cell.budget


def make_cells(
    problems: Sequence[Problem],
    samplers: Sequence[SamplerSpec],
    seeds: Sequence[int],
    budgets: Sequence[int],
    *,
    by_trials: bool = False,
    in_flight: int = 1,
    durations: str = "",
) -> list[Cell]:
    """Every combination, seeds first, so that all samplers progress side by side.

    The budgets count distinct configurations, or, by trials, every proposal. A sampler that plans
    for its budget gets a study for each; any other one study at the largest, which can be cut at
    the smaller ones. Every study has as many trials ``in_flight``, of such ``durations``.
    """
    setting = (by_trials, in_flight, durations)
    return [
        Cell(problem.text, problem.fingerprint, sampler, seed, budget, *setting)
        for seed in seeds
        for problem in problems
        for sampler in samplers
        for budget in (budgets if sampler.budget_aware else [max(budgets)])
    ]
