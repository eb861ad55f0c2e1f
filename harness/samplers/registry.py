"""Samplers by name, and how each is made for a problem.

A package adds a sampler by an entry point of the group ``optuna_zaps.samplers``:

    [project.entry-points."optuna_zaps.samplers"]
    mine = "my_package:MySampler"
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import difflib
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points
import inspect
import math
import tempfile
from typing import Any

import optuna
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.samplers import BaseSampler
import pandas as pd

from harness import hub
from harness.experiment import SamplerSpec
from harness.fingerprint import fingerprint
from harness.problems import Problem
from harness.problems import TabularBenchmark
from harness.problems.family import split
from harness.problems.fronts import FrontProblem
from harness.problems.functions import FunctionProblem
from harness.problems.objects import ObjectProblem
from harness.run.processes import Terminated
from harness.samplers.entry import Entry
from harness.syntax import parse


ENTRY_POINTS = "optuna_zaps.samplers"
"""Group of the entry points by which installed packages add samplers."""

_N_PROBED = 50
"""Random trials that show whether parameters depend on each other."""

_BANANAS_ENCODINGS = {"nasbench201": "edge-paths", "nasbench101": "vertex-paths"}


def proxy_table(benchmark: TabularBenchmark) -> pd.DataFrame:
    """Parameters and proxies side by side, as ``ZAPSSampler`` takes them."""
    return pd.concat([benchmark.parameters, benchmark.proxies], axis="columns")


@lru_cache
def paper_initial_proxies(benchmark: TabularBenchmark) -> tuple[str, ...]:
    """Names that ProxyFit selects on a benchmark, in order of selection.

    This is the paper's label oracle: ProxyFit sees the accuracies of the whole table, which no
    study could know beforehand. The paper justifies it by transfer (six names found once serve
    other data sets); whoever compares ``zaps-paper`` with a sampler that sees no label must say
    that it is helped.

    Args:
        benchmark: The benchmark, with proxies.

    Returns:
        Six names at most; fewer where proxies are redundant, or there are fewer.
    """
    from optuna_zaps import ProxyFit  # noqa: PLC0415  # slow to import

    n_select = min(6, benchmark.proxies.shape[1])
    fit = ProxyFit(n_select=n_select, redundancy=0.85).fit(benchmark.proxies, benchmark.values)
    return tuple(fit.selected_names_)


def _zaps_arguments(problem: Problem, budget: int) -> dict[str, Any]:
    """Nothing where nothing is known beforehand: then ZAPS stands in for TPE as it is."""
    table = problem.table
    if table is None or table.proxies.empty:
        return {}
    return {"proxies": proxy_table(table), "search_space": table.search_space}


def _proxy_arguments(problem: Problem, budget: int) -> dict[str, Any]:
    table = _table_of(problem)
    return {"proxies": proxy_table(table), "search_space": table.search_space}


def _paper_arguments(problem: Problem, budget: int) -> dict[str, Any]:
    return {
        **_proxy_arguments(problem, budget),
        "budget": budget,
        "initial_proxies": list(paper_initial_proxies(_table_of(problem))),
    }


def _space_arguments(problem: Problem, budget: int) -> dict[str, Any]:
    """The space, and the rows of a table that does not hold every combination."""
    table = _table_of(problem)
    arguments: dict[str, Any] = {"search_space": table.search_space}
    if _is_pool(table):
        arguments["candidates"] = table.parameters
    return arguments


def _rea_arguments(problem: Problem, budget: int) -> dict[str, Any]:
    arguments = _space_arguments(problem, budget)
    # Paper, Section 4.2: on NAS-Bench-101 children that were evaluated give way to random ones.
    return arguments | ({"repeats": "random"} if _is_pool(_table_of(problem)) else {})


def _bananas_arguments(problem: Problem, budget: int) -> dict[str, Any]:
    encoding = _BANANAS_ENCODINGS.get(split(problem.text)[0], "one-hot")
    return _space_arguments(problem, budget) | {"encoding": encoding}


def _table_of(problem: Problem) -> TabularBenchmark:
    if problem.table is None:
        raise ValueError(
            f"The sampler must be told every configuration, but {problem.text} has no table. "
            "Leave the sampler out, or name it as module:Class."
        )
    return problem.table


def _is_pool(benchmark: TabularBenchmark) -> bool:
    n_combinations = math.prod(
        len(distribution.choices)
        for distribution in benchmark.search_space.values()
        if isinstance(distribution, CategoricalDistribution)
    )
    return len(benchmark.parameters) < n_combinations


def _hebo_arguments(problem: Problem, budget: int) -> dict[str, Any]:
    return {"search_space": fixed_space(problem)}


def _smac_arguments(problem: Problem, budget: int) -> dict[str, Any]:
    space = fixed_space(problem)
    if space is None:
        raise ValueError(
            f"SMAC must be told the search space, but {problem.text} has none that is fixed. "
            "Leave the sampler out."
        )
    # SMAC writes its history to a folder, which no other study may have.
    folder = tempfile.mkdtemp(prefix="smac3-")
    return {"search_space": space, "n_trials": budget, "output_directory": folder}


def _nevergrad_arguments(problem: Problem, budget: int) -> dict[str, Any]:
    return {"budget": budget}


def fixed_space(problem: Problem) -> Mapping[str, BaseDistribution] | None:
    """Search space that every trial has, ``None`` where parameters depend on each other."""
    if problem.table is not None:
        return problem.table.search_space
    if isinstance(problem, FunctionProblem | FrontProblem):
        return _common_space(problem)
    return problem.space if isinstance(problem, ObjectProblem) else None


@lru_cache
def _common_space(
    problem: FunctionProblem | FrontProblem,
) -> Mapping[str, BaseDistribution] | None:
    """Search space of random trials if it is always the same, else ``None``."""
    study = optuna.create_study(
        sampler=optuna.samplers.RandomSampler(0), directions=problem.directions
    )
    spaces = []
    for _ in range(_N_PROBED):
        trial = study.ask()
        problem.suggest(trial)
        spaces.append(trial.distributions)
    return spaces[0] if all(space == spaces[0] for space in spaces) else None


def _univariate_arguments(problem: Problem, budget: int) -> dict[str, Any]:
    return {"multivariate": False}


_ENTRIES = {
    entry.name: entry
    for entry in (
        Entry(
            name="zaps",
            description="ZAPS, anytime: proxies of the benchmark, no label, no known budget",
            target="optuna_zaps:ZAPSSampler",
            arguments=_zaps_arguments,
        ),
        Entry(
            name="zaps-paper",
            description="ZAPS with the paper's schedule for a known budget; its initial proxies "
            "are ProxyFit's six, chosen with the labels of the whole table (the paper's oracle)",
            target="optuna_zaps:ZAPSSampler",
            budget_aware=True,
            arguments=_paper_arguments,
        ),
        Entry(
            name="tpe",
            description="Optuna's TPESampler with the defaults of the installed version",
            target="optuna.samplers:TPESampler",
        ),
        Entry(
            name="tpe-univariate",
            description="Optuna's TPESampler with multivariate=False, the default of Optuna 4",
            target="optuna.samplers:TPESampler",
            arguments=_univariate_arguments,
        ),
        Entry(
            name="tpe-discrete",
            description="TPE as in the ZAPS paper: gamma 0.25, best new one of 64 candidates",
            target="harness.samplers.tpe_discrete:TPEDiscreteSampler",
            arguments=_space_arguments,
        ),
        Entry(
            name="local-search",
            description="Steepest ascent over one-parameter neighbours, random restarts",
            target="harness.samplers.local_search:LocalSearchSampler",
            arguments=_space_arguments,
        ),
        Entry(
            name="rea",
            description="Regularised evolution, population 50, tournament 10",
            target="harness.samplers.rea:REASampler",
            arguments=_rea_arguments,
        ),
        Entry(
            name="bananas",
            description="BANANAS: path encoding, five networks of ten layers, Thompson sampling",
            target="harness.samplers.bananas:BANANASSampler",
            arguments=_bananas_arguments,
        ),
        Entry(
            name="suite-zero-bananas",
            description="NAS-Bench-Suite-Zero's BANANAS: XGBoost on proxies and one-hot",
            target="harness.samplers.suite_zero:SuiteZeroBANANASSampler",
            arguments=_proxy_arguments,
        ),
        Entry(
            name="proxybo",
            description="ProxyBO-style sum of ranks by surrogate and proxies, by reliability",
            target="harness.samplers.proxybo:ProxyBOSampler",
            arguments=_proxy_arguments,
        ),
        Entry(
            name="random-distinct",
            description="Random search without replacement",
            target="harness.samplers.random_distinct:RandomDistinctSampler",
            arguments=_space_arguments,
        ),
        Entry(
            name="zaps-misled",
            description="ZAPS, anytime, with proxies that lie (lie='shuffled', 'permuted', "
            "'negated') or with none (lie='none')",
            target="harness.samplers.misled:MisledZAPSSampler",
            arguments=_proxy_arguments,
        ),
        Entry(
            name="gp",
            description="Optuna's GPSampler",
            target="optuna.samplers:GPSampler",
            requires=("torch",),
        ),
        Entry(
            name="cmaes",
            description="Optuna's CmaEsSampler",
            target="optuna.samplers:CmaEsSampler",
            requires=("cmaes",),
        ),
        Entry(
            name="auto",
            description="OptunaHub's AutoSampler, which chooses one of Optuna's",
            target="optunahub.samplers.auto_sampler:AutoSampler",
            requires=("optunahub", "cmaes", "torch"),
        ),
        Entry(
            name="hebo",
            description="HEBO, through OptunaHub's sampler",
            target="optunahub.samplers.hebo:HEBOSampler",
            arguments=_hebo_arguments,
            requires=("optunahub", "hebo"),
        ),
        Entry(
            name="smac",
            description="SMAC3, through OptunaHub's sampler; its start depends on the budget",
            target="optunahub.samplers.smac_sampler:SMACSampler",
            budget_aware=True,
            arguments=_smac_arguments,
            requires=("optunahub", "smac"),
        ),
        Entry(
            name="nevergrad",
            description="Nevergrad's NGOpt, which chooses its method by the budget",
            target="harness.samplers.nevergrad_:NevergradSampler",
            budget_aware=True,
            arguments=_nevergrad_arguments,
            requires=("nevergrad",),
        ),
        Entry(
            name="nsgaii",
            description="Optuna's NSGAIISampler",
            target="optuna.samplers:NSGAIISampler",
        ),
        Entry(
            name="random",
            description="Optuna's RandomSampler",
            target="optuna.samplers:RandomSampler",
        ),
    )
}


@lru_cache
def _entries() -> Mapping[str, Entry]:
    """Samplers by name: those of the harness, then those of installed packages."""
    installed = {
        point.name: Entry(
            name=point.name,
            description=f"{point.value.partition(':')[2]} of the package "
            f"{point.dist.name if point.dist else point.value.partition('.')[0]}",
            target=point.value,
        )
        for point in entry_points(group=ENTRY_POINTS)
    }
    return {**installed, **_ENTRIES}


def available() -> tuple[Entry, ...]:
    """The samplers that have a name."""
    return tuple(sorted(_entries().values(), key=lambda entry: entry.name not in _ENTRIES))


def how_to_have(name: str) -> str:
    """Command that installs what a sampler of :func:`available` lacks, empty if nothing."""
    return _entries()[name].how_to_have


def make_spec(text: str) -> SamplerSpec:
    """Turn a sampler's text into a specification, and check that it can be met.

    Args:
        text: ``[label=]target[(name=value, ...)]``; a target is a name of :func:`available` or
            ``module:Class``.

    Returns:
        The specification, with the fingerprint of the code behind it.

    Raises:
        ValueError: If the text has another form, there is no such name, module or class, or the
            class has no such argument.
    """
    parsed = parse(text)
    entry = _entries().get(parsed.target)
    sampler_class = _resolve(parsed.target)
    _check_arguments(sampler_class, parsed.target, parsed.arguments)
    return SamplerSpec(
        label=parsed.label,
        target=parsed.target,
        arguments=parsed.arguments,
        fingerprint=fingerprint(sampler_class.__module__),
        budget_aware=entry is not None and entry.budget_aware,
    )


def make_specs(texts: Sequence[str]) -> list[SamplerSpec]:
    """Turn the texts of several samplers into specifications; a repeated text counts once.

    Raises:
        ValueError: If one is refused by :func:`make_spec`, or two have one label.
    """
    specs = [make_spec(text) for text in dict.fromkeys(texts)]
    labels = [spec.label for spec in specs]
    repeated = sorted({label for label in labels if labels.count(label) > 1})
    if repeated:
        raise ValueError(
            f"Each sampler must have a label of its own, but {repeated} stand for several. Put a "
            "label in front: my-name=module:Class."
        )
    return specs


def build(spec: SamplerSpec, problem: Problem, *, budget: int, seed: int) -> BaseSampler:
    """Make the sampler of one study.

    Args:
        spec: The sampler.
        problem: Problem that it will search.
        budget: Distinct evaluations of the study; only a budget-aware sampler is told.
        seed: Seed, handed on if the class takes one (see :func:`takes_seed`).

    Returns:
        The sampler.

    Raises:
        ValueError: If it cannot be made. The message has the sampler's own reason.
    """
    sampler_class = _resolve(spec.target)
    entry = _entries().get(spec.target)
    arguments = entry.arguments(problem, budget) if entry else {}
    if takes_seed(spec):
        arguments["seed"] = seed
    arguments |= spec.arguments
    try:
        return sampler_class(**arguments)
    except Terminated:
        raise
    except (Exception, SystemExit) as error:
        raise ValueError(
            f"The sampler {spec.label!r} could not be made for {problem.text} with "
            f"{_shown(arguments)}: {type(error).__name__}: {error}"
        ) from error


def check(spec: SamplerSpec, problem: Problem, *, budget: int, seed: int) -> None:
    """Check that a sampler can be made for a problem and takes its number of objectives.

    Nothing is evaluated. Samplers of one objective refuse several when a trial begins, not before.

    Args:
        spec: The sampler.
        problem: The problem.
        budget: Budget of a study; only a budget-aware sampler is told.
        seed: Seed, handed on if the class takes one.

    Raises:
        ValueError: If it cannot be made, or refuses to begin. The message has its own reason.
    """
    sampler = build(spec, problem, budget=budget, seed=seed)
    if len(problem.directions) == 1:
        return
    study = optuna.create_study(sampler=sampler, directions=problem.directions)
    try:
        _ = study.ask().relative_params  # Optuna asks the sampler when they are read.
    except ValueError as error:
        raise ValueError(
            f"The sampler {spec.label!r} cannot search {problem.text}: {error}"
        ) from error
    except Terminated:
        raise
    except (Exception, SystemExit):
        return  # No refusal but an error of its own, which its studies show with a traceback.


def takes_seed(spec: SamplerSpec) -> bool:
    """Whether the class takes a ``seed``. The studies of one that does not differ each time."""
    return "seed" in inspect.signature(_resolve(spec.target)).parameters


def _resolve(target: str) -> type[BaseSampler]:
    """Import the class behind a target."""
    if ":" not in target:
        entry = _entries().get(target)
        if entry is None:
            raise ValueError(
                f"A sampler must be one of {list(_entries())} or module:Class, but got {target!r}."
            )
        if entry.how_to_have:
            raise ValueError(
                f"The sampler {target!r} is not on this machine. Run: {entry.how_to_have}"
            )
        target = entry.target
    module_name, _, class_name = target.partition(":")
    try:
        module = (hub.load if hub.is_package(module_name) else import_module)(module_name)
        sampler_class = getattr(module, class_name, None)
    except (Exception, SystemExit) as error:  # A user's file may do anything when it is imported.
        raise ValueError(
            f"The module of the sampler {target!r} cannot be imported: {type(error).__name__}: "
            f"{error}."
        ) from error
    if sampler_class is None:
        raise ValueError(
            f"The module {module_name!r} has no class {class_name!r}."
            f"{_did_you_mean(class_name, dir(module))}"
        )
    if not (isinstance(sampler_class, type) and issubclass(sampler_class, BaseSampler)):
        raise ValueError(
            f"{target!r} must be a subclass of optuna.samplers.BaseSampler, but is "
            f"{sampler_class!r}."
        )
    return sampler_class


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def _check_arguments(
    sampler_class: type[BaseSampler], target: str, arguments: Mapping[str, Any]
) -> None:
    if "seed" in arguments:
        raise ValueError(
            f"{target} gets its seed from the comparison (--seeds, --first-seed), but its "
            f"arguments have seed={arguments['seed']!r}."
        )
    parameters = inspect.signature(sampler_class).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return
    for name in arguments:
        if name not in parameters:
            raise ValueError(
                f"{target} has no argument {name!r}; it has {', '.join(parameters)}."
                f"{_did_you_mean(name, parameters)}"
            )


def _shown(arguments: Mapping[str, Any]) -> str:
    """Arguments for a message: a table by its size, a search space by its names."""
    shown = (
        f"{name}=<{type(value).__name__} of {len(value)}>"
        if isinstance(value, pd.DataFrame | dict)
        else f"{name}={value!r}"
        for name, value in arguments.items()
    )
    return ", ".join(shown) or "no arguments"
