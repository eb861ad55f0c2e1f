"""Proxies that ask how the loss reacts to weights: pruning criteria, summed over the network.

Each was published as the saliency of one weight; its sum over all weights as a score of a network
is due to Abdelfattah et al. (2021), "Zero-Cost Proxies for Lightweight NAS".

Notations:
    w: a weight, g: the gradient of the loss by it, H: the Hessian of the loss.
"""

from __future__ import annotations

import math
import sys

from optuna_zaps.zerocost._passes import Passes
from optuna_zaps.zerocost._passes import Uncomputable


def grad_norm(passes: Passes) -> float:
    """Sum over layers of the norm of g (Abdelfattah et al., 2021)."""
    return sum(float(gradient.norm()) for gradient in passes.gradients.values())


def plain(passes: Passes) -> float:
    """Sum of w g: first-order effect on the loss of removing each weight (Mozer and Smolensky)."""
    return _weighted(passes, absolute=False)


def snip(passes: Passes) -> float:
    """Sum of |w g| (Lee et al., 2019, Equation 4 without the normalisation)."""
    return _weighted(passes, absolute=True)


def grasp(passes: Passes) -> float:
    """Sum of -w (H g) (Wang et al., 2020, Equation 8)."""
    product = passes.hessian_gradient
    return -sum(
        float((weight.detach() * product[name]).sum()) for name, weight in passes.weights.items()
    )


def fisher(passes: Passes) -> float:
    """Fisher saliency of the channels of convolutions and linear layers (Theis et al., 2018).

    A channel has half the mean over samples of the squared sum over positions of activation times
    gradient. Each of its weights counts with the saliency of the channel. The gradient is that of
    the loss as it is given, for a mean loss 1 / n_samples of a sample's own.
    """
    if not passes.gates:
        raise Uncomputable("there is no convolution and no linear layer")
    return sum(
        0.5 * float(gate.gradient.double().square().mean(dim=0).sum()) * gate.weights_per_channel
        for gate in passes.gates
    )


def synflow(passes: Passes) -> float:
    """Logarithm of the synaptic flow (Tanaka et al., 2020, Equation 2), taken in float64.

    The flow grows like a product over the layers. Without any path from input to output it is
    zero, and its logarithm that of the smallest normal number.
    """
    flow = passes.synaptic_flow
    if not math.isfinite(flow):
        raise Uncomputable("the synaptic flow overflows float64")
    return math.log(max(flow, sys.float_info.min))


def _weighted(passes: Passes, *, absolute: bool) -> float:
    gradients = passes.gradients
    total = 0.0
    for name, weight in passes.weights.items():
        product = weight.detach() * gradients[name]
        total += float((product.abs() if absolute else product).sum())
    return total
