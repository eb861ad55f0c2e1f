"""Suites: named lists of problems with the settings to compare samplers on them.

A new suite is an entry of :data:`SUITES`. A problem that is named on its own is compared with the
settings of the suite that has its like.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from harness.problems import FAMILIES
from harness.problems import Kind
from harness.problems import Problem
from harness.problems import fronts
from harness.problems import functions
from harness.problems import hard
from harness.problems import hpo
from harness.problems import load
from harness.problems import texts
from harness.problems.family import join
from harness.problems.family import split
from harness.problems.own import is_own
from harness.problems.registry import unknown


@dataclass(frozen=True)
class Suite:
    """Problems, and how samplers are compared on them unless the command says otherwise.

    Attributes:
        name: Its name; empty for problems that are named on their own.
        description: One line for ``zaps-harness list``.
        problems: Texts of the problems.
        metrics: Quantities that tables show (:data:`harness.metrics.QUANTITIES`). The first ranks
            and tests the samplers.
        budgets: Distinct evaluations of a study, or trials.
        seeds: Number of studies per sampler and problem.
        samplers: Texts of the samplers.
        if_installed: Names of further samplers, left out where what they need is not installed.
        by_trials: Whether the budgets count trials, repeated proposals included.
    """

    name: str
    description: str
    problems: tuple[str, ...]
    metrics: tuple[str, ...]
    budgets: tuple[int, ...]
    seeds: int
    samplers: tuple[str, ...]
    if_installed: tuple[str, ...] = ()
    by_trials: bool = False


ONE_TABLE = Suite(
    name="",
    description="one table with proxies",
    problems=("nasbench201/cifar10",),
    metrics=("precision", "gap", "found_optimum", "repeat_share", "cpu_seconds"),
    budgets=(200,),
    seeds=10,
    samplers=("zaps", "tpe", "random"),
)
"""The comparison of ``zaps-harness compare`` without arguments."""

OWN = Suite(
    name="",
    description="a problem of the user's own",
    problems=(),
    metrics=("regret", "best_value", "repeat_share", "cpu_seconds"),
    budgets=(100,),
    seeds=10,
    samplers=("zaps", "tpe", "random"),
    by_trials=True,
)
"""Settings of a user's own problem of one objective: a user pays for a trial, repeated or not."""

SUITES = {
    suite.name: suite
    for suite in (
        replace(
            ONE_TABLE,
            name="paper",
            description="the paper's method on the three data sets of NAS-Bench-201",
            problems=tuple(
                f"nasbench201/{name}" for name in ("cifar10", "cifar100", "imagenet16_120")
            ),
            budgets=(50, 100, 200, 500),
            seeds=20,
            samplers=("zaps", "zaps-paper", "tpe"),
        ),
        Suite(
            name="everyday",
            description="12 HPO tables and five functions, without proxies",
            problems=(*hpo.FAMILY.texts, *functions.FAMILY.texts),
            metrics=("regret", "best_value", "repeat_share", "cpu_seconds"),
            budgets=(100,),
            seeds=20,
            samplers=("zaps", "tpe", "random"),
        ),
        Suite(
            name="hard",
            description="plateaus, conditions, rugged functions, many dimensions or magnitudes, "
            "noise",
            problems=hard.FAMILY.texts,
            metrics=(
                "regret",
                "recommended_regret",
                "best_value",
                "repeat_share",
                "cpu_seconds",
            ),
            budgets=(100,),
            seeds=20,
            samplers=("zaps", "tpe", "random"),
            if_installed=("cmaes",),
            by_trials=True,
        ),
        Suite(
            name="hard-long",
            description="four functions of 5 and 10 floats of the suite hard, after 300 and 1,000 "
            "trials",
            problems=tuple(
                f"hard/{name}-{n}d"
                for name in ("rosenbrock", "rastrigin", "ackley", "levy")
                for n in (5, 10)
            ),
            metrics=("regret", "best_value", "repeat_share", "cpu_seconds"),
            budgets=(300, 1000),
            seeds=10,
            samplers=("zaps", "tpe"),
            if_installed=("cmaes",),
            by_trials=True,
        ),
        Suite(
            name="tradeoffs",
            description="accuracy against latency, weights or training time",
            problems=tuple(
                f"nasbench201/cifar10-{cost}" for cost in ("latency", "params", "train_time")
            ),
            metrics=("hypervolume", "on_front", "repeat_share", "cpu_seconds"),
            budgets=(200,),
            seeds=20,
            samplers=("zaps", "tpe", "nsgaii", "random"),
            by_trials=True,
        ),
        Suite(
            name="hard-tradeoffs",
            description="two and three objectives: functions, and accuracy against latency and "
            "weights",
            problems=(*fronts.FAMILY.texts, "nasbench201/cifar10-latency-params"),
            metrics=("hypervolume", "repeat_share", "cpu_seconds"),
            budgets=(200,),
            seeds=20,
            samplers=("zaps", "tpe", "nsgaii", "random"),
            by_trials=True,
        ),
        Suite(
            name="limits",
            description="accuracy of the cells that cost least; the limit is set with "
            "Trial.set_constraint (Optuna 5)",
            problems=tuple(
                f"nasbench201-limited/cifar10-{cost}" for cost in ("latency", "params")
            ),
            metrics=("gap", "best_value", "found_optimum", "feasible_share", "cpu_seconds"),
            budgets=(100,),
            seeds=20,
            samplers=("zaps", "tpe", "random"),
            by_trials=True,
        ),
    )
}


