"""Checks of what a caller passes, made before anything is computed or stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from typing import cast

import torch
from torch import Tensor
from torch import nn

from optuna_zaps import _checks


_SEEDS = range(-(2**63), 2**64)


def checked_batch(batch: Any) -> tuple[Tensor, Tensor]:
    """Inputs and targets.

    Raises:
        ValueError: If they are no pair of tensors, of the same length and of at least two samples.
    """
    pair = tuple(batch) if isinstance(batch, tuple | list) else (batch,)
    if len(pair) != 2 or not all(isinstance(part, Tensor) for part in pair):
        raise ValueError(
            "batch must be a pair of tensors (inputs, targets), but got "
            f"{' and '.join(type(part).__name__ for part in pair) or 'nothing'}."
        )
    inputs, targets = pair
    if inputs.dim() == 0 or targets.dim() == 0:
        raise ValueError(
            "batch must have inputs of shape (n_samples, ...) and targets of shape (n_samples,), "
            f"but got the shapes {tuple(inputs.shape)} and {tuple(targets.shape)}."
        )
    if len(inputs) != len(targets) or len(inputs) < 2:
        raise ValueError(
            "batch must have as many targets as inputs, and at least two, but got "
            f"{len(inputs)} inputs and {len(targets)} targets."
        )
    return inputs, targets


def checked_device(device: torch.device | str) -> torch.device:
    """Device on which torch can compute.

    Raises:
        ValueError: If torch knows no such device, or it is not there.
    """
    try:
        torch.ones(1, device=device).cpu()
        return torch.device(device)
    # A build without CUDA raises AssertionError, a machine without RuntimeError, "meta"
    # NotImplementedError, and another type TypeError.
    except Exception as error:
        raise ValueError(
            f"device must be one on which torch can compute here, but got {device!r}: "
            f"{one_line(error)}."
        ) from error


def checked_builder(builder: Any) -> Callable[..., nn.Module]:
    """Check that a builder makes networks rather than being one.

    Raises:
        TypeError: If it is no function, or a network.
    """
    if isinstance(builder, nn.Module):
        raise TypeError(
            "builder must be a function from the parameters of a configuration to a network, but "
            f"got the network {type(builder).__name__} itself. Pass a function that returns it."
        )
    _checks.function("builder", builder, "a function from parameters to a network")
    return cast("Callable[..., nn.Module]", builder)


def checked_model(model: Any, maker: str) -> nn.Module:
    """Check that a network was made.

    Raises:
        TypeError: If it is no module.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"{maker} must return a torch.nn.Module, but got {model!r}.")
    return model


def checked_seed(seed: Any) -> int:
    """Seed that torch takes.

    Raises:
        TypeError: If it is no integer.
        ValueError: If it does not fit in 64 bits.
    """
    seed = _checks.integer("seed", seed)
    if seed not in _SEEDS:
        raise ValueError(f"seed must lie between -2**63 and 2**64 - 1, but got {seed}.")
    return seed


def checked_n_jobs(n_jobs: Any) -> int:
    """Number of processes, negative as joblib counts: -1 for as many as there are cores.

    Raises:
        TypeError: If it is no integer.
        ValueError: If it is zero.
    """
    n_jobs = _checks.integer("n_jobs", n_jobs)
    if n_jobs == 0:
        raise ValueError("n_jobs must be positive, or -1 for all cores, but got 0.")
    return n_jobs


def one_line(error: Exception) -> str:
    """Message of an error without line breaks and full stop."""
    return " ".join(str(error).split()).rstrip(".")
