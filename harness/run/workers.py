"""Asynchronous workers on a simulated clock.

A worker that is free asks for a trial at once and is busy for the duration of its training. The
trial that ends first is told first, the older of two that end together; only then does its worker
ask for the next, while the trials of all others are running.

The clock counts trainings alone. The CPU time of the sampler is reported beside it: on the clock
it would make every study depend on the machine and on what else ran there, and asks of
milliseconds are nothing beside trainings of hours. A repeated proposal is trained again, as it is
by a user, so it takes its duration again.

Notations:
    duration: seconds of a training, the same for all samplers: it depends on configuration and
        seed alone.
    u: number in (0, 1) that stands for configuration and seed, as if drawn uniformly.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
import hashlib
import heapq
import json
import math
from statistics import NormalDist
from typing import Any
from typing import Generic
from typing import TypeVar

from harness.experiment import MEASURED
from harness.problems import Problem


MEAN_SECONDS = 3600.0
"""Mean duration where it is not measured: an hour."""

SIGMA = 0.75
"""Standard deviation of the logarithm of a log-normal duration.

That of the training times of the four tables of HPOLib is 0.71 to 0.82; of NAS-Bench-201 0.28, of
NAS-Bench-101 0.45, of the eight tables of HPOBench 1.8 to 2.1.
"""

_DIGITS = 6  # of a second: the clock's resolution

Item = TypeVar("Item")
Duration = Callable[[int, Mapping[str, Any]], float]
"""Seconds of a training by the number of the configuration and its parameters."""


class Workers(Generic[Item]):
    """Workers and the trials that they are busy with.

    Args:
        n_workers: Number of workers.

    Attributes:
        now: Time of the clock in seconds: the end of the trial that ended last.
    """

    def __init__(self, n_workers: int) -> None:
        self._n_workers = n_workers
        # (end, how many began before it, trial): of equal ends the older trial comes first.
        self._running: list[tuple[float, int, Item]] = []
        self._n_begun = 0
        self.now = 0.0

    @property
    def are_busy(self) -> bool:
        """Whether no worker is free."""
        return len(self._running) == self._n_workers

    def begin(self, item: Item, seconds: float) -> float:
        """Let a free worker begin a trial now; the time at which it will end."""
        end = round(self.now + seconds, _DIGITS)
        heapq.heappush(self._running, (end, self._n_begun, item))
        self._n_begun += 1
        return end

    def end(self) -> Item:
        """Move the clock to the end of the trial that ends first; that trial."""
        self.now, _, item = heapq.heappop(self._running)
        return item

    def __bool__(self) -> bool:
        """Whether any trial is running."""
        return bool(self._running)


def duration_of(durations: str, problem: Problem, seed: int) -> Duration:
    """Duration of each configuration of a problem.

    Args:
        durations: ``"measured"`` for the training times of the table, ``"lognormal"`` for a
            distribution with a mean of an hour and :data:`SIGMA`, ``"equal"`` for an hour each,
            which is also what ``""`` means. A problem without training times takes the
            distribution for ``"measured"``.
        problem: The problem.
        seed: Seed of the study.
    """
    if durations in ("", "equal"):
        return lambda number, params: MEAN_SECONDS
    if durations == MEASURED and problem.table is not None:
        times = problem.table.training_seconds
        if times is not None:
            return lambda number, params: float(times[number])
    return lambda number, params: lognormal_seconds(params, seed)


def lognormal_seconds(params: Mapping[str, Any], seed: int) -> float:
    """Log-normal duration of a configuration, in seconds.

    Args:
        params: Parameters of the configuration.
        seed: Seed of the study: another has other durations.
    """
    # A hash is as good as a draw, and the same in any order of asks, process and version.
    text = json.dumps([seed, sorted(params.items())], default=str)
    u = (int.from_bytes(hashlib.sha256(text.encode()).digest()[:6]) + 0.5) / 2**48
    # If z is normal, exp(sigma z - sigma^2 / 2) has the mean 1.
    z = NormalDist().inv_cdf(u)
    return MEAN_SECONDS * math.exp(SIGMA * z - SIGMA**2 / 2)
