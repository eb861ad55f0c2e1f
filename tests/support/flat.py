"""A surrogate that finds all alike and costs nothing, for tests of everything around it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from optuna_zaps import Profile
from optuna_zaps.search.profiles import Situation
from optuna_zaps.search.schedule import Schedule
from optuna_zaps.search.search import SearchSettings
from optuna_zaps.surrogates import FeatureLayout
from optuna_zaps.surrogates import SurrogateFactory


class Flat:
    """With it a search proposes what is free in the order of its seed."""

    @classmethod
    def for_layout(cls, layout: FeatureLayout, seed: int) -> Flat:
        return cls()

    def fit(self, X: npt.NDArray[np.float32], y: npt.NDArray[np.float64]) -> None:
        pass

    def predict(
        self, X: npt.NDArray[np.float32]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        return np.zeros(len(X)), np.ones(len(X))


FLAT = Profile.from_name("anytime+trees").with_surrogate(Flat.for_layout)
"""A profile that spends no time on a model."""


def plain_settings(factory: SurrogateFactory, schedule: Schedule) -> SearchSettings:
    """Settings of a search over choices, the paper's but for the model and the schedule."""
    profile = FLAT.with_surrogate(factory)
    situation = Situation(with_proxies=True, with_numbers=False)
    return replace(profile.adapted(situation), schedule=schedule)
