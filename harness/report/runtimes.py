"""Runtimes: how long studies took to reach targets, and what follows from them.

As in COCO (Hansen et al., 2021), a study is judged by the first position on an axis, evaluations
or seconds, at which its loss was at most a target.

Notations:
    target: a loss in percent. Regrets have 21 of them, from 100 %, that of the median
        configuration, to 0.01 %, in equal steps of the logarithm; the gap of a problem is its
        regret in another unit. Of a hypervolume they are 21 shares that are missing, from 50 % to
        0.1 % in the same way; of another share that is found, 5 %, 10 %, ..., 100 % of it.
    runtime: position at which a study reached a target. One that missed it, having spent its
        budget or ended early, has none, and still counts among the studies.
    runtimes: frame with the columns :data:`RUNTIMES`, a row per problem, sampler, seed and target.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from harness.metrics import QUANTITIES
from harness.metrics.metric import Floats
from harness.metrics.progress import Axis
from harness.metrics.progress import progress
from harness.report.drawn import Drawn


RUNTIMES = ("problem", "sampler", "seed", "target", "runtime", "end")
"""Columns: ``runtime`` is NaN where the target was missed, ``end`` where the study ended."""

_N_TARGETS = 21
_N_POSITIONS = 120  # of a curve that is drawn
_ENDS = {"regret": (100.0, 0.01), "hypervolume": (50.0, 0.1)}


def target_metric(metric: str) -> str:
    """Quantity whose targets stand for those of a quantity: the regret for any relative loss."""
    return "regret" if QUANTITIES[metric].larger_is_better is False else metric


def targets_of(metric: str) -> Floats:
    """Losses to reach, the largest first; see the notations."""
    ends = _ENDS.get(target_metric(metric))
    return np.arange(95.0, -1.0, -5.0) if ends is None else np.geomspace(*ends, _N_TARGETS)


def runtimes(studies: Iterable[Drawn], metric: str, axis: Axis) -> pd.DataFrame:
    """Measure when each study reached each target.

    Args:
        studies: Studies of each problem.
        metric: Quantity that ranks the samplers.
        axis: Axis on which all studies are known.
    """
    frames = list(_of_studies(studies, metric, axis))
    return pd.concat(frames, ignore_index=True)[list(RUNTIMES)]


def reached(times: pd.DataFrame) -> pd.DataFrame:
    """Share of the targets that were reached, by position: a distribution of runtimes.

    Each problem counts as much as any other, and each pair of study and target of a problem.

    Args:
        times: Runtimes on one axis.

    Returns:
        Columns ``sampler``, ``at`` and ``share`` in percent, a row per step of a sampler's curve
        and a last one where the last of its studies ended.
    """
    n_problems = times["problem"].nunique()
    n_pairs = times.groupby(["problem", "sampler"])["target"].transform("size")
    weighted = times.assign(share=100.0 / (n_problems * n_pairs))
    return pd.concat(
        [
            _steps(label, rows["runtime"], rows["share"], rows["end"].max())
            for label, rows in weighted.groupby("sampler", sort=False)
        ],
        ignore_index=True,
    )


def expected_runtimes(times: pd.DataFrame) -> pd.DataFrame:
    """Expected runtime of a sampler that is started again until it reaches a target.

    That is the sum of what all studies spent on the target, whether they reached it or not, over
    the number of those that did (Auger and Hansen, 2005); infinite where none did.

    Returns:
        A row per problem and target, a column per sampler.
    """
    spent = times["runtime"].fillna(times["end"])
    grouped = times.assign(spent=spent).groupby(["problem", "target", "sampler"], sort=False)
    totals, counts = grouped["spent"].sum(), grouped["runtime"].count()
    with np.errstate(divide="ignore"):
        return (totals / counts).unstack()[times["sampler"].unique()]


def profile(times: pd.DataFrame) -> pd.DataFrame:
    """Performance profile (Dolan and Moré, 2002) of expected runtimes.

    A target of a problem that no sampler reached has no ratio and is left out; one that a sampler
    missed and another reached counts against it.

    Returns:
        Columns ``sampler``, ``ratio`` to the least expected runtime, and ``share``: percentage of
        the targets within that ratio. The first row of a sampler is at 1, the last at the largest
        ratio of any. Empty if no target was reached.
    """
    expected = expected_runtimes(times)
    solved = expected[expected.min(axis="columns") < np.inf]
    ratios = solved.div(solved.min(axis="columns"), axis="index").replace(np.inf, np.nan)
    if ratios.empty:
        return pd.DataFrame(columns=["sampler", "ratio", "share"])
    share = pd.Series(100.0 / len(ratios), ratios.index)
    largest = float(np.nanmax(ratios.to_numpy()))
    frames = []
    for label in ratios:
        steps = _steps(str(label), ratios[label], share, largest)
        if steps["at"].iloc[0] > 1.0:
            steps = pd.concat([_row(label, 1.0, 0.0), steps])
        frames.append(steps)
    return pd.concat(frames, ignore_index=True).rename(columns={"at": "ratio"})


def sampled(steps: pd.DataFrame, column: str, *, whole: bool) -> pd.DataFrame:
    """Step curves at the same positions, few enough to be drawn.

    Args:
        steps: Frame of :func:`reached` or :func:`profile`.
        column: Column of its positions.
        whole: Whether positions are whole numbers.

    Returns:
        Columns ``sampler``, the positions at equal ratios, ``share``, 0 before the first step, and
        ``ended``: whether the last step is reached.
    """
    first, last = steps[column].min(), steps[column].max()
    positions = np.geomspace(first, last, _N_POSITIONS)
    positions[[0, -1]] = first, last  # Their logarithms need not come back to the last digit.
    positions = np.unique(positions.round() if whole else positions)
    frames = []
    for label, rows in steps.groupby("sampler", sort=False):
        passed = np.searchsorted(rows[column].to_numpy(), positions, side="right")
        shares = np.concatenate([[0.0], rows["share"].to_numpy()])[passed]
        frames.append(
            pd.DataFrame(
                {
                    "sampler": label,
                    column: positions,
                    "share": shares,
                    "ended": passed == len(rows),
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def _of_studies(studies: Iterable[Drawn], metric: str, axis: Axis) -> Iterator[pd.DataFrame]:
    chosen, targets = target_metric(metric), targets_of(metric)
    for drawn in studies:
        for label, snapshots in drawn.snapshots.items():
            for snapshot in snapshots:
                study = progress(snapshot, drawn.problem, chosen, axis)
                yield pd.DataFrame(
                    {
                        "problem": drawn.problem.text,
                        "sampler": label,
                        "seed": snapshot.result.cell.seed,
                        "target": targets,
                        "runtime": study.first_within(targets),
                        "end": study.end,
                    }
                )


def _steps(label: Any, at: pd.Series, share: pd.Series, end: float) -> pd.DataFrame:
    """Cumulated shares by position, up to an end; a missing position adds nothing."""
    steps = share.groupby(at).sum().cumsum()
    positions, shares = steps.index.to_numpy(np.float64), steps.to_numpy(np.float64)
    if not len(steps) or positions[-1] < end:
        last = shares[-1] if len(steps) else 0.0
        positions, shares = np.append(positions, end), np.append(shares, last)
    return pd.DataFrame({"sampler": label, "at": positions, "share": shares})


def _row(label: Any, at: float, share: float) -> pd.DataFrame:
    return pd.DataFrame({"sampler": [label], "at": [at], "share": [share]})
