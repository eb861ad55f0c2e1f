"""Studies that figures are drawn of."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.metrics import Snapshot
from harness.metrics import metric_of
from harness.metrics.metric import Floats
from harness.problems import Problem
from harness.report.palette import SamplerStyle
from harness.report.palette import Styles


@dataclass(frozen=True)
class Drawn:
    """Studies that figures are drawn of.

    Attributes:
        problem: Their problem.
        unit: Unit of the budget, ``"evaluations"`` or ``"trials"``.
        budget: Number of them.
        snapshots: Studies by sampler.
    """

    problem: Problem
    unit: str
    budget: int
    snapshots: Mapping[str, Sequence[Snapshot]]

    def curves(self, label: str, metric: str) -> Floats:
        """A metric after each step, a row per study of a sampler."""
        curve = metric_of(metric, self.problem.kind).curve
        assert curve is not None
        return np.stack([curve(snapshot, self.problem) for snapshot in self.snapshots[label]])

    def styles(self, styles: Styles) -> Iterable[SamplerStyle]:
        """Styles of the samplers that have studies, in the order of the page."""
        return (style for label, style in styles.items() if label in self.snapshots)


def has_curve(metric: str, problem: Problem) -> bool:
    """Whether a quantity is known after each step of a study."""
    found = metric_of(metric, problem.kind)
    return found.curve is not None and found.quantities[0].name == metric
