"""What was measured: one row per study and budget, however it came here.

Tables, figures and claims read this and nothing else, so that they are the same for studies that
ran a moment ago and for the committed ones.

Notations:
    readings: frame with the columns of :data:`COLUMNS`, a study at a budget a row.
    made_by: column with the sampler, its arguments and its code, as text.
    run: column with the position in ``runs`` of where a reading comes from.
    spearman: signed rank correlations of the objective and the proxies of a data set, a square
        frame whose first row and column are the objective.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.experiment import CellResult
from harness.metrics import Budgets
from harness.metrics import summarize
from harness.paper import published as paper
from harness.paper.published import PLACES
from harness.paper.published import Place
from harness.paper.schemes import scheme_readings
from harness.problems import TabularBenchmark
from harness.problems.family import split
from harness.problems.registry import parts_of
from harness.report import provenance
from harness.report.heatmaps import OBJECTIVE
from harness.report.provenance import Fact
from optuna_zaps.search.proxy_fit import spearman


Floats = npt.NDArray[np.float64]

COLUMNS = (
    "benchmark",
    "dataset",
    "source",
    "sampler",
    "budget",
    "seed",
    "precision",
    "regret",
    "best_value",
    "found_optimum",
    "repeat_share",
    "cpu_seconds",
    "spearman",
    "made_by",
    "run",
)

NO_RUN = -1
"""``run`` of a proxy-only scheme, which is computed anew each time."""

_STUDY = ["benchmark", "dataset", "source", "sampler", "budget", "seed"]
_FLOATS = ("repeat_share", "cpu_seconds", "spearman")  # what a scheme does not have


class NotMeasured(Exception):
    """A number that the evidence does not hold."""


@dataclass(frozen=True)
class Evidence:
    """Everything that was measured.

    Attributes:
        readings: See the module's notations.
        spearman: Rank correlations by place.
        sizes: Number of configurations by place.
        facts: Where the numbers come from, by what they describe.
        runs: Versions, commits and machine of each run that readings come from.
        withheld: Places of which nothing is told, and why.
    """

    readings: pd.DataFrame
    spearman: Mapping[Place, pd.DataFrame] = field(default_factory=dict)
    sizes: Mapping[Place, int] = field(default_factory=dict)
    facts: Mapping[str, Sequence[Fact]] = field(default_factory=dict)
    runs: Sequence[Sequence[Fact]] = ()
    withheld: Mapping[Place, str] = field(default_factory=dict)

    @cached_property
    def other_tables(self) -> dict[Place, str]:
        """Places that were measured on another table than the paper's, and which it is."""
        tables = self.readings[["benchmark", "dataset", "source"]].drop_duplicates()
        return {
            (benchmark, dataset): paper.OTHER_TABLES[benchmark, source]
            for benchmark, dataset, source in tables.itertuples(index=False, name=None)
            if (benchmark, source) in paper.OTHER_TABLES
        }

    def on_the_papers_tables(self) -> Evidence:
        """This, without what the paper's statements cannot be held to."""
        return replace(self, withheld=self.other_tables)

    def at(self, place: Place) -> pd.DataFrame:
        """Readings of a place.

        Raises:
            NotMeasured: If they are withheld.
        """
        self._check(place)
        chosen = (self.readings["benchmark"] == place[0]) & (self.readings["dataset"] == place[1])
        return self.readings[chosen]

    def sample(self, place: Place, budget: int, row: str, metric: str = "precision") -> Floats:
        """One number per seed, in order of seeds.

        Raises:
            NotMeasured: If there is none.
        """
        self._check(place)
        found = self._samples.get((*place, budget, row))
        values = np.empty(0) if found is None else found[metric].to_numpy(np.float64)
        values = values[~np.isnan(values)]
        if not values.size:
            raise NotMeasured(f"{row} at B = {budget} on {PLACES[place]} was not measured")
        return values

    def mean(self, place: Place, budget: int, row: str, metric: str = "precision") -> float:
        """Mean of :meth:`sample`."""
        return float(self.sample(place, budget, row, metric).mean())

    def std(self, place: Place, budget: int, row: str, metric: str = "precision") -> float:
        """Standard deviation of :meth:`sample`, of two seeds at least.

        Raises:
            NotMeasured: If there are fewer.
        """
        values = self.sample(place, budget, row, metric)
        if values.size < 2:
            raise NotMeasured(f"{row} on {PLACES[place]} has one seed only")
        return float(values.std(ddof=1))

    def correlations(self, place: Place) -> pd.DataFrame:
        """Rank correlations of a place.

        Raises:
            NotMeasured: If its proxies are not known.
        """
        self._check(place)
        if place not in self.spearman:
            raise NotMeasured(f"the proxies of {PLACES[place]} are not at hand")
        return self.spearman[place]

    def size(self, place: Place) -> int:
        """Number of configurations of a place.

        Raises:
            NotMeasured: If it is not known.
        """
        if place not in self.sizes:
            raise NotMeasured(f"the table of {PLACES[place]} is not at hand")
        return self.sizes[place]

    def budgets(self, place: Place, row: str) -> list[int]:
        """Budgets at which a row was measured, in increasing order."""
        return sorted(key[2] for key in self._samples if (key[0], key[1], key[3]) == (*place, row))

    def _check(self, place: Place) -> None:
        if place in self.withheld:
            raise NotMeasured(self.withheld[place])

    @cached_property
    def _samples(self) -> dict[tuple[Any, ...], pd.DataFrame]:
        groups = self.readings.sort_values("seed", kind="stable").groupby(
            ["benchmark", "dataset", "budget", "sampler"], sort=False
        )
        return {tuple(key): frame for key, frame in groups}


