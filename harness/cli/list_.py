"""``zaps-harness list``: suites, problems and samplers that have a name."""

from __future__ import annotations

from rich.table import Table

from harness import samplers
from harness.cli.console import console
from harness.problems import FAMILIES
from harness.suites import SUITES


def list_() -> None:
    """Show the suites, problems, sources and samplers that have a name."""
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
    table.add_row("FILE", "runs.csv, runs.parquet, runs.xlsx", "a file of results of your own", "")
    table.add_row("module:Object", "", "a function of a trial, or a benchmark of OptunaHub", "")
    console.print(table)
    named_samplers = Table("sampler", "description", "on this machine")
    for entry in samplers.available():
        state = "no, see below" if entry.how_to_have else "yes"
        named_samplers.add_row(entry.name, entry.description, state)
    named_samplers.add_row("module:Class", "any other Optuna sampler, with keyword arguments", "")
    console.print(named_samplers)
    for entry in samplers.available():
        if entry.how_to_have:  # A command to copy is not broken into lines.
            console.print(f"{entry.name}: {entry.how_to_have}", soft_wrap=True, highlight=False)
