from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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
from optuna_zaps.search.reselection import ReselectionSettings
from optuna_zaps.search.reselection import ScreeningSettings
from optuna_zaps.search.reselection import permutation_p_value
from optuna_zaps.search.reselection import reselect


RESELECTION = Profile.paper(budget=10).model.selector
SCREENING = Profile.anytime().model.selector
assert isinstance(RESELECTION, ReselectionSettings)
assert isinstance(SCREENING, ScreeningSettings)


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


@pytest.mark.parametrize(
    ("n_labelled", "size"), [(10, 4), (14, 4), (15, 5), (50, 7), (125, 10), (500, 10)]
)
def test_the_target_size_of_algorithm_2(n_labelled: int, size: int) -> None:
    # 7 proxies at the first fit and 10 at the second for B = 200: the paper's fusion table.
    assert RESELECTION.subset_size(n_labelled) == size


def test_reselection_prefers_what_agrees_with_the_labels() -> None:
    rng = np.random.default_rng(0)
    labels = rng.normal(size=40)
    proxies = rng.normal(size=(40, 8))
    proxies[:, 5] = labels + 0.1 * rng.normal(size=40)
    chosen = reselect(proxies, labels, np.random.default_rng(1), RESELECTION)
    assert chosen[0] == 5
    assert len(set(chosen.tolist())) == len(chosen) == 6


class Resamples(np.random.Generator):
    """Draws resamples that are given."""

    def __init__(self, *resamples: list[int]) -> None:
        super().__init__(np.random.PCG64(0))
        self._resamples = list(resamples)

    def integers(self, low: Any, **arguments: Any) -> Any:
        return np.asarray(self._resamples.pop(0))


# Ranks of six labels, and of columns that correlate with them by 1 - 6 sum(d^2) / 210.
LABELS = np.arange(6.0)
TWINS = np.asarray([0.0, 1, 2, 3, 5, 4])  # d^2 sums to 2: 0.94
OPPOSITE = np.asarray([4.0, 5, 3, 2, 0, 1])  # d^2 sums to 66: -0.89
WEAK = np.asarray([1.0, 3, 0, 5, 4, 2])  # d^2: 1 4 4 4 0 9 = 22: 0.37
USELESS = np.asarray([3.0, 0, 4, 5, 1, 2])


def test_reselection_is_in_order_of_votes_and_then_of_strength() -> None:
    """Which may be negative; and both count before the order of the table."""
    proxies = np.column_stack([USELESS, WEAK, OPPOSITE, TWINS])
    by_strength = np.argsort(-np.abs(spearman(np.column_stack([proxies, LABELS]))[:-1, -1]))
    assert by_strength.tolist() == [3, 2, 1, 0]
    once = replace(RESELECTION, n_resamples=1, min_size=4)
    everything = list(range(6))
    # Nothing is redundant to 1: all have a vote.
    lenient = replace(once, redundancy=1.0)
    chosen = reselect(proxies, LABELS, Resamples(everything), lenient)
    assert chosen.tolist() == [3, 2, 1, 0]
    # OPPOSITE is redundant to TWINS, and comes last.
    assert abs(spearman(proxies)[2, 3]) > 0.75
    assert np.abs(spearman(proxies)[:2, 2:]).max() < 0.7
    strict = replace(once, redundancy=0.75)
    chosen = reselect(proxies, LABELS, Resamples(everything), strict)
    assert chosen.tolist() == [3, 1, 0, 2]


def test_reselection_counts_the_votes_of_every_resample() -> None:
    # In the first half of the rows the first proxy is the stronger (0.71 and 0.54), in the other
    # half by far the second (0.09 and 1). Two of three resamples are of the first half.
    first = [1, 0, 2, 5, 4, 3, 9, 6, 11, 7, 10, 8]
    second = [2, 1, 0, 5, 4, 3, 6, 7, 8, 9, 10, 11]
    upper, lower = list(range(6)) * 2, list(range(6, 12)) * 2
    chosen = reselect(
        np.column_stack([first, second]).astype(np.float64),
        np.arange(12.0),
        Resamples(upper, lower, upper),
        replace(RESELECTION, n_resamples=3, min_size=1, max_size=1),
    )
    assert chosen.tolist() == [0]


def test_a_resample_ends_with_the_first_proxy_that_adds_more_redundancy_than_relevance() -> None:
    # OPPOSITE, of relevance 0.89, overlaps with TWINS by more: nothing after it has a vote, and
    # what has none comes in order of strength.
    proxies = np.column_stack([WEAK, OPPOSITE, TWINS])
    assert abs(spearman(proxies)[1, 2]) > 0.9
    settings = ReselectionSettings(n_resamples=1, min_size=1, max_size=10, redundancy=0.9)
    chosen = reselect(proxies, LABELS, Resamples(list(range(6))), settings)
    assert chosen.tolist() == [2, 1, 0]
    # Where more are admitted whatever they add, WEAK has a vote and OPPOSITE, redundant, none.
    wider = replace(settings, min_size=2)
    chosen = reselect(proxies, LABELS, Resamples(list(range(6))), wider)
    assert chosen.tolist() == [2, 0, 1]


