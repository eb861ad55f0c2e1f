"""Recorders of a forward pass below its modules: they see operations, not layers.

A network may rectify by ``nn.ReLU``, ``torch.relu`` or in place, and may call a module twice.
Every one of these ends as an operation of ATen, so that is where they are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
import math
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode


aten = torch.ops.aten

_RECTIFIERS = {
    getattr(aten, name)
    for name in (
        "relu relu_ hardtanh hardtanh_ leaky_relu leaky_relu_ _prelu_kernel elu elu_ gelu gelu_ "
        "silu silu_ hardswish hardswish_"
    ).split()
}
_BATCH_NORMS = {
    aten.native_batch_norm,
    aten._native_batch_norm_legit,
    aten.cudnn_batch_norm,
    aten.miopen_batch_norm,
}
_POOLS = {
    aten.avg_pool1d,
    aten.avg_pool2d,
    aten.avg_pool3d,
    aten.max_pool2d_with_indices,
    aten.max_pool3d_with_indices,
}
_ATTENTION = {
    aten._scaled_dot_product_flash_attention,
    aten._scaled_dot_product_flash_attention_for_cpu,
    aten._scaled_dot_product_efficient_attention,
}


def _convolution(args: Sequence[Any], out: Any) -> int:
    positions = args[0] if args[6] else out  # a transposed one starts from its input
    return int(positions.numel() * math.prod(args[1].shape[1:]))


def _product(left: Tensor, right: Tensor) -> int:
    return left.numel() * right.shape[-1]


def _attention(args: Sequence[Any], out: Any) -> int:
    query, key, value = args[:3]
    length = key.shape[-2]
    return int(query.numel() * length + query[..., 0].numel() * length * value.shape[-1])


def _pool(args: Sequence[Any], out: Any) -> int:
    pooled = out[0] if isinstance(out, tuple) else out
    kernel = list(args[1])
    n_dims = pooled.dim() - 2
    size = kernel[0] ** n_dims if len(kernel) == 1 else math.prod(kernel)
    return int(pooled.numel() * size)


def _global_pool(args: Sequence[Any], out: Any) -> int:
    # A window of adaptive pooling is at most ceil(size / 1) + 1 long. NAS-Bench-201 counts so.
    source, dims = args[0], args[1]
    if source.dim() < 3 or not dims or 0 in {dim % source.dim() for dim in dims}:
        return 0
    return int(out.numel() * math.prod(source.shape[dim] + 1 for dim in dims))


_COSTS: Mapping[Any, Callable[[Sequence[Any], Any], int]] = {
    aten.convolution: _convolution,
    aten.mm: lambda args, out: _product(args[0], args[1]),
    aten.bmm: lambda args, out: _product(args[0], args[1]),
    aten.addmm: lambda args, out: _product(args[1], args[2]),
    aten.baddbmm: lambda args, out: _product(args[1], args[2]),
    aten.mean: _global_pool,
    **dict.fromkeys(_ATTENTION, _attention),
    **dict.fromkeys(_POOLS, _pool),
    **dict.fromkeys(_RECTIFIERS, lambda args, out: out.numel()),
    # One product and one sum per element.
    **dict.fromkeys(_BATCH_NORMS, lambda args, out: 2 * out[0].numel()),
}


class WorkRecorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts operations, and compares the samples' activation patterns at every rectifier.

    Attributes:
        flops: Operations of the whole batch: a multiplication and its addition count once, a
            rectifier one per element, batch normalisation two, a pooling the size of its window.
            Those are the rules of NAS-Bench-201 (Dong and Yang, 2020).
        agreement: Array of shape (n_samples, n_samples), for each pair of samples the number of
            units that are on for both or off for both; None if nothing rectifies.
    """

    def __init__(self, n_samples: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.flops = 0
        self.agreement: Tensor | None = None
        self._n_samples = n_samples

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        operation = func.overloadpacket
        if operation in _RECTIFIERS and args[0].shape[0] == self._n_samples:
            self._compare(args[0])  # before an operation in place overwrites its argument
        out = func(*args, **(kwargs or {}))
        cost = _COSTS.get(operation)
        if cost is not None:
            self.flops += cost(args, out)
        return out

    def _compare(self, before: Tensor) -> None:
        # One for on and zero for off: the product counts units that are on for both, its diagonal
        # those that are on. Counts are exact in single precision up to 2^24 units of a rectifier.
        on = torch.empty(before.shape, dtype=torch.float32, device=before.device)
        on = torch.gt(before.detach(), 0, out=on).reshape(self._n_samples, -1)
        both = (on @ on.T).double()
        n_on = both.diagonal()
        agreement = on.shape[1] + 2 * both - n_on - n_on[:, None]
        self.agreement = agreement if self.agreement is None else self.agreement + agreement


class FeatureRecorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps the last feature map, and the scale of the input of each batch normalisation.

    Attributes:
        features: The last tensor with spatial extent that an operation returned, or the input of
            the last product with a weight matrix if there is none.
        log_scales: Logarithm of the root of the mean variance over channels, one for each batch
            normalisation.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._inverse_deviations: list[Tensor] = []
        self._map: Tensor | None = None
        self._vector: Tensor | None = None

    @property
    def log_scales(self) -> list[float]:
        """See the attributes of the class."""
        return [0.5 * math.log(out.double().pow(-2).mean()) for out in self._inverse_deviations]

    @property
    def features(self) -> Tensor | None:
        """See the attributes of the class."""
        return self._vector if self._map is None else self._map

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        operation = func.overloadpacket
        out = func(*args, **(kwargs or {}))
        if operation in (aten.addmm, aten.mm):
            self._vector = args[operation is aten.addmm]
        first = out[0] if isinstance(out, tuple) else out
        if isinstance(first, Tensor) and first.dim() > 2 and first.shape[2:].numel() > 1:
            self._map = first
        if operation in _BATCH_NORMS:
            # Kept for the backward pass: 1 / sqrt(variance + epsilon).
            self._inverse_deviations.append(out[2])
        return out
