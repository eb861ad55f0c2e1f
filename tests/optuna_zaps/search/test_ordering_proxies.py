from __future__ import annotations

import numpy as np
import pytest

from optuna_zaps.search.observations import History
from optuna_zaps.search.ordering_proxies import known_sides


# Labels by a proxy of 1 to 8, then candidates at 0, between each two, and at 9.
LABELS = [4.0, 3.0, 2.0, 1.0, -1.0, -2.0, -3.0, -4.0]
PROXY = np.array([*range(1, 9), 0.0, *np.arange(1.5, 8), 9.0])


def sides(labels: list[float], *proxies: np.ndarray) -> list[int]:
    """Sides of all candidates, the first of which are labelled in the reverse order."""
    labelled = np.arange(len(labels))[::-1]
    unavailable = np.zeros(len(proxies[0]), dtype=np.bool_)
    known = History(labelled, np.array(labels)[labelled], unavailable)
    return known_sides(np.stack(proxies, axis=1), known, n_ordered=8, n_on_line=4).tolist()


@pytest.mark.parametrize("proxy", [PROXY, -PROXY, np.exp(PROXY)])
def test_neighbours_in_the_order_of_a_proxy_tell_the_side(proxy: np.ndarray) -> None:
    # Between 4, feasible, and 5, infeasible, nobody knows.
    expected = [1] * 4 + [-1] * 4 + [1] * 4 + [0] + [-1] * 4
    assert sides(LABELS, proxy) == expected


def test_a_border_that_no_label_has_crossed_is_not_known() -> None:
    # The best of all labels is infeasible: what is better still may be feasible.
    violated = [label - 5.0 for label in LABELS]
    assert sides(violated, PROXY) == [-1] * 8 + [0] + [-1] * 8
    # A label of 0 is feasible, and what is worse may be.
    assert sides([label + 4.0 for label in LABELS], PROXY) == [1] * 8 + [1] * 8 + [0]


def test_an_order_with_one_exception_tells_nothing() -> None:
    assert sides([*LABELS[:6], -4.0, -3.0], PROXY) == [0] * 17


def test_fewer_distinct_values_than_asked_for_tell_nothing() -> None:
    assert sides(LABELS[:7], PROXY) == [0] * 17
    assert sides([*LABELS[:7], -3.0], PROXY) == [0] * 17
    steps = np.array([1.0, 1, 2, 2, 3, 3, 4, 4, *PROXY[8:]])
    assert sides(LABELS, steps) == [0] * 17


def test_proxies_that_order_the_labels_must_agree() -> None:
    # The other one takes candidate 9, at 1.5, for infeasible and candidate 16, at 9, for feasible.
    other = PROXY.copy()
    other[9], other[16] = 8.0, 1.0
    expected = [1] * 4 + [-1] * 4 + [1, 0, 1, 1, 0, -1, -1, -1, 0]
    assert sides(LABELS, PROXY, other) == expected


def test_equal_proxies_have_one_side_only_if_their_labels_have() -> None:
    # 9 labels, two of them at 1, and two at 5 on either side of the border.
    labels, proxy = [5.0, *LABELS], np.array([1.0, 1, 2, 3, 5, 5, 6, 7, 8, 1, 5, 9])
    labels.append(-5.0)
    proxy[9] = 9.0
    assert sides(labels, proxy)[10:] == [0, -1]
    assert sides(labels, proxy)[:2] == [1, 1]


def test_a_missing_proxy_tells_nothing_of_its_candidate() -> None:
    missing = PROXY.copy()
    missing[9] = np.nan
    assert sides(LABELS, missing)[8:11] == [1, 0, 1]
    missing[0] = np.nan  # of a label: seven are left
    assert sides(LABELS, missing) == [0] * 17


def test_without_a_proxy_or_a_label_nothing_is_known() -> None:
    empty = History(np.empty(0, dtype=np.intp), np.empty(0), np.zeros(3, dtype=np.bool_))
    assert known_sides(np.ones((3, 0)), empty, n_ordered=8, n_on_line=4).tolist() == [0, 0, 0]
    assert known_sides(np.ones((3, 1)), empty, n_ordered=8, n_on_line=4).tolist() == [0, 0, 0]


@pytest.mark.parametrize("slope", [-2.0, 1e6])
def test_labels_on_a_line_tell_the_side_of_all_candidates(slope: float) -> None:
    # The line crosses the border at 2.5, where candidate 6 may be feasible but for rounding.
    proxy = np.array([1.0, 2.0, 4.0, 7.0, 2.4, 2.6, 2.5, np.inf, np.nan])
    labels = (slope * (proxy[:4] - 2.5)).tolist()
    far = int(np.sign(slope))
    assert sides(labels, proxy) == [-far, -far, far, far, -far, far, 0, far, 0]
    # Another proxy that orders the labels, or does not, changes nothing.
    assert sides(labels, proxy[::-1], proxy) == sides(labels, proxy)
    assert sides(labels, np.exp(-proxy), proxy) == sides(labels, proxy)


def test_three_labels_on_a_line_or_four_beside_one_tell_nothing() -> None:
    proxy = np.arange(9.0)
    assert sides([2.0, 1.0, 0.0], proxy) == [0] * 9
    assert sides([2.0, 1.0, 0.0, -1.001], proxy) == [0] * 9
    assert sides([2.0, 1.0, 0.0, -1.0 - 1e-8], proxy) == [1, 1, 0, *[-1] * 6]
    assert sides([1.0, 1.0, 0.0, 0.0, -1.0, -1.0], proxy // 2) == [0] * 9
