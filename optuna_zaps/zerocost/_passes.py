"""The forward and backward passes that proxies read, each made at most once for a network.

Notations:
    weights: The parameters with at least two dimensions: kernels of convolutions, matrices of
        linear layers, attention and embeddings. Biases and the scales of normalisation layers
        are no weights.
    logits: Tensor of shape (n_samples, n_classes).
    graph: What autograd keeps of a forward pass for backward passes through it.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from contextlib import AbstractContextManager
from contextlib import ExitStack
from contextlib import contextmanager
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch import nn
from torch.func import functional_call
import torch.nn.functional as F

from optuna_zaps import _checks
from optuna_zaps.zerocost._checks import checked_batch
from optuna_zaps.zerocost._checks import checked_device
from optuna_zaps.zerocost._checks import checked_model
from optuna_zaps.zerocost._checks import checked_seed
from optuna_zaps.zerocost._gates import Gate
from optuna_zaps.zerocost._gates import GateRecorder
from optuna_zaps.zerocost._recorders import FeatureRecorder
from optuna_zaps.zerocost._recorders import WorkRecorder


Loss = Callable[[Tensor, Tensor], Tensor]
Batch = tuple[Tensor, Tensor]

_NORMS = (
    nn.modules.batchnorm._BatchNorm,
    nn.modules.instancenorm._InstanceNorm,
    nn.GroupNorm,
    nn.LayerNorm,
    nn.LocalResponseNorm,
)
_DROPOUTS = nn.modules.dropout._DropoutNd


class Uncomputable(ValueError):
    """A proxy is not defined for a network; the message says why."""


class UnusableOutput(ValueError):
    """The network or the loss returns something that no proxy can be computed from."""


class Passes:
    """A network, a batch, and what passes through the network tell of it.

    The passes run on copies of the parameters and buffers, so nothing of the model changes. They
    run in training mode without dropout: an untrained network has no running statistics to
    normalise by.

    Args:
        model:
            The network: it maps a batch to logits of shape (n_samples, n_classes).
        batch:
            Inputs of shape (n_samples, ...) and targets of shape (n_samples,).
        loss:
            Function of logits and targets, by default the mean cross-entropy.
        seed:
            Seed of what a pass draws.
        device:
            Where the passes run, by default where the model is.
        second_order:
            Keep what :attr:`hessian_gradient` needs when :attr:`gradients` are computed. Without
            it, asking for both makes a second backward pass.

    Raises:
        ValueError: If the batch is not a pair of tensors of the same length, the device is not
            there or the seed does not fit in 64 bits. Each pass raises it if the network does not
            return logits.
        TypeError: If the model is no module, the loss no function or the seed no integer.
    """

    def __init__(
        self,
        model: nn.Module,
        batch: Batch,
        *,
        loss: Loss = F.cross_entropy,
        seed: int = 0,
        device: torch.device | str | None = None,
        second_order: bool = False,
    ) -> None:
        inputs, targets = checked_batch(batch)
        parameters = dict(checked_model(model, "model_fn").named_parameters())
        if device is None:
            device = next((tensor.device for tensor in parameters.values()), inputs.device)
        self.model = model
        self.device = checked_device(device)
        self.inputs = inputs.detach().to(self.device)
        self.targets = targets.detach().to(self.device)
        self.parameters = {
            name: tensor.detach().to(self.device).requires_grad_(tensor.is_floating_point())
            for name, tensor in parameters.items()
        }
        _checks.function("loss", loss, "a function of logits and targets")
        self._loss = loss
        self._seed = checked_seed(seed)
        self._second_order = second_order
        self._made: _Forward | None = None

    @property
    def weights(self) -> dict[str, Tensor]:
        """Copies of the weights by name; see the module's notations."""
        return {name: tensor for name, tensor in self.parameters.items() if tensor.dim() > 1}

    @property
    def n_samples(self) -> int:
        """Number of samples of the batch."""
        return len(self.inputs)

    @property
    def work(self) -> WorkRecorder:
        """Work of the forward pass."""
        return self._forward().work

    @property
    def logits(self) -> Tensor:
        """Output of the network, shape (n_samples, n_classes)."""
        return self._forward().logits.detach()

    def _forward(self, *, with_graph: bool = False) -> _Forward:
        """The forward pass, made again only if its graph is needed and was freed."""
        if self._made is None or (with_graph and self._made.freed):
            self._made = self._make_forward()
        return self._made

    def _make_forward(self) -> _Forward:
        # The network gets a copy, because it may work in place on its argument.
        leaf = self.inputs.clone().requires_grad_(self.inputs.is_floating_point())
        work = WorkRecorder(self.n_samples)
        with GateRecorder(self.model) as recorder:
            logits = self._call(self.parameters, leaf.clone(), work)
        return _Forward(leaf, logits, recorder, work)

    @cached_property
    def jacobian(self) -> Tensor:
        """Gradient of the sum of the logits by the inputs, shape (n_samples, n_features).

        Raises:
            Uncomputable: If the inputs are not floating-point numbers, or the network detaches
                its output.
        """
        if not self.inputs.is_floating_point():
            raise Uncomputable(f"inputs of type {self.inputs.dtype} have no gradient")
        forward = self._forward(with_graph=True)
        (gradient,) = _gradients(_attached(forward.logits).sum(), [forward.leaf])
        return gradient.reshape(self.n_samples, -1)

    @property
    def gradients(self) -> dict[str, Tensor]:
        """Gradient of the loss by each weight."""
        return {name: tensor.detach() for name, tensor in self._backward[0].items()}

    @property
    def gates(self) -> list[Gate]:
        """Gradient of the loss by the gates, one for each layer (module or shape of its use).

        Raises:
            Uncomputable: If a layer returns something else than a tensor.
        """
        gates = self._backward[1]
        if unread := self._forward().recorder.unread:
            raise Uncomputable(f"the layer {unread} does not return a tensor")
        return gates

    @cached_property
    def _backward(self) -> tuple[dict[str, Tensor], list[Gate]]:
        with self._forward(with_graph=True).recorder.recording() as gates:
            return self._loss_gradients(create_graph=self._second_order), gates

    def _loss_gradients(self, *, create_graph: bool) -> dict[str, Tensor]:
        logits = _attached(self._forward(with_graph=True).logits)
        loss = _scalar(self._loss(logits, self.targets))
        found = _gradients(loss, list(self.weights.values()), create_graph=create_graph)
        return dict(zip(self.weights, found, strict=True))

    @cached_property
    def hessian_gradient(self) -> dict[str, Tensor]:
        """Product of the loss's Hessian with its gradient, by weight.

        The pass frees the graph of the forward pass as it goes: a pass that is made after it and
        needs the graph makes another forward pass.
        """
        if self._second_order:
            first, _ = self._backward
        else:
            first = self._loss_gradients(create_graph=True)
        product = sum((gradient * gradient.detach()).sum() for gradient in first.values())
        assert isinstance(product, Tensor)
        try:
            found = _gradients(product, list(self.weights.values()), retain_graph=False)
        finally:
            self._forward().freed = True
        return dict(zip(self.weights, found, strict=True))

    @cached_property
    def synaptic_flow(self) -> float:
        """Sum over weights of weight times gradient in the network of absolute values.

        One input of ones goes through the network in double precision; normalisation layers pass
        their input on.
        """
        absolute = {
            name: tensor.detach().abs().double().requires_grad_(tensor.requires_grad)
            for name, tensor in self.parameters.items()
        }
        weights = {name: absolute[name] for name in self.weights}
        if not self.inputs.is_floating_point():
            raise Uncomputable(f"inputs of type {self.inputs.dtype} cannot be ones")
        ones = torch.ones_like(self.inputs[:1], dtype=torch.float64)
        with _without_normalisation(self.model):
            flow = _attached(self._call(absolute, ones)).sum()
        found = _gradients(flow, list(weights.values()))
        return sum(
            float((weight.detach() * gradient).sum())
            for weight, gradient in zip(weights.values(), found, strict=True)
        )

    @cached_property
    def gaussian(self) -> tuple[list[float], Tensor, Tensor]:
        """Scales of the batch normalisations and two feature maps, at Gaussian weights.

        The first map belongs to Gaussian inputs, the second to inputs that are
        ``PERTURBATION`` times a second Gaussian draw away.
        """
        if not self.inputs.is_floating_point():
            raise Uncomputable(f"inputs of type {self.inputs.dtype} cannot be Gaussian")
        with torch.no_grad(), _seeded(self._seed, self.device):
            drawn = dict(self.parameters)
            for name, weight in self.weights.items():
                drawn[name] = torch.randn_like(weight)
            point = torch.randn_like(self.inputs)
            neighbour = point + PERTURBATION * torch.randn_like(self.inputs)
            recorders = (FeatureRecorder(), FeatureRecorder())
            for inputs, recorder in zip((point, neighbour), recorders, strict=True):
                self._call(drawn, inputs, recorder)
        first, second = (recorder.features for recorder in recorders)
        if first is None or second is None:
            raise Uncomputable("the network has no features before its last layer")
        return recorders[0].log_scales, first, second

    def _call(
        self,
        parameters: dict[str, Tensor],
        inputs: Tensor,
        recorder: AbstractContextManager[Any] | None = None,
    ) -> Tensor:
        """Logits of the network at other parameters, on buffers that are thrown away."""
        buffers = {
            name: buffer.detach()
            .to(self.device, copy=True)
            .to(inputs.dtype if buffer.is_floating_point() else buffer.dtype)
            for name, buffer in self.model.named_buffers()
        }
        with _training(self.model), _seeded(self._seed, self.device), recorder or nullcontext():
            output = functional_call(self.model, {**parameters, **buffers}, (inputs,))
        return _checked_logits(output, len(inputs))


