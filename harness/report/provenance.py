"""Where the numbers of a report come from, in rows of name and value."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.experiment import CellResult
from harness.report.views import View


_MAX_LISTED = 4


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
    """What the studies recorded about their runs, each fact once with all its values."""
    values: dict[str, list[str]] = {}
    for result in results:
        for name, value in _flat(result.provenance):
            values.setdefault(name, []).append(value)
    return [Fact(name.replace("_", " "), _joined(found)) for name, found in values.items()]


def sampler_facts(results: Sequence[CellResult]) -> list[Fact]:
    """What each label stands for, and how many studies it has."""
    facts = {}
    for result in results:
        spec = result.cell.sampler
        if spec.label not in facts:
            mine = [r for r in results if r.cell.sampler.label == spec.label]
            seeds = {r.cell.seed for r in mine}
            budgets = _joined(str(b) for b in sorted({r.cell.budget for r in mine}))
            text = ", ".join(f"{name}={value!r}" for name, value in spec.arguments.items())
            facts[spec.label] = Fact(
                spec.label,
                f"{spec.target}({text}); {len(mine)} studies, {len(seeds)} seeds "
                f"({min(seeds)} to {max(seeds)}), budget {budgets}"
                + (f"; code {spec.fingerprint}" if spec.fingerprint else ""),
            )
    return list(facts.values())


def benchmark_facts(views: Sequence[View]) -> list[Fact]:
    """Size, optimum, fingerprint and notes of each table."""
    benchmarks = {view.place: view.benchmark for view in views}
    return [
        Fact(
            place,
            " ".join(
                (
                    f"{len(benchmark.values):,} configurations, {benchmark.proxies.shape[1]} "
                    f"proxies, optimum {benchmark.optimum:.6g}, data {benchmark.fingerprint}.",
                    *benchmark.notes,
                )
            ),
        )
        for place, benchmark in benchmarks.items()
    ]


def _flat(mapping: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in mapping.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}: ")
        else:
            yield f"{prefix}{name}", str(value)


def _joined(values: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(values))
    if len(distinct) <= _MAX_LISTED:
        return ", ".join(distinct)
    return f"{min(distinct)} … {max(distinct)} ({len(distinct)} values)"
