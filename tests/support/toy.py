"""A table of 200 rows and studies on it, made without running any sampler."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from harness.experiment import Cell
from harness.experiment import CellResult
from harness.experiment import SamplerSpec
from harness.problems import Problem
from harness.problems import TabularBenchmark


def table(values: Sequence[float] | None = None, dataset: str = "toy") -> TabularBenchmark:
    numbers = np.arange(1.0, 201.0) if values is None else np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(0)
    return TabularBenchmark(
        text=f"bench/{dataset}@made",
        parameters=pd.DataFrame({"x": [f"v{i}" for i in range(len(numbers))]}, dtype=object),
        values=numbers,
        proxies=pd.DataFrame(
            {"good": numbers + rng.normal(size=len(numbers)), "noise": rng.random(len(numbers))}
        ),
        notes=("Made up.",),
        n_top=min(100, len(numbers)),
    )


def study(
    asked: Sequence[int],
    *,
    label: str = "a",
    seed: int = 0,
    budget: int | None = None,
    target: str = "tpe",
    on: Problem | None = None,
) -> CellResult:
    on = on or table()
    return CellResult(
        cell=Cell(
            on.text,
            on.fingerprint,
            SamplerSpec(label, target, budget_aware=target == "zaps-paper"),
            seed,
            len(set(asked)) if budget is None else budget,
        ),
        asked=tuple(asked),
        ask_seconds=tuple(0.001 * (i + 1) for i in range(len(asked))),
        tell_seconds=(0.001,) * len(asked),
        user_attrs=({},) * len(asked),
        provenance={"finished": f"2026-01-01T00:00:{seed:02d}", "optuna": "5.0.0"},
    )


def studies(n_seeds: int = 6, budget: int = 40) -> list[CellResult]:
    """Three samplers, ``zaps`` the best and ``random`` the worst, on two data sets."""
    results = []
    for dataset in ("toy", "second <set>"):
        on = table(dataset=dataset)
        for label, bias in (("zaps", 3.0), ("tpe", 1.0), ("random", 0.0)):
            for seed in range(n_seeds):
                rng = np.random.default_rng([seed, int(bias)])
                weights = np.exp(bias * on.values / on.values.max())
                rows = rng.choice(200, size=budget, replace=False, p=weights / weights.sum())
                results.append(study(rows.tolist(), label=label, seed=seed, target=label, on=on))
    return results


def tables() -> list[TabularBenchmark]:
    return [table(dataset=dataset) for dataset in ("toy", "second <set>")]
