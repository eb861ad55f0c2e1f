"""Schedules of fits: the paper's two batches, or a fit whenever the labels have grown enough.

Notations:
    n_labelled: number of labels so far.
    training sizes: numbers of labels, oldest first, on which the models so far were fitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from optuna_zaps._sizes import growing_sizes


class Schedule(Protocol):
    """Schedule of the fits of a search."""

    @property
    def n_startup(self) -> int:
        """Number of evaluations planned before there is a model."""

    def training_sizes(self, n_labelled: int) -> Iterator[int]:
        """Yield the training size of each model so far, in increasing order."""


@dataclass(frozen=True)
class BudgetSchedule:
    """Few large batches for a known budget, as in the paper (Algorithm 3, lines 2 and 4).

    Attributes:
        budget: Number B of evaluations.
        n_startup: Number n_0 of evaluations planned before there is a model.
        iterations: Number T of fits.
    """

    budget: int
    n_startup: int
    iterations: int

    def __post_init__(self) -> None:
        if self.budget < 1:
            raise ValueError(f"budget must be at least 1, but got {self.budget}.")
        if self.n_startup < 0:
            raise ValueError(f"n_startup must not be negative, but got {self.n_startup}.")
        if self.iterations < 1:
            raise ValueError(f"iterations must be at least 1, but got {self.iterations}.")

    @property
    def batch(self) -> int:
        """Evaluations per fit, b = max(1, (B - n_0) // T)."""
        return max(1, (self.budget - self.n_startup) // self.iterations)

    def training_sizes(self, n_labelled: int) -> Iterator[int]:
        """See :class:`Schedule`."""
        if n_labelled <= self.n_startup:
            yield n_labelled
            return
        n_batches = (n_labelled - self.n_startup) // self.batch
        if n_labelled < self.budget:
            # Deviation: the paper leaves up to T - 1 evaluations unspent; they go to the last
            # batch, and a study that outlives its budget goes on in batches.
            n_batches = min(n_batches, self.iterations - 1)
        for batch in range(n_batches + 1):
            yield self.n_startup + batch * self.batch


@dataclass(frozen=True)
class AnytimeSchedule:
    """A short start for an unknown budget, then a fit whenever the labels have grown enough.

    Not in the paper, where two fits are all there are.

    Attributes:
        n_startup: Number of evaluations planned before there is a model.
        growth: Relative growth of the labelled set from one fit to the next; 0 fits at every
            label.
    """

    n_startup: int
    growth: float

    def __post_init__(self) -> None:
        if self.n_startup < 0:
            raise ValueError(f"n_startup must not be negative, but got {self.n_startup}.")
        if self.growth < 0:
            raise ValueError(f"growth must not be negative, but got {self.growth}.")

    def training_sizes(self, n_labelled: int) -> Iterator[int]:
        """See :class:`Schedule`."""
        if n_labelled <= self.n_startup:
            yield n_labelled
        else:
            yield from growing_sizes(self.n_startup, self.growth, n_labelled)
