"""Proxies that measure how much network there is: parameters, operations, norm of weights."""

from __future__ import annotations

from optuna_zaps.zerocost._passes import Passes


def params(passes: Passes) -> float:
    """Number of parameters, trained or not."""
    return float(sum(tensor.numel() for tensor in passes.parameters.values()))


def flops(passes: Passes) -> float:
    """Operations of a forward pass per sample, as NAS-Bench-201 counts (Dong and Yang, 2020).

    A multiplication with its addition counts once. See ``WorkRecorder`` for the rules.
    """
    return passes.work.flops / passes.n_samples


def l2_norm(passes: Passes) -> float:
    """Sum over layers of the norm of the weights (Abdelfattah et al., 2021)."""
    return sum(float(weight.detach().norm()) for weight in passes.weights.values())
