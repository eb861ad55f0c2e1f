"""Standings of samplers over several problems: who differs from whom, and who wins how often."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

import pandas as pd

from harness import statistics


WINS = ("sampler_a", "sampler_b", "wins", "ties", "losses", "better", "equal", "worse")
"""Columns of :func:`wins`."""


def groups(ranks: pd.Series, pairs: pd.DataFrame, alpha: float) -> list[list[str]]:
    """Groups of samplers of which no two differ significantly (Demšar, 2006).

    Args:
        ranks: Mean rank by sampler.
        pairs: Frame of :func:`harness.statistics.pairs`.
        alpha: Level of significance of the adjusted p-values.

    Returns:
        The largest such groups of at least two samplers, each by increasing rank; one that is
        within another is left out. The tests need not agree with the order of ranks, so that a
        sampler between two of a group may be outside of it.
    """
    order = [str(label) for label in ranks.sort_values(kind="stable").index]
    position = {label: index for index, label in enumerate(order)}
    alike: dict[str, set[str]] = {label: set() for label in order}
    for a, b, p in pairs[["sampler_a", "sampler_b", "p_holm"]].itertuples(index=False):
        if not p < alpha:
            alike[a].add(b)
            alike[b].add(a)
    found = [
        sorted(group, key=position.__getitem__)
        for group in _cliques(set(), set(order), set(), alike)
    ]
    return sorted(
        (group for group in found if len(group) > 1),
        key=lambda group: [position[label] for label in group],
    )


def group_frame(ranks: pd.Series, groups_: Sequence[Sequence[str]]) -> pd.DataFrame:
    """Mean ranks with a column per group that says who is in it."""
    frame = pd.DataFrame({"sampler": ranks.index.astype(str), "mean_rank": ranks.to_numpy()})
    for number, group in enumerate(groups_, start=1):
        frame[f"group_{number}"] = frame["sampler"].isin(group)
    return frame.sort_values("mean_rank", kind="stable", ignore_index=True)


def wins(tests: pd.DataFrame, losses: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Count on how many problems a sampler wins against another.

    Args:
        tests: Rows of :func:`harness.statistics.compare` for all pairs, on each problem.
        losses: Frame of :func:`harness.statistics.mean_losses`.
        alpha: Level of significance of the adjusted p-values.

    Returns:
        A row per ordered pair with the columns :data:`WINS`. A win is a problem on which a is
        significantly ahead over the seeds, a loss one on which b is, and a tie any other; better,
        equal and worse are counted by mean loss alone.
    """
    chosen = tests[tests["problem"].isin(losses.index)]
    ahead = (chosen["p_holm"] < alpha).groupby([chosen["sampler_a"], chosen["sampler_b"]]).sum()
    rows = []
    for counted in statistics.pairs(losses).itertuples(index=False):
        a, b = counted.sampler_a, counted.sampler_b
        n_wins, n_losses = int(ahead.get((a, b), 0)), int(ahead.get((b, a), 0))
        n_ties = len(losses) - n_wins - n_losses
        better, equal, worse = counted.n_better, counted.n_equal, counted.n_worse
        rows += [
            (a, b, n_wins, n_ties, n_losses, better, equal, worse),
            (b, a, n_losses, n_ties, n_wins, worse, equal, better),
        ]
    return pd.DataFrame(rows, columns=list(WINS))


def _cliques(
    group: set[str], candidates: set[str], excluded: set[str], alike: Mapping[str, set[str]]
) -> Iterator[set[str]]:
    """Maximal cliques that hold a group (Bron and Kerbosch, 1973).

    Args:
        group: A clique.
        candidates: Those alike to all of the group that may still join it.
        excluded: Those alike to all of the group whose cliques were listed before.
        alike: Neighbours by label.
    """
    if not candidates and not excluded:
        yield group
    for one in sorted(candidates):
        own = alike[one]
        yield from _cliques(group | {one}, candidates & own, excluded & own, alike)
        candidates, excluded = candidates - {one}, excluded | {one}
