"""Mean ranks of samplers over the course of their studies.

Notations:
    ranks: on each problem by mean loss over seeds, 1 for the best; shape (n_problems, n_samplers,
        n_positions). Before the studies of a sampler had a first result it shares the last ranks.
    band: 95 % bootstrap percentiles of the mean over problems. Problems are resampled, not seeds:
        the question is what ranks to expect on problems of this kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import pandas as pd

from harness import statistics
from harness.metrics.metric import Floats
from harness.metrics.progress import Axis
from harness.metrics.progress import Progress
from harness.metrics.progress import common_positions
from harness.metrics.progress import progress
from harness.report.drawn import Drawn


FEWEST_PROBLEMS = 5
"""Number of problems from which on there is a band."""

_N_POSITIONS = 150
_N_RESAMPLES = 1_000


def rank_curves(studies: Sequence[Drawn], metric: str, axis: Axis) -> pd.DataFrame:
    """Rank the samplers at positions on an axis.

    Args:
        studies: Studies of each problem, of the same samplers.
        metric: Quantity that ranks them.
        axis: Axis on which all studies are known.

    Returns:
        Columns ``sampler``, ``at``, ``mean_rank``, and ``low`` and ``high`` of the band, NaN for
        fewer problems than :data:`FEWEST_PROBLEMS`.
    """
    labels = list(studies[0].snapshots)
    followed = [
        [
            [progress(study, drawn.problem, metric, axis) for study in drawn.snapshots[label]]
            for label in labels
        ]
        for drawn in studies
    ]
    positions = common_positions(chain.from_iterable(followed), axis, _N_POSITIONS)
    ranks = np.stack([_ranks(by_label, positions) for by_label in followed])
    low, high = _band(ranks)
    means = ranks.mean(axis=0)
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "sampler": label,
                    "at": positions,
                    "mean_rank": means[row],
                    "low": low[row],
                    "high": high[row],
                }
            )
            for row, label in enumerate(labels)
        ],
        ignore_index=True,
    )


def _ranks(followed: Sequence[Sequence[Progress]], positions: Floats) -> Floats:
    """Ranks on one problem; shape (n_samplers, n_positions)."""
    losses = [np.mean([one.until(positions) for one in own], axis=0) for own in followed]
    # A row per position, as that of a problem elsewhere.
    frame = pd.DataFrame(np.transpose(losses)).round(statistics.DIGITS)
    return statistics.ranks(frame).to_numpy(np.float64).T


def _band(ranks: Floats) -> tuple[Floats, Floats]:
    n_problems = len(ranks)
    if n_problems < FEWEST_PROBLEMS:
        unknown = np.full(ranks.shape[1:], np.nan)
        return unknown, unknown
    rng = np.random.default_rng(0)
    chosen = rng.integers(n_problems, size=(_N_RESAMPLES, n_problems))
    # How often each problem is in a resample, over their number: the weights of a mean.
    weights = np.stack([np.bincount(row, minlength=n_problems) for row in chosen]) / n_problems
    means = np.tensordot(weights, ranks, axes=1)
    low, high = np.quantile(means, (0.025, 0.975), axis=0)
    return low, high
