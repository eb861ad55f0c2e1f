from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from optuna_zaps import Profile
from optuna_zaps.search.proxy_fit import spearman
from optuna_zaps.search.reselection import ReselectionSettings
from optuna_zaps.search.reselection import ScreeningSettings
from optuna_zaps.search.reselection import permutation_p_value
from optuna_zaps.search.reselection import reselect


RESELECTION = Profile.paper(budget=10).model.selector
SCREENING = Profile.anytime().model.selector
assert isinstance(RESELECTION, ReselectionSettings)
assert isinstance(SCREENING, ScreeningSettings)


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
    """Strength may be negative; votes and strength count before the order of the table."""
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