def test_a_resample_votes_for_as_many_as_the_largest_size() -> None:
    # Of relevance 0.76, 0.69, 0.60 and 0.55; the third overlaps with the first by 0.88, and the
    # others overlap by 0.7 at most.
    proxies = np.asarray(
        [
            [0.0, 2, 3, 1, 6, 5, 7, 4],
            [4.0, 1, 0, 2, 5, 3, 6, 7],
            [0.0, 1, 4, 3, 6, 5, 7, 2],
            [1.0, 3, 0, 7, 4, 2, 6, 5],
        ]
    ).T
    for max_size, order in ((2, [0, 1, 2, 3]), (3, [0, 1, 3, 2])):
        settings = ReselectionSettings(
            n_resamples=1, min_size=2, max_size=max_size, redundancy=0.85
        )
        chosen = reselect(proxies, np.arange(8.0), Resamples(list(range(8))), settings)
        assert chosen.tolist() == order[:max_size]


def test_reselection_of_few_proxies_returns_them_all() -> None:
    rng = np.random.default_rng(0)
    chosen = reselect(rng.normal(size=(30, 2)), rng.normal(size=30), rng, RESELECTION)
    assert sorted(chosen.tolist()) == [0, 1]


@pytest.mark.parametrize(
    "arguments", [{"n_resamples": 0}, {"min_size": 0}, {"min_size": 5, "max_size": 4}]
)
def test_reselection_settings_are_checked_when_made(arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"must (be at least|satisfy)"):
        replace(RESELECTION, **arguments)


def test_the_p_value_of_a_permutation_by_hand() -> None:
    # Of the 24 orders of 4 labels, 2 reach |rho| = 1: the p-value tends to 1 / 12.
    ranks = np.arange(4.0)[:, np.newaxis]
    rng = np.random.default_rng(0)
    p_value = permutation_p_value(ranks, np.asarray([3.0, 5, 8, 9]), rng, n_permutations=20_000)
    assert p_value == pytest.approx(1 / 12, abs=4 * np.sqrt(1 / 12 * 11 / 12 / 20_000))


def test_the_p_value_is_of_ranks() -> None:
    rng = np.random.default_rng(0)
    proxies, labels = rng.random((20, 3)), rng.random(20)

    def p_value(proxies: np.ndarray, labels: np.ndarray) -> float:
        return permutation_p_value(proxies, labels, np.random.default_rng(1), n_permutations=99)

    expected = p_value(proxies, labels)
    assert 0.02 < expected < 1
    assert p_value(proxies, np.exp(20 * labels)) == expected
    assert p_value(np.exp(20 * proxies), labels) == expected


def test_chance_passes_the_screening_as_often_as_its_level_says() -> None:
    rng = np.random.default_rng(0)
    settings = replace(SCREENING, level=0.1)
    passed = [
        len(settings.select(rng.random((25, 13)), rng.random(25), rng)) > 0 for _ in range(400)
    ]
    assert np.mean(passed) == pytest.approx(0.1, abs=3 * np.sqrt(0.1 * 0.9 / 400))


@pytest.mark.parametrize("sign", [1, -1])
def test_one_honest_proxy_among_useless_ones_keeps_all(sign: int) -> None:
    rng = np.random.default_rng(0)
    proxies, labels = rng.random((30, 13)), rng.random(30)
    proxies[:, 7] = sign * labels + 0.2 * rng.random(30)
    kept = SCREENING.select(proxies, labels, rng)
    np.testing.assert_array_equal(kept, np.arange(13))


def test_few_labels_prove_nothing() -> None:
    rng = np.random.default_rng(0)
    assert len(SCREENING.select(rng.random((19, 3)), rng.random(19), rng)) == 3
    assert len(SCREENING.select(rng.random((20, 3)), rng.random(20), rng)) == 0


def test_the_fewest_permutations_of_a_level_can_prove_something() -> None:
    labels = np.arange(20.0)
    # The least p-value is 1 / (1 + 19), the level itself.
    settings = replace(SCREENING, level=0.05, n_permutations=19)
    kept = settings.select(labels[:, np.newaxis], labels, np.random.default_rng(0))
    assert kept.tolist() == [0]


def test_settings_of_the_screening_are_checked() -> None:
    with pytest.raises(ValueError, match="level must lie in"):
        replace(SCREENING, level=0.0)
    with pytest.raises(ValueError, match="n_permutations must be at least 99 "):
        replace(SCREENING, level=0.01, n_permutations=50)
