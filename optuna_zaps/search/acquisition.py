"""What makes a candidate worth an evaluation (Section 3.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt


class Exploration(Protocol):
    """How much the spread of a prediction counts."""

    def weight(self, n_labelled: int) -> float:
        """The weight beta after this many labels."""


@dataclass(frozen=True)
class ConstantExploration:
    """The paper's: the same weight throughout.

    Attributes:
        beta: The weight.
    """

    beta: float

    def weight(self, n_labelled: int) -> float:
        """As in :class:`Exploration`."""
        del n_labelled
        return self.beta


@dataclass(frozen=True)
class DecayingExploration:
    """A weight that falls with the root of the number of labels.

    Not in the paper. A process whose spread can be trusted leaves a wrong basin with a large
    weight early on, and needs none later.

    Attributes:
        beta: The weight after ``n_reference`` labels.
        n_reference: Number of labels.
    """

    beta: float
    n_reference: int

    def weight(self, n_labelled: int) -> float:
        """As in :class:`Exploration`."""
        return float(self.beta * np.sqrt(self.n_reference / max(n_labelled, 1)))


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
