"""Progress of a study: the loss that it reached, over evaluations or over time.

Notations:
    loss: a quantity of which smaller numbers are better. Where larger ones are, it is what the
        quantity lacks of 100 %, or its negative where the unit is not a percentage.
    position: on an axis, the end of a step: its number, or the seconds that had passed by then.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from harness.metrics.metric import Floats
from harness.metrics.snapshot import Snapshot
from harness.metrics.summary import QUANTITIES
from harness.metrics.summary import metric_of
from harness.problems import Problem


_CLOCK_SECONDS = 1e-6  # below the clock's resolution a time can read 0, which has no logarithm


class Axis(StrEnum):
    """Axis over which studies are compared."""

    STEPS = "steps"
    """Evaluations, or trials, that the budget counts."""
    CPU = "cpu"
    """CPU seconds of the sampler: of its asks and tells."""
    CLOCK = "clock"
    """Wall-clock seconds, real or simulated, at which trials ended."""


@dataclass(frozen=True)
class Progress:
    """Progress of a study over an axis.

    Attributes:
        at: Position of the end of each step, in increasing order; shape (n_steps,).
        losses: Loss after each step; shape (n_steps,).
    """

    at: Floats
    losses: Floats

    @property
    def end(self) -> float:
        """Position at which the study ended."""
        return float(self.at[-1])

    def until(self, positions: Floats) -> Floats:
        """Loss at positions, infinite before the first step ended."""
        steps = np.searchsorted(self.at, positions, side="right")
        return np.concatenate([[np.inf], self.losses])[steps]

    def first_within(self, targets: Floats) -> Floats:
        """Position at which each target was reached, NaN where none was."""
        # Losses and targets are sums of percentages: equal ones may differ in the last digits.
        reached = self.losses[:, np.newaxis] <= targets * (1 + 1e-9) + 1e-9
        return np.where(reached.any(axis=0), self.at[reached.argmax(axis=0)], np.nan)


def known_axes(snapshots: Iterable[Snapshot]) -> list[Axis]:
    """Axes on which every one of some studies is known."""
    listed = list(snapshots)
    measured = all(np.isfinite(_cpu_seconds(snapshot)).all() for snapshot in listed)
    timed = all(max(snapshot.result.seconds or [0.0]) > 0.0 for snapshot in listed)
    return [Axis.STEPS, *([Axis.CPU] if measured else []), *([Axis.CLOCK] if timed else [])]


def progress(snapshot: Snapshot, problem: Problem, metric: str, axis: Axis) -> Progress:
    """Follow a quantity of a study over an axis.

    Args:
        snapshot: The study, up to its budget.
        problem: Its problem.
        metric: A quantity that is known after each step.
        axis: one of :func:`known_axes`.
    """
    curve = metric_of(metric, problem.kind).curve
    assert curve is not None
    at = _positions(snapshot, axis)
    return Progress(at, loss_of(curve(snapshot, problem)[: len(at)], metric))


def loss_of(values: Floats, metric: str) -> Floats:
    """Losses of values of a quantity; see the notations."""
    quantity = QUANTITIES[metric]
    if not quantity.larger_is_better:
        return values
    return (100.0 if quantity.unit == "%" else 0.0) - values


value_of = loss_of
"""Values of a quantity of losses: what is missing of what is missing is there."""


def common_positions(samplers: Iterable[Sequence[Progress]], axis: Axis, most: int) -> Floats:
    """Positions at which studies are compared.

    Args:
        samplers: Studies of each sampler.
        axis: Their axis.
        most: Largest number of positions.

    Returns:
        Positions from that at which the first sampler has a result of each of its studies to the
        end of the longest study: steps in equal distances, times in equal ratios.
    """
    groups = list(samplers)
    first = min(max(one.at[0] for one in own) for own in groups)
    last = max(one.end for own in groups for one in own)
    if axis is Axis.STEPS:
        return np.unique(np.linspace(first, last, most).round())
    positions = np.geomspace(first, last, most)
    positions[[0, -1]] = first, last  # Their logarithms need not come back to the last digit.
    return positions


def _positions(snapshot: Snapshot, axis: Axis) -> Floats:
    """End of each step that counts."""
    n_steps = len(snapshot.steps)
    if axis is Axis.STEPS:
        return np.arange(1.0, n_steps + 1.0)
    if axis is Axis.CPU:
        ends = np.cumsum(_cpu_seconds(snapshot))[_trials_of_steps(snapshot)]
    else:
        assert snapshot.step_seconds is not None
        ends = snapshot.step_seconds
    return np.maximum(ends, _CLOCK_SECONDS)


def _trials_of_steps(snapshot: Snapshot) -> npt.NDArray[np.intp]:
    """Trial of each step, counted as they ended: a repeat is none where evaluations count."""
    if snapshot.by_trials:
        return np.arange(len(snapshot.steps))
    told = np.asarray(snapshot.result.told[: snapshot.n_asks], dtype=np.intp)
    return np.sort(np.unique(told, return_index=True)[1])


def _cpu_seconds(snapshot: Snapshot) -> Floats:
    """CPU seconds of the ask and tell of each trial, in the order in which trials ended."""
    result = snapshot.result
    spent = np.add(result.ask_seconds, result.tell_seconds)
    return np.asarray(spent[list(result.order[: snapshot.n_asks])], dtype=np.float64)
