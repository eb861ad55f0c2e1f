"""Samplers over many problems: mean ranks and their tests (Demšar, 2006).

Notations:
    losses: frame of shape (n_problems, n_samplers), the mean loss of each sampler on each problem,
        smaller is better. A problem is one observation: seeds only make it more exact.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from harness.statistics import holm


PAIR_COLUMNS = (
    "sampler_a",
    "sampler_b",
    "n_better",
    "n_worse",
    "n_equal",
    "p_value",
    "p_holm",
)
_DIGITS = 10  # Means of equal numbers in another order differ in the last digit.


def mean_losses(summary: pd.DataFrame, metric: str = "regret") -> pd.DataFrame:
    """Mean over seeds, for the problems on which every sampler has a study.

    Args:
        summary: One row per study, with the columns ``problem``, ``sampler`` and ``metric``.
        metric: A column of which smaller is better.

    Returns:
        The losses, samplers and problems in the order of the summary.
    """
    means = summary.groupby(["problem", "sampler"], sort=False)[metric].mean().unstack()
    order = means.loc[summary["problem"].unique(), summary["sampler"].unique()]
    return order.dropna().round(_DIGITS)


def ranks(losses: pd.DataFrame) -> pd.DataFrame:
    """Rank of each sampler on each problem, 1 for the best; equal ones share their mean rank."""
    return losses.rank(axis="columns", method="average")


def friedman_p(losses: pd.DataFrame) -> float:
    """Friedman's test of whether the samplers differ at all.

    Returns:
        The p-value of the chi-squared approximation with correction for ties; 1 if all samplers
        are equal on every problem, NaN for fewer than three samplers or two problems.
    """
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


def _signed_rank_p(difference: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    if not difference.size:
        return float("nan")
    if not difference.any():
        return 1.0
    return float(stats.wilcoxon(difference, zero_method="zsplit").pvalue)
