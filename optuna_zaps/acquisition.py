"""What makes a candidate worth an evaluation (Section 3.4)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def upper_confidence_bound(
    mean: npt.NDArray[np.float64], std: npt.NDArray[np.float64], beta: float
) -> npt.NDArray[np.float64]:
    """Upper confidence bound alpha(a) = mu(a) + beta sigma(a), Eq. 3.

    Args:
        mean: Predicted mean of each candidate, shape (n_candidates,).
        std: Predicted dispersion, shape (n_candidates,).
        beta: Exploration weight; 0.5 in the paper.

    Returns:
        Array of shape (n_candidates,), larger is better.
    """
    return mean + beta * std


def descending(score: npt.NDArray[np.float64], rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Candidates in decreasing order of score, shape (n_candidates,), ties in random order.

    Trees give many candidates equal scores; leaving those in table order would move the paper's
    results by several points with the table.
    """
    shuffled = rng.permutation(len(score))
    return np.asarray(shuffled[np.argsort(-score[shuffled], kind="stable")], dtype=np.intp)
