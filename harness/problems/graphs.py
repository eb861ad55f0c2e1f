"""Cells of NAS-Bench-101 as graphs: their channels, weights and operations.

Notations:
    matrix: bool array of shape (n_vertices, n_vertices), upper triangular; ``matrix[i, j]`` is the
        edge from vertex i to vertex j. Vertex 0 is the cell's input, the last its output.
    operations: operation of each vertex, ``"input"`` first and ``"output"`` last.
    widths: channels of each vertex. The output concatenates the vertices that lead to it, so they
        share its channels; any other vertex has as many as the widest that it leads to.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


Matrix = npt.NDArray[np.bool_]

KERNELS = {"conv1x1-bn-relu": 1, "conv3x3-bn-relu": 3}
"""Height and width of the kernels of the convolutions."""

_STEM, _STACKS, _N_CELLS = 128, (128, 256, 512), 3
_IMAGE_SIZE, _N_CLASSES = 32, 10


def vertex_widths(matrix: Matrix, width_in: int, width_out: int) -> list[int]:
    """Channels of each vertex; see the module's notations.

    Where the output's channels do not divide evenly, the first vertices take one more each.
    """
    n_vertices = len(matrix)
    last = n_vertices - 1
    widths = [width_in, *[0] * (n_vertices - 2), width_out]
    joined = [vertex for vertex in range(1, last) if matrix[vertex, last]]
    for position, vertex in enumerate(joined):
        share, remainder = divmod(width_out, len(joined))
        widths[vertex] = share + (position < remainder)
    for vertex in range(last - 1, 0, -1):
        if not matrix[vertex, last]:
            widths[vertex] = max(
                widths[after] for after in range(vertex + 1, last) if matrix[vertex, after]
            )
    return widths


def counts(matrix: Matrix, operations: Sequence[str]) -> tuple[int, int]:
    """Weights and floating-point operations of a cell's network on CIFAR-10, both exact.

    Operations are counted as in NAS-Bench-201: a multiplication with its addition once, batch
    norm two and ReLU one for each output, a pooling the size of its window.
    """
    size = _IMAGE_SIZE
    n_params, n_flops = _convolution(3, _STEM, 3, size)
    width_in = _STEM
    for width in _STACKS:
        if width != _STEM:
            size //= 2
            n_flops += 4 * width_in * size**2
        for inner in [width_in, *[width] * (_N_CELLS - 1)]:
            more_params, more_flops = _cell_counts(matrix, operations, inner, width, size)
            n_params += more_params
            n_flops += more_flops
        width_in = width
    n_flops += (size + 1) ** 2 * width_in  # the release of NAS-Bench-201 counts a border
    n_weights = width_in * _N_CLASSES
    return n_params + n_weights + _N_CLASSES, n_flops + n_weights


def _cell_counts(
    matrix: Matrix, operations: Sequence[str], width_in: int, width_out: int, size: int
) -> tuple[int, int]:
    widths = vertex_widths(matrix, width_in, width_out)
    n_params = n_flops = 0
    convolutions = [(width_in, widths[vertex], 1) for vertex in np.flatnonzero(matrix[0])]
    for name, width in zip(operations[1:-1], widths[1:-1], strict=True):
        if name in KERNELS:
            convolutions.append((width, width, KERNELS[name]))
        else:
            n_flops += 9 * width * size**2
    for convolution in convolutions:
        more_params, more_flops = _convolution(*convolution, size)
        n_params += more_params
        n_flops += more_flops
    return n_params, n_flops


def _convolution(width_in: int, width_out: int, kernel: int, size: int) -> tuple[int, int]:
    n_products = kernel**2 * width_in * width_out
    return n_products + 2 * width_out, (n_products + 3 * width_out) * size**2
