"""The networks of NAS-Bench-101 (Ying et al., 2019, Sections 2.1 and 2.2 and Supplement S1).

A 3 x 3 convolution, three stacks of three equal cells with C, 2C and 4C channels, a max-pooling of
stride two before the second and third stack, global pooling, and a linear classifier. A cell is a
directed acyclic graph: vertex 0 is its input, the last its output, the others apply an operation
to the sum of their inputs. A convolution is convolution, batch norm, ReLU.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch import nn

from harness.problems.graphs import KERNELS
from harness.problems.graphs import Matrix
from harness.problems.graphs import vertex_widths


class NASBench101Network(nn.Module):
    """A cell's network.

    Args:
        matrix: See the notations of ``harness.problems.graphs``.
        operations: Operation of each vertex, ``"input"`` first and ``"output"`` last.
        n_classes: Number of classes.
        n_cells: Cells of a stack, 3 in the benchmark.
        channels: Channels of the first stack, 128 in the benchmark.
    """

    def __init__(
        self,
        matrix: Matrix,
        operations: Sequence[str],
        n_classes: int,
        *,
        n_cells: int = 3,
        channels: int = 128,
    ) -> None:
        super().__init__()
        assert matrix.shape == (len(operations), len(operations))
        layers: list[nn.Module] = [_conv_bn_relu(3, channels, 3)]
        width_in = channels
        for stack in range(3):
            width = channels * 2**stack
            if stack > 0:
                layers.append(nn.MaxPool2d(2))
            for _ in range(n_cells):
                layers.append(_Cell(matrix, operations, width_in, width))
                width_in = width
        self.features = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1))
        self.classifier = nn.Linear(width, n_classes)

    def forward(self, images: Tensor) -> Tensor:
        """Logits of shape (n_samples, n_classes) of images (n_samples, 3, height, width)."""
        logits: Tensor = self.classifier(self.features(images).flatten(1))
        return logits


class _Cell(nn.Module):
    def __init__(
        self, matrix: Matrix, operations: Sequence[str], width_in: int, width_out: int
    ) -> None:
        super().__init__()
        self._matrix = matrix
        self._widths = vertex_widths(matrix, width_in, width_out)
        # A 1 x 1 projection brings the cell's input to the channels of each vertex it leads to.
        self.projections = nn.ModuleDict(
            {
                str(vertex): _conv_bn_relu(width_in, width, 1)
                for vertex, width in enumerate(self._widths)
                if matrix[0, vertex]
            }
        )
        self.operations = nn.ModuleList(
            _operation(name, width)
            for name, width in zip(operations[1:-1], self._widths[1:-1], strict=True)
        )

    def forward(self, images: Tensor) -> Tensor:
        outputs = [images]
        last = len(self._matrix) - 1
        for vertex, operation in enumerate(self.operations, start=1):
            width = self._widths[vertex]
            # A wider predecessor gives its first channels.
            inputs = [
                outputs[before][:, :width]
                for before in range(1, vertex)
                if self._matrix[before, vertex]
            ]
            if self._matrix[0, vertex]:
                inputs.append(self.projections[str(vertex)](images))
            outputs.append(operation(torch.stack(inputs).sum(dim=0) if inputs[1:] else inputs[0]))
        joined = [outputs[vertex] for vertex in range(1, last) if self._matrix[vertex, last]]
        result = torch.cat(joined, dim=1) if joined else None
        if not self._matrix[0, last]:
            assert result is not None
            return result
        projected: Tensor = self.projections[str(last)](images)
        return projected if result is None else result + projected


def _operation(name: str, width: int) -> nn.Module:
    if name == "maxpool3x3":
        return nn.MaxPool2d(3, stride=1, padding=1)
    return _conv_bn_relu(width, width, KERNELS[name])


def _conv_bn_relu(width_in: int, width_out: int, kernel: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(width_in, width_out, kernel, padding=kernel // 2, bias=False),
        nn.BatchNorm2d(width_out, eps=1e-5),
        nn.ReLU(),
    )
