"""Worth of evaluating a candidate (Section 3.4).

Another acquisition is a class with the methods of :class:`Acquisition`, named in a profile
(:mod:`optuna_zaps.search.profiles`).

Notations:
    mean: float64 array of shape (n_candidates,), mu(a), the predicted labels.
    std: float64 array of shape (n_candidates,), sigma(a), their spread.
    labels: float64 array of shape (n_labelled,), the labels of the fit, larger is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt


FloatArray = npt.NDArray[np.float64]


class Acquisition(Protocol):
    """A measure of how much an evaluation is worth."""

    def score(self, mean: FloatArray, std: FloatArray, labels: FloatArray) -> FloatArray:
        """Score candidates; the best free one is proposed. See the module's notations.

        Returns:
            Array of shape (n_candidates,), larger is better.
        """

    def bound(self, mean: FloatArray, std: FloatArray, labels: FloatArray) -> FloatArray:
        """Estimate optimistically the label of each candidate.

        Several objectives are put together by these, and they decide how candidates compete that
        may be feasible.

        Returns:
            Array of shape (n_candidates,), in the unit of the labels.
        """


class Exploration(Protocol):
    """Weight of the spread in an upper confidence bound."""

    def weight(self, n_labelled: int) -> float:
        """Weight beta after this many labels."""


@dataclass(frozen=True)
class ConstantExploration:
    """The paper's exploration: one weight throughout.

    Attributes:
        beta: The weight.
    """

    beta: float

    def weight(self, n_labelled: int) -> float:
        """See :class:`Exploration`."""
        del n_labelled
        return self.beta


@dataclass(frozen=True)
class DecayingExploration:
    """A weight that falls with the root of the number of labels. Not in the paper.

    Attributes:
        beta: The weight after ``n_reference`` labels.
        n_reference: Number of labels.
    """

    beta: float
    n_reference: int

    def weight(self, n_labelled: int) -> float:
        """See :class:`Exploration`."""
        return float(self.beta * np.sqrt(self.n_reference / max(n_labelled, 1)))


@dataclass(frozen=True)
class UpperConfidenceBound:
    """Upper confidence bound, Eq. 3.

    Attributes:
        exploration: Weight of the spread.
    """

    exploration: Exploration

    def score(self, mean: FloatArray, std: FloatArray, labels: FloatArray) -> FloatArray:
        """See :class:`Acquisition`; it is the bound itself."""
        return self.bound(mean, std, labels)

    def bound(self, mean: FloatArray, std: FloatArray, labels: FloatArray) -> FloatArray:
        """See :class:`Acquisition`."""
        # Eq. 3: alpha(a) = mu(a) + beta sigma(a)
        return mean + self.exploration.weight(len(labels)) * std
