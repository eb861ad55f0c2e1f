"""Proxies that the project computed itself and ships; ``proxy_tables`` makes the files.

The values belong to networks of a reduced scale, which the file's metadata names. ``params`` and
``flops`` are not among them: they are counted exactly.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq


METADATA = b"zerocost"
"""Key of the file's metadata: command, versions, scales and batch as JSON."""


def path(benchmark: str, n_classes: int) -> Path:
    """File of the proxies of a benchmark's networks for a number of classes."""
    return Path(__file__).parent / "data" / f"{benchmark}_{n_classes}.parquet"


def load(benchmark: str, n_classes: int) -> pd.DataFrame | None:
    """The scored proxies of each row of a benchmark, None if they are not shipped."""
    file = path(benchmark, n_classes)
    return pd.read_parquet(file).astype("float64") if file.is_file() else None


def metadata(benchmark: str, n_classes: int) -> dict[str, Any]:
    """Command, versions and scales that made a table.

    Raises:
        FileNotFoundError: If it is not shipped.
    """
    stored: dict[str, Any] = json.loads(
        pq.read_schema(path(benchmark, n_classes)).metadata[METADATA]
    )
    return stored


def describe(benchmark: str, n_classes: int) -> str:
    """Description of the proxies of a table, as a clause.

    Raises:
        FileNotFoundError: If it is not shipped.
    """
    scale = metadata(benchmark, n_classes)["scale"]
    return (
        "params and flops are exact; the others were computed with optuna_zaps.zerocost for "
        f"{n_classes} classes on networks of {_number(scale['n_cells'], 'cell')} a stage and "
        f"{scale['channels']} channels, with {scale['n_samples']} photograph crops of "
        f"{scale['image_size']} x {scale['image_size']} pixels"
    )


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
