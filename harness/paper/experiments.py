"""Experiments behind the tables and figures of Section 4, run as studies like any comparison.

An experiment consists of rows, each a sampler with its arguments. The ablations are arguments of
``zaps-paper``, and a row that several experiments share is run once.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from harness import problems
from harness import samplers
from harness.experiment import Cell
from harness.experiment import SamplerSpec
from harness.experiment import make_cells
from harness.paper import published as paper
from harness.paper.published import ProblemKey
from harness.problems import TabularBenchmark
from harness.problems.family import join
from harness.problems.family import split
from harness.samplers import paper_initial_proxies


BUDGETS = (50, 100, 150, 200, 300, 400, 500)
TABLE_BUDGETS = (100, 200, 300, 500)
"""Budgets of Tables 8 and 9."""

ANYTIME = "ZAPS anytime"

SOURCES: Mapping[ProblemKey, str] = {paper.NASBENCH101: "parquet-own"}
"""Source of a problem whose default lacks most of the paper's proxies."""

InitialProxies = Callable[[TabularBenchmark], Sequence[str]]


@dataclass(frozen=True)
class Row:
    """Row of a table: a sampler under the name that the paper gives it.

    Attributes:
        label: Name in the table.
        sampler: Text as for ``zaps-harness compare --sampler``, without a label.
        initial_proxies: Proxies that seed ZAPS on a benchmark; by default the sampler's own.
        max_seeds: Largest number of seeds that are run.
        max_budget: Largest budget that is run.
    """

    label: str
    sampler: str
    initial_proxies: InitialProxies | None = None
    max_seeds: int | None = None
    max_budget: int | None = None

    def spec(self, benchmark: TabularBenchmark) -> SamplerSpec:
        """Make the sampler's specification for a benchmark.

        Raises:
            ValueError: If there is no such sampler.
        """
        spec = replace(samplers.make_spec(self.sampler), label=self.label)
        if self.initial_proxies is None:
            return spec
        names = list(self.initial_proxies(benchmark))
        return replace(spec, arguments={**spec.arguments, "initial_proxies": names})


@dataclass(frozen=True)
class Experiment:
    """Rows, problems and budgets that are run together.

    Attributes:
        name: Name for ``zaps-harness reproduce``.
        problems: Benchmarks and data sets.
        budgets: Distinct evaluations.
        rows: Samplers that are compared.
    """

    name: str
    problems: tuple[ProblemKey, ...]
    budgets: tuple[int, ...]
    rows: tuple[Row, ...]

    def budgets_of(self, row: Row) -> list[int]:
        """Budgets at which a row is run."""
        return [b for b in self.budgets if row.max_budget is None or b <= row.max_budget]

    def cells(self, tables: Sequence[TabularBenchmark], seeds: Sequence[int]) -> list[Cell]:
        """Studies of this experiment on those of its problems whose tables are given."""
        return [
            cell
            for table in tables
            if split(table.text)[:2] in self.problems
            for row in self.rows
            for cell in make_cells(
                [table], [row.spec(table)], seeds[: row.max_seeds], self.budgets_of(row)
            )
        ]


def all_proxies(benchmark: TabularBenchmark) -> list[str]:
    """Names of all proxies of a benchmark: the initial proxies without ProxyFit."""
    return [str(name) for name in benchmark.proxies.columns]


def transferred_proxies(benchmark: TabularBenchmark) -> list[str]:
    """Proxies that ProxyFit selects on NAS-Bench-201 / CIFAR-10 and the benchmark has."""
    selected = paper_initial_proxies(problems.load_table(join(*paper.CIFAR10, "")))
    return [name for name in selected if name in benchmark.proxies]


_ZAPS = Row(paper.ZAPS, "zaps-paper")
_ANYTIME = Row(ANYTIME, "zaps")
_RS = Row("RS", "random-distinct")
_REA = Row("REA", "rea")
_TPE = Row("TPE", "tpe-discrete")
_TRANSFERRED = Row(paper.TRANSFERRED, "zaps-paper", transferred_proxies)

