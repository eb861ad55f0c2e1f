"""Tables: benchmarks in which every configuration was evaluated once and for all.

Notations:
    row: index of a configuration in the table, 0 .. n_configurations - 1. Results speak of rows.
    values: float64 array of shape (n_configurations,), what a study optimises, in the unit of
        the benchmark (percent for accuracies).
    proxies: frame of shape (n_configurations, n_proxies), cheap numbers known beforehand.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from functools import cached_property
import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt
import optuna
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.study import StudyDirection
import pandas as pd

from harness.problems.evaluation import Evaluation
from harness.problems.evaluation import Kind
from harness.problems.evaluation import Measurement
from harness.problems.evaluation import suggest
from harness.problems.mixed_projection import MixedProjection
from harness.problems.projection import HammingProjection


N_TOP = 100
"""Number of the best configurations that the paper counts, the k of P@k."""


@dataclass(frozen=True, eq=False)
class TabularBenchmark:
    """A finite objective, with the interface of ``optunahub.benchmarks.BaseProblem``.

    An instance can be passed to ``study.optimize`` as it is.

    Attributes:
        text: Text by which it is found, e.g. ``"nasbench201/cifar10@package"``.
        parameters: Frame of shape (n_configurations, n_parameters), one configuration a row.
        values: Array of shape (n_configurations,), the objective.
        proxies: Frame of shape (n_configurations, n_proxies).
        notes: Notes on the origin of the numbers, a sentence each.
        choices: Choices of each parameter in an order of their own; by default, or for a
            parameter that is not named, in order of first appearance in the table.
        objective: Name of the objective and its unit, e.g. ``"validation accuracy (%)"``.
        direction: Whether larger or smaller values are better.
        distributions: Distribution of each parameter that is not categorical.
        levels: Values that the positions of an ordered parameter stand for.
        read_seconds: Reads the training time of each configuration, shape (n_configurations,),
            which no study sees; ``None`` where nobody measured it.
        n_top: Number of the best configurations that P@k counts. By default 100, and at most a
            tenth of the table.

    Raises:
        ValueError: If there are fewer configurations than ``n_top``.
    """

    text: str
    parameters: pd.DataFrame
    values: npt.NDArray[np.float64]
    proxies: pd.DataFrame
    notes: tuple[str, ...] = ()
    choices: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    objective: str = "value"
    direction: StudyDirection = StudyDirection.MAXIMIZE
    distributions: Mapping[str, BaseDistribution] = field(default_factory=dict)
    levels: Mapping[str, Sequence[float]] = field(default_factory=dict)
    read_seconds: Callable[[], npt.NDArray[np.float64]] | None = None
    n_top: int = 0
    kind = Kind.TABLE

    def __post_init__(self) -> None:
        n_rows = len(self.values)
        if self.n_top > n_rows:
            raise ValueError(
                f"The best configurations that P@k counts must be at most the {n_rows} of "
                f"{self.text}, but got {self.n_top}."
            )
        if not self.n_top:
            object.__setattr__(self, "n_top", max(1, min(N_TOP, n_rows // 10)))

    @cached_property
    def training_seconds(self) -> npt.NDArray[np.float64] | None:
        """Training time of each configuration in seconds, ``None`` where nobody measured it."""
        return None if self.read_seconds is None else self.read_seconds()

    @cached_property
    def search_space(self) -> dict[str, BaseDistribution]:
        """Distribution of each parameter, categorical ones in the order of ``choices``."""
        return {
            str(name): self.distributions.get(str(name))
            or CategoricalDistribution(
                self.choices.get(str(name)) or self.parameters[name].unique().tolist()
            )
            for name in self.parameters.columns
        }

    @property
    def objectives(self) -> tuple[str]:
        """Name and unit of the one objective."""
        return (self.objective,)

    @property
    def directions(self) -> list[StudyDirection]:
        """The direction of the one objective."""
        return [self.direction]

    @property
    def table(self) -> TabularBenchmark:
        """The table itself."""
        return self

    @property
    def optimum(self) -> float:
        """Best value of the table."""
        return float(self.values[self.scores.argmax()])

    @property
    def typical(self) -> float:
        """Median of the values."""
        return typical_value(self.values, self.optimum)

    @cached_property
    def scores(self) -> npt.NDArray[np.float64]:
        """The values, negated if they are minimised, so that larger is better."""
        return self.values if self.maximized else -self.values

    @property
    def maximized(self) -> bool:
        """Whether larger values are better."""
        return self.direction == StudyDirection.MAXIMIZE

    @cached_property
    def _configurations(self) -> list[tuple[Any, ...]]:
        return list(self.parameters.itertuples(index=False, name=None))

    @cached_property
    def _rows(self) -> dict[tuple[Any, ...], int]:
        return {configuration: row for row, configuration in enumerate(self._configurations)}

    @cached_property
    def _projection(self) -> HammingProjection | MixedProjection:
        encoding = np.column_stack(
            [
                self.parameters[name].map(distribution.to_internal_repr).to_numpy(np.int64)
                for name, distribution in self.search_space.items()
            ]
        )
        ordered = [name in self.distributions for name in self.search_space]
        return MixedProjection(encoding, ordered) if any(ordered) else HammingProjection(encoding)

    def _configuration(self, params: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(params[name] for name in self.search_space)

    def row(self, params: Mapping[str, Any]) -> int:
        """Row of a configuration.

        Raises:
            KeyError: If the table does not hold the configuration.
        """
        try:
            return self._rows[self._configuration(params)]
        except KeyError:
            raise KeyError(f"{dict(params)} is not in the table of {self.text}.") from None

    def params(self, row: int) -> dict[str, Any]:
        """Parameters of a row."""
        return dict(zip(self.search_space, self._configurations[row], strict=True))

    def rows(self, configurations: pd.DataFrame) -> list[int]:
        """Rows of many configurations, in columns named like parameters.

        Raises:
            KeyError: If the table does not hold one of them.
        """
        names = list(self.search_space)
        found = configurations[names].itertuples(index=False, name=None)
        return [self._rows[configuration] for configuration in found]

    def nearest(
        self, params: Mapping[str, Any], evaluated: Collection[int], key: Sequence[int]
    ) -> int:
        """Row that stands for a proposal: its own, or the nearest not evaluated yet.

        A table may hold a few of the configurations that its parameters span (NAS-Bench-101), so
        most proposals of a sampler that does not know the table lie outside it. The rule is that
        of the paper (Section 4.2): the fewest parameters that differ. An ordered parameter counts
        by how far it differs.

        Args:
            params: The proposal.
            evaluated: Rows that were evaluated; one of them is only returned for itself.
            key: Decides among equally near rows, so that the order of the table does not.

        Returns:
            The row; ties of the distance are broken by ``key``.

        Raises:
            ValueError: If every row was evaluated.
        """
        own = self._rows.get(self._configuration(params))
        if own is not None:
            return own
        if len(evaluated) == len(self.values):
            raise ValueError(f"Every configuration of {self.text} has been evaluated.")
        proposal = [
            distribution.to_internal_repr(params[name])
            for name, distribution in self.search_space.items()
        ]
        rng = np.random.default_rng(key)
        return int(self._projection.nearest(proposal, 1, evaluated, rng)[0])

    def evaluate(self, params: Mapping[str, Any]) -> float:
        """Value of a configuration."""
        return float(self.values[self.row(params)])

    def __call__(self, trial: optuna.trial.BaseTrial) -> float:
        """Objective for ``study.optimize``."""
        return self.evaluate(self.suggest(trial))

    def suggest(self, trial: optuna.trial.BaseTrial) -> dict[str, Any]:
        """Let the study's sampler choose a configuration."""
        return {
            name: suggest(trial, name, distribution)
            for name, distribution in self.search_space.items()
        }

    def begin(self, seed: int) -> TableEvaluations:
        """Begin a study."""
        return TableEvaluations(self, self.values[:, np.newaxis], seed)

    def top(self, n: int) -> npt.NDArray[np.intp]:
        """Rows of the ``n`` best: the first of a stable descending sort in table order."""
        return np.argsort(-self.scores, kind="stable")[:n]

    @cached_property
    def fingerprint(self) -> str:
        """Hash of parameters, values, proxies, and what is not the default, in hexadecimal."""
        digest = hashlib.sha256()
        for frame in (self.parameters, self.proxies):
            digest.update(repr(list(frame.columns)).encode())
            digest.update(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
        digest.update(self.values.tobytes())
        if not self.maximized or self.distributions:
            digest.update(f"{self.direction.name} {dict(self.distributions)}".encode())
        if self.levels:
            digest.update(repr(dict(self.levels)).encode())
        return digest.hexdigest()[:16]


def typical_value(values: npt.NDArray[np.float64], optimum: float) -> float:
    """Median of values, or their mean where the median is the optimum."""
    median = float(np.median(values))
    return median if median != optimum else float(np.mean(values))


class TableEvaluations:
    """Evaluations of a study on a table.

    A proposal that the table does not hold stands for the nearest row that was not evaluated.

    Args:
        table: The table.
        values: Value of each row for each objective, shape (n_configurations, n_objectives).
        seed: Decides among equally near rows.
        constraints: Constraints by name, shape (n_configurations,) each.
    """

    configurations = ()
    values = ()
    constraints = ()

    def __init__(
        self,
        table: TabularBenchmark,
        values: npt.NDArray[np.float64],
        seed: int,
        constraints: Mapping[str, npt.NDArray[np.float64]] | None = None,
    ) -> None:
        self._table = table
        self._values = values
        self._seed = seed
        self._constraints = constraints or {}
        self._evaluated: set[int] = set()
        self._n_asks = 0

    def __call__(self, params: Mapping[str, Any]) -> Evaluation:
        """Look up a proposal."""
        row = self._table.nearest(params, self._evaluated, key=(self._seed, self._n_asks))
        self._n_asks += 1
        self._evaluated.add(row)
        constraints = {name: float(column[row]) for name, column in self._constraints.items()}
        return Evaluation(row, Measurement(tuple(self._values[row].tolist()), constraints))
