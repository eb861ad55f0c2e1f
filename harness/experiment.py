"""What is compared with what: the cells of a comparison and what a finished cell holds.

A cell is one study: a sampler with its arguments, on one data set of one benchmark, with one seed
and one budget of distinct evaluations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from dataclasses import dataclass
from dataclasses import field
import hashlib
import json
from typing import Any


@dataclass(frozen=True)
class SamplerSpec:
    """A sampler by name.

    Attributes:
        label: What tables and figures call it.
        target: Name in the registry (``"zaps"``), or ``"module:Class"``.
        arguments: Keyword arguments that override the registry's.
        fingerprint: What identifies the code behind the target (a version or a hash of sources),
            so that results of other code are never mistaken for this one's.
    """

    label: str
    target: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str = ""


@dataclass(frozen=True)
class Cell:
    """One study of a comparison.

    Attributes:
        benchmark: Name of the benchmark.
        dataset: Name of its data set, or of one of its problems.
        source: Source of its numbers.
        benchmark_fingerprint: Hash of the numbers.
        sampler: The sampler and its arguments.
        seed: Seed of the sampler.
        budget: Number of distinct configurations to evaluate.
        by_trials: Whether the budget is a number of trials instead, repeated proposals included.
        in_flight: Number of trials that run side by side: the oldest is told before the next is
            asked.

    Raises:
        ValueError: If fewer than one trial is in flight.
    """

    benchmark: str
    dataset: str
    source: str
    benchmark_fingerprint: str
    sampler: SamplerSpec
    seed: int
    budget: int
    by_trials: bool = False
    in_flight: int = 1

    def __post_init__(self) -> None:
        if self.in_flight < 1:
            raise ValueError(
                f"The number of trials in flight must be at least 1, but got {self.in_flight}."
            )

    @property
    def arm(self) -> tuple[str, str, str, str]:
        """Benchmark, data set, source and label: what a row of a comparison stands for."""
        return (self.benchmark, self.dataset, self.source, self.sampler.label)

    @property
    def content(self) -> dict[str, Any]:
        """Fields as a file holds them, without those that older files lack."""
        content = asdict(self)
        if self.in_flight == 1:
            del content["in_flight"]  # Files and hashes from before there was a choice.
        return content

    @property
    def key(self) -> str:
        """Content hash: equal for equal work. The label is a name, not work."""
        content = self.content
        del content["sampler"]["label"]
        if not self.by_trials:
            del content["by_trials"]  # The hashes of results from before there was a choice.
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:20]


@dataclass(frozen=True)
class CellResult:
    """What one finished study left.

    Attributes:
        cell: What was run.
        asked: Number of the configuration for each ask, in order, repeated proposals included;
            length (n_asks,). Of a table it is the row; without one, configurations are numbered
            as the study came upon them.
        ask_seconds: CPU seconds of each ask (``ask`` and all ``suggest_*``), length (n_asks,).
        tell_seconds: CPU seconds of each tell, length (n_asks,).
        user_attrs: User attributes that the sampler gave each trial, length (n_asks,).
        provenance: Versions, commit, machine and time of the run.
        spearman: Rank correlation of the sampler's final prediction with the values of the whole
            table, ``None`` if it predicts nothing.
        configurations: Parameters by number, where there is no table.
        values: Value by number, where there is no table.
    """

    cell: Cell
    asked: tuple[int, ...]
    ask_seconds: tuple[float, ...]
    tell_seconds: tuple[float, ...]
    user_attrs: tuple[Mapping[str, Any], ...]
    provenance: Mapping[str, Any]
    spearman: float | None = None
    configurations: tuple[Mapping[str, Any], ...] = ()
    values: tuple[float, ...] = ()

    @property
    def evaluated(self) -> tuple[int, ...]:
        """Distinct numbers in order of their first evaluation, length <= budget."""
        return tuple(dict.fromkeys(self.asked))

    @property
    def capped(self) -> bool:
        """Whether the cap on asks ended the study before its budget was spent."""
        return len(self.evaluated) < self.cell.budget

    @property
    def repeat_share(self) -> float:
        """Fraction of the asks that proposed a configuration evaluated before, in [0, 1]."""
        return 1.0 - len(self.evaluated) / len(self.asked)
