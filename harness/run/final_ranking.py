"""Final prediction of a sampler.

A sampler predicts if it has ``rank(study, n)``, which gives the ``n`` predicted best: their
parameters, and the prediction as ``mean``.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import inspect
from typing import Any

import optuna
from optuna.samplers import BaseSampler
import pandas as pd

from harness.problems import Problem
from harness.problems import TabularBenchmark
from harness.problems.functions import FunctionProblem
from optuna_zaps.search.model import MIN_LABELS


_MOST_RANKED = 10_000
"""Number of configurations of a final ranking, in which all that were evaluated should be."""


def ranking_quality(sampler: BaseSampler, study: optuna.Study, problem: Problem) -> float | None:
    """Spearman correlation of the final prediction with the truth over the whole table.

    ``None`` if the problem is no table of one value each, or the sampler does not predict.
    """
    if not isinstance(problem, TabularBenchmark):
        return None
    ranking = _ranking(sampler, study, len(problem.values))
    if ranking is None:
        return None
    from scipy import stats  # noqa: PLC0415  # slow to import

    truth = problem.values[problem.rows(ranking)]
    return float(stats.spearmanr(ranking["mean"], truth).statistic)


def recommended(
    sampler: BaseSampler,
    study: optuna.Study,
    problem: Problem,
    configurations: Sequence[Mapping[str, Any]],
) -> int | None:
    """Number of the evaluated configuration that the sampler's final prediction puts first.

    ``None`` if values are not noisy, or the sampler does not predict.
    """
    if not isinstance(problem, FunctionProblem) or not problem.noise:
        return None
    ranking = _ranking(sampler, study, _MOST_RANKED)
    if ranking is None:
        return None
    numbers = {_key(params): number for number, params in enumerate(configurations)}
    names = sorted({name for params in configurations for name in params})
    for row in ranking[names].to_dict("records"):
        number = numbers.get(_key(row))
        if number is not None:
            return number
    return None


def _key(params: Mapping[Any, Any]) -> frozenset[tuple[Any, Any]]:
    return frozenset(params.items())


def _ranking(sampler: BaseSampler, study: optuna.Study, n: int) -> pd.DataFrame | None:
    """The ``n`` configurations that a sampler predicts best, ``None`` if it does not predict."""
    rank = getattr(sampler, "rank", None)
    if rank is None or not {"study", "n"} <= inspect.signature(rank).parameters.keys():
        return None
    if len(study.get_trials(deepcopy=False)) < MIN_LABELS:
        return None
    ranking: pd.DataFrame = rank(study, n=n)
    return ranking
