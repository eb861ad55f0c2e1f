"""What is run for the tables and figures of Section 4, through the same studies as any comparison.

An experiment is made of arms, each a sampler with its arguments. The ablations are arguments of
``zaps-paper``, and an arm that several experiments share is run once.
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
from harness.paper import published as paper
from harness.paper.published import Place
from harness.problems import TabularBenchmark
from harness.run.runner import make_cells
from harness.samplers import paper_initial_proxies


BUDGETS = (50, 100, 150, 200, 300, 400, 500)
TABLE_BUDGETS = (100, 200, 300, 500)
"""Those of Tables 8 and 9."""

ANYTIME = "ZAPS anytime"

SOURCES: Mapping[Place, str] = {paper.NASBENCH101: "parquet-own"}
"""Source of a place whose default lacks most of the paper's proxies."""

InitialProxies = Callable[[TabularBenchmark], Sequence[str]]


@dataclass(frozen=True)
class Arm:
    """A row of a table: a sampler under the name that the paper gives it.

    Attributes:
        label: Name of the row.
        sampler: Text as for ``zaps-harness compare --sampler``, without a label.
        initial_proxies: Proxies that seed ZAPS on a benchmark; by default the sampler's own.
        max_seeds: Most seeds that are run, however many are asked for.
        max_budget: Largest budget that is run.
    """

    label: str
    sampler: str
    initial_proxies: InitialProxies | None = None
    max_seeds: int | None = None
    max_budget: int | None = None

    def spec(self, benchmark: TabularBenchmark) -> SamplerSpec:
        """The sampler of this arm on a benchmark.

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
    """Arms on data sets at budgets.

    Attributes:
        name: What ``zaps-harness reproduce`` calls it.
        places: Benchmarks and data sets.
        budgets: Distinct evaluations.
        arms: What is compared.
    """

    name: str
    places: tuple[Place, ...]
    budgets: tuple[int, ...]
    arms: tuple[Arm, ...]

    def budgets_of(self, arm: Arm) -> list[int]:
        """Budgets at which an arm is run."""
        return [b for b in self.budgets if arm.max_budget is None or b <= arm.max_budget]

    def cells(self, tables: Sequence[TabularBenchmark], seeds: Sequence[int]) -> list[Cell]:
        """The studies of this experiment on those of its places that are at hand."""
        return [
            cell
            for table in tables
            if (table.name, table.dataset) in self.places
            for arm in self.arms
            for cell in make_cells(
                [table], [arm.spec(table)], seeds[: arm.max_seeds], self.budgets_of(arm)
            )
        ]


def all_proxies(benchmark: TabularBenchmark) -> list[str]:
    """Every proxy of a benchmark: the start without ProxyFit."""
    return [str(name) for name in benchmark.proxies.columns]


def transferred_proxies(benchmark: TabularBenchmark) -> list[str]:
    """What ProxyFit selects on NAS-Bench-201 / CIFAR-10, as far as the benchmark has it."""
    selected = paper_initial_proxies(problems.load(*paper.CIFAR10))
    return [name for name in selected if name in benchmark.proxies]


_ZAPS = Arm(paper.ZAPS, "zaps-paper")
_ANYTIME = Arm(ANYTIME, "zaps")
_RS = Arm("RS", "random-distinct")
_REA = Arm("REA", "rea")
_TPE = Arm("TPE", "tpe-discrete")
_TRANSFERRED = Arm(paper.TRANSFERRED, "zaps-paper", transferred_proxies)

EXPERIMENTS = (
    Experiment(
        "main",
        (paper.CIFAR10, paper.CIFAR100),
        BUDGETS,
        (
            _ZAPS,
            _RS,
            Arm("LS", "local-search"),
            _REA,
            # Training its networks is dearer than all the rest together.
            Arm("BANANAS", "bananas", max_seeds=50),
            _TPE,
        ),
    ),
    # Not in the paper, but what a reader would ask for.
    Experiment(
        "beyond",
        (paper.CIFAR10, paper.CIFAR100),
        BUDGETS,
        (
            _ZAPS,
            _ANYTIME,
            Arm("Optuna TPE", "tpe"),
            # It repeats itself ever more: 500 distinct proposals would take it thousands.
            Arm("Optuna TPE, univariate", "tpe-univariate", max_seeds=50, max_budget=200),
            Arm("Suite-Zero BANANAS", "suite-zero-bananas", max_seeds=50),
            Arm("ProxyBO", "proxybo", max_seeds=50),
        ),
    ),
    Experiment(
        "ablation",
        (paper.CIFAR10, paper.CIFAR100),
        BUDGETS,
        (
            _ZAPS,
            Arm(paper.ALL_PROXIES, "zaps-paper", all_proxies),
            Arm(paper.RANDOM_START, "zaps-paper(profile='paper+random-start')"),
        ),
    ),
    Experiment(
        "fusion",
        (paper.CIFAR10, paper.CIFAR100),
        BUDGETS,
        (
            _ZAPS,
            Arm(paper.PROXIES_ONLY, "zaps-paper(profile='paper+proxies-only')"),
            Arm(paper.TOPOLOGY_ONLY, "zaps-paper(profile='paper+parameters-only')"),
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


def rows_of(name: str) -> tuple[str, ...]:
    """Labels of an experiment's arms."""
    return tuple(
        arm.label
        for experiment in EXPERIMENTS
        if experiment.name == name
        for arm in experiment.arms
    )


COMPARED = tuple(dict.fromkeys((*rows_of("main"), *rows_of("beyond"))))
"""Rows that a new sampler is compared with: not the ablations."""


def cells(
    experiments: Sequence[Experiment], tables: Sequence[TabularBenchmark], n_seeds: int
) -> list[Cell]:
    """The studies of experiments in order of seeds, so that a part of them says much.

    A study that several experiments share is there once under each of its labels.
    """
    seeds = range(n_seeds)
    wanted = [cell for experiment in experiments for cell in experiment.cells(tables, seeds)]
    distinct = {(cell.key, cell.sampler.label): cell for cell in wanted}
    return sorted(distinct.values(), key=lambda cell: cell.seed)


def tables_at_hand() -> tuple[list[TabularBenchmark], list[str]]:
    """The benchmarks of all experiments, and why others are not there."""
    tables, missing = [], []
    for place in dict.fromkeys(p for experiment in EXPERIMENTS for p in experiment.places):
        try:
            tables.append(problems.load(*place, SOURCES.get(place)))
        except ValueError as error:
            missing.append(str(error))
    return tables, list(dict.fromkeys(missing))
