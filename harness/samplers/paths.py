"""Path encoding of cells (White, Neiswanger and Savani, 2021: BANANAS, Section 3).

A cell is described by its paths from input to output, each the sequence of operations that it
passes. Most of the possible paths are long and rare, so the encoding has only the short ones.

Notations:
    codes: int array of shape (n, n_parameters), configurations.
    encoding: float32 array of shape (n, n_paths), 1 where a cell has a path. Paths are ordered by
        length, then by their operations.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
import re

import numpy as np
import numpy.typing as npt

from harness.samplers.space import Configuration
from harness.samplers.space import Space


Encoder = Callable[[Space, Sequence[Configuration]], npt.NDArray[np.float32]]

EDGE_PATHS_MAX_LENGTH = 2
"""Edges of the longest encoded path if operations are on edges: 30 of NAS-Bench-201's 155."""
VERTEX_PATHS_MAX_LENGTH = 3
"""Operations of the longest encoded path if they are on vertices: 40 of NAS-Bench-101's 364."""

_EDGE = re.compile(r"edge_(\d+)_(\d+)")
_OPERATION = re.compile(r"op_(\d+)_(.+)")
_FIXED_OPERATIONS = ("input", "output")


def edge_paths(space: Space, configurations: Sequence[Configuration]) -> npt.NDArray[np.float32]:
    """Encode the paths of cells with an operation on each edge, as in NAS-Bench-201.

    Args:
        space: Parameters ``edge_i_j``, each with the same operations. ``none`` is one of them, as
            in the source.
        configurations: The n cells.

    Returns:
        Array of shape (n, K + K^2) for K operations. All paths of one length share its columns.

    Raises:
        ValueError: If the space has other parameters.
    """
    edges = _edges(space)
    n_operations = space.sizes[0]
    if len(edges) != len(space.names) or set(space.sizes) != {n_operations}:
        raise ValueError(
            "The path encoding of edges needs parameters named edge_0_1, ... with the same "
            f"operations, but got {dict(zip(space.names, space.sizes, strict=True))}."
        )
    last = max(target for _, target in edges)
    codes = np.asarray(configurations, dtype=np.intp).reshape(-1, len(edges))
    widths = [n_operations**length for length in range(1, EDGE_PATHS_MAX_LENGTH + 1)]
    encoding = np.zeros((len(codes), sum(widths)), dtype=np.float32)
    for path in _routes(list(edges), 0, last):
        if len(path) > EDGE_PATHS_MAX_LENGTH:
            continue
        columns = np.full(len(codes), sum(widths[: len(path) - 1]))
        for power, edge in enumerate(reversed(path)):
            columns += codes[:, edges[edge]] * n_operations**power
        encoding[np.arange(len(codes)), columns] = 1.0
    return encoding


def vertex_paths(space: Space, configurations: Sequence[Configuration]) -> npt.NDArray[np.float32]:
    """Encode the paths of cells with an operation on each vertex, as in NAS-Bench-101.

    Args:
        space: Bits named ``edge_i_j`` and ``op_i_name``. The operations ``input`` and ``output``
            are on every path and are not counted.
        configurations: The n cells.

    Returns:
        Array of shape (n, 1 + K + K^2 + K^3) for K operations; the first column is the path
        without operations.

    Raises:
        ValueError: If the space has other parameters.
    """
    edges = _edges(space)
    operations: dict[int, dict[str, int]] = {}
    for position, name in enumerate(space.names):
        if match := _OPERATION.fullmatch(name):
            operations.setdefault(int(match[1]), {})[match[2]] = position
    n_bits = len(edges) + sum(map(len, operations.values()))
    if not edges or n_bits != len(space.names) or set(space.choices.values()) != {(0, 1)}:
        raise ValueError(
            "The path encoding of vertices needs bits named edge_0_1, ... and op_0_input, ..., "
            f"but got {list(space.names)}."
        )
    last = max(target for _, target in edges)
    names = [name for name in operations[0] if name not in _FIXED_OPERATIONS]
    widths = [len(names) ** length for length in range(VERTEX_PATHS_MAX_LENGTH + 1)]
    encoding = np.zeros((len(configurations), sum(widths)), dtype=np.float32)
    for row, configuration in enumerate(configurations):
        present = [edge for edge, position in edges.items() if configuration[position]]
        operation_of = {
            vertex: operation
            for vertex, positions in operations.items()
            for operation, name in enumerate(names)
            if configuration[positions[name]]
        }
        for path in _routes(present, 0, last):
            passed = [operation_of.get(target) for _, target in path[:-1]]
            if len(passed) <= VERTEX_PATHS_MAX_LENGTH and None not in passed:
                column = sum(widths[: len(passed)])
                for power, operation in enumerate(reversed(passed)):
                    column += (operation or 0) * len(names) ** power
                encoding[row, column] = 1.0
    return encoding


def _edges(space: Space) -> dict[tuple[int, int], int]:
    """Find the position of each edge's parameter."""
    return {
        (int(match[1]), int(match[2])): position
        for position, name in enumerate(space.names)
        if (match := _EDGE.fullmatch(name))
    }


def _routes(
    edges: Sequence[tuple[int, int]], start: int, end: int
) -> Iterator[tuple[tuple[int, int], ...]]:
    """List all paths from one vertex to another along edges to later vertices."""
    if start == end:
        yield ()
        return
    for edge in edges:
        if edge[0] == start:
            for rest in _routes(edges, edge[1], end):
                yield (edge, *rest)
