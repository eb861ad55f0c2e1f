"""Evidence made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import pandas as pd

from harness.paper.evidence import COLUMNS
from harness.paper.evidence import Evidence
from harness.paper.published import Place


def evidence(
    samples: Mapping[tuple[Place, int, str], Sequence[float]],
    metric: str = "precision",
    **content: Any,
) -> Evidence:
    """One number per seed for each place, budget and row."""
    rows = [
        dict.fromkeys(COLUMNS, float("nan"))
        | {
            "benchmark": place[0],
            "dataset": place[1],
            "source": "made",
            "budget": budget,
            "sampler": row,
            "seed": seed,
            "found_optimum": False,
            metric: value,
        }
        for (place, budget, row), values in samples.items()
        for seed, value in enumerate(values)
    ]
    return Evidence(pd.DataFrame(rows, columns=list(COLUMNS)), **content)