PERTURBATION = 0.01
"""Step between two inputs of the Zen score: alpha of Lin et al. (2021), Algorithm 1."""


@dataclass
class _Forward:
    leaf: Tensor
    logits: Tensor
    recorder: GateRecorder
    work: WorkRecorder
    freed: bool = False


def _checked_logits(output: Any, n_samples: int) -> Tensor:
    if not isinstance(output, Tensor):
        found = f"a value of type {type(output).__name__}"
    elif output.dim() != 2 or len(output) != n_samples:
        found = f"the shape {tuple(output.shape)} for {n_samples} samples"
    elif not output.is_floating_point():
        found = f"numbers of type {output.dtype}"
    else:
        return output
    raise UnusableOutput(
        "The model must map a batch to floating-point logits of shape (n_samples, n_classes), but "
        f"returned {found}. Wrap it in a module that returns the logits alone."
    )


def _attached(logits: Tensor) -> Tensor:
    """Logits through which a gradient can flow; without one, each gradient would be zero."""
    if not logits.requires_grad:
        raise Uncomputable(
            "the output of the network has no gradient: its forward pass detaches it, runs "
            "without autograd, or uses no weight"
        )
    return logits


def _scalar(loss: Any) -> Tensor:
    if isinstance(loss, Tensor) and loss.numel() == 1 and loss.requires_grad:
        return loss
    if not isinstance(loss, Tensor):
        found = f"a value of type {type(loss).__name__}"
    elif loss.numel() != 1:
        found = f"a tensor of shape {tuple(loss.shape)}"
    else:
        found = "a tensor without a gradient"
    raise UnusableOutput(
        "loss must return a scalar tensor that torch computed from the logits, but returned "
        f"{found}."
    )


