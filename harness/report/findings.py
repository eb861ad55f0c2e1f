"""Key messages of a report in sentences: on several problems, and on one."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from harness.metrics.metric import Quantity
from harness.problems import Problem
from harness.problems import TabularBenchmark
from harness.report import formats
from harness.report.tables import Record
from harness.report.tables import capitalised
from harness.report.tables import difference_digits
from harness.report.tables import noun
from harness.report.tables import records
from harness.report.views import ALPHA
from harness.report.views import ProblemView
from harness.report.views import SuiteView


MAX_NAMED = 3
"""Number of samplers in a headline."""


@dataclass(frozen=True)
class SuiteFindings:
    """Sentences on several problems.

    Attributes:
        headline: The samplers' mean ranks.
        clause: The best mean rank, for a headline over several suites.
        subject: Name of the quantity that ranks the samplers.
        verdict: Test of the first two samplers; empty if there is only one.
    """

    headline: str
    clause: str
    subject: str
    verdict: str


@dataclass(frozen=True)
class Clauses:
    """Parts of the headline of a problem: the page joins those of the samplers that are chosen.

    Attributes:
        order: Labels of the samplers, the best mean first.
        lead: Clause of a sampler that opens the headline.
        follow: Clause of a sampler that comes later.
        verdicts: Sentence on the test of a sampler against a later one.
    """

    order: list[str]
    lead: Mapping[str, str]
    follow: Mapping[str, str]
    verdicts: Mapping[str, Mapping[str, str]]

    def headline(self, chosen: Collection[str]) -> str:
        """Headline about chosen samplers, as ``dashboard.js`` puts it together."""
        order = [label for label in self.order if label in chosen]
        if not order:
            return "No sampler is chosen."
        others = ", ".join(self.follow[label] for label in order[1:MAX_NAMED])
        return "; ".join(filter(None, (self.lead[order[0]], others))) + "."


def suite_findings(view: SuiteView) -> SuiteFindings:
    """Sentences on the samplers' mean ranks over several problems."""
    ranks = view.mean_ranks
    best, least = ranks.index[ranks == ranks.min()], formats.number(ranks.min(), 2)
    n_problems = len(view.losses)
    problems = f"the {n_problems} problems"
    problems += f" of {view.suite.name}" if view.suite.name else ""
    subject = noun(view.quantity)
    leads = f"{_listed(best)} {'has' if len(best) == 1 else 'share'} the best mean rank"
    others = [f"{label} {formats.number(rank, 2)}" for label, rank in ranks[len(best) :].items()]
    headline = f"{leads} over {problems} after {view.setting}, {least}"
    return SuiteFindings(
        headline="; ".join(filter(None, (headline, ", ".join(others[: MAX_NAMED - 1])))) + ".",
        clause=f"by {subject} over {problems}, {leads} ({least} of {len(ranks)})",
        subject=capitalised(subject),
        verdict=_pair_sentence(view.pairs, *ranks.index[:2]) if len(ranks) > 1 else "",
    )


def problem_clauses(view: ProblemView, problem: Problem) -> Clauses:
    """Parts of the headline of a problem."""
    primary = view.quantity(view.metrics[0])
    unit = " %" if primary.unit == "%" else ""
    means = view.table.rows.set_index("sampler")[primary.name]
    texts = {
        str(label): formats.quantity(mean, primary.digits) + unit for label, mean in means.items()
    }
    order = list(texts)
    verdicts: dict[str, dict[str, str]] = {}
    for test in records(view.tests[primary.name]):
        a, b = str(test["sampler_a"]), str(test["sampler_b"])
        if order.index(a) < order.index(b):
            verdicts.setdefault(a, {})[b] = verdict(test, primary)
    if primary.name == "precision" and isinstance(problem, TabularBenchmark):
        deed = f"finds {{}} of the true top {problem.n_top}"
    else:
        deed = f"reaches a {noun(primary)} of {{}}"
    return Clauses(
        order=order,
        lead={
            label: f"{label} {deed.format(text)} with {view.setting.budget} {view.setting.unit}"
            for label, text in texts.items()
        },
        follow={label: f"{label} {text}" for label, text in texts.items()},
        verdicts=verdicts,
    )


def verdict(test: Record, quantity: Quantity) -> str:
    """One test in a sentence.

    Args:
        test: A row of :func:`harness.statistics.compare`.
        quantity: The quantity it is about.

    Returns:
        A plain sentence, not yet escaped.
    """
    digits = difference_digits(quantity)
    unit = " points" if quantity.unit == "%" else ""
    a, b = test["sampler_a"], test["sampler_b"]
    text = (
        f"{capitalised(noun(quantity))} of {a} minus that of {b}: "
        f"{formats.signed(test['difference'], digits)}{unit}"
    )
    if not pd.isna(test["ci_low"]):
        low, high = (formats.number(test[end], digits) for end in ("ci_low", "ci_high"))
        text += f" (95 % interval {low} to {high})"
    size = f" ({test['effect']})" if test["effect"] else ""
    return (
        f"{text}. {a} ahead: {_significance(test['p_holm'])}; "
        f"Cliff's δ {formats.number(test['cliffs_delta'], 2)}{size}."
    )


def _pair_sentence(pairs: pd.DataFrame, a: str, b: str) -> str:
    """Test of two samplers over the problems."""
    is_it = (pairs["sampler"] == a) & (pairs["sampler_b"] == b)
    is_swapped = (pairs["sampler"] == b) & (pairs["sampler_b"] == a)
    (test,) = records(pairs[is_it | is_swapped])
    better, worse = test["n_better"], test["n_worse"]
    if is_swapped.any():
        better, worse = worse, better
    return (
        f"{a} is better than {b} on {better} problems, worse on {worse} and equal on "
        f"{test['n_equal']} (Wilcoxon's signed ranks, Holm-adjusted: "
        f"{_significance(test['p_holm'])})."
    )


def _significance(p: float) -> str:
    return formats.p_statement(p) + ("" if p < ALPHA else ", not significant")


def _listed(labels: Iterable[str]) -> str:
    *others, last = labels
    return f"{', '.join(others)} and {last}" if others else last
