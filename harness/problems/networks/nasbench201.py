"""The networks of NAS-Bench-201 (Dong and Yang, 2020, Section 2.1 and Figure 1).

A 3 x 3 convolution, three stages of equal cells with C, 2C and 4C channels, a residual block of
stride two before the second and third stage, global pooling, and a linear classifier. A cell has
four nodes; a node is the sum of its incoming edges, each of which applies an operation to an
earlier node. A convolution is ReLU, convolution, batch norm.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch import nn

from harness.problems.cells import EDGES


_KERNELS = {"nor_conv_1x1": 1, "nor_conv_3x3": 3}


class NASBench201Network(nn.Module):
    """A cell's network.

    Args:
        operations: Operation on each edge, in the order of ``EDGES``.
        n_classes: Number of classes.
        n_cells: Cells of a stage, 5 in the benchmark.
        channels: Channels of the first stage, 16 in the benchmark.
    """

    def __init__(
        self, operations: Sequence[str], n_classes: int, *, n_cells: int = 5, channels: int = 16
    ) -> None:
        super().__init__()
        assert len(operations) == len(EDGES)
        layers: list[nn.Module] = [
            nn.Conv2d(3, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        ]
        for stage in range(3):
            width = channels * 2**stage
            if stage > 0:
                layers.append(_Reduction(width // 2, width))
            layers += [_Cell(operations, width) for _ in range(n_cells)]
        layers += [nn.BatchNorm2d(width), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1)]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(width, n_classes)

    def forward(self, images: Tensor) -> Tensor:
        """Logits of shape (n_samples, n_classes) of images (n_samples, 3, height, width)."""
        logits: Tensor = self.classifier(self.features(images).flatten(1))
        return logits


class _Cell(nn.Module):
    def __init__(self, operations: Sequence[str], width: int) -> None:
        super().__init__()
        self._edges = [
            (edge, name) for edge, name in zip(EDGES, operations, strict=True) if name != "none"
        ]
        self.operations = nn.ModuleList(_operation(name, width) for _, name in self._edges)

    def forward(self, images: Tensor) -> Tensor:
        nodes: list[Tensor | None] = [images, None, None, None]
        for ((source, target), _), operation in zip(self._edges, self.operations, strict=True):
            value = nodes[source]
            if value is None:
                # Every edge into the source is "none": the node is zero.
                value = torch.zeros_like(images)
            value = operation(value)
            present = nodes[target]
            nodes[target] = value if present is None else present + value
        return torch.zeros_like(images) if nodes[3] is None else nodes[3]


def _operation(name: str, width: int) -> nn.Module:
    if name in _KERNELS:
        return _relu_conv_bn(width, width, _KERNELS[name])
    if name == "avg_pool_3x3":
        return nn.AvgPool2d(3, stride=1, padding=1, count_include_pad=False)
    assert name == "skip_connect"
    return nn.Identity()


class _Reduction(nn.Module):
    """Residual block of stride two."""

    def __init__(self, width_in: int, width_out: int) -> None:
        super().__init__()
        self.block = nn.Sequential(
            _relu_conv_bn(width_in, width_out, 3, stride=2), _relu_conv_bn(width_out, width_out, 3)
        )
        self.shortcut = nn.Sequential(
            nn.AvgPool2d(2), nn.Conv2d(width_in, width_out, 1, bias=False)
        )

    def forward(self, images: Tensor) -> Tensor:
        total: Tensor = self.shortcut(images) + self.block(images)
        return total


def _relu_conv_bn(width_in: int, width_out: int, kernel: int, stride: int = 1) -> nn.Module:
    return nn.Sequential(
        nn.ReLU(),
        nn.Conv2d(width_in, width_out, kernel, stride=stride, padding=kernel // 2, bias=False),
        nn.BatchNorm2d(width_out),
    )