def _gradients(
    output: Tensor,
    leaves: list[Tensor],
    *,
    create_graph: bool = False,
    retain_graph: bool = True,
) -> list[Tensor]:
    """Gradients, zeros where the output does not depend on a leaf."""
    if not output.requires_grad:
        return [torch.zeros_like(leaf) for leaf in leaves]
    found = torch.autograd.grad(
        output,
        leaves,
        retain_graph=retain_graph,
        create_graph=create_graph,
        allow_unused=True,
    )
    return [
        torch.zeros_like(leaf) if gradient is None else gradient
        for leaf, gradient in zip(leaves, found, strict=True)
    ]


@contextmanager
def _training(model: nn.Module) -> Iterator[None]:
    """Training mode without dropout; the modes come back."""
    modes = {module: module.training for module in model.modules()}
    try:
        for module in modes:
            module.training = not isinstance(module, _DROPOUTS)
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode


@contextmanager
def _seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Seeds torch's generators; the states of before come back."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


@contextmanager
def _hooked(hooks: list[tuple[nn.Module, Callable[..., Any]]]) -> Iterator[None]:
    """Forward hooks that are taken off again."""
    with ExitStack() as stack:
        for module, hook in hooks:
            stack.callback(module.register_forward_hook(hook).remove)
        yield


@contextmanager
def _without_normalisation(model: nn.Module) -> Iterator[None]:
    norms = [module for module in model.modules() if isinstance(module, _NORMS)]
    with _hooked([(module, lambda _, args, out: args[0]) for module in norms]):
        yield
