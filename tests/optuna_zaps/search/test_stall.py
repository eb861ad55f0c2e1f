from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from searches import CANDIDATES
from searches import history
from searches import search

from optuna_zaps.search.acquisition import ConstantExploration
from optuna_zaps.search.acquisition import UpperConfidenceBound
from optuna_zaps.search.search import ZAPSSearch
from optuna_zaps.search.stall import StallSettings


BOUND = UpperConfidenceBound(ConstantExploration(beta=1e6))
STALL = StallSettings(n_latest=3, least_gain=0.01, period=2, acquisition=BOUND)


@pytest.mark.parametrize(
    ("latest", "stalls"),
    [
        # The best before is 100 and the median 0: a gain of 1 is a hundredth of their distance.
        ([0.0, 0.0, 0.0], True),
        ([0.0, 100.5, 0.0], True),
        ([0.0, 102.0, 0.0], False),
    ],
)
def test_a_search_stands_still_where_its_latest_labels_gain_next_to_nothing(
    latest: list[float], stalls: bool
) -> None:
    labels = np.array([0.0, 100.0, 0.0, 0.0, *latest])
    assert STALL.explores(10, labels) is stalls


def test_every_other_trial_goes_on() -> None:
    labels = np.array([0.0, 100.0, 0.0, 0.0, 0.0, 0.0])
    assert [STALL.explores(number, labels) for number in (10, 11, 12)] == [True, False, True]


def test_few_labels_tell_nothing() -> None:
    assert not STALL.explores(10, np.array([100.0, 0.0, 0.0, 0.0, 0.0]))


def exploring(stall: StallSettings | None) -> ZAPSSearch:
    machine = search(proxies=None, profile="anytime")
    settings = replace(machine.settings, stall=stall)
    return ZAPSSearch(CANDIDATES, None, settings, seed=0)


def test_a_search_that_stands_still_explores_by_the_spread() -> None:
    # The best is the first, so that the others gain nothing.
    seen = history([143, *range(0, 60, 4)])
    usual, explored = (exploring(stall).propose(seen, 20) for stall in (None, STALL))
    other = exploring(STALL).propose(seen, 21)
    assert usual is not None
    assert explored is not None
    assert other == usual
    assert explored.stds[0] > usual.stds[0]
    prediction = exploring(None).model.predict(seen)
    free = ~seen.unavailable
    assert explored.stds[0] == pytest.approx(prediction.std[free].max())
    assert explored.acquisition == pytest.approx(explored.means[0] + 1e6 * explored.stds[0])
