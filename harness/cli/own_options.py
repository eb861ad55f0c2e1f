"""Options of problems of a user's own."""

from __future__ import annotations

from typing import Annotated

import typer


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
