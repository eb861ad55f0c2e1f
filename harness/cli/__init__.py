"""The command line: parses, calls, prints. One module per group of commands."""

from __future__ import annotations

import typer

from harness.cli import compare
from harness.cli import costed
from harness.cli import everyday
from harness.cli import reproduce
from harness.cli import stored


__all__ = ["app"]

app = typer.Typer(
    help="Compare Optuna samplers, study against study.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
app.command("list")(compare.list_)
app.command()(compare.compare)
app.command()(everyday.everyday)
app.command()(costed.tradeoffs)
app.command()(costed.limits)
app.command()(stored.report)
app.command()(stored.export)
app.command()(reproduce.reproduce)