EXPERIMENTS = (
    Experiment(
        "main",
        (paper.CIFAR10, paper.CIFAR100),
        BUDGETS,
        (
            _ZAPS,
            _RS,
            Row("LS", "local-search"),
            _REA,
            # Training its networks takes longer than everything else together.
            Row("BANANAS", "bananas", max_seeds=50),
            _TPE,
        ),
    ),
    # Not in the paper: comparisons that a reader will ask for.
    Experiment(
        "beyond",
        (paper.CIFAR10, paper.CIFAR100),
        BUDGETS,
        (
            _ZAPS,
            _ANYTIME,
            Row("Optuna TPE", "tpe"),
            # It repeats itself ever more: 500 distinct proposals would take thousands of trials.
            Row("Optuna TPE, univariate", "tpe-univariate", max_seeds=50, max_budget=200),
            Row("Suite-Zero BANANAS", "suite-zero-bananas", max_seeds=50),
            Row("ProxyBO", "proxybo", max_seeds=50),
        ),
    ),
    Experiment(
        "ablation",
        (paper.CIFAR10, paper.CIFAR100),
        BUDGETS,
        (
            _ZAPS,
            Row(paper.ALL_PROXIES, "zaps-paper", all_proxies),
            Row(paper.RANDOM_START, "zaps-paper(profile='paper+random-start')"),
        ),
    ),
    Experiment(
        "fusion",
        (paper.CIFAR10, paper.CIFAR100),
        BUDGETS,
        (
            _ZAPS,
            Row(paper.PROXIES_ONLY, "zaps-paper(profile='paper+proxies-only')"),
            Row(paper.TOPOLOGY_ONLY, "zaps-paper(profile='paper+parameters-only')"),
        ),
    ),
    Experiment("nb101", (paper.NASBENCH101,), TABLE_BUDGETS, (_ZAPS, _RS, _REA, _TPE, _ANYTIME)),
    Experiment(
        "transfer",
        (paper.CIFAR100, paper.IMAGENET16, paper.NASBENCH101),
        TABLE_BUDGETS,
        (_ZAPS, _TRANSFERRED),
    ),
)
"""The experiments that run studies; the proxy-only schemes need none."""


def labels_of(name: str) -> tuple[str, ...]:
    """Labels of an experiment's rows."""
    return tuple(
        row.label
        for experiment in EXPERIMENTS
        if experiment.name == name
        for row in experiment.rows
    )


COMPARED = tuple(dict.fromkeys((*labels_of("main"), *labels_of("beyond"))))
"""Labels that a new sampler is compared with: all but those of the ablations."""


def cells(
    experiments: Sequence[Experiment], tables: Sequence[TabularBenchmark], n_seeds: int
) -> list[Cell]:
    """Make the studies of experiments in order of seeds, so partial results are informative.

    Args:
        experiments: The experiments.
        tables: Available benchmarks.
        n_seeds: Number of seeds.

    Returns:
        Cells; a study that several experiments share is there once under each of its labels.
    """
    seeds = range(n_seeds)
    wanted = [cell for experiment in experiments for cell in experiment.cells(tables, seeds)]
    distinct = {(cell.key, cell.sampler.label): cell for cell in wanted}
    return sorted(distinct.values(), key=lambda cell: cell.seed)


def available_tables() -> tuple[list[TabularBenchmark], list[str]]:
    """Load the benchmarks of all experiments that are here, and say why others are missing."""
    tables, missing = [], []
    for problem in dict.fromkeys(p for experiment in EXPERIMENTS for p in experiment.problems):
        try:
            tables.append(problems.load_table(join(*problem, SOURCES.get(problem, ""))))
        except ValueError as error:
            missing.append(str(error))
    return tables, list(dict.fromkeys(missing))
