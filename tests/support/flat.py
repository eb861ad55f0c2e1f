"""A surrogate that finds all alike and costs nothing, for tests of everything around it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from optuna_zaps.surrogates import FeatureLayout


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
