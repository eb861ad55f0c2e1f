"""Application of all commands.

A command is imported when it is called, since what it needs is slow to import.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
import inspect
import io
import sys
from typing import Any
from typing import Final

import typer
from typer.core import TyperCommand
from typer.core import TyperGroup


__all__ = ["app"]

_MARKUP: Final = "rich"

COMMANDS = {
    "list": ("list_", "Show the suites, problems, sources and samplers that have a name."),
    "compare": (
        "compare",
        "Run a comparison, skipping finished studies; print its tables, write its page.",
    ),
    "report": (
        "report",
        "Do not run anything; print the tables and write the page of all results in a directory.",
    ),
    "export": (
        "export",
        "Write the studies to a storage, where optuna-dashboard can show them.",
    ),
    "reproduce": (
        "reproduce",
        "Run an experiment of the paper, compare its tables, check its claims, write its page.",
    ),
}
"""Module of each command, with a function of the same name, and the first line of its help."""


class _Commands(TyperGroup):
    """Commands, among them the names of suites: ``everyday`` is ``compare everyday``."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        """Give a command's name and help; :meth:`resolve_command` imports it."""
        if cmd_name not in COMMANDS:
            return None
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name][1], rich_markup_mode=_MARKUP)

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        """Import a command; turn the name of a suite into ``compare`` with its argument."""
        if args[0] not in COMMANDS and _is_suite(args[0]):
            args = ["compare", *args]
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else _imported(name), rest


def _is_suite(name: str) -> bool:
    from harness.suites import SUITES

    return name in SUITES


def _imported(name: str) -> Any:
    module = COMMANDS[name][0]
    command = getattr(import_module(f"harness.cli.{module}"), module)
    single = typer.Typer(add_completion=False, rich_markup_mode=_MARKUP)
    single.command(name, help=_help(command))(command)
    return typer.main.get_command(single)


def _help(command: Callable[..., None]) -> str:
    """Docstring of a command without its line breaks: the terminal sets its own."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode=_MARKUP,
    pretty_exceptions_enable=False,
)


@app.callback()
def _harness() -> None:
    """Compare Optuna samplers, study against study.

    The name of a suite (zaps-harness list) is a command, too.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A table must not be lost to a character that the terminal or file cannot encode.
        sys.stdout.reconfigure(errors="replace")
