"""Measured results: one row of metrics per study and budget.

Tables, figures and claims read this and nothing else, so that new studies and committed ones are
treated alike.

Notations:
    metrics: frame with the columns of :data:`COLUMNS`, a row for each study and budget.
    made_by: column with the sampler, its arguments and its code, as text.
    run: column with the position in ``runs`` of the run that a row comes from.
    spearman: signed rank correlations of the objective and the proxies of a problem, a square
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
from harness.paper.published import PROBLEM_NAMES
from harness.paper.published import ProblemKey
from harness.paper.schemes import scheme_metrics
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
"""``run`` of a proxy-only scheme, which is recomputed each time."""

_STUDY = ["benchmark", "dataset", "source", "sampler", "budget", "seed"]
_FLOATS = ("repeat_share", "cpu_seconds", "spearman")  # A proxy-only scheme has none of these.


class NotMeasured(Exception):
    """A number that the results do not have."""


@dataclass(frozen=True)
class MeasuredResults:
    """Metrics of all studies, with their provenance.

    Attributes:
        metrics: See the module's notations.
        spearman: Rank correlations by problem.
        sizes: Number of configurations by problem.
        facts: Provenance of the numbers, by subject.
        runs: Versions, commits and machine of each run that rows come from.
        withheld: Problems whose numbers are refused, and why.
    """

    metrics: pd.DataFrame
    spearman: Mapping[ProblemKey, pd.DataFrame] = field(default_factory=dict)
    sizes: Mapping[ProblemKey, int] = field(default_factory=dict)
    facts: Mapping[str, Sequence[Fact]] = field(default_factory=dict)
    runs: Sequence[Sequence[Fact]] = ()
    withheld: Mapping[ProblemKey, str] = field(default_factory=dict)

    @cached_property
    def other_tables(self) -> dict[ProblemKey, str]:
        """Problems that were measured on another table than the paper's, with its description."""
        tables = self.metrics[["benchmark", "dataset", "source"]].drop_duplicates()
        return {
            (benchmark, dataset): paper.OTHER_TABLES[benchmark, source]
            for benchmark, dataset, source in tables.itertuples(index=False, name=None)
            if (benchmark, source) in paper.OTHER_TABLES
        }

    def on_the_papers_tables(self) -> MeasuredResults:
        """Results without the problems that were measured on other tables than the paper's."""
        return replace(self, withheld=self.other_tables)

    def at(self, problem: ProblemKey) -> pd.DataFrame:
        """Metrics of a problem.

        Raises:
            NotMeasured: If the problem is withheld.
        """
        self._check(problem)
        chosen = (self.metrics["benchmark"] == problem[0]) & (
            self.metrics["dataset"] == problem[1]
        )
        return self.metrics[chosen]

    def sample(
        self, problem: ProblemKey, budget: int, row: str, metric: str = "precision"
    ) -> Floats:
        """Numbers of a row at a budget, one per seed, in order of seeds.

        Raises:
            NotMeasured: If there is none.
        """
        self._check(problem)
        found = self._samples.get((*problem, budget, row))
        values = np.empty(0) if found is None else found[metric].to_numpy(np.float64)
        values = values[~np.isnan(values)]
        if not values.size:
            raise NotMeasured(
                f"{row} at B = {budget} on {PROBLEM_NAMES[problem]} was not measured"
            )
        return values

    def mean(self, problem: ProblemKey, budget: int, row: str, metric: str = "precision") -> float:
        """Mean of :meth:`sample`."""
        return float(self.sample(problem, budget, row, metric).mean())

    def std(self, problem: ProblemKey, budget: int, row: str, metric: str = "precision") -> float:
        """Standard deviation of :meth:`sample`, of two seeds at least.

        Raises:
            NotMeasured: If there are fewer.
        """
        values = self.sample(problem, budget, row, metric)
        if values.size < 2:
            raise NotMeasured(f"{row} on {PROBLEM_NAMES[problem]} has one seed only")
        return float(values.std(ddof=1))

    def correlations(self, problem: ProblemKey) -> pd.DataFrame:
        """Rank correlations of a problem.

        Raises:
            NotMeasured: If its proxies are not known.
        """
        self._check(problem)
        if problem not in self.spearman:
            raise NotMeasured(f"the proxies of {PROBLEM_NAMES[problem]} are not available")
        return self.spearman[problem]

    def size(self, problem: ProblemKey) -> int:
        """Number of configurations of a problem.

        Raises:
            NotMeasured: If it is not known.
        """
        if problem not in self.sizes:
            raise NotMeasured(f"the table of {PROBLEM_NAMES[problem]} is not available")
        return self.sizes[problem]

    def budgets(self, problem: ProblemKey, row: str) -> list[int]:
        """Budgets at which a row was measured, in increasing order."""
        return sorted(
            key[2] for key in self._samples if (key[0], key[1], key[3]) == (*problem, row)
        )

    def _check(self, problem: ProblemKey) -> None:
        if problem in self.withheld:
            raise NotMeasured(self.withheld[problem])

    @cached_property
    def _samples(self) -> dict[tuple[Any, ...], pd.DataFrame]:
        groups = self.metrics.sort_values("seed", kind="stable").groupby(
            ["benchmark", "dataset", "budget", "sampler"], sort=False
        )
        return {tuple(key): frame for key, frame in groups}


