"""Proxies that compare how the samples' outputs react to their inputs.

Notations:
    jacobian: Array of shape (n_samples, n_features), the gradient of the sum of a sample's logits
        by its input.
    correlations: Array of shape (n_samples, n_samples), Pearson's, of its rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from optuna_zaps.zerocost._passes import Passes
from optuna_zaps.zerocost._passes import Uncomputable


_EPSILON = 1e-5  # k of both publications


def jacov(passes: Passes) -> float:
    """Score of the Jacobian's correlation spectrum (Mellor et al., 2020, arXiv 2006.04647v1).

    Minus the sum over eigenvalues v of log(v + k) + 1 / (v + k).
    """
    spectrum = np.linalg.eigvalsh(_correlations(_jacobian(passes)))
    shifted = np.maximum(spectrum, 0.0) + _EPSILON
    return -float(np.sum(np.log(shifted) + 1.0 / shifted))


def epe_nas(passes: Passes) -> float:
    """Correlations within each class (Lopes et al., 2021, "EPE-NAS", Equations 4 to 6).

    For up to 100 classes the sum over classes of the absolute value of a class's score, the sum
    of log(|correlation| + k) over its pairs of samples. For more classes the scores are divided by
    the number of samples, and their absolute differences are averaged.

    Raises:
        Uncomputable: If the targets are not class labels.
    """
    labels = passes.targets.cpu().numpy()
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
        raise Uncomputable("it needs one integer class label per sample")
    jacobian = _jacobian(passes)
    many = passes.logits.shape[1] > 100
    scores = []
    for label in np.unique(labels):
        logs = np.log(np.abs(_correlations(jacobian[labels == label])) + _EPSILON)
        scores.append(float(logs.sum() / len(logs) if many else logs.sum()))
    if many:
        return float(np.abs(np.subtract.outer(scores, scores)).sum() / len(scores))
    return float(np.abs(scores).sum())


def _jacobian(passes: Passes) -> npt.NDArray[np.float64]:
    return np.asarray(passes.jacobian.detach().cpu().numpy(), dtype=np.float64)


def _correlations(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Pearson correlations of the rows; constant rows correlate with each other, with no other.

    A network that ignores its input has the same Jacobian, zero, for every sample.
    """
    centred = rows - rows.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(centred, axis=1)
    constant = norms <= np.finfo(np.float32).eps * np.abs(rows).max(axis=1)
    norms[constant] = 1.0
    centred[constant] = 0.0
    unit = centred / norms[:, np.newaxis]
    return np.asarray(unit @ unit.T + np.outer(constant, constant))
