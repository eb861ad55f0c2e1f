"""Cells of NAS-Bench-201 that compute the same function (Dong and Yang, 2020, Section 2.1).

Notations:
    operations: the operation on each of the six edges, in the order of the cell string:
        0-1, 0-2, 1-2, 0-3, 1-3, 2-3.
    terms: what a node adds up, as a nested tuple in sorted order: ``"x"`` is the cell's input,
        ``(operation, terms)`` an operation applied to a sum. A skip connection adds the terms of
        the node that it leaves, and an operation on nothing adds nothing. (The benchmark's count
        of 6,466 classes tells an operation on nothing from nothing; before training, batch norm
        has no bias and both are zero.)
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence


EDGES = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))
"""Edges (from, to) in the order of the cell string."""

CONVOLUTIONS = ("nor_conv_1x1", "nor_conv_3x3")
"""Operations with weights."""


def canonical(operations: Sequence[str]) -> str:
    """Text that two cells share if and only if they compute the same function.

    It does not tell ``A(x) + A(x)`` from ``A(x) + B(x)``, where A and B are convolutions of one
    size: one convolution that a skip connection brings twice, or two.

    Example:
        >>> canonical(["skip_connect", "none", "nor_conv_3x3", "none", "none", "skip_connect"])
        'nor_conv_3x3(x)'
        >>> canonical(["none", "nor_conv_3x3", "none", "none", "none", "skip_connect"])
        'nor_conv_3x3(x)'
    """
    terms: list[list[str]] = [["x"], [], [], []]
    for (source, target), name in zip(EDGES, operations, strict=True):
        if name == "skip_connect":
            terms[target] += terms[source]
        elif name != "none" and terms[source]:
            terms[target].append(f"{name}({'+'.join(sorted(terms[source]))})")
    return "+".join(sorted(terms[-1]))


def pruned(operations: Sequence[str]) -> tuple[str, ...]:
    """Operations with those on no path from input to output replaced by ``"none"``."""
    left = list(operations)
    for _ in EDGES:  # A removal may leave another edge without a path.
        alive = [edge for edge, name in zip(EDGES, left, strict=True) if name != "none"]
        sources = {0, *(target for _, target in alive)}
        targets = {3, *(source for source, _ in alive)}
        left = [
            name if source in sources and target in targets else "none"
            for (source, target), name in zip(EDGES, left, strict=True)
        ]
    return tuple(left)


def representatives(cells: Iterable[Sequence[str]]) -> list[int]:
    """Position, for each cell, of the first whose untrained network agrees with its own.

    The two compute the same function with as many convolutions of each size. Without the second
    condition 638 of the 15,625 cells would take scores of networks with other weights.
    """
    first: dict[tuple[str, ...], int] = {}
    keys = (
        (canonical(cell), *(name for name in sorted(pruned(cell)) if name in CONVOLUTIONS))
        for cell in cells
    )
    return [first.setdefault(key, position) for position, key in enumerate(keys)]
