"""Interface between the search and its models.

Notations:
    X: float32 array of shape (n_rows, n_features), proxy ranks first, then the encoding of the
        parameters: phi(a) = [r(a); e(a)] of Section 3.4. Between them lie, for a surrogate that
        is given them, the mean ranks of each row's neighbours.
    y: float64 array of shape (n_rows,), labels, larger is better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from typing import TypeAlias
from typing import runtime_checkable

import numpy as np
import numpy.typing as npt

from optuna_zaps.surrogates.label_scale import LabelScale


@dataclass(frozen=True)
class FeatureLayout:
    """Meaning of the columns of ``X``.

    Attributes:
        n_proxies: Number of leading columns that are proxy ranks in [0, 1].
        widths: Number of columns that encode each parameter, or each digit of one that has too
            many choices; they come last.
        numeric: Whether each parameter is a number on one column, scaled to [0, 1], and not
            one-hot.
        has_neighbourhood: Whether ``n_proxies`` columns between the two hold the mean proxy ranks
            of the configurations that differ in one parameter.
        shared_choices: Number of the choice that each column of the encoding stands for, the same
            for all parameters that offer this choice, so that equal choices can be counted; -1
            for a column that is not counted. Empty if none is.
    """

    n_proxies: int
    widths: tuple[int, ...]
    numeric: tuple[bool, ...]
    has_neighbourhood: bool = False
    shared_choices: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        assert len(self.widths) == len(self.numeric)
        assert len(self.shared_choices) in (0, self.n_encoding)

    @property
    def n_encoding(self) -> int:
        """Number of columns that encode the parameters."""
        return sum(self.widths)

    @property
    def n_parameters(self) -> int:
        """Number of parameters that these columns encode."""
        return len(self.widths)

    @property
    def n_shared_choices(self) -> int:
        """Number of different choices that are counted."""
        return max(self.shared_choices, default=-1) + 1


class Surrogate(Protocol):
    """Regressor that also predicts its uncertainty.

    It may be fitted again and again; its predictions depend on the rows, the labels and its seed,
    not on earlier fits.
    """

    def fit(self, X: npt.NDArray[np.float32], y: npt.NDArray[np.float64]) -> None:
        """Learn from labelled rows.

        Args:
            X: Features, shape (n_rows, n_features).
            y: Labels, shape (n_rows,), larger is better.
        """

    def predict(
        self, X: npt.NDArray[np.float32]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Predict labels.

        Args:
            X: Features, shape (n_rows, n_features).

        Returns:
            Mean and dispersion, each of shape (n_rows,), in the unit of the labels.
        """


@runtime_checkable
class SurrogateOfPending(Surrogate, Protocol):
    """Surrogate that can predict its dispersion after running evaluations have ended.

    A surrogate without this method ignores running evaluations; only their candidates are not
    proposed again.
    """

    def std_given(
        self, X: npt.NDArray[np.float32], pending: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float64]:
        """Dispersion that remains once further rows have labels, whatever these turn out to be.

        Args:
            X: Rows to predict, shape (n_rows, n_features).
            pending: Rows that will be labelled, shape (n_pending, n_features).

        Returns:
            Array of shape (n_rows,), in the unit of the labels.
        """


@runtime_checkable
class SurrogateOnScale(Surrogate, Protocol):
    """Surrogate whose predictions are on a scale of its own, an increasing function of labels."""

    @property
    def label_scale(self) -> LabelScale:
        """Scale of the predictions after the latest fit; it changes no more."""


SurrogateFactory: TypeAlias = Callable[[FeatureLayout, int], Surrogate]
"""Makes an unfitted surrogate for features of a layout, given a seed."""
