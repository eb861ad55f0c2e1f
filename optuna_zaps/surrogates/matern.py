"""Matern covariance with nu = 5/2, and its derivative by the squared distance.

Notations:
    q: squared distance in units of the length.
    root: sqrt(5 q).
    M = (1 + root + root^2 / 3) exp(-root) (RW Eq. 4.17).
"""

from __future__ import annotations

import numpy as np

from optuna_zaps.surrogates.rows import Features
from optuna_zaps.surrogates.rows import FloatArray


def matern(root: Features, out: Features | None = None) -> Features:
    """Covariance M; overwrites ``root``, since each large new array takes as long as a step.

    Args:
        root: See the module's notations.
        out: Array of its shape for the result, a new one by default.
    """
    # (root / 3 + 1) root + 1
    covariance = np.multiply(root, root.dtype.type(1 / 3), out=out)
    covariance += 1
    covariance *= root
    covariance += 1
    np.negative(root, out=root)
    covariance *= np.exp(root, out=root)
    return covariance


def matern_and_slope(root: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Covariance M and its derivative dM/dq = -5/6 (1 + root) exp(-root)."""
    exponential = np.exp(-root)
    slope = (1 + root) * exponential
    # M = (1 + root) exp(-root) + root^2 / 3 exp(-root)
    covariance = root**2
    covariance *= exponential
    covariance /= 3
    covariance += slope
    slope *= -5 / 6
    return covariance, slope
