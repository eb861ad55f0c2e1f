"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


BudgetSizes = Annotated[
    list[int] | None,
    typer.Option(
        "--budget",
        min=1,
        help="Distinct evaluations, or trials where those are counted; by default those of the "
        "suite or of the stored studies. Repeatable.",
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
Top = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Number of the best configurations of a table that P@k counts.",
        show_default="100, at most a tenth of the table",
    ),
]
Output = Annotated[Path, typer.Option(file_okay=False, help="Directory of the results.")]
Formats = Annotated[
    list[str],
    typer.Option(
        "--format",
        metavar="csv,json,md,latex,svg,png",
        help="Also write every table and figure as files: full numbers as csv and json, texts as "
        "md and latex, images as svg and png (needs kaleido). Repeatable.",
    ),
]
