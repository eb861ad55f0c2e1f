from __future__ import annotations

import numpy as np

from optuna_zaps import Profile
from optuna_zaps.search.acquisition import Acquisition
from optuna_zaps.search.acquisition import ConstantExploration
from optuna_zaps.search.acquisition import UpperConfidenceBound


MEAN, STD = np.asarray([1.0, 2.0]), np.asarray([4.0, 0.0])


def weight(acquisition: Acquisition, n_labelled: int) -> float:
    (bound,) = acquisition.score(np.zeros(1), np.ones(1), np.zeros(n_labelled))
    return float(bound)


def test_upper_confidence_bound_by_hand() -> None:
    acquisition = UpperConfidenceBound(ConstantExploration(0.5))
    assert acquisition.score(MEAN, STD, np.zeros(3)).tolist() == [3.0, 2.0]
    assert acquisition.bound(MEAN, STD, np.zeros(3)).tolist() == [3.0, 2.0]


def test_exploration_is_constant_in_the_paper_and_may_decay() -> None:
    paper = Profile.paper(budget=10).model.acquisition
    anytime = Profile.anytime().model.acquisition
    assert [weight(paper, n) for n in (1, 500)] == [0.5, 0.5]
    assert [weight(anytime, n) for n in (5, 20, 80, 500)] == [4.0, 2.0, 1.0, 0.4]
