"""A metric: a function from a study and its problem to named numbers.

Notations:
    steps: evaluations, or trials, that the budget counts; a curve has a value after each of them.
        A study that ended early (its asks were capped) holds its last value: it did not find what
        it did not propose.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.metrics.snapshot import Snapshot


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Quantity:
    """A number of a study.

    Attributes:
        name: Column of the summary.
        unit: Its unit, the same everywhere; empty for the unit of the problem's objective.
        title: Heading of its column in a table.
        explanation: One sentence.
        larger_is_better: Whether larger numbers are better, ``None`` where neither is.
        digits: Decimals that a reader wants, ``None`` for two significant digits.
        spread: Whether tables show the standard deviation over seeds.
    """

    name: str
    unit: str
    title: str
    explanation: str
    larger_is_better: bool | None = False
    digits: int | None = 1
    spread: bool = False


@dataclass(frozen=True)
class Metric:
    """Numbers that belong together.

    Attributes:
        quantities: The numbers.
        curve: Function of snapshot and problem that gives the first of them after each step up to
            the budget, shape (budget,).
        numbers: Function of snapshot and problem that gives each of them, in their order; by
            default the end of the curve.
    """

    quantities: tuple[Quantity, ...]
    curve: Callable[[Snapshot, Any], Floats] | None = None
    numbers: Callable[[Snapshot, Any], tuple[float, ...]] | None = None

    def measure(self, snapshot: Snapshot, problem: Any) -> Mapping[str, float]:
        """Every number by its name."""
        if self.numbers is not None:
            measured = self.numbers(snapshot, problem)
        else:
            assert self.curve is not None
            measured = (float(self.curve(snapshot, problem)[-1]),)
        return dict(zip((each.name for each in self.quantities), measured, strict=True))


def held(curve: Floats, budget: int, *, before: float) -> Floats:
    """Curve of length ``budget`` that holds its last value, or ``before`` if it has none."""
    last = curve[-1] if len(curve) else before
    return np.concatenate([curve, np.full(budget - len(curve), last)]).astype(np.float64)
