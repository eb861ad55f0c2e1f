"""Studies of a summary, aggregated over seeds and over problems.

Notations:
    summary: frame of :func:`harness.metrics.summarize`, a row per study and budget.
    metrics: names of the quantities to show; the first, the primary one, ranks the samplers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from harness import statistics
from harness.metrics import GROUP
from harness.metrics import QUANTITIES
from harness.metrics import geometric_mean
from harness.report.palette import is_zaps


def aggregate(summary: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Aggregate the studies over seeds.

    Args:
        summary: Studies on problems of one kind.
        metrics: The first ranks the samplers.

    Returns:
        One row per group (:data:`harness.metrics.GROUP`) and sampler, problems in the order of the
        summary and the best mean first: ``n_seeds``, ``n_capped``, the mean of each quantity under
        its name and its standard deviation under ``<name>_std``. ``trials_to_optimum`` is the
        median over all seeds, infinite where at least half of them missed the optimum.
        ``gap_geometric`` is the geometric mean of the gap, ``cpu_ms_per_trial`` that of ask and
        tell together.
    """
    studies = summary.assign(
        n_seeds=1, n_capped=summary["capped"], cpu_ms_per_trial=summary.ask_ms + summary.tell_ms
    )
    chosen: dict[str, Any] = {name: (name, "sum") for name in ("n_seeds", "n_capped")}
    chosen["cpu_ms_per_trial"] = ("cpu_ms_per_trial", "mean")
    measured = [name for name in QUANTITIES if name in summary and summary[name].notna().any()]
    chosen |= {name: (name, "mean") for name in measured}
    chosen |= {f"{name}_std": (name, "std") for name in measured}
    if "gap" in measured:
        chosen["gap_geometric"] = ("gap", geometric_mean)
    if "found_optimum" in measured:
        studies["trials_to_optimum"] = studies["trials_to_optimum"].fillna(np.inf)
        chosen["trials_to_optimum"] = ("trials_to_optimum", "median")
        chosen.pop("trials_to_optimum_std", None)
    table: pd.DataFrame = (
        studies.groupby([*GROUP, "sampler"], sort=False).agg(**chosen).reset_index()
    )
    order = pd.factorize(table[list(GROUP[:-1])].apply(tuple, axis="columns"))[0]
    table = table.assign(_order=order).sort_values(
        ["_order", "budget", metrics[0]],
        ascending=[True, True, not is_gain(metrics[0])],
        kind="stable",
    )
    return table.drop(columns="_order").reset_index(drop=True)


def default_reference(summary: pd.DataFrame) -> str:
    """Sampler to compare the others with: ``zaps``, else a form of it, else the first."""
    labels: list[str] = summary["sampler"].unique().tolist()
    return min(labels, key=lambda label: (label != "zaps", not is_zaps(label)))


def leaderboard(
    summary: pd.DataFrame,
    metrics: Sequence[str],
    *,
    reference: str | None = None,
    tests: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Aggregate the studies, and compare the reference with each other sampler.

    Args:
        summary: Studies on problems of one kind.
        metrics: The first ranks the samplers and is tested.
        reference: Sampler to compare with, by default that of :func:`default_reference`.
        tests: Frame of :func:`harness.statistics.compare` for all pairs on the first metric, if it
            was computed before.

    Returns:
        The frame of :func:`aggregate` with the columns ``difference``, ``ci_low``, ``ci_high``,
        ``p_value``, ``p_holm``, ``cliffs_delta`` and ``effect`` of the tests of the reference
        against the sampler of the row, NaN in the reference's own row.
    """
    reference = reference or default_reference(summary)
    tests = statistics.compare(summary, metric=metrics[0]) if tests is None else tests
    against = tests[tests["sampler_a"] == reference].drop(columns="sampler_a")
    return aggregate(summary, metrics).merge(
        against.rename(columns={"sampler_b": "sampler"}), on=[*GROUP, "sampler"], how="left"
    )


def overview(summary: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Samplers over several problems, the lowest mean rank first.

    Args:
        summary: Studies of one setting (trials in flight, unit and budget).
        metric: Quantity that ranks them.

    Returns:
        Frame indexed by sampler: ``n_seeds`` the most that any problem has, ``mean_rank``,
        ``n_first`` (problems on which no sampler is better), ``mean`` of the metric over the
        problems (geometric where it is a loss), ``repeat_share`` in percent and ``cpu_seconds`` of
        a study.
    """
    losses = statistics.mean_losses(summary, metric)
    by_sampler = summary[summary["problem"].isin(losses.index)].groupby("sampler", sort=False)
    return pd.DataFrame(
        {
            "n_seeds": by_sampler["seed"].nunique(),
            "mean_rank": statistics.ranks(losses).mean(),
            "n_first": losses.eq(losses.min(axis="columns"), axis="index").sum(),
            "mean": -losses.mean() if is_gain(metric) else losses.apply(geometric_mean),
            "repeat_share": by_sampler["repeat_share"].mean(),
            "cpu_seconds": by_sampler["cpu_seconds"].mean(),
        }
    ).sort_values("mean_rank", kind="stable")


def is_gain(metric: str) -> bool:
    """Whether larger numbers of a quantity are better."""
    return bool(QUANTITIES[metric].larger_is_better)
