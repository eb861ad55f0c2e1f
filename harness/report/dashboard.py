"""One self-contained page for any comparison: figures and tables, and the filters between them.

Over several problems it opens with the samplers' mean ranks and each problem's number; a selector
shows one problem after the other. Figures are built here and embedded as JSON; ``dashboard.js``
picks, filters and draws them. The page has no address of anything outside itself, so it opens
offline and stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from harness.experiment import CellResult
from harness.metrics import GROUP
from harness.metrics import QUANTITIES
from harness.metrics import Budgets
from harness.metrics import Snapshot
from harness.metrics import snapshots
from harness.metrics.progress import Axis
from harness.problems import Problem
from harness.problems import TabularBenchmark
from harness.problems import short_name
from harness.report import embed
from harness.report import figures_final
from harness.report import figures_overhead
from harness.report import figures_progress
from harness.report import heatmaps
from harness.report import provenance
from harness.report.drawn import Drawn
from harness.report.drawn import has_curve
from harness.report.file_names import file_names
from harness.report.findings import MAX_NAMED
from harness.report.findings import problem_clauses
from harness.report.findings import suite_findings
from harness.report.palette import SCALES
from harness.report.palette import Styles
from harness.report.palette import sampler_styles
from harness.report.panel import Panel
from harness.report.tables import capitalised
from harness.report.tables import noun
from harness.report.view_panels import axes_of
from harness.report.view_panels import runtime_panels
from harness.report.view_panels import suite_panels
from harness.report.views import ProblemView
from harness.report.views import SuiteView
from harness.report.views import Views
from harness.run.files import write_whole


_MAX_STUDY_ROWS = 3_000  # of the table of studies within the page
_MEANS, _STUDIES = "means", "summary"
_DOWNLOADS = {_MEANS: "Means (CSV)", _STUDIES: "Every study (CSV)"}
"""Text by name of the files with the tables of all problems."""

_BAND = "the line is the mean over seeds, the band holds the middle half of them."
_GEOMETRIC = (
    "geometric mean over seeds, each floored at 0.00001 %, with quartiles. Lower is better."
)
_PROGRESS = {
    "precision": (
        "Share of the top {k} found",
        "P@{k}, the percentage of the true {k} best configurations among those evaluated; "
        f"{_BAND} Higher is better.",
    ),
    "gap": (
        "Gap to the optimum",
        "Distance of the best evaluated configuration from the optimum (under a limit, both "
        f"feasible), relative to it; {_GEOMETRIC}",
    ),
    "regret": (
        "Regret",
        "0 at the optimum, 100 for the median configuration of the search space; " + _GEOMETRIC,
    ),
    "best_value": ("Best value", f"In the unit of the objective; {_BAND}"),
    "found_optimum": (
        "Optimum found",
        "Percentage of seeds that have evaluated the very best configuration by then. Earlier and "
        "higher is better.",
    ),
    "hypervolume": (
        "Hypervolume",
        "Area that the evaluated configurations dominate, in percent of that of the true front; "
        f"{_BAND} Higher is better.",
    ),
}
_AXES = {
    Axis.STEPS: "evaluations",
    Axis.CPU: "CPU time of the sampler",
    Axis.CLOCK: "wall-clock time",
}
_TESTS = (
    "Is the row ahead of the column? Text: difference of the means{unit}; stars: one-sided "
    "Mann–Whitney U, Holm-adjusted (* p < 0.05, ** 0.01, *** 0.001); colour: Cliff's δ, blue "
    "where the row is better."
)


def write_dashboard(
    views: Views,
    results: Sequence[CellResult],
    problems: Iterable[Problem],
    path: Path,
    *,
    budgets: Mapping[str, Budgets] | None = None,
    command: str = "",
) -> dict[str, Panel]:
    """Write the page of a comparison.

    Args:
        views: Contents of the report.
        results: Finished studies.
        problems: Their problems.
        path: File to write.
        budgets: Budgets by text of the problem, as for the summary.
        command: Command line that made the page, shown to the reader.

    Returns:
        Its figures, by the name under which the page saves each.

    Raises:
        ValueError: If there is nothing to show.
    """
    if not views.problems:
        raise ValueError(
            "A page needs at least one finished study at the budgets asked for, but got none of "
            f"the {len(results)}."
        )
    by_text = {problem.text: problem for problem in problems}
    styles = sampler_styles(views.summary["sampler"])
    drawn = {view.key: each for view, each in _drawn(views, results, by_text, budgets)}
    panels = {
        view.key: list(make_panels(view, drawn[view.key], styles)) for view in views.problems
    }
    of_suites = []
    for suite in views.suites:
        compared = _compared(suite, views)
        studies = [drawn[view.key] for view in compared]
        of_suites.append(list(suite_panels(suite, compared, studies, styles)))
    proxies = {
        view.group: panel
        for view in views.problems
        if (panel := _proxies_panel(by_text[view.problem])) is not None
    }
    shown = _by_name(panel for own in panels.values() for panel in own)
    every = [panel for own in (*of_suites, *panels.values()) for panel in own]
    shown |= {panel.name: panel for panel in proxies.values()}
    names = file_names([*views.suites, *views.problems])
    files = _files(views, names)
    html = embed.render(
        "template.html.jinja",
        script="dashboard.js",
        data={
            "samplers": list(styles),
            "named": MAX_NAMED,
            "scales": SCALES,
            "suites": [
                _suite_data(view, own, names[view.key])
                for view, own in zip(views.suites, of_suites, strict=True)
            ],
            "views": {
                view.key: _problem_data(view, drawn[view.key], panels[view.key], names[view.key])
                for view in views.problems
            },
            "proxies": {group: _figure(panel) for group, panel in proxies.items()},
            "files": {name: embed.columns(frame) for name, frame in files.items()},
        },
        views=views,
        styles=styles,
        suite_panels=[list(_by_name(own).values()) for own in of_suites],
        axes={axis: _AXES[axis] for axis in Axis if any(panel.axis == axis for panel in every)},
        panels=sorted(shown.values(), key=lambda panel: _order(panel.name)),
        headline=_first_headline(views, by_text, list(styles)),
        budgets=sorted({view.setting.budget for view in views.problems}),
        groups={view.group: view.label for view in views.problems},
        names=names,
        downloads={name: text for name, text in _DOWNLOADS.items() if name in files},
        facts={
            "Studies": provenance.run_facts(results),
            "Samplers": provenance.sampler_facts(results),
            "Problems": provenance.problem_facts(
                by_text[text] for text in dict.fromkeys(view.problem for view in views.problems)
            ),
        },
        command=command,
        n_studies=len(results),
    )
    write_whole(path, html)
    saved: list[tuple[SuiteView | ProblemView, list[Panel]]] = [
        *zip(views.suites, of_suites, strict=True),
        *(
            (view, [*panels[view.key], *filter(None, [proxies.get(view.group)])])
            for view in views.problems
        ),
    ]
    return {f"{panel.file}-{names[view.key]}": panel for view, own in saved for panel in own}


def make_panels(view: ProblemView, drawn: Drawn, styles: Styles) -> Iterator[Panel]:
    """Figures of a problem: those of its metrics, and the time of the samplers."""
    primary = view.metrics[0]
    known = [name for name in view.metrics if has_curve(name, drawn.problem)]
    axes = axes_of([drawn])
    for name in known:
        title, sentence = _PROGRESS.get(
            name, (QUANTITIES[name].title, f"Over the budget; {_BAND}")
        )
        if isinstance(drawn.problem, TabularBenchmark):
            title, sentence = (text.format(k=drawn.problem.n_top) for text in (title, sentence))
        for axis in axes if name == primary else [Axis.STEPS]:
            numbers = figures_progress.progress_numbers(drawn, styles, name, axis)
            figure = figures_progress.progress_figure(numbers, drawn, styles, name, axis)
            yield Panel(f"progress-{name}", title, sentence, figure, numbers, axis)
    yield from runtime_panels([drawn], primary, styles)
    if primary in known:
        numbers = figures_final.final_numbers(drawn, styles, primary)
        yield Panel(
            f"spread-{primary}",
            f"Spread over seeds: {noun(view.quantity(primary))}",
            f"{capitalised(view.quantity(primary).title)} when the budget is spent: a point is a "
            "study, the box holds the middle half, the dashed line is the mean. If you can run "
            "only one study, this spread is your risk.",
            figures_final.box_figure(numbers, drawn, styles, primary),
            numbers,
        )
    for name, tests in view.tests.items():
        if len(tests):
            quantity = view.quantity(name)
            unit = " in points" if quantity.unit == "%" else ""
            yield Panel(
                f"tests-{name}",
                f"Tests: {noun(quantity)}",
                _TESTS.format(unit=unit),
                heatmaps.tests_figure(tests, styles, quantity),
                tests,
            )
    if view.measures_time:
        numbers = figures_overhead.overhead_numbers(drawn, styles)
        yield Panel(
            "overhead",
            "Time of the sampler",
            "CPU time of each ask, median over seeds; the evaluation itself is not in it. Hover "
            "for the share of the study's total that was spent by then.",
            figures_overhead.overhead_figure(numbers, drawn, styles),
            numbers,
        )


def _drawn(
    views: Views,
    results: Sequence[CellResult],
    by_text: Mapping[str, Problem],
    budgets: Mapping[str, Budgets] | None,
) -> Iterator[tuple[ProblemView, Drawn]]:
    """Studies of each view."""
    groups: dict[tuple[Any, ...], dict[str, list[Snapshot]]] = {}
    for snapshot in snapshots(results, budgets):
        identity = snapshot.identity
        by_sampler = groups.setdefault(tuple(identity[column] for column in GROUP), {})
        by_sampler.setdefault(identity["sampler"], []).append(snapshot)
    for view in views.problems:
        own = groups[view.problem, *view.setting]
        yield (
            view,
            Drawn(by_text[view.problem], view.setting.unit, view.setting.budget, own),
        )


def _compared(view: SuiteView, views: Views) -> list[ProblemView]:
    """Problems of a suite on which every sampler has studies, at its budget."""
    own = {each.problem: each for each in views.problems if each.setting == view.setting}
    return [own[problem] for problem in view.losses.index]


def _by_name(panels: Iterable[Panel]) -> dict[str, Panel]:
    """One of the panels of each name."""
    return {panel.name: panel for panel in panels}


def _figures(panels: Iterable[Panel]) -> dict[str, Any]:
    return {panel.key: _figure(panel) for panel in panels}


def _figure(panel: Panel) -> dict[str, Any]:
    return {**embed.plain(panel.figure, panel.data), "file": panel.file}


def _suite_data(view: SuiteView, panels: Iterable[Panel], file: str) -> dict[str, Any]:
    return {
        "file": file,
        "figures": _figures(panels),
        "group": view.group,
        "budget": view.setting.budget,
        "where": f"{view.name}, {view.setting}",
        "findings": asdict(suite_findings(view)),
    }


def _problem_data(
    view: ProblemView, drawn: Drawn, panels: Sequence[Panel], file: str
) -> dict[str, Any]:
    return {
        "group": view.group,
        "budget": view.setting.budget,
        "file": file,
        "figures": _figures(panels),
        "findings": asdict(problem_clauses(view, drawn.problem)),
        "where": f"{short_name(view.problem)}, {view.setting}",
        "notes": [
            *drawn.problem.notes,
            *filter(None, [provenance.clock_note(view.setting.durations, drawn.problem)]),
            *view.cautions,
        ],
        "planned": [
            label
            for label, studies in drawn.snapshots.items()
            if studies[0].result.cell.sampler.budget_aware
        ],
    }


def _first_headline(views: Views, by_text: Mapping[str, Problem], samplers: Sequence[str]) -> str:
    if views.suites:
        return suite_findings(views.suites[0]).headline
    view = views.problems[0]
    return problem_clauses(view, by_text[view.problem]).headline(samplers)


def _proxies_panel(problem: Problem) -> Panel | None:
    """Correlations of the proxies of a table, if it has any."""
    table = problem.table
    if table is None or table.proxies.select_dtypes("number").empty:
        return None
    matrix = heatmaps.correlations(table)
    return Panel(
        "proxies",
        "Proxies and the objective",
        "Absolute Spearman correlation of each proxy with the objective (first row) and with each "
        "other; the most relevant first. Near 1 between two proxies means redundant.",
        heatmaps.correlations_figure(matrix),
        matrix.rename_axis("proxy").reset_index(),
    )


def _order(name: str) -> int:
    """Position of a figure on the page."""
    kinds = ("progress", "targets", "profile", "spread", "tests", "overhead", "proxies")
    return kinds.index(name.partition("-")[0])


def _files(views: Views, names: Mapping[str, str]) -> dict[str, pd.DataFrame]:
    """Tables that the page offers as files, by name."""
    tables = {
        f"{table.name}-{names[suite.key]}": table.numbers
        for suite in views.suites
        for table in suite.tables
    }
    boards = [view.table.rows for view in views.problems]
    tables[_MEANS] = pd.concat(boards, ignore_index=True)
    if len(views.summary) <= _MAX_STUDY_ROWS:
        tables[_STUDIES] = views.summary
    return tables
