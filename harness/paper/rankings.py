"""Proxy-only schemes: rank the space without training anything, then train the top of the ranking.

The rows of Table 6 of the paper ("Comparison with Zero-Cost Proxy Combination"). They are
deterministic, so that one run is all there is.

Notations:
    ranking: rows of the table, the best first; (n_configurations,).
    score: float64 array of shape (n_configurations,), larger is better. Proxies enter through
        their ranks (ties share the average), so that their units do not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
import itertools

import numpy as np
import numpy.typing as npt

from harness.metrics.gap import gap_curve
from harness.metrics.precision import precision_curve
from harness.problems import TabularBenchmark
from harness.problems.table import N_TOP
from optuna_zaps.search.proxy_fit import spearman


Floats = npt.NDArray[np.float64]
Ranking = npt.NDArray[np.intp]

BORDA_PROXIES = ("synflow", "jacov", "snip")
"""The three that Abdelfattah et al. (2021) let vote."""


@dataclass(frozen=True)
class Scheme:
    """A way to rank a space by its proxies.

    Attributes:
        name: What tables call it.
        rank: Function from a benchmark to a ranking.
        oracle: Whether it looks at the values, which no practitioner has.
        needs: Proxies without which it is undefined.
    """

    name: str
    rank: Callable[[TabularBenchmark], Ranking]
    oracle: bool = False
    needs: tuple[str, ...] = ()

    def applies_to(self, benchmark: TabularBenchmark) -> bool:
        """Whether a benchmark has the proxies that the scheme needs."""
        return benchmark.proxies.shape[1] > 0 and set(self.needs) <= set(benchmark.proxies)


@dataclass(frozen=True)
class Outcome:
    """Quality of the top of a ranking.

    Attributes:
        precision: P@100 in percent.
        regret: Relative regret in percent.
    """

    precision: float
    regret: float


def evaluate(ranking: Ranking, benchmark: TabularBenchmark, budget: int) -> Outcome:
    """Train the top of a ranking.

    Args:
        ranking: Rows, the best first.
        benchmark: The table.
        budget: Number of configurations to train.

    Raises:
        ValueError: If the ranking is shorter than the budget.
    """
    if not 1 <= budget <= len(ranking):
        raise ValueError(
            f"The budget must be from 1 to the {len(ranking)} rows of the ranking, but got "
            f"{budget}."
        )
    trained = ranking[:budget].tolist()
    return Outcome(
        float(precision_curve(trained, benchmark.top(N_TOP), budget)[-1]),
        float(gap_curve(trained, benchmark.scores, budget)[-1]),
    )


def best_single(benchmark: TabularBenchmark) -> Ranking:
    """Ranking by the proxy that :func:`best_single_name` picks."""
    return single(benchmark, best_single_name(benchmark))


def best_single_name(benchmark: TabularBenchmark) -> str:
    """Proxy with the highest Spearman correlation with the values: an oracle's choice."""
    return _names(benchmark)[int(np.argmax(_relevance(benchmark)))]


def single(benchmark: TabularBenchmark, proxy: str) -> Ranking:
    """Ranking by one proxy.

    Raises:
        ValueError: If the benchmark does not have it.
    """
    return _descending(_ranks(benchmark, [proxy])[:, 0])


def rank_product(benchmark: TabularBenchmark, proxies: Sequence[str] | None = None) -> Ranking:
    """Ranking by the product of the ranks under each proxy, 1 for the worst; larger is better.

    So the product punishes whoever is near the bottom of any proxy. With 1 for the best it would
    reward whoever is near the top of one; the regrets in the paper's table are those of the first.

    Args:
        benchmark: The benchmark.
        proxies: Names of the proxies, by default all.

    Raises:
        ValueError: If the benchmark does not have one of them.
    """
    ranks = _ranks(benchmark, _names(benchmark) if proxies is None else proxies)
    # A product of thirteen numbers of five digits has no room in 64 bits of integer.
    return _descending(np.log(ranks).sum(axis=1))


def positive_rank_product(benchmark: TabularBenchmark) -> Ranking:
    """Rank product of the proxies with a positive Spearman correlation: an oracle's choice."""
    relevant = _relevance(benchmark) > 0
    return rank_product(benchmark, list(itertools.compress(_names(benchmark), relevant)))


def borda(benchmark: TabularBenchmark, proxies: Sequence[str] = BORDA_PROXIES) -> Ranking:
    """Ranking by the sum of the ranks under each proxy.

    Args:
        benchmark: The benchmark.
        proxies: Names of the proxies.

    Raises:
        ValueError: If the benchmark does not have one of them.
    """
    return _descending(_ranks(benchmark, proxies).sum(axis=1))


SCHEMES = (
    Scheme("Best single proxy (oracle)", best_single, oracle=True),
    Scheme("synflow", lambda benchmark: single(benchmark, "synflow"), needs=("synflow",)),
    Scheme("Rank product, all proxies", rank_product),
    Scheme("Rank product, positive only (oracle)", positive_rank_product, oracle=True),
    Scheme(f"Borda, {{{', '.join(BORDA_PROXIES)}}}", borda, needs=BORDA_PROXIES),
)


def _names(benchmark: TabularBenchmark) -> list[str]:
    return [str(name) for name in benchmark.proxies.columns]


def _ranks(benchmark: TabularBenchmark, proxies: Sequence[str]) -> Floats:
    """Average ranks from the worst, 1, to the best, shape (n_configurations, n_proxies)."""
    from scipy.stats import rankdata  # noqa: PLC0415  # slow to import

    missing = [name for name in proxies if name not in benchmark.proxies]
    if missing or not len(proxies):
        raise ValueError(
            f"The proxies must be some of {list(benchmark.proxies)}, but got {list(proxies)}."
        )
    values = benchmark.proxies[list(proxies)].to_numpy(np.float64)
    # What is not known is no reason to train a configuration.
    return rankdata(np.where(np.isnan(values), -np.inf, values), axis=0)


def _relevance(benchmark: TabularBenchmark) -> Floats:
    """Spearman correlation of each proxy with the values, shape (n_proxies,)."""
    ranks = _ranks(benchmark, _names(benchmark))
    return spearman(np.column_stack([ranks, benchmark.scores]))[:-1, -1]


def _descending(score: Floats) -> Ranking:
    """Rows from the largest score to the smallest, equal ones in table order."""
    return np.argsort(-score, kind="stable")
