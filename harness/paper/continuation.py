"""Which committed studies still stand, so that runs add up over machines and sessions.

A committed study counts as finished if the present code, on the present table, would have run it
the same. A hash of the sources cannot tell, for it changes with every comment: instead a few
studies of each arm, whose evaluated rows are committed, are run again, and the arm stands if each
evaluates the same rows in the same order. So a library that decides otherwise is noticed too.

Of an arm whose model is arithmetic on real numbers this may fail on another processor, where sums
are rounded otherwise and one choice between near-equal candidates changes all later ones: the
networks of BANANAS part at their first round between an Intel Xeon and an AMD EPYC. Who knows that
nothing else has changed may name such an arm as trusted.

Notations:
    arm: a label on a table, with its sampler and arguments; a row of a table of the paper.
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
from harness.paper.evidence import Evidence
from harness.paper.results import row_of
from harness.run.store import Store


N_REPLAYS = 3
REPLAYED_EVALUATIONS = 200
"""Of a sampler that is not told its budget so many evaluations are replayed at most."""

Arm = tuple[str, str, str, str]
"""Benchmark, data set, source and label."""

_ARM_COLUMNS = ["benchmark", "dataset", "source", "sampler"]


@dataclass(frozen=True)
class Replay:
    """A committed study that is run again.

    Attributes:
        cell: What is run, by the present code.
        expected: Rows that the committed study evaluated, in order, as far as the cell's budget.
    """

    cell: Cell
    expected: tuple[int, ...]

    def agrees(self, store: Store) -> bool:
        """Whether the store has its result, with the same rows."""
        result = store.load(self.cell)
        return result is not None and result.evaluated == self.expected


@dataclass(frozen=True)
class Continued:
    """Committed studies that stand.

    Attributes:
        evidence: Their readings, and the runs that these come from.
        cells: Those whose evaluated rows are kept.
        dropped: Why other arms do not stand, a sentence each.
        trusted: Those that stand although they evaluate other rows, a sentence each.
    """

    evidence: Evidence
    cells: Sequence[CellResult] = ()
    dropped: Sequence[str] = ()
    trusted: Sequence[str] = ()
    _measured: frozenset[tuple[Arm, int, int]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        columns = self.evidence.readings[[*_ARM_COLUMNS, "seed", "budget"]]
        measured = {
            ((benchmark, dataset, source, label), int(seed), int(budget))
            for benchmark, dataset, source, label, seed, budget in columns.itertuples(
                index=False, name=None
            )
        }
        object.__setattr__(self, "_measured", frozenset(measured))

    def __contains__(self, cell: Cell) -> bool:
        return (row_of(cell), cell.seed, cell.budget) in self._measured


def replays(wanted: Iterable[Cell], committed: Iterable[CellResult]) -> dict[Arm, list[Replay]]:
    """What to run again before committed studies count as finished.

    Args:
        wanted: Studies of the present code; they say which sampler, arguments and table each arm
            has.
        committed: Studies whose evaluated rows are known.

    Returns:
        A few replays of each arm that has committed studies of the same sampler and arguments on
        the same table, spread over its seeds and budgets.
    """
    present = {row_of(cell): cell for cell in wanted}
    studies: dict[Arm, list[CellResult]] = {}
    for result in committed:
        studies.setdefault(row_of(result.cell), []).append(result)
    return {
        arm: [_replay(result, present[arm]) for result in _spread(results)]
        for arm, results in studies.items()
        if arm in present and all(_same_work(result.cell, present[arm]) for result in results)
    }


def continued(
    evidence: Evidence,
    committed: Sequence[CellResult],
    replayed: dict[Arm, list[Replay]],
    store: Store,
    trusted: Collection[str] = (),
) -> Continued:
    """Take over the arms whose replays agree, and those that are trusted.

    Args:
        evidence: Committed readings.
        committed: Committed studies whose evaluated rows are known.
        replayed: What :func:`replays` asked for.
        store: Where the replays were run.
        trusted: Labels of arms whose replays need not agree. Another table, sampler or argument
            is refused all the same.
    """
    readings = evidence.readings[evidence.readings["run"] >= 0]
    stands: set[Arm] = set()
    dropped, on_trust = [], []
    for arm in dict.fromkeys(readings[_ARM_COLUMNS].itertuples(index=False, name=None)):
        row = f"{arm[3]} on {arm[0]} / {arm[1]}"
        if arm not in replayed:
            dropped.append(f"{row}: its table, sampler or arguments are not those of today.")
        elif all(replay.agrees(store) for replay in replayed[arm]):
            stands.add(arm)
        elif arm[3] in trusted:
            stands.add(arm)
            on_trust.append(f"{row}: run again here, its studies evaluate other rows.")
        else:
            dropped.append(f"{row}: run again, its studies evaluate other rows.")
    chosen = pd.MultiIndex.from_frame(readings[_ARM_COLUMNS]).isin(stands)
    return Continued(
        replace(evidence, readings=readings[chosen]),
        [result for result in committed if row_of(result.cell) in stands],
        dropped,
        on_trust,
    )


def _same_work(committed: Cell, present: Cell) -> bool:
    """Whether two studies differ in nothing but seed, budget and code."""
    ours, theirs = committed.sampler, present.sampler
    return (committed.problem_fingerprint, ours.target, dict(ours.arguments)) == (
        present.problem_fingerprint,
        theirs.target,
        dict(theirs.arguments),
    )


def _spread(results: Sequence[CellResult]) -> list[CellResult]:
    """From the smallest budget to the largest, each of another seed where there are several."""
    budgets = sorted({result.cell.budget for result in results})
    chosen: list[CellResult] = []
    for i in range(N_REPLAYS):
        budget = budgets[i * (len(budgets) - 1) // max(N_REPLAYS - 1, 1)]
        taken = {result.cell.seed for result in chosen}
        left = [r for r in results if r.cell.budget == budget and r not in chosen]
        chosen += sorted(left, key=lambda r: (r.cell.seed in taken, r.cell.seed))[:1]
    return chosen


def _replay(result: CellResult, present: Cell) -> Replay:
    budget = result.cell.budget
    if not present.sampler.budget_aware:
        budget = min(budget, REPLAYED_EVALUATIONS)
    cell = replace(present, seed=result.cell.seed, budget=budget)
    return Replay(cell, result.evaluated[:budget])
