from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest
from toy import table

from harness import problems
from harness.paper import rankings
from harness.problems import TabularBenchmark


def small(proxies: dict[str, list[float]], values: list[float]) -> TabularBenchmark:
    return TabularBenchmark(
        text="small/d@made",
        parameters=pd.DataFrame({"x": list("abcdefgh"[: len(values)])}, dtype=object),
        values=np.asarray(values),
        proxies=pd.DataFrame(proxies),
    )


def test_the_rank_product_by_hand() -> None:
    # Ranks from the worst: p (1, 2, 3, 4), q (3, 1.5, 4, 1.5); products 3, 3, 12, 6.
    benchmark = small({"p": [1, 2, 3, 4], "q": [5, 0, 9, 0]}, [1, 2, 3, 4])
    assert rankings.rank_product(benchmark).tolist() == [2, 3, 0, 1]
    assert rankings.rank_product(benchmark, ["q"]).tolist() == [2, 0, 1, 3]


def test_borda_by_hand() -> None:
    # Sums of the ranks above: 4, 3.5, 7, 5.5.
    benchmark = small({"p": [1, 2, 3, 4], "q": [5, 0, 9, 0]}, [1, 2, 3, 4])
    assert rankings.borda(benchmark, ["p", "q"]).tolist() == [2, 3, 0, 1]


def test_oracles_look_at_the_correlation_with_the_values() -> None:
    benchmark = small(
        {"against": [9, 7, 5, 1], "with": [1, 3, 2, 4], "loosely": [2, 1, 4, 3]}, [1, 2, 3, 4]
    )
    assert rankings.best_single_name(benchmark) == "with"
    assert rankings.best_single(benchmark).tolist() == [3, 1, 2, 0]
    positive = rankings.positive_rank_product(benchmark)
    assert positive.tolist() == rankings.rank_product(benchmark, ["with", "loosely"]).tolist()


def test_what_is_not_known_comes_last_and_what_is_not_there_is_refused() -> None:
    benchmark = small({"p": [2, float("nan"), 1]}, [1, 2, 3])
    assert rankings.single(benchmark, "p").tolist() == [0, 2, 1]
    with pytest.raises(ValueError, match=r"some of \['p'\], but got \['synflow'\]"):
        rankings.single(benchmark, "synflow")


def test_a_scheme_applies_where_its_proxies_are() -> None:
    names = [scheme.name for scheme in rankings.SCHEMES if scheme.applies_to(table())]
    assert names == [
        "Best single proxy (oracle)",
        "Rank product, all proxies",
        "Rank product, positive only (oracle)",
    ]


def test_the_top_of_a_ranking_is_trained() -> None:
    benchmark = table()  # values 1 .. 200
    backwards = np.arange(200)[::-1]
    outcome = rankings.evaluate(backwards, benchmark, 50)
    assert (outcome.precision, outcome.regret) == (50.0, 0.0)
    outcome = rankings.evaluate(np.arange(200), benchmark, 150)
    assert (outcome.precision, outcome.regret) == (50.0, 25.0)
    with pytest.raises(ValueError, match="from 1 to the 200 rows"):
        rankings.evaluate(backwards, benchmark, 201)


# Table 6 of the paper: P@100 and regret in percent at B = 200.
PUBLISHED = {
    "cifar10": [(0.0, 0.91), (22.0, 0.00), (0.0, 1.34), (0.0, 0.91), (0.0, 1.06)],
    "cifar100": [(7.0, 1.50), (36.0, 0.03), (6.0, 1.50), (8.0, 1.50), (5.0, 1.17)],
}


@pytest.mark.skipif("ZAPS_DATA_DIR" not in os.environ, reason="needs the development tables")
@pytest.mark.parametrize("dataset", PUBLISHED)
def test_the_papers_table_of_proxy_schemes(dataset: str) -> None:
    benchmark = problems.load_table(f"nasbench201/{dataset}@suite-zero")
    assert rankings.best_single_name(benchmark) == "nwot"
    for scheme, (precision, regret) in zip(rankings.SCHEMES, PUBLISHED[dataset], strict=True):
        outcome = rankings.evaluate(scheme.rank(benchmark), benchmark, 200)
        # The proxies of cells with a dead edge are those of their twins here, and eight of
        # CIFAR-100's are CIFAR-10's.
        assert outcome.precision == pytest.approx(precision, abs=4.0), scheme.name
        assert outcome.regret == pytest.approx(regret, abs=0.35), scheme.name
