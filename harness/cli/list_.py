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
        for source in family.sources:
            state = "yes" if source.name in family.present_sources else "no"
            if source.name == family.default_source:
                state += ", the default"
            table.add_row(
                f"{family.name}: {family.description}",
                ", ".join(family.problems),
                f"{source.name}: {source.description}",
                state,
            )
    console.print(table)
    named = Table("sampler", "description")
    for entry in samplers.available():
        named.add_row(entry.name, entry.description)
    named.add_row("module:Class", "any other Optuna sampler, with keyword arguments")
    console.print(named)
