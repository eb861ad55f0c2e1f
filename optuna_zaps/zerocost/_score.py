"""All proxies of one network."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
import math
import warnings

import torch
from torch import nn
import torch.nn.functional as F

from optuna_zaps import _checks
from optuna_zaps.zerocost._checks import checked_batch
from optuna_zaps.zerocost._checks import checked_model
from optuna_zaps.zerocost._checks import checked_seed
from optuna_zaps.zerocost._checks import one_line
from optuna_zaps.zerocost._passes import Batch
from optuna_zaps.zerocost._passes import Loss
from optuna_zaps.zerocost._passes import Passes
from optuna_zaps.zerocost._passes import UnusableOutput
from optuna_zaps.zerocost.activations import nwot
from optuna_zaps.zerocost.activations import zen
from optuna_zaps.zerocost.capacity import flops
from optuna_zaps.zerocost.capacity import l2_norm
from optuna_zaps.zerocost.capacity import params
from optuna_zaps.zerocost.jacobian import epe_nas
from optuna_zaps.zerocost.jacobian import jacov
from optuna_zaps.zerocost.saliency import fisher
from optuna_zaps.zerocost.saliency import grad_norm
from optuna_zaps.zerocost.saliency import grasp
from optuna_zaps.zerocost.saliency import plain
from optuna_zaps.zerocost.saliency import snip
from optuna_zaps.zerocost.saliency import synflow


_PROXIES: dict[str, Callable[[Passes], float]] = {
    "params": params,
    "flops": flops,
    "l2_norm": l2_norm,
    "synflow": synflow,
    "nwot": nwot,
    "jacov": jacov,
    "epe_nas": epe_nas,
    "zen": zen,
    "plain": plain,
    "fisher": fisher,
    "snip": snip,
    "grad_norm": grad_norm,
    "grasp": grasp,
}
_WITHOUT_FORWARD = {"params", "l2_norm", "synflow", "zen"}
_LAST = "grasp"
OF_LOSS = frozenset({"plain", "fisher", "snip", "grad_norm", "grasp"})
"""Names of the proxies that are computed from the loss."""

ALL = tuple(_PROXIES)
"""Names of all proxies."""


def score(
    model_fn: Callable[[], nn.Module] | nn.Module,
    batch: Batch,
    *,
    proxies: Iterable[str] = ALL,
    loss: Loss = F.cross_entropy,
    seed: int = 0,
    device: torch.device | str | None = None,
) -> dict[str, float]:
    """Score an untrained network.

    Args:
        model_fn:
            Function without arguments that makes the network, called after torch is seeded; or
            the network, which is left as it was.
        batch:
            Inputs of shape (n_samples, ...) and targets of shape (n_samples,). Targets are class
            labels; ``epe_nas`` wants several samples of each class.
        proxies:
            Names among ``ALL``.
        loss:
            Function of logits and targets.
        seed:
            Seed of the weights (for a function) and of what a proxy draws. Same seed, same value.
        device:
            Where to compute, by default where the network is.

    Returns:
        Value by name, in the order asked for. NaN where a proxy is not defined for the network.

    Warns:
        UserWarning: One warning with the reason of every NaN.

    Raises:
        ValueError: If there is no such proxy, the batch is no pair of tensors, the device is not
            there, the network does not return logits, or the loss no scalar tensor. An error of
            the network's own forward pass is not caught.
        TypeError: If ``model_fn`` neither is a network nor makes one, the loss is no function, or
            the seed no integer.
    """
    names = checked_names(proxies)
    values, reasons = score_with_reasons(
        model_fn, batch, proxies=names, loss=loss, seed=seed, device=device
    )
    if reasons:
        told = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
        warnings.warn(f"Proxies that cannot be computed are NaN. {told}.", stacklevel=2)
    return values


def score_with_reasons(
    model_fn: Callable[[], nn.Module] | nn.Module,
    batch: Batch,
    *,
    proxies: tuple[str, ...],
    loss: Loss,
    seed: int,
    device: torch.device | str | None,
) -> tuple[dict[str, float], dict[str, str]]:
    """Score a model like :func:`score`; return the reason of each NaN instead of warning."""
    checked_batch(batch)
    model = model_fn if isinstance(model_fn, nn.Module) else _made(model_fn, checked_seed(seed))
    passes = Passes(
        model, batch, loss=loss, seed=seed, device=device, second_order="grasp" in proxies
    )
    # The graph of the forward pass is made after the passes that do not need it, and the last one
    # frees it. Holding it meanwhile doubles the page faults, a fifth of the time.
    alone = [name for name in proxies if name in _WITHOUT_FORWARD]
    sharing = sorted((name for name in proxies if name not in _WITHOUT_FORWARD), key=_LAST.__eq__)
    found = {name: _value(name, passes) for name in alone}
    if sharing:
        _ = passes.logits  # A network that does not run is an error, not a NaN.
    found |= {name: _value(name, passes) for name in sharing}
    reasons = {name: reason for name in proxies if (reason := found[name][1]) is not None}
    return {name: found[name][0] for name in proxies}, reasons


def _made(model_fn: Callable[[], nn.Module], seed: int) -> nn.Module:
    _checks.function("model_fn", model_fn, "a function that makes a network, or a network")
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return checked_model(model_fn(), "model_fn")


def _value(name: str, passes: Passes) -> tuple[float, str | None]:
    """Value of a proxy, or NaN and the reason."""
    try:
        value = _PROXIES[name](passes)
    except UnusableOutput:  # a mistake rather than a property of the network
        raise
    # torch raises RuntimeError where an operation has no (second) derivative.
    except (ValueError, ArithmeticError, RuntimeError) as error:
        return math.nan, one_line(error)
    return (value, None) if math.isfinite(value) else (math.nan, "the value is not finite")


def checked_names(proxies: Iterable[str]) -> tuple[str, ...]:
    """Names of proxies without repetition.

    Raises:
        TypeError: If they are no sequence of names.
        ValueError: If one is not among ``ALL``.
    """
    if isinstance(proxies, str) or not isinstance(proxies, Iterable):
        raise TypeError(f"proxies must be a sequence of names, but got {proxies!r}.")
    asked = list(proxies)
    unknown = [name for name in asked if name not in ALL]
    if unknown:
        raise ValueError(f"proxies must be among {list(ALL)}, but got {unknown}.")
    return tuple(dict.fromkeys(asked))
