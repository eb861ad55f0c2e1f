"""Page ``paper.html`` with the figures, tables and claims of Section 4, in one file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.paper import experiments
from harness.paper import published as paper
from harness.paper.claims import FAILS
from harness.paper.claims import HOLDS
from harness.paper.claims import UNTESTED
from harness.paper.claims import Verdict
from harness.paper.comparison import Comparison
from harness.paper.comparison import cell_text
from harness.paper.comparison import tables
from harness.paper.figures import Drawing
from harness.paper.figures import Line
from harness.paper.figures import budget_figure
from harness.paper.figures import lines_of
from harness.paper.figures import proxies_figure
from harness.paper.measured import MeasuredResults
from harness.paper.measured import NotMeasured
from harness.paper.published import BOTH_CIFAR
from harness.paper.published import PROBLEM_NAMES
from harness.paper.published import ProblemKey
from harness.report import embed
from harness.report.file_names import slug
from harness.report.palette import SCALES
from harness.run.files import write_whole


@dataclass(frozen=True)
class Panel:
    """Figure with its text.

    Attributes:
        name: Identifier.
        title: Heading.
        sentence: Explanation of what it shows.
        build: Function of the measured results that draws it, with the numbers behind it.
    """

    name: str
    title: str
    sentence: str
    build: Callable[[MeasuredResults], Drawing]


@dataclass(frozen=True)
class Section:
    """Figures that belong together.

    Attributes:
        title: Heading.
        sentence: Subject.
        panels: The figures.
    """

    title: str
    sentence: str
    panels: tuple[Panel, ...]

    @property
    def anchor(self) -> str:
        """Identifier on the page."""
        return slug(self.title).lower()


_BANDS = "Mean over seeds; the band holds the middle half of them."
_OPEN = "Open circles: the paper's mean."
_GEOMETRIC = "Geometric mean over seeds, floored at 0.00001 %; the band holds the middle half."


def _alone(metric: str) -> Callable[[MeasuredResults], Drawing]:
    lines: list[Line] = [
        (f"ZAPS on {PROBLEM_NAMES[problem]}", problem, paper.ZAPS) for problem in BOTH_CIFAR
    ]
    return partial(budget_figure, lines=lines, metric=metric)


def _compared(
    title: str, problem: ProblemKey, rows: Sequence[str], metric: str = "precision"
) -> Panel:
    return Panel(
        "-".join((title, metric, *problem)).lower().replace(" ", "-"),
        f"{title}: {PROBLEM_NAMES[problem]}",
        _GEOMETRIC if metric == "regret" else f"{_BANDS} {_OPEN}",
        partial(budget_figure, lines=lines_of(problem, rows), metric=metric),
    )


SECTIONS = (
    Section(
        "Main comparison",
        "ZAPS with the paper's schedule against the paper's baselines; every budget of ZAPS is a "
        "study of its own, any other sampler is one study that is read off.",
        tuple(
            _compared(title, problem, experiments.labels_of("main"), metric)
            for title, metric in (("P@100", "precision"), ("Regret", "regret"))
            for problem in BOTH_CIFAR
        ),
    ),
    Section(
        "Proxies",
        "Which proxies say the same (Figure 2 of the paper).",
        (
            Panel(
                "proxies",
                "Rank correlation of the proxies, CIFAR-10",
                "Absolute Spearman correlation of each proxy with the accuracy (first row) and "
                "with each other; the most relevant first, the order in which ProxyFit looks.",
                partial(proxies_figure, problem=paper.CIFAR10),
            ),
        ),
    ),
    Section(
        "Beyond the paper",
        "What the paper lacks: the anytime profile of ZAPS, Optuna's own TPE, and two methods "
        "that listen to proxies.",
        tuple(
            _compared("Others", problem, experiments.labels_of("beyond")) for problem in BOTH_CIFAR
        ),
    ),
    Section(
        "Convergence and ranking quality",
        "ZAPS alone. The last figure says how well its final surrogate orders the whole space.",
        (
            Panel("convergence", "P@100 of ZAPS", _BANDS, _alone("precision")),
            Panel("convergence-regret", "Regret of ZAPS", _GEOMETRIC, _alone("regret")),
            Panel(
                "spearman",
                "Rank correlation of the final surrogate",
                f"Spearman, over all configurations. {_BANDS}",
                _alone("spearman"),
            ),
        ),
    ),
    Section(
        "Component ablation",
        "The start with all proxies instead of ProxyFit's, and a uniform start.",
        tuple(
            _compared("Start", problem, experiments.labels_of("ablation"))
            for problem in BOTH_CIFAR
        ),
    ),
    Section(
        "Fusion ablation",
        "The surrogate without topology, and without proxies.",
        (
            *(
                _compared("Features", problem, experiments.labels_of("fusion"))
                for problem in BOTH_CIFAR
            ),
            *(
                Panel(
                    f"fusion-regret-{problem[1]}",
                    f"Regret by features: {PROBLEM_NAMES[problem]}",
                    f"On a linear scale. {_BANDS}",
                    partial(
                        budget_figure,
                        lines=lines_of(problem, experiments.labels_of("fusion")),
                        metric="regret",
                        logarithmic=False,
                    ),
                )
                for problem in BOTH_CIFAR
            ),
        ),
    ),
    Section(
        "NAS-Bench-101",
        "The second search space, of graphs that differ in size.",
        tuple(
            _compared(title, paper.NASBENCH101, experiments.labels_of("nb101"), metric)
            for title, metric in (("P@100", "precision"), ("Regret", "regret"))
        ),
    ),
    Section(
        "Transfer",
        "The proxies that ProxyFit selects on CIFAR-10, against those it selects on the target.",
        tuple(
            _compared("Transfer", problem, experiments.labels_of("transfer"))
            for problem in (paper.CIFAR100, paper.IMAGENET16, paper.NASBENCH101)
        ),
    ),
)


def write_page(
    results: MeasuredResults,
    comparisons: Sequence[Comparison],
    verdicts: Sequence[Verdict],
    path: Path,
    *,
    command: str = "",
) -> None:
    """Write the page.

    Args:
        results: The measured results.
        comparisons: Cells of the paper's tables with our numbers.
        verdicts: The claims, checked.
        path: File to write.
        command: Command line that made the page.
    """
    figures = {
        panel.name: embed.plain(*drawing)
        for section in SECTIONS
        for panel in section.panels
        if (drawing := _drawing(panel, results)) is not None
    }
    html = embed.render(
        "paper.html.jinja",
        script="paper.js",
        data={"figures": figures, "scales": SCALES},
        headline=headline(comparisons, verdicts),
        sections=[
            (section, [panel for panel in section.panels if panel.name in figures])
            for section in SECTIONS
        ],
        tables=list(tables(comparisons)),
        cell_text=cell_text,
        verdicts=verdicts,
        causes=_causes(verdicts),
        counts=Counter(verdict.status for verdict in verdicts),
        marks={HOLDS: "good", FAILS: "bad", UNTESTED: "open"},
        facts={title: facts for title, facts in results.facts.items() if facts},
        command=command,
    )
    write_whole(path, html)


def headline(comparisons: Sequence[Comparison], verdicts: Sequence[Verdict]) -> str:
    """Summarize how many claims hold and how many cells agree."""
    known = [comparison.inside for comparison in comparisons if comparison.inside is not None]
    counts = Counter(verdict.status for verdict in verdicts)
    n_tested = counts[HOLDS] + counts[FAILS]
    others = dict.fromkeys(c.other_table for c in comparisons if c.other_table)
    return " ".join(
        [
            f"{counts[HOLDS]} of {n_tested} claims that can be tested hold; {sum(known)} of "
            f"{len(known)} table cells lie inside what the seeds can tell."
            if n_tested or known
            else "Nothing of the paper can be tested with what is here.",
            *(f"Its numbers stand beside ours only to be looked at: {text}." for text in others),
        ]
    )


def _causes(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """Number of each cause of claims that do not hold; several of them share one."""
    texts = [str(verdict.claim.cause) for verdict in verdicts if verdict.status == FAILS]
    return {text: number for number, text in enumerate(dict.fromkeys(filter(None, texts)), 1)}


def _drawing(panel: Panel, results: MeasuredResults) -> Drawing | None:
    """Draw a panel's figure; ``None`` if nothing of it was measured."""
    try:
        figure, numbers = panel.build(results)
    except NotMeasured:
        return None
    return (figure, numbers) if figure.data else None
