"""``zaps-harness list``: suites, problems and samplers that have a name."""

from __future__ import annotations

from rich.table import Table

from harness import samplers
from harness.cli.console import console
from harness.problems import FAMILIES
from harness.suites import SUITES


def list_() -> None:
    """Show the suites, problems, sources and built-in samplers."""
    suites = Table("suite", "problems", "contents")
    for suite in SUITES.values():
        suites.add_row(suite.name, str(len(suite.problems)), suite.description)
    console.print(suites)
    table = Table("family", "problems", "source", "on this machine", title_justify="left")
    for family in FAMILIES:
        named = (f"{family.name}: {family.description}", ", ".join(family.problems))
        for source in family.sources:
            state = "yes" if source.is_present() else "no"
            if state == "yes" and source.name == family.default_source:
                state += ", the default"
            table.add_row(*named, f"{source.name}: {source.description}", state)
            named = ("", "")
    console.print(table)
    builtin = Table("sampler", "description")
    for entry in samplers.available():
        builtin.add_row(entry.name, entry.description)
    builtin.add_row("module:Class", "any other Optuna sampler, with keyword arguments")
    console.print(builtin)
