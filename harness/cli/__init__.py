"""The command line: one module per command, which parses, calls and prints."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from harness.cli import compare
from harness.cli import export
from harness.cli import list_
from harness.cli import report
from harness.cli import reproduce
from harness.suites import SUITES


__all__ = ["app"]


class _Commands(TyperGroup):
    """Commands, among them the names of suites: ``everyday`` is ``compare everyday``."""

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        """Turn the name of a suite into ``compare`` with its argument."""
        return super().resolve_command(ctx, ["compare", *args] if args[0] in SUITES else args)


app = typer.Typer(
    cls=_Commands,
    help="Compare Optuna samplers, study against study. The name of a suite is a command, too: "
    f"{', '.join(SUITES)}.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
app.command("list")(list_.list_)
app.command()(compare.compare)
app.command()(report.report)
app.command()(export.export)
app.command()(reproduce.reproduce)