def gather(
    studies: Sequence[CellResult],
    tables: Sequence[TabularBenchmark],
    budgets: Sequence[int],
    earlier: MeasuredResults | None = None,
) -> MeasuredResults:
    """Measure finished studies, and the proxy-only schemes on their tables.

    Args:
        studies: Finished studies.
        tables: The available benchmarks.
        budgets: Budgets at which to measure the studies.
        earlier: Results of earlier runs to add. Where both have a study, that of ``studies``
            counts.

    Returns:
        The results.
    """
    runs = [] if earlier is None else list(earlier.runs)
    frames = [
        _study_metrics(studies, tables, budgets, run=len(runs)),
        *([] if earlier is None else [earlier.metrics]),
        *(scheme_metrics(table, budgets).assign(made_by="", run=NO_RUN) for table in tables),
    ]
    if studies:
        runs.append(provenance.run_facts(studies))
    full = [frame.reindex(columns=list(COLUMNS)) for frame in frames if len(frame)]
    metrics = pd.concat(
        [frame.astype(dict.fromkeys(_FLOATS, np.float64)) for frame in full], ignore_index=True
    ).drop_duplicates(_STUDY, ignore_index=True)
    # Runs without any row left are forgotten.
    used = sorted({int(run) for run in metrics["run"]} - {NO_RUN})
    metrics["run"] = metrics["run"].map({NO_RUN: NO_RUN} | {r: i for i, r in enumerate(used)})
    runs = [runs[run] for run in used]
    return MeasuredResults(
        metrics,
        {split(table.text)[:2]: _spearman(table) for table in tables},
        {split(table.text)[:2]: len(table.values) for table in tables},
        {
            "Studies": provenance.merged(runs),
            "Samplers": sampler_facts(metrics),
            "Tables": provenance.problem_facts(tables),
        },
        runs,
    )


def sampler_facts(metrics: pd.DataFrame) -> list[Fact]:
    """Describe the sampler behind each label, with its seeds and budgets."""
    studies = metrics[metrics["run"] != NO_RUN]
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


def _study_metrics(
    studies: Sequence[CellResult],
    tables: Sequence[TabularBenchmark],
    budgets: Sequence[int],
    run: int,
) -> pd.DataFrame:
    if not studies:
        return pd.DataFrame()
    texts = {
        (study.cell.problem, study.cell.sampler.label): provenance.sampler_text(study.cell.sampler)
        for study in studies
    }
    frame = summarize(studies, tables, {table.text: Budgets(tuple(budgets)) for table in tables})
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


def _spearman(table: TabularBenchmark) -> pd.DataFrame:
    names = [OBJECTIVE, *map(str, table.proxies.columns)]
    matrix = spearman(np.column_stack([table.values, table.proxies.to_numpy(np.float64)]))
    return pd.DataFrame(matrix, index=names, columns=names)
