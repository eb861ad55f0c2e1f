"""Whether one sampler is better than another, on one problem and over many.

On one problem: the statistics of Section 4 of the paper. Over many: mean ranks and their tests
(Demšar, 2006).

Notations:
    first, second: one number per study of two samplers, shapes (m,) and (n,); NaN is left out.
        Their studies are independent: seeds are not paired, for equal seeds make no equal draws.
    U: number of pairs (x, y) with x > y, ties counted as a half; 0 .. m n.
    delta: Cliff's delta, P(x > y) - P(x < y) = 2 U / (m n) - 1, in [-1, 1].
    losses: frame of shape (n_problems, n_samplers), the mean loss of each sampler on each problem,
        smaller is better. A problem is one observation: seeds only make it more exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from itertools import combinations
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.metrics import GROUP
from harness.metrics import QUANTITIES


Floats = npt.NDArray[np.float64]

COLUMNS = (
    *GROUP,
    "sampler_a",
    "sampler_b",
    "difference",
    "ci_low",
    "ci_high",
    "p_value",
    "p_holm",
    "cliffs_delta",
    "effect",
)

PAIR_COLUMNS = (
    "sampler_a",
    "sampler_b",
    "n_better",
    "n_worse",
    "n_equal",
    "p_value",
    "p_holm",
)
_CONFIDENCE = 0.95
_N_RESAMPLES = 5_000
DIGITS = 10
"""Decimals of mean losses: means of equal numbers in another order differ in the last digit."""

# The paper names the two ends; the border between is that of Romano et al. (2006).
_NEGLIGIBLE, _SMALL, _LARGE = 0.15, 0.33, 0.47


def mann_whitney_p(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """One-sided Mann-Whitney U test with the alternative that ``first`` is larger.

    The p-value is exact for small samples without ties, else from the normal approximation with
    corrections for ties and continuity (SciPy's choice).

    Returns:
        The p-value; 1 if all numbers are equal, NaN if a sample is empty.
    """
    from scipy import stats  # noqa: PLC0415  # slow to import

    x, y = _finite(first), _finite(second)
    if not x.size or not y.size:
        return float("nan")
    if np.ptp(np.concatenate([x, y])) == 0.0:
        return 1.0  # Every arrangement of the labels gives this U.
    return float(stats.mannwhitneyu(x, y, alternative="greater").pvalue)


def cliffs_delta(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Cliff's delta: how much more often ``first`` is larger than smaller, in [-1, 1].

    Returns:
        2 U / (m n) - 1, NaN if a sample is empty.

    Example:
        >>> cliffs_delta([3, 4, 5], [1, 2, 3])  # 8 pairs of 9 larger, 1 equal
        0.8888888888888888
    """
    from scipy import stats  # noqa: PLC0415  # slow to import

    x, y = _finite(first), _finite(second)
    if not x.size or not y.size:
        return float("nan")
    ranks = stats.rankdata(np.concatenate([x, y]))
    u = float(ranks[: x.size].sum()) - x.size * (x.size + 1) / 2
    return 2.0 * u / (x.size * y.size) - 1.0


def effect_size(delta: float) -> str:
    """Cliff's delta in a word: negligible below 0.15 and large above 0.47 as in the paper."""
    size = abs(delta)
    if np.isnan(size):
        return ""
    if size < _NEGLIGIBLE:
        return "negligible"
    if size < _SMALL:
        return "small"
    return "medium" if size <= _LARGE else "large"


def bootstrap_interval(
    first: npt.ArrayLike, second: npt.ArrayLike, rng: np.random.Generator
) -> tuple[float, float]:
    """Bootstrap percentile interval (95 %) of the difference of means.

    Percentiles, not BCa: they stay defined where most studies share one value, as regrets of 0.

    Args:
        first: Sample of shape (m,).
        second: Sample of shape (n,).
        rng: Source of the resamples.

    Returns:
        Lower and upper end, both NaN if a sample has fewer than two numbers, or an infinite one.
    """
    from scipy import stats  # noqa: PLC0415  # slow to import

    x, y = _finite(first), _finite(second)
    if min(x.size, y.size) < 2 or np.isinf(x).any() or np.isinf(y).any():
        return float("nan"), float("nan")
    interval = stats.bootstrap(
        (x, y),
        _difference_of_means,
        n_resamples=_N_RESAMPLES,
        batch=500,
        confidence_level=_CONFIDENCE,
        method="percentile",
        rng=rng,
    ).confidence_interval
    return float(interval.low), float(interval.high)


def holm(p_values: npt.ArrayLike) -> Floats:
    """Holm's step-down adjustment over a family of tests.

    Args:
        p_values: Shape (n_tests,); NaN is no test and stays NaN.

    Returns:
        Adjusted p-values, shape (n_tests,).

    Example:
        >>> holm([0.01, 0.04, 0.03]).tolist()
        [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    order = np.argsort(p, kind="stable")[: np.count_nonzero(~np.isnan(p))]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p[order]), 1.0)
    return adjusted


def compare(
    summary: pd.DataFrame, *, metric: str = "precision", reference: str | None = None
) -> pd.DataFrame:
    """Test samplers against each other.

    Args:
        summary: Frame of :func:`harness.metrics.summarize`.
        metric: Name of a quantity of which larger, or smaller, numbers are better.
        reference: Test this sampler against each other one; by default all ordered pairs.

    Returns:
        One row per group (:data:`harness.metrics.GROUP`) and ordered pair, with the columns of
        :data:`COLUMNS`. ``difference`` is mean a - mean b in the unit of the metric, ``ci_low``
        and ``ci_high`` its 95 % interval. ``p_value`` is that of the alternative "a is better than
        b", ``p_holm`` the same adjusted over all tests of that group. ``cliffs_delta`` is positive
        where a is better, whatever the direction of the metric.

    Raises:
        ValueError: If the metric or the reference is unknown.
    """
    larger_is_better = _direction(metric)
    known = summary["sampler"].unique().tolist()
    if reference is not None and reference not in known:
        raise ValueError(f"reference must be one of {known}, but got {reference!r}.")
    rows: list[dict[str, Any]] = []
    # An empty text of ``summary.csv`` is read as a missing one.
    for group, studies in summary.groupby(list(GROUP), sort=False, dropna=False):
        samples = {
            str(sampler): _finite(values)
            for sampler, values in studies.groupby("sampler", sort=False)[metric]
        }
        tests = [
            {**dict(zip(GROUP, group, strict=True)), **test}
            for test in _tests(samples, reference, larger_is_better=larger_is_better)
        ]
        for test, p_holm in zip(tests, holm([test["p_value"] for test in tests]), strict=True):
            test["p_holm"] = p_holm
        rows += tests
    return pd.DataFrame(rows, columns=list(COLUMNS))


def means(summary: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Mean over seeds, for the problems on which every sampler has a study.

    Args:
        summary: One row per study, with the columns ``problem``, ``sampler`` and ``metric``.
        metric: Name of a quantity.

    Returns:
        The means, samplers and problems in the order of the summary.
    """
    found = summary.groupby(["problem", "sampler"], sort=False)[metric].mean().unstack()
    return found.loc[summary["problem"].unique(), summary["sampler"].unique()].dropna()


def mean_losses(summary: pd.DataFrame, metric: str = "regret") -> pd.DataFrame:
    """Losses to compare samplers by: :func:`means`, rounded so that equal ones are equal.

    Args:
        summary: One row per study, with the columns ``problem``, ``sampler`` and ``metric``.
        metric: Name of a quantity; negated where larger numbers are better.

    Raises:
        ValueError: If neither larger nor smaller numbers of the metric are better.
    """
    sign = -1.0 if _direction(metric) else 1.0
    return sign * means(summary, metric).round(DIGITS)


def ranks(losses: pd.DataFrame) -> pd.DataFrame:
    """Rank of each sampler on each problem, 1 for the best; equal ones share their mean rank."""
    return losses.rank(axis="columns", method="average")


def friedman_p(losses: pd.DataFrame) -> float:
    """Friedman's test of whether the samplers differ at all.

    Returns:
        The p-value of the chi-squared approximation with correction for ties; 1 if all samplers
        are equal on every problem, NaN for fewer than three samplers or two problems.
    """
    from scipy import stats  # noqa: PLC0415  # slow to import

    n_problems, n_samplers = losses.shape
    if n_samplers < 3 or n_problems < 2:
        return float("nan")
    if (losses.nunique(axis="columns") == 1).all():
        return 1.0
    return float(stats.friedmanchisquare(*losses.to_numpy().T).pvalue)


def pairs(losses: pd.DataFrame) -> pd.DataFrame:
    """Wilcoxon's signed-rank test of each pair of samplers over the problems.

    Args:
        losses: The losses, on a scale that means the same on every problem.

    Returns:
        One row per pair with the columns of :data:`PAIR_COLUMNS`: on how many problems a is
        better than b, the two-sided p-value (the ranks of equal problems are split between the
        sides), and the same adjusted over the pairs by Holm's procedure.
    """
    rows = []
    for a, b in combinations(losses.columns, 2):
        difference = (losses[a] - losses[b]).to_numpy(np.float64)
        rows.append(
            {
                "sampler_a": a,
                "sampler_b": b,
                "n_better": int((difference < 0).sum()),
                "n_worse": int((difference > 0).sum()),
                "n_equal": int((difference == 0).sum()),
                "p_value": _signed_rank_p(difference),
            }
        )
    frame = pd.DataFrame(rows, columns=list(PAIR_COLUMNS))
    frame["p_holm"] = holm(frame["p_value"])
    return frame


def _tests(
    samples: dict[str, Floats], reference: str | None, *, larger_is_better: bool
) -> Iterator[dict[str, Any]]:
    sign = 1.0 if larger_is_better else -1.0
    pairs = [pair for pair in permutations(samples, 2) if reference in (None, pair[0])]
    intervals = _intervals(samples, pairs)
    for name_a, name_b in pairs:
        a, b = samples[name_a], samples[name_b]
        ci_low, ci_high = intervals[name_a, name_b]
        delta = cliffs_delta(sign * a, sign * b)
        yield {
            "sampler_a": name_a,
            "sampler_b": name_b,
            "difference": a.mean() - b.mean() if a.size and b.size else np.nan,
            "ci_low": ci_low,
            "ci_high": ci_high,
            "p_value": mann_whitney_p(sign * a, sign * b),
            "cliffs_delta": delta,
            "effect": effect_size(delta),
        }


def _intervals(
    samples: dict[str, Floats], pairs: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], tuple[float, float]]:
    """Interval of each pair: that of (b, a) mirrored, and the same whoever else is compared."""
    intervals: dict[tuple[str, str], tuple[float, float]] = {}
    for name_a, name_b in {tuple(sorted(pair)) for pair in pairs}:
        seed = list(f"{name_a}\0{name_b}".encode())
        rng = np.random.default_rng(seed)
        low, high = bootstrap_interval(samples[name_a], samples[name_b], rng)
        intervals[name_a, name_b] = (low, high)
        intervals[name_b, name_a] = (-high, -low)
    return intervals


def _difference_of_means(first: Floats, second: Floats, axis: int = -1) -> Floats:
    return np.asarray(first.mean(axis=axis) - second.mean(axis=axis))


def _finite(values: npt.ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64).ravel()
    return array[~np.isnan(array)]


def _signed_rank_p(difference: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    from scipy import stats  # noqa: PLC0415  # slow to import

    if not difference.size:
        return float("nan")
    if not difference.any():
        return 1.0
    return float(stats.wilcoxon(difference, zero_method="zsplit").pvalue)


def _direction(metric: str) -> bool:
    """Whether larger numbers of a metric are better."""
    found = QUANTITIES[metric].larger_is_better if metric in QUANTITIES else None
    if found is None:
        known = [q.name for q in QUANTITIES.values() if q.larger_is_better is not None]
        raise ValueError(f"metric must be one of {known}, but got {metric!r}.")
    return found
