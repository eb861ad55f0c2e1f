"""What the runner needs of whatever a study searches: a table, a function, several objectives.

Notations:
    number: index of a configuration. Of a table its row; where there is no table, its place in
        the order in which the study came upon it, 0 for the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from typing import TYPE_CHECKING
from typing import Any
from typing import Protocol

import optuna
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.distributions import IntDistribution
from optuna.study import StudyDirection


if TYPE_CHECKING:
    from harness.problems.base import TabularBenchmark


@dataclass(frozen=True)
class Evaluation:
    """What a proposal was worth.

    Attributes:
        number: The configuration that was evaluated.
        values: Its value for each objective.
        constraints: Its constraints by name, each met if it is zero or less.
    """

    number: int
    values: tuple[float, ...]
    constraints: Mapping[str, float] = field(default_factory=dict)


class Evaluations(Protocol):
    """The evaluations of one study, in the order of its asks."""

    @property
    def configurations(self) -> Sequence[Mapping[str, Any]]:
        """Parameters by number where there is no table, else empty."""

    @property
    def values(self) -> Sequence[float]:
        """Values by number where there is no table, else empty."""

    def __call__(self, params: Mapping[str, Any]) -> Evaluation:
        """Evaluate a proposal."""


class Problem(Protocol):
    """Something to search."""

    @property
    def name(self) -> str:
        """Name of the benchmark."""

    @property
    def dataset(self) -> str:
        """Which of its problems this is."""

    @property
    def source(self) -> str:
        """Where its numbers come from."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know about it, a sentence each."""

    @property
    def directions(self) -> list[StudyDirection]:
        """Direction of each objective."""

    @property
    def table(self) -> TabularBenchmark | None:
        """What is known of every configuration, ``None`` where they cannot be listed."""

    @property
    def fingerprint(self) -> str:
        """Hash of everything that decides over a study."""

    def suggest(self, trial: optuna.Trial) -> dict[str, Any]:
        """Let the study's sampler choose a configuration."""

    def begin(self, seed: int) -> Evaluations:
        """Begin a study; ``seed`` decides where a proposal stands for one of several."""


class ScalarProblem(Problem, Protocol):
    """A problem of one objective with a known optimum."""

    @property
    def optimum(self) -> float:
        """Best value there is."""

    @property
    def typical(self) -> float:
        """Median value over the whole space."""


def suggest(trial: optuna.Trial, name: str, distribution: BaseDistribution) -> Any:
    """Let a trial choose a parameter of a given distribution.

    Raises:
        TypeError: If the distribution is of no kind that a trial can suggest.
    """
    match distribution:
        case CategoricalDistribution():
            return trial.suggest_categorical(name, distribution.choices)
        case IntDistribution(low=low, high=high, step=step, log=log):
            return trial.suggest_int(name, low, high, step=step, log=log)
        case FloatDistribution(low=low, high=high, step=spacing, log=log):
            return trial.suggest_float(name, low, high, step=spacing, log=log)
        case _:
            raise TypeError(
                "The distribution must be categorical, of ints or of floats, but got "
                f"{distribution!r}."
            )


def check_one_of(what: str, name: str, known: Iterable[str]) -> None:
    """Refuse a name that is not known.

    Raises:
        ValueError: If the name is none of those known; says what there is.
    """
    known = list(known)
    if name not in known:
        raise ValueError(f"The {what} must be one of {known}, but got {name!r}.")
