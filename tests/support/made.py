"""Measured results made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import pandas as pd

from harness.paper.measured import COLUMNS
from harness.paper.measured import MeasuredResults
from harness.paper.published import ProblemKey


def measured(
    samples: Mapping[tuple[ProblemKey, int, str], Sequence[float]],
    metric: str = "precision",
    **content: Any,
) -> MeasuredResults:
    """One number per seed for each problem, budget and row."""
    rows = [
        dict.fromkeys(COLUMNS, float("nan"))
        | {
            "benchmark": problem[0],
            "dataset": problem[1],
            "source": "made",
            "budget": budget,
            "sampler": row,
            "seed": seed,
            "found_optimum": False,
            metric: value,
        }
        for (problem, budget, row), values in samples.items()
        for seed, value in enumerate(values)
    ]
    return MeasuredResults(pd.DataFrame(rows, columns=list(COLUMNS)), **content)
