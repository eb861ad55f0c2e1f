"""Origin of the numbers of a report, in rows of name and value."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.experiment import MEASURED
from harness.experiment import CellResult
from harness.experiment import SamplerSpec
from harness.problems import Problem
from harness.report import formats
from harness.run.workers import MEAN_SECONDS
from harness.run.workers import SIGMA


_FINISHED = "finished"  # differs for each study, so only its range is of interest
_COMPUTED, _TO, _BETWEEN = "computed", " to ", "; "


@dataclass(frozen=True)
class Fact:
    """A row of the provenance.

    Attributes:
        name: What it is.
        value: Its values, joined.
    """

    name: str
    value: str


def run_facts(results: Sequence[CellResult]) -> list[Fact]:
    """Versions, commits and machines of the runs of studies; differing values are all listed."""
    values: dict[str, list[str]] = {}
    for result in results:
        for name, value in _flat(result.provenance):
            known = values.setdefault(name, [])
            if value not in known:
                known.append(value)
    finished = sorted(values.pop(_FINISHED, []))
    facts = [Fact(_COMPUTED, f"{finished[0]}{_TO}{finished[-1]}")] if finished else []
    return facts + [Fact(name, _BETWEEN.join(found)) for name, found in values.items()]


def merged(runs: Iterable[Sequence[Fact]]) -> list[Fact]:
    """Facts of several runs as if they were one; differing values are all listed."""
    values: dict[str, list[str]] = {}
    for run in runs:
        for fact in run:
            known = values.setdefault(fact.name, [])
            known += [value for value in fact.value.split(_BETWEEN) if value not in known]
    computed = [moment for text in values.pop(_COMPUTED, []) for moment in text.split(_TO)]
    facts = [Fact(_COMPUTED, f"{min(computed)}{_TO}{max(computed)}")] if computed else []
    return facts + [Fact(name, _BETWEEN.join(found)) for name, found in values.items()]


def sampler_text(spec: SamplerSpec) -> str:
    """Target, arguments and code of a sampler."""
    arguments = ", ".join(f"{name}={value!r}" for name, value in spec.arguments.items())
    code = f", code {spec.fingerprint}" if spec.fingerprint else ""
    return f"{spec.target}({arguments}){code}"


def sampler_facts(results: Sequence[CellResult]) -> list[Fact]:
    """Sampler behind each label, and its number of studies."""
    studies: dict[tuple[str, str, str, str], list[CellResult]] = {}
    for result in results:
        spec = result.cell.sampler
        workers = formats.in_flight(result.cell.in_flight, result.cell.durations)
        key = (spec.label, sampler_text(spec), result.cell.unit, workers)
        studies.setdefault(key, []).append(result)
    facts = []
    for (label, text, unit, workers), mine in studies.items():
        seeds = {result.cell.seed for result in mine}
        budgets = " or ".join(map(str, sorted({result.cell.budget for result in mine})))
        facts.append(
            Fact(
                label,
                f"{text}; {len(mine)} studies of {budgets} {unit}{workers}, "
                f"{len(seeds)} seeds from {min(seeds)} to {max(seeds)}",
            )
        )
    return facts


def problem_facts(problems: Iterable[Problem]) -> list[Fact]:
    """Size, fingerprint and notes of each problem."""
    return [Fact(problem.text, " ".join((_size(problem), *problem.notes))) for problem in problems]


def clock_note(durations: str, problem: Problem) -> str:
    """Note on the clock of the studies on a problem, a sentence; empty without one."""
    if not durations:
        return ""
    times = problem.table.training_seconds if problem.table else None
    if durations == "equal":
        takes = f"Every trial takes {formats.duration(MEAN_SECONDS)} of the simulated clock"
    elif durations == MEASURED and times is not None:
        takes = (
            "A trial takes the training time of its configuration on the simulated clock (mean of "
            f"the table: {formats.duration(times.mean())})"
        )
    else:
        takes = (
            "A trial takes a log-normal time on the simulated clock, the same for all samplers "
            f"(mean {formats.duration(MEAN_SECONDS)}, sigma {SIGMA})"
        )
    return f"{takes}; the time of the sampler is not on it."


def _size(problem: Problem) -> str:
    table, fingerprint = problem.table, f"fingerprint {problem.fingerprint}."
    if table is None:
        return f"A {problem.kind}, {fingerprint}"
    size = f"{len(table.values):,} configurations, {table.proxies.shape[1]} proxies"
    optimum = f", optimum {problem.optimum:.6g}" if hasattr(problem, "optimum") else ""
    return f"{size}{optimum}, {fingerprint}"


def _flat(mapping: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in mapping.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}: ")
        else:
            yield f"{prefix}{name}", str(value)
