from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.utils.estimator_checks import parametrize_with_checks

from optuna_zaps import Profile
from optuna_zaps import ProxyFit
from optuna_zaps.search.proxies import scaled_ranks
from optuna_zaps.search.proxy_fit import consensus_subset
from optuna_zaps.search.proxy_fit import greedy_subset
from optuna_zaps.search.proxy_fit import spearman


@parametrize_with_checks([ProxyFit()])
def test_scikit_learns_own_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_spearman_is_scipys() -> None:
    columns = np.random.default_rng(0).integers(0, 6, size=(40, 5)).astype(float)
    np.testing.assert_allclose(spearman(columns), spearmanr(columns).statistic, atol=1e-12)


def test_a_constant_column_correlates_with_nothing() -> None:
    columns = np.asarray([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    np.testing.assert_array_equal(spearman(columns)[1], [0.0, 0.0])


# Proxies 0 and 1 are redundant, 2 is independent of them, 3 is weak and overlaps with all.
RELEVANCE = np.asarray([0.8, -0.9, 0.5, 0.1])
REDUNDANCY = np.asarray(
    [
        [1.0, -0.95, 0.2, 0.4],
        [-0.95, 1.0, 0.3, 0.5],
        [0.2, 0.3, 1.0, 0.6],
        [0.4, 0.5, 0.6, 1.0],
    ]
)


def test_algorithm_1_by_hand() -> None:
    # Order by |rho|: 1, 0, 2, 3; 0 is refused for |-0.95| >= 0.85.
    assert greedy_subset(RELEVANCE, REDUNDANCY, threshold=0.85, max_size=6) == [1, 2, 3]
    assert greedy_subset(RELEVANCE, REDUNDANCY, threshold=0.85, max_size=2) == [1, 2]
    assert greedy_subset(RELEVANCE, REDUNDANCY, threshold=0.96, max_size=6) == [1, 0, 2, 3]


def test_the_threshold_itself_is_refused() -> None:
    redundancy = np.asarray([[1.0, 0.85], [0.85, 1.0]])
    assert greedy_subset(np.asarray([0.9, 0.8]), redundancy, threshold=0.85, max_size=2) == [0]


def test_the_mrmr_stop_by_hand() -> None:
    # After {1, 2}: J(3) = 0.1 - (0.5 + 0.6) / 2 = -0.45 < 0.
    def subset(min_size: int) -> list[int]:
        return greedy_subset(
            RELEVANCE, REDUNDANCY, threshold=0.85, max_size=6, mrmr_min_size=min_size
        )

    assert subset(2) == [1, 2]
    assert subset(3) == [1, 2, 3]


def test_the_mrmr_stop_sees_refused_proxies() -> None:
    # Algorithm 2, line 7 comes before line 8: J(0 | {1}) = 0.8 - 0.95 < 0 ends the traversal at 0.
    assert greedy_subset(RELEVANCE, REDUNDANCY, threshold=0.85, max_size=6, mrmr_min_size=1) == [1]


def test_proxyfit_in_order_of_selection_and_in_order_of_columns() -> None:
    y = np.arange(8.0)
    X = pd.DataFrame(
        {
            "weak": [3.0, 1.0, 4.0, 0.0, 5.0, 2.0, 7.0, 6.0],
            "best": y**3,
            "copy": -y,
            "flat": np.zeros(8),
        }
    )
    fit = ProxyFit(n_select=2).fit(X, y)
    assert fit.selected_names_ == ["best", "weak"]
    assert fit.get_feature_names_out().tolist() == ["weak", "best"]
    np.testing.assert_array_equal(fit.transform(X), X[["weak", "best"]])
    assert fit.get_support().tolist() == [True, True, False, False]
    assert fit.relevance_[3] == 0


def test_proxyfit_names_an_arrays_columns_by_position() -> None:
    X = np.column_stack([np.arange(5.0), [2.0, 0.0, 3.0, 1.0, 4.0]])
    assert ProxyFit(n_select=1).fit(X, np.arange(5)).selected_names_ == ["x0"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_select": 0}, "n_select must be at least 1"),
        ({"redundancy": 0.0}, "redundancy must lie"),
    ],
)
def test_proxyfit_refuses(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ProxyFit(**arguments).fit(np.eye(3), [1, 2, 3])


@pytest.mark.parametrize(
    ("dataset", "names"),
    [("cifar10", ["nwot", "jacov", "synflow", "params", "snip", "grasp"])],
)
def test_proxyfit_returns_the_papers_subset_in_the_papers_order(
    nasbench201: Any, dataset: str, names: list[str]
) -> None:
    benchmark = nasbench201(dataset)
    assert ProxyFit().fit(benchmark.proxies, benchmark.values).selected_names_ == names


def test_consensus_finds_the_papers_subset_without_a_label(nasbench201: Any) -> None:
    proxies = nasbench201("cifar10").proxies
    chosen = consensus_subset(
        scaled_ranks(proxies.to_numpy(np.float64)), Profile.anytime().initial_selection
    )
    assert {proxies.columns[i] for i in chosen} == {
        "nwot", "jacov", "synflow", "params", "snip", "grasp",
    }  # fmt: skip


def matrices(n_columns: int) -> st.SearchStrategy[np.ndarray]:
    return st.integers(0, 2**32 - 1).map(
        lambda seed: np.random.default_rng(seed).normal(size=(25, n_columns))
    )


@given(matrices(5))
@settings(deadline=None, max_examples=40)
def test_selection_ignores_increasing_transforms_signs_and_duplicates(data: np.ndarray) -> None:
    X, y = data[:, :4], data[:, 4]
    names = ["a", "b", "c", "d"]
    reference = ProxyFit(n_select=3).fit(pd.DataFrame(X, columns=names), y).selected_names_
    transformed = pd.DataFrame(np.exp(X) * [1, 10, 0.1, 3], columns=names)
    assert ProxyFit(n_select=3).fit(transformed, y).selected_names_ == reference
    assert ProxyFit(n_select=3).fit(pd.DataFrame(-X, columns=names), -(y**3)).selected_names_ == (
        reference
    )
    doubled = pd.DataFrame(np.column_stack([X, X[:, 0]]), columns=[*names, "a again"])
    assert ProxyFit(n_select=3).fit(doubled, y).selected_names_ == reference