def gather(
    results: Sequence[CellResult],
    tables: Sequence[TabularBenchmark],
    budgets: Sequence[int],
    kept: Evidence | None = None,
) -> Evidence:
    """Evidence of finished studies, and of the proxy-only schemes on their tables.

    Args:
        results: Finished studies.
        tables: The benchmarks at hand.
        budgets: Budgets to read the studies off at.
        kept: Readings of earlier runs to put beside them. Where both have a study, that of
            ``results`` counts.

    Returns:
        The evidence.
    """
    runs = [] if kept is None else list(kept.runs)
    frames = [
        _study_readings(results, tables, budgets, run=len(runs)),
        *([] if kept is None else [kept.readings]),
        *(scheme_readings(table, budgets).assign(made_by="", run=NO_RUN) for table in tables),
    ]
    if results:
        runs.append(provenance.run_facts(results))
    full = [frame.reindex(columns=list(COLUMNS)) for frame in frames if len(frame)]
    readings = pd.concat(
        [frame.astype(dict.fromkeys(_FLOATS, np.float64)) for frame in full], ignore_index=True
    ).drop_duplicates(_STUDY, ignore_index=True)
    # Runs of which nothing is left are forgotten.
    used = sorted({int(run) for run in readings["run"]} - {NO_RUN})
    readings["run"] = readings["run"].map({NO_RUN: NO_RUN} | {r: i for i, r in enumerate(used)})
    runs = [runs[run] for run in used]
    return Evidence(
        readings,
        {split(table.text)[:2]: _spearman(table) for table in tables},
        {split(table.text)[:2]: len(table.values) for table in tables},
        {
            "Studies": provenance.merged(runs),
            "Samplers": _sampler_facts(readings),
            "Tables": provenance.problem_facts(tables),
        },
        runs,
    )


def _study_readings(
    results: Sequence[CellResult],
    tables: Sequence[TabularBenchmark],
    budgets: Sequence[int],
    run: int,
) -> pd.DataFrame:
    if not results:
        return pd.DataFrame()
    texts = {
        (result.cell.problem, result.cell.sampler.label): provenance.sampler_text(
            result.cell.sampler
        )
        for result in results
    }
    frame = summarize(results, tables, {table.text: Budgets(tuple(budgets)) for table in tables})
    rows = zip(frame["problem"], frame["sampler"], strict=True)
    parts = [parts_of(problem) for problem in frame["problem"]]
    # The paper's regret is the gap; shares are fractions in the committed results.
    return frame.assign(
        **dict(zip(("benchmark", "dataset", "source"), zip(*parts, strict=True), strict=True)),
        regret=frame["gap"],
        found_optimum=frame["found_optimum"] == 100.0,
        repeat_share=frame["repeat_share"] / 100.0,
        made_by=[texts[row] for row in rows],
        run=run,
    )


def _sampler_facts(readings: pd.DataFrame) -> list[Fact]:
    """What each label stands for, and which seeds and budgets it was read off at."""
    studies = readings[readings["run"] != NO_RUN]
    facts = []
    for (label, text), mine in studies.groupby(["sampler", "made_by"], sort=False):
        budgets = ", ".join(map(str, sorted(mine["budget"].unique())))
        facts.append(
            Fact(
                str(label),
                f"{text}; {mine['seed'].nunique()} seeds from {mine['seed'].min()} to "
                f"{mine['seed'].max()}, read off after {budgets} evaluations",
            )
        )
    return facts


def _spearman(table: TabularBenchmark) -> pd.DataFrame:
    names = [OBJECTIVE, *map(str, table.proxies.columns)]
    matrix = spearman(np.column_stack([table.values, table.proxies.to_numpy(np.float64)]))
    return pd.DataFrame(matrix, index=names, columns=names)
