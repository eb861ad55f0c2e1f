"""Proxies that ask how finely the network divides its input space."""

from __future__ import annotations

import math
import sys

import numpy as np

from optuna_zaps.zerocost._passes import PERTURBATION
from optuna_zaps.zerocost._passes import Passes
from optuna_zaps.zerocost._passes import Uncomputable


_SMALLEST_EIGENVALUE = 1e-6


def nwot(passes: Passes) -> float:
    """Log-determinant of the agreement of activation patterns (Mellor et al., 2021, Equation 2).

    # Deviation: the pattern of an activation that is no rectifier (GELU, SiLU, ELU) is the sign of
    its input, and eigenvalues below 1e-6 count as that: two samples of the same pattern give a low
    score, not minus infinity.

    Raises:
        Uncomputable: If the network has no such activation.
    """
    agreement = passes.work.agreement
    if agreement is None:
        raise Uncomputable("the network has no rectifier")
    spectrum = np.linalg.eigvalsh(agreement.cpu().numpy())
    return float(np.log(np.maximum(spectrum, _SMALLEST_EIGENVALUE)).sum())


def zen(passes: Passes) -> float:
    """Zen score: expected gradient of the features, re-scaled (Lin et al., 2021, Algorithm 1).

    Features are the last map before pooling, weights and inputs are Gaussian. The logarithm of
    the mean distance between the features of neighbouring inputs, plus the logarithm of the
    scale that each batch normalisation takes out. Where the features do not depend on the input,
    the first logarithm is that of the smallest normal number.
    """
    log_scales, point, neighbour = passes.gaussian
    distance = float((point - neighbour).abs().flatten(1).sum(dim=1).double().mean())
    return math.log(max(distance / PERTURBATION, sys.float_info.min)) + sum(log_scales)
