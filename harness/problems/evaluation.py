"""Measurement of a proposal, and the kinds of problems.

Notations:
    number: index of a configuration. Of a table its row; where there is no table, the order in
        which the study evaluated it first, 0 for the first. Where values are noisy, a
        configuration that is measured again has another number, with a value of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from enum import StrEnum
from typing import Any
from typing import Protocol

import optuna
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.distributions import IntDistribution


class Kind(StrEnum):
    """Kind of a problem, which decides by what a study on it is measured."""

    TABLE = "table"
    """One objective; the value of every configuration is known."""
    FUNCTION = "function"
    """One objective with a known optimum; configurations cannot be listed."""
    TRADEOFF = "trade-off"
    """Several objectives; the front of all that there is is known."""
    LIMIT = "limit"
    """One objective under a constraint; both are known of every configuration."""


@dataclass(frozen=True)
class Measurement:
    """Measurement of a configuration.

    Attributes:
        values: Its value for each objective, NaN where the evaluation gave none.
        constraints: Its constraints by name, each met if it is zero or less.
        pruned: Whether the evaluation was stopped early.
        seconds: CPU seconds of an evaluation that was done while a trial was suggested parameters.
    """

    values: tuple[float, ...]
    constraints: Mapping[str, float] = field(default_factory=dict)
    pruned: bool = False
    seconds: float = 0.0


@dataclass(frozen=True)
class Evaluation:
    """Measurement of a proposal.

    Attributes:
        number: The configuration that was evaluated.
        measurement: Its measurement.
    """

    number: int
    measurement: Measurement


class Evaluations(Protocol):
    """Evaluations of one study, in the order of its asks."""

    @property
    def configurations(self) -> Sequence[Mapping[str, Any]]:
        """Parameters by number where there is no table, else empty."""

    @property
    def values(self) -> Sequence[float | tuple[float, ...]]:
        """Values by number where there is no table, else empty; of several objectives tuples."""

    @property
    def constraints(self) -> Sequence[Mapping[str, float]]:
        """Constraints by number where there is no table and there are any, else empty."""

    def __call__(self, params: Mapping[str, Any]) -> Evaluation:
        """Evaluate a proposal."""


class NumberedEvaluations:
    """Evaluations of a study without a table, which number its configurations.

    Args:
        evaluate: Measurement of the parameters.
        measures_again: Whether a configuration proposed again is measured again, under a number of
            its own.
    """

    def __init__(
        self,
        evaluate: Callable[[Mapping[str, Any]], Measurement],
        *,
        measures_again: bool = False,
    ) -> None:
        self._evaluate = evaluate
        self._measures_again = measures_again
        self._numbers: dict[tuple[tuple[str, Any], ...], int] = {}
        self._measurements: list[Measurement] = []
        self.configurations: list[Mapping[str, Any]] = []

    @property
    def values(self) -> list[float | tuple[float, ...]]:
        """Values by number, a tuple of several."""
        return [
            each.values[0] if len(each.values) == 1 else each.values for each in self._measurements
        ]

    @property
    def constraints(self) -> list[Mapping[str, float]]:
        """Constraints by number, empty if there are none."""
        limited = any(each.constraints for each in self._measurements)
        return [each.constraints for each in self._measurements] if limited else []

    def __call__(self, params: Mapping[str, Any]) -> Evaluation:
        """Evaluate a proposal; see the arguments for a configuration proposed again."""
        number = len(self._measurements)
        if not self._measures_again:
            number = self._numbers.setdefault(tuple(sorted(params.items())), number)
        if number == len(self._measurements):
            self.configurations.append(dict(params))
            self._measurements.append(self._evaluate(params))
        return Evaluation(number, self._measurements[number])


def suggest(trial: optuna.trial.BaseTrial, name: str, distribution: BaseDistribution) -> Any:
    """Let a trial choose a parameter of a given distribution.

    Raises:
        TypeError: If a trial cannot suggest the distribution.
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
