"""Gradients by gates: what the loss would feel if the channels of a layer were scaled.

Notations:
    gate: Tensor of ones of shape (n_samples, n_channels) that would multiply the output of a
        convolution or linear layer. The gradient by it is the sum over positions of activation
        times gradient, so the activations are kept and nothing is multiplied.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import ExitStack
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from typing import cast

import torch
from torch import Tensor
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


LAYERS = (
    nn.Linear,
    *(nn.Conv1d, nn.Conv2d, nn.Conv3d),
    *(nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d),
)


@dataclass(frozen=True)
class Gate:
    """Gradient of the loss with respect to the gate of a layer's output channels.

    Attributes:
        gradient: Tensor of shape (n_samples, n_channels), zero before the backward pass.
        weights_per_channel: Number of weights that a channel of the layer has.
    """

    gradient: Tensor
    weights_per_channel: int


@dataclass
class _Output:
    """Output of a layer: the tensor itself, until an operation in place overwrites it."""

    value: Tensor | None


class GateRecorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps the outputs of layers in a forward pass, and reads a backward pass through them.

    A module that is used twice has one gate, so the gradients of both uses add up.

    Attributes:
        unread: Type of a layer that returned something else than a tensor, so that it has no
            gate; empty if there is none.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.unread = ""
        self._model = model
        self._is_recording = False
        self._gates: dict[Any, Gate] = {}
        self._outputs: dict[int, list[_Output]] = {}
        self._hooks = ExitStack()

    @contextmanager
    def recording(self) -> Iterator[list[Gate]]:
        """Yield the gates, one for each layer and shape of its use.

        A backward pass that is made meanwhile fills them, and gives up the outputs that it used.
        """
        self._is_recording = True
        try:
            yield list(self._gates.values())
        finally:
            self._is_recording = False

    def __enter__(self) -> GateRecorder:
        for module in self._model.modules():
            if isinstance(module, LAYERS):
                self._hooks.callback(module.register_forward_hook(self._keep).remove)
        super().__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._hooks.close()
        self._outputs.clear()
        super().__exit__(*raised)

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if func._schema.is_mutable:
            for tensor in tree_leaves((args, kwargs)):
                if isinstance(tensor, Tensor):
                    self._copy_outputs(tensor)
        return func(*args, **kwargs)

    def _copy_outputs(self, overwritten: Tensor) -> None:
        for output in self._outputs.pop(_memory(overwritten), ()):
            assert output.value is not None
            output.value = output.value.clone()

    def _keep(self, module: nn.Module, args: Any, out: Any) -> None:
        if not isinstance(out, Tensor):
            self.unread = type(module).__name__
            return
        last = isinstance(module, nn.Linear) or out.dim() < 3
        n_samples, n_channels = out.shape[0], out.shape[-1 if last else 1]
        key = module, n_samples, n_channels, out.dim()
        if key not in self._gates:
            n_weights = cast(Tensor, module.weight).numel()
            zeros = torch.zeros(n_samples, n_channels, dtype=out.dtype, device=out.device)
            self._gates[key] = Gate(zeros, n_weights // n_channels)
        if out.requires_grad:
            output = _Output(out.detach())
            self._outputs.setdefault(_memory(out), []).append(output)
            out.register_hook(partial(self._read, self._gates[key], output, last))

    def _read(self, gate: Gate, output: _Output, last: bool, gradient: Tensor) -> None:
        if not self._is_recording or output.value is None:
            return
        n_samples, n_channels = gate.gradient.shape
        shape = (n_samples, -1, n_channels) if last else (n_samples, n_channels, -1)
        with torch.no_grad():
            product = (gradient * output.value).reshape(shape)
            gate.gradient.add_(product.sum(dim=1 if last else 2))
        output.value = None


def _memory(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
