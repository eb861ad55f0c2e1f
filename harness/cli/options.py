"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


Problems = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PROBLEM or SUITE]...",
        help="FAMILY/PROBLEM[@SOURCE] or the name of a suite, which zaps-harness list shows; a "
        "file of results (.csv, .parquet, .xlsx); module:Object, a function of a trial or one of "
        "OptunaHub's benchmarks.",
        show_default="nasbench201/cifar10",
    ),
]
_OWN = "Your own problem"
Params = Annotated[
    list[str],
    typer.Option(
        metavar="COLUMN,...",
        help="Columns that a sampler chooses; by default those that hold no numbers.",
        rich_help_panel=_OWN,
    ),
]
Objective = Annotated[
    list[str],
    typer.Option(
        metavar="COLUMN,...",
        help="Column to optimise; several make a trade-off.",
        rich_help_panel=_OWN,
    ),
]
Direction = Annotated[
    list[str],
    typer.Option(
        metavar="maximize|minimize,...",
        help="Direction of the objectives: one for all, or one for each.",
        rich_help_panel=_OWN,
    ),
]
Minimize = Annotated[
    bool,
    typer.Option("--minimize", help="Short for --direction minimize.", rich_help_panel=_OWN),
]
Proxies = Annotated[
    list[str],
    typer.Option(
        metavar="COLUMN,...",
        help="Columns that a sampler may see of every configuration beforehand. A column that is "
        "not named is not used.",
        rich_help_panel=_OWN,
    ),
]
Limits = Annotated[
    list[str],
    typer.Option(
        "--limit",
        metavar='"COLUMN<=NUMBER"',
        help="Constraint, with <= or >=. Repeatable.",
        rich_help_panel=_OWN,
    ),
]
Optimum = Annotated[
    float | None,
    typer.Option(
        help="Best value there is; by default the best that any study saw.",
        rich_help_panel=_OWN,
    ),
]
SamplerNames = Annotated[
    list[str] | None,
    typer.Option(
        "--sampler",
        "-s",
        help="A name of [bold]zaps-harness list[/bold] or module:Class, optional arguments and "
        'label: "uni=optuna.samplers:TPESampler(multivariate=False)". Repeatable.',
        show_default="those of the suite",
    ),
]
BudgetSizes = Annotated[
    list[int] | None,
    typer.Option(
        "--budget",
        min=1,
        help="Distinct evaluations, or trials where those are counted. Repeatable.",
        show_default="those of the suite",
    ),
]
Seeds = Annotated[
    int | None,
    typer.Option(min=1, help="Studies per sampler and problem.", show_default="that of the suite"),
]
FirstSeed = Annotated[int, typer.Option(min=0, help="First seed.")]
SeedsOf = Annotated[
    list[str],
    typer.Option(
        metavar="LABEL=N",
        help="Fewer studies for a sampler that is slow, e.g. gp=3. Repeatable.",
    ),
]
ByTrials = Annotated[
    bool,
    typer.Option(
        "--by-trials",
        help="Count repeats against the budget; the default does not, which favours samplers that "
        "repeat themselves. Suites with costs always count trials.",
    ),
]
InFlight = Annotated[
    int,
    typer.Option(
        min=1,
        help="Trials that run side by side in each study: the oldest gets its value before the "
        "next is asked.",
    ),
]
Jobs = Annotated[int | None, typer.Option(min=1, help="Processes; by default one per core.")]
EngineName = Annotated[
    str, typer.Option(help="joblib: processes of this machine; dask: workers of a cluster.")
]
Scheduler = Annotated[
    str | None,
    typer.Option(help="Address of Dask's scheduler, e.g. tcp://host:8786; by default local."),
]
AgainstPublished = Annotated[
    bool,
    typer.Option(
        "--against-published",
        help="Add the committed results of the paper's samplers on these tables; they are not run "
        "again.",
    ),
]
Output = Annotated[Path, typer.Option(file_okay=False, help="Directory of the results.")]
