"""Problems whose configurations cannot be listed, and that may know no optimum.

What such a problem does not know is taken from the studies of the comparison that it is in: the
optimum is the best value that any of them saw (:func:`harness.metrics.seen.with_seen`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import optuna
from optuna.study import StudyDirection

from harness.problems.evaluation import Evaluations
from harness.problems.evaluation import Kind
from harness.problems.table import typical_value


Floats = npt.NDArray[np.float64]
Params = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Seen:
    """All that the studies of a comparison saw.

    Attributes:
        losses: Losses of every configuration, smaller is better, infinite where a limit is broken
            or there is no value; shape (n, n_objectives).
        has_limits: Whether there are limits.
        n_studies: Number of the studies.
    """

    losses: Floats
    has_limits: bool
    n_studies: int

    @property
    def usable(self) -> Floats:
        """Losses that are finite, those of one point at 0 where none are."""
        finite = self.losses[np.isfinite(self.losses).all(axis=1)]
        return finite if len(finite) else np.zeros((1, self.losses.shape[1]))


@dataclass(frozen=True, eq=False)
class UntabledProblem:
    """A problem whose configurations cannot be listed.

    Attributes:
        text: Text by which it is found.
        objectives: Name of each objective.
        directions: Direction of each objective.
        fingerprint: Hash of what decides its values.
        own_notes: Notes for a reader, a sentence each.
        known_optimum: Best value there is, ``None`` if nobody knows.
        limited: Whether it is known to have limits.
        seen: What the studies of a comparison saw, ``None`` before there are any.
    """

    text: str
    objectives: tuple[str, ...]
    directions: list[StudyDirection]
    fingerprint: str
    own_notes: tuple[str, ...] = ()
    known_optimum: float | None = None
    limited: bool = False
    seen: Seen | None = None

    @property
    def kind(self) -> Kind:
        """A trade-off, a limit or a function."""
        if len(self.directions) > 1:
            return Kind.TRADEOFF
        return (
            Kind.LIMIT if self.limited or (self.seen and self.seen.has_limits) else Kind.FUNCTION
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Its own notes, and on what the studies saw."""
        if self.seen is None:
            return self.own_notes
        return (*self.own_notes, self._note_on_seen(self.seen.n_studies))

    @property
    def table(self) -> None:
        """None: configurations cannot be listed."""
        return None

    @property
    def scores(self) -> None:
        """None: configurations cannot be listed."""
        return None

    @property
    def optimum(self) -> float:
        """Best value that is known, else the best that any study saw."""
        if self.known_optimum is not None:
            return self.known_optimum
        return self._sign * float(self._saw.usable.min())

    @property
    def typical(self) -> float:
        """Median of the feasible values that the studies saw."""
        return typical_value(self._sign * self._saw.usable[:, 0], self.optimum)

    @property
    def worst_feasible(self) -> float:
        """Worst feasible value that any study saw, which an infeasible one counts as."""
        return self._sign * float(self._saw.usable.max())

    @property
    def losses(self) -> Floats:
        """Losses of all that the studies saw; shape (n, n_objectives)."""
        return self._saw.losses

    @property
    def _saw(self) -> Seen:
        if self.seen is None:
            raise ValueError(f"{self.text} knows no optimum before any study was run.")
        return self.seen

    @property
    def _sign(self) -> float:
        """Factor between the first objective's values and their losses."""
        return 1.0 if self.directions[0] == StudyDirection.MINIMIZE else -1.0

    def _note_on_seen(self, n_studies: int) -> str:
        they = "this study" if n_studies == 1 else f"these {n_studies} studies"
        if len(self.directions) > 1:
            return (
                "The true front is not known: hypervolumes are relative to the front of all that "
                f"{they} saw."
            )
        median = f"100 % is the median of all values that {they} saw"
        if self.known_optimum is not None:
            return f"The optimum is {self.optimum:.6g}. Regret: {median}."
        return (
            f"The optimum is not known: regret is against the best that {they} saw, "
            f"{self.optimum:.6g}; {median}."
        )

    def suggest(self, trial: optuna.trial.BaseTrial) -> dict[str, Any]:
        """Let the study's sampler choose a configuration.

        Raises:
            ValueError: If there are only finished studies of the problem.
        """
        raise ValueError(f"{self.text} is known from finished studies alone and cannot be run.")

    def begin(self, seed: int) -> Evaluations:
        """Begin a study.

        Raises:
            ValueError: If there are only finished studies of the problem.
        """
        raise ValueError(f"{self.text} is known from finished studies alone and cannot be run.")
