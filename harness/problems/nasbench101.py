"""NAS-Bench-101: 10,250 of its 423,624 cells on CIFAR-10 (Ying et al., 2019).

A cell is a directed acyclic graph of at most seven vertices: an input, an output and operations
between them. The parameters are the paper's 56 bits (Section 3.4): ``edge_i_j`` for an edge from
vertex i to vertex j > i, and ``op_i_name`` for an operation at vertex i.

The table is ``nasbench101.parquet`` in the directory that the environment variable
``ZAPS_DATA_DIR`` names: the first 10,250 graphs in the order of their hashes, which is none of
quality. It is not the paper's sample of 9,781. Its accuracies come with two sources of proxies:

- ``parquet``: the published ones that the table has, ``params`` and ``zen``.
- ``parquet-own``: 13 of the project's own, two that are counted here and 11 that ``own_proxies``
  reads.

Notations:
    n: number of vertices of a cell, 2 .. 7.
    adjacency: bits of the n x n matrix, row after row; an edge leads to a later vertex.
"""

from __future__ import annotations

from functools import lru_cache
from functools import partial
import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.problems import own_proxies
from harness.problems.family import Family
from harness.problems.files import data_file
from harness.problems.files import source as file_source
from harness.problems.graphs import counts
from harness.problems.proxies import PROXIES
from harness.problems.table import TabularBenchmark


NAME = "nasbench101"
OPERATIONS = ("input", "conv1x1-bn-relu", "conv3x3-bn-relu", "maxpool3x3", "output")
N_VERTICES = 7
EDGES = tuple((i, j) for i in range(N_VERTICES) for j in range(i + 1, N_VERTICES))
PARAMETERS = (
    *(f"edge_{i}_{j}" for i, j in EDGES),
    *(f"op_{i}_{name}" for i in range(N_VERTICES) for name in OPERATIONS),
)

_PARQUET = "nasbench101.parquet"
_VALUES = "validation_accuracy"
_SECONDS = "train_seconds"
_N_CLASSES = 10


def encode(adjacency: str, operations: str) -> npt.NDArray[np.int8]:
    """Encode a cell in 56 bits.

    A cell of fewer than seven vertices keeps its output at the seventh: the vertices it lacks lie
    before the output and have neither edges nor an operation, as in naszilla.

    Args:
        adjacency: n^2 characters ``0`` or ``1``.
        operations: n names of ``OPERATIONS``, separated by commas.

    Returns:
        Array of shape (56,), in the order of ``PARAMETERS``.
    """
    names = operations.split(",")
    n = len(names)
    vertices = [*range(n - 1), N_VERTICES - 1]
    matrix = np.zeros((N_VERTICES, N_VERTICES), dtype=np.int8)
    matrix[np.ix_(vertices, vertices)] = _matrix(adjacency)
    one_hot = np.zeros((N_VERTICES, len(OPERATIONS)), dtype=np.int8)
    one_hot[vertices, [OPERATIONS.index(name) for name in names]] = 1
    return np.concatenate([matrix[tuple(zip(*EDGES, strict=True))], one_hot.ravel()])


def count(adjacency: str, operations: str) -> tuple[float, float]:
    """Exact number of weights and of floating-point operations of a cell's network, in millions.

    Args:
        adjacency: n^2 characters ``0`` or ``1``.
        operations: n names of ``OPERATIONS``, separated by commas.
    """
    n_params, n_flops = counts(_matrix(adjacency) > 0, operations.split(","))
    return n_params / 1e6, n_flops / 1e6


def _matrix(adjacency: str) -> npt.NDArray[np.uint8]:
    n = math.isqrt(len(adjacency))
    return np.frombuffer(adjacency.encode(), dtype=np.uint8).reshape(n, n) - ord("0")


def _read(dataset: str, source: str) -> TabularBenchmark:
    return _read_file(data_file(_PARQUET) or Path(), dataset, source)


@lru_cache
def _read_file(path: Path, dataset: str, source: str) -> TabularBenchmark:
    try:
        table = pd.read_parquet(path)
        bits = np.stack(
            [encode(*cell) for cell in zip(table["adjacency"], table["ops"], strict=True)]
        )
        values = table[_VALUES].to_numpy(np.float64)
    except (OSError, ValueError, KeyError) as error:
        raise ValueError(f"{path} must be the table of {NAME}, but {error}.") from error
    proxies, note = (_own_proxies if source == "parquet-own" else _published_proxies)(table)
    return TabularBenchmark(
        text=FAMILY.text(dataset, source),
        parameters=pd.DataFrame(bits.astype(object), columns=list(PARAMETERS)),
        values=values,
        proxies=proxies,
        notes=(
            f"{len(table):,} graphs, the first in order of hash; the paper has another sample of "
            "9,781.",
            note,
            "A proposal that is no graph of the table is replaced by the nearest one that has "
            "not been evaluated.",
        ),
        choices=dict.fromkeys(PARAMETERS, (0, 1)),
        objective="validation accuracy (%)",
        read_seconds=partial(_read_seconds, path),
    )


def _published_proxies(table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The table's proxies and which they are, in a sentence."""
    # The others of the thirteen are taken as soon as the table has them. Accuracies after 12
    # epochs are no zero-cost proxy, so they are left out.
    names = [name for name in PROXIES if name in table]
    return table[names].astype(np.float64), f"Of the 13 proxies it has {', '.join(names)}."


def _read_seconds(path: Path) -> npt.NDArray[np.float64]:
    """Training time of each graph in seconds."""
    seconds = pd.read_parquet(path, columns=[_SECONDS])[_SECONDS]
    return seconds.to_numpy(np.float64)


def _own_proxies(table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The project's own proxies and what they are, in a sentence."""
    scored = own_proxies.load(NAME, _N_CLASSES)
    if scored is None or len(scored) != len(table):
        raise ValueError(
            f"The project's own proxies of {NAME} must have a row for each of the {len(table):,} "
            f"graphs of {_PARQUET}, but got {0 if scored is None else len(scored):,} rows."
        )
    counted = pd.DataFrame(
        [count(*cell) for cell in zip(table["adjacency"], table["ops"], strict=True)],
        columns=["params", "flops"],
    )
    note = f"Proxies are the project's own: {own_proxies.describe(NAME, _N_CLASSES)}."
    return pd.concat([counted, scored], axis=1)[list(PROXIES)], note


FAMILY = Family(
    name=NAME,
    description="10,250 cells of at most seven vertices in 56 bits; validation accuracy in "
    "percent",
    problems=("cifar10",),
    sources=(
        file_source("parquet", "accuracies after 108 epochs, params and zen", file=_PARQUET),
        file_source(
            "parquet-own",
            "the same accuracies with 13 proxies computed by this project",
            file=_PARQUET,
        ),
    ),
    read=_read,
    usual_source="parquet",
)
