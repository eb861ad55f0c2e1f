"""Committed studies that need not run again, so that runs add up over machines and sessions.

A committed study counts as finished if the present code, on the present table, would evaluate the
same rows. The fingerprint of the code cannot tell, for libraries and processors decide as well:
instead a few committed studies of each row are run again, and the row stands if each of them
evaluates the same configurations in the same order.

A row whose model is arithmetic on real numbers may fail this check on another processor, which
rounds sums otherwise: one choice between nearly equal candidates changes all later ones. The
networks of BANANAS part at their first round between an Intel Xeon and an AMD EPYC. If nothing
else has changed, such a row may be named as trusted.

Notations:
    row: a label on a table, with its sampler and arguments; a row of a table of the paper.
    replay: a committed study that is run again.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

import pandas as pd

from harness.experiment import Cell
from harness.experiment import CellResult
from harness.paper.committed import row_of
from harness.paper.measured import MeasuredResults
from harness.run.store import Store


N_REPLAYS = 3
REPLAYED_EVALUATIONS = 200
"""Largest number of evaluations replayed of a sampler that is not told its budget."""

RowKey = tuple[str, str, str, str]
"""Benchmark, data set, source and label."""

_ROW_COLUMNS = ["benchmark", "dataset", "source", "sampler"]


@dataclass(frozen=True)
class Replay:
    """Committed study that is run again.

    Attributes:
        cell: The study, with the present code.
        expected: Rows that the committed study evaluated, in order, within the cell's budget.
    """

    cell: Cell
    expected: tuple[int, ...]

    def agrees(self, store: Store) -> bool:
        """Whether the store has its result, with the same rows."""
        result = store.load(self.cell)
        return result is not None and result.evaluated == self.expected


@dataclass(frozen=True)
class Continued:
    """Committed results that stand.

    Attributes:
        results: Their metrics, and the runs that these come from.
        studies: Those whose evaluated rows are stored.
        dropped: Why other rows do not stand, a sentence each.
        trusted: Rows that stand although they evaluate other configurations, a sentence each.
    """

    results: MeasuredResults
    studies: Sequence[CellResult] = ()
    dropped: Sequence[str] = ()
    trusted: Sequence[str] = ()
    _measured: frozenset[tuple[RowKey, int, int]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        columns = self.results.metrics[[*_ROW_COLUMNS, "seed", "budget"]]
        measured = {
            ((benchmark, dataset, source, label), int(seed), int(budget))
            for benchmark, dataset, source, label, seed, budget in columns.itertuples(
                index=False, name=None
            )
        }
        object.__setattr__(self, "_measured", frozenset(measured))

    def __contains__(self, cell: Cell) -> bool:
        return (row_of(cell), cell.seed, cell.budget) in self._measured


def replays(wanted: Iterable[Cell], committed: Iterable[CellResult]) -> dict[RowKey, list[Replay]]:
    """Choose the committed studies to run again.

    Args:
        wanted: Studies of the present code, which give the sampler, arguments and table of each
            row.
        committed: Studies whose evaluated rows are known.

    Returns:
        A few replays of each row that has committed studies of the same sampler and arguments on
        the same table, spread over its seeds and budgets.
    """
    present = {row_of(cell): cell for cell in wanted}
    studies: dict[RowKey, list[CellResult]] = {}
    for study in committed:
        studies.setdefault(row_of(study.cell), []).append(study)
    return {
        row: [_replay(study, present[row]) for study in _spread(found)]
        for row, found in studies.items()
        if row in present and all(_same_work(study.cell, present[row]) for study in found)
    }


def continued(
    results: MeasuredResults,
    committed: Sequence[CellResult],
    replayed: dict[RowKey, list[Replay]],
    store: Store,
    trusted: Collection[str] = (),
) -> Continued:
    """Take over the rows whose replays agree, and the trusted ones.

    Args:
        results: Committed results.
        committed: Committed studies whose evaluated rows are known.
        replayed: The replays that :func:`replays` chose.
        store: Where the replays were run.
        trusted: Labels of rows whose replays need not agree. Another table, sampler or argument
            is refused all the same.

    Returns:
        The committed results that stand.
    """
    metrics = results.metrics[results.metrics["run"] >= 0]
    stands: set[RowKey] = set()
    dropped, on_trust = [], []
    for row in dict.fromkeys(metrics[_ROW_COLUMNS].itertuples(index=False, name=None)):
        name = f"{row[3]} on {row[0]} / {row[1]}"
        if row not in replayed:
            dropped.append(f"{name}: its table, sampler or arguments are not those of today.")
        elif all(replay.agrees(store) for replay in replayed[row]):
            stands.add(row)
        elif row[3] in trusted:
            stands.add(row)
            on_trust.append(f"{name}: run again here, its studies evaluate other rows.")
        else:
            dropped.append(f"{name}: run again, its studies evaluate other rows.")
    chosen = pd.MultiIndex.from_frame(metrics[_ROW_COLUMNS]).isin(stands)
    return Continued(
        replace(results, metrics=metrics[chosen]),
        [study for study in committed if row_of(study.cell) in stands],
        dropped,
        on_trust,
    )


def _same_work(committed: Cell, present: Cell) -> bool:
    """Whether two studies differ in seed, budget and code at most."""
    ours, theirs = committed.sampler, present.sampler
    return (committed.problem_fingerprint, ours.target, dict(ours.arguments)) == (
        present.problem_fingerprint,
        theirs.target,
        dict(theirs.arguments),
    )


def _spread(studies: Sequence[CellResult]) -> list[CellResult]:
    """Choose studies from the smallest budget to the largest, of different seeds if possible."""
    budgets = sorted({study.cell.budget for study in studies})
    chosen: list[CellResult] = []
    for i in range(N_REPLAYS):
        budget = budgets[i * (len(budgets) - 1) // max(N_REPLAYS - 1, 1)]
        taken = {study.cell.seed for study in chosen}
        left = [study for study in studies if study.cell.budget == budget and study not in chosen]
        chosen += sorted(left, key=lambda s: (s.cell.seed in taken, s.cell.seed))[:1]
    return chosen


def _replay(study: CellResult, present: Cell) -> Replay:
    budget = study.cell.budget
    if not present.sampler.budget_aware:
        budget = min(budget, REPLAYED_EVALUATIONS)
    cell = replace(present, seed=study.cell.seed, budget=budget)
    return Replay(cell, study.evaluated[:budget])