def select(chosen: Sequence[str], top: int | None = None) -> list[Suite]:
    """Suites of a comparison.

    Args:
        chosen: Texts of problems, and names of suites. ``everyday@package-costs`` takes the
            problems of a suite from another source, where they have it.
        top: Number of the best configurations that P@k counts. If it is given, P@k is shown of
            every suite of tables.

    Returns:
        The suites. Problems that are named on their own form one for each kind of settings. Each
        problem is in one of them, by the text that all processes know (``Problem.text``).

    Raises:
        ValueError: If there is no such problem, suite or source, or two suites have a problem in
            common.
    """
    members: dict[Suite, list[str]] = {}
    taken: dict[str, Suite] = {}
    for text in chosen:
        name, _, source = text.partition("@")
        if name in SUITES:
            suite, named = SUITES[name], _from_source(SUITES[name], source)
        elif is_own(text) or "/" in text:
            suite, named = replace(_settings_of(load(text)), name=""), (text,)
        else:
            raise ValueError(unknown("problem or suite", text, [*SUITES, *texts()]))
        of_suite = [load(text).text for text in named]
        _check_apart(suite, {taken[each] for each in of_suite if each in taken})
        new = [each for each in of_suite if each not in taken]
        members.setdefault(suite, []).extend(new)
        taken |= dict.fromkeys(new, suite)
    suites = [replace(suite, problems=tuple(new)) for suite, new in members.items() if new]
    return suites if top is None else list(map(_with_precision, suites))


def _check_apart(suite: Suite, others: set[Suite]) -> None:
    """Refuse suites that compare one problem with different settings."""
    names = sorted({other.name for other in others} - {suite.name, ""})
    if suite.name and names:
        raise ValueError(
            f"The suites {suite.name} and {', '.join(names)} have problems in common, with other "
            "settings. Compare one of them at a time."
        )


def _with_precision(suite: Suite) -> Suite:
    """Suite that shows P@k, too, if all of its problems have it."""
    has_it = all(load(text).kind is Kind.TABLE for text in suite.problems)
    if "precision" in suite.metrics or not has_it:
        return suite
    primary, *others = suite.metrics
    return replace(suite, metrics=(primary, "precision", *others))


def _settings_of(problem: Problem) -> Suite:
    """Suite that has the like of a problem."""
    if is_own(problem.text):
        return _settings_of_own(problem)
    family = split(problem.text)[0]
    for suite in (SUITES["everyday"], SUITES["hard"]):
        if family in {split(text)[0] for text in suite.problems}:
            return suite
    return {
        Kind.TABLE: ONE_TABLE,
        Kind.FUNCTION: SUITES["everyday"],
        Kind.TRADEOFF: SUITES["tradeoffs"],
        Kind.LIMIT: SUITES["limits"],
    }[problem.kind]


def _settings_of_own(problem: Problem) -> Suite:
    """Settings for a user's own problem: at most half of the configurations of its table."""
    measured = {
        Kind.TRADEOFF: SUITES["tradeoffs"].metrics,
        Kind.LIMIT: ("regret", "best_value", "feasible_share", "cpu_seconds"),
    }
    settings = replace(OWN, metrics=measured.get(problem.kind, OWN.metrics))
    if problem.table is None:
        return settings
    return replace(settings, budgets=(min(*OWN.budgets, len(problem.table.values) // 2),))


def _from_source(suite: Suite, source: str) -> tuple[str, ...]:
    """Problems of a suite, from another source where they have it."""
    if not source:
        return suite.problems
    having = {
        text
        for family in FAMILIES
        for text in family.texts
        if source in {each.name for each in family.sources}
    }
    if not having.intersection(suite.problems):
        raise ValueError(f"No problem of the suite {suite.name!r} has a source {source!r}.")
    return tuple(
        join(*split(text)[:2], source) if text in having else text for text in suite.problems
    )
