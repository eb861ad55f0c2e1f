"""What a study was worth: the metrics of Section 4 of the paper, study by study.

Notations:
    evaluated: rows of the table in order of their first evaluation, each once; (n_evaluated,).
    asked: rows in order of the asks, repeated proposals included; (n_asks,).
    scores: values of the table, negated if they are minimised: larger is better;
        (n_configurations,).
    budget: number of distinct evaluations that count. A study that ended before (its asks were
        capped) keeps its last value: what it did not propose, it did not find.
    precision: P@100, percentage of the true top 100 among the evaluated (Eq. 1). 100 is the best.
    regret: (optimum - best evaluated) / |optimum| in percent. 0 is the best.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.experiment import CellResult
from harness.experiment import SamplerSpec
from harness.problems.base import TabularBenchmark
from harness.readings import BenchmarkKey
from harness.readings import Reading
from harness.readings import benchmark_key
from harness.readings import n_asks_within
from harness.readings import read_off
from harness.samplers import is_budget_aware


Floats = npt.NDArray[np.float64]

N_TOP = 100
REGRET_FLOOR = 1e-5  # The paper's figures take logarithms of regrets that reach exactly zero.
COLUMNS = (
    "benchmark",
    "dataset",
    "source",
    "in_flight",
    "budget",
    "sampler",
    "seed",
    "precision",
    "regret",
    "best_value",
    "trials_to_optimum",
    "found_optimum",
    "repeat_share",
    "ask_ms",
    "tell_ms",
    "cpu_seconds",
    "capped",
    "spearman",
)


def precision_curve(evaluated: Sequence[int], top: npt.NDArray[np.intp], budget: int) -> Floats:
    """P@100 in percent after 1 .. ``budget`` distinct evaluations.

    Args:
        evaluated: Distinct rows in order of evaluation.
        top: The true best rows, ``benchmark.top(100)``.
        budget: Length of the curve.

    Returns:
        Array of shape (budget,).
    """
    hits = np.isin(np.asarray(evaluated[:budget], dtype=np.intp), top)
    return _held(100.0 * np.cumsum(hits) / len(top), budget, before=0.0)


def best_curve(evaluated: Sequence[int], scores: Floats, budget: int) -> Floats:
    """Best score after 1 .. ``budget`` distinct evaluations, shape (budget,)."""
    rows = np.asarray(evaluated[:budget], dtype=np.intp)
    return _held(np.maximum.accumulate(scores[rows]), budget, before=np.nan)


def regret_curve(evaluated: Sequence[int], scores: Floats, budget: int) -> Floats:
    """Relative regret in percent after 1 .. ``budget`` distinct evaluations.

    Args:
        evaluated: Distinct rows in order of evaluation.
        scores: The whole table, shape (n_configurations,); its maximum is the optimum.
        budget: Length of the curve.

    Returns:
        Array of shape (budget,).

    Raises:
        ValueError: If the optimum is zero, to which no regret is relative.
    """
    optimum = float(scores.max())
    if optimum == 0.0:
        raise ValueError(
            "Relative regret must have an optimum other than 0, but the best value of the table "
            "is 0. Shift or rescale the values."
        )
    return 100.0 * (optimum - best_curve(evaluated, scores, budget)) / abs(optimum)


def trials_to_optimum(evaluated: Sequence[int], scores: Floats) -> float:
    """Number of distinct evaluations up to the first optimum, NaN if there was none."""
    found = np.flatnonzero(scores[np.asarray(evaluated, dtype=np.intp)] == scores.max())
    return float(found[0] + 1) if found.size else float("nan")


def repeat_share(asked: Sequence[int], budget: int) -> float:
    """Fraction of the asks within the budget that proposed an earlier row again, in [0, 1]."""
    n_asks = n_asks_within(asked, budget)
    return 1.0 - len(set(asked[:n_asks])) / n_asks if n_asks else 0.0


def geometric_mean(values: npt.ArrayLike, *, axis: int = 0) -> Any:
    """Geometric mean of regrets, each floored at 1e-5 as in the paper's figures.

    Args:
        values: Regrets in percent.
        axis: Axis over which to average.

    Returns:
        A float64, or an array without ``axis``.
    """
    floored = np.maximum(np.asarray(values, dtype=np.float64), REGRET_FLOOR)
    return np.exp(np.log(floored).mean(axis=axis))


def summarize(
    results: Sequence[CellResult],
    benchmarks: Mapping[BenchmarkKey, TabularBenchmark],
    budgets: Sequence[int] | None = None,
    *,
    budget_aware: Callable[[SamplerSpec], bool] = is_budget_aware,
) -> pd.DataFrame:
    """All metrics of all studies.

    Args:
        results: Finished studies.
        benchmarks: Tables by (name, data set, source).
        budgets: Budgets to read the studies off at, by default those of the results.
        budget_aware: Whether a sampler plans for its budget; see :func:`read_off`.

    Returns:
        One row per data set, trials in flight, budget, sampler and seed, with the columns of
        :data:`COLUMNS`: ``precision`` and ``regret`` in percent, ``trials_to_optimum`` in distinct
        evaluations, ``ask_ms`` and ``tell_ms`` CPU milliseconds per ask, ``cpu_seconds`` those of
        all asks and tells up to the budget, ``spearman`` the quality of the sampler's final
        ranking, NaN if it has none or the study goes on after the budget.

    Raises:
        ValueError: If a table is missing or is not the one that a study ran on.
    """
    rows = [
        _metrics(reading, _benchmark_of(reading.result, benchmarks))
        for reading in read_off(results, budgets, budget_aware=budget_aware)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _metrics(reading: Reading, benchmark: TabularBenchmark) -> dict[str, Any]:
    result, budget, evaluated = reading.result, reading.budget, reading.evaluated
    ask = np.asarray(result.ask_seconds[: reading.n_asks])
    tell = np.asarray(result.tell_seconds[: reading.n_asks])
    to_optimum = trials_to_optimum(evaluated, benchmark.scores)
    best_score = best_curve(evaluated, benchmark.scores, budget)[-1]
    spearman = result.spearman
    return {
        **reading.identity,
        "precision": precision_curve(evaluated, benchmark.top(N_TOP), budget)[-1],
        "regret": regret_curve(evaluated, benchmark.scores, budget)[-1],
        "best_value": best_score if benchmark.maximized else -best_score,
        "trials_to_optimum": to_optimum,
        "found_optimum": not np.isnan(to_optimum),
        "repeat_share": repeat_share(result.asked, budget),
        "ask_ms": 1e3 * ask.mean() if ask.size else np.nan,
        "tell_ms": 1e3 * tell.mean() if tell.size else np.nan,
        "cpu_seconds": float(ask.sum() + tell.sum()),
        "capped": len(evaluated) < budget,
        "spearman": np.nan if spearman is None or budget < result.cell.budget else spearman,
    }


def _held(curve: Floats, budget: int, *, before: float) -> Floats:
    last = curve[-1] if len(curve) else before
    return np.concatenate([curve, np.full(budget - len(curve), last)]).astype(np.float64)


def _benchmark_of(
    result: CellResult, benchmarks: Mapping[BenchmarkKey, TabularBenchmark]
) -> TabularBenchmark:
    key = benchmark_key(result)
    if key not in benchmarks:
        raise ValueError(f"The table of {key} must be given, but got only {sorted(benchmarks)}.")
    expected, got = result.cell.benchmark_fingerprint, benchmarks[key].fingerprint
    if expected != got:
        raise ValueError(
            f"The table of {key} must be the one its studies ran on (fingerprint {expected}), but "
            f"got {got}. Load that version of the data, or run the comparison again."
        )
    return benchmarks[key]
