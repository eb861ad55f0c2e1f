"""Ensemble of boosted trees on bootstrap resamples (Section 3.4, settings of Section 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from optuna_zaps import _optional
from optuna_zaps._randomness import stream


if TYPE_CHECKING:
    import xgboost as xgb


def require_xgboost() -> None:
    """Check that XGBoost, an optional dependency, is there.

    Raises:
        ImportError: If it cannot be imported. The message says how to install it.
    """
    _optional.require(
        "xgboost",
        "The paper's surrogate, of budget= and of profiles with trees, needs XGBoost",
        install='"optuna-zaps[xgboost]"',
    )


@dataclass(frozen=True)
class XGBoostSettings:
    """Settings of the ensemble.

    Attributes:
        n_members: Regressors in the ensemble.
        n_trees: Trees per regressor.
        max_depth: Depth of a tree.
        learning_rate: Shrinkage of each tree.
        subsample: Share of rows per tree.
        colsample_bytree: Share of columns per tree.
        min_child_weight: Least number of rows in a leaf.
        reg_alpha: L1 penalty on leaf values.
        max_bin: Histogram bins per feature. Not in the paper.
    """

    n_members: int
    n_trees: int
    max_depth: int
    learning_rate: float
    subsample: float
    colsample_bytree: float
    min_child_weight: float
    reg_alpha: float
    max_bin: int

    def __post_init__(self) -> None:
        if self.n_members < 1:
            raise ValueError(f"n_members must be at least 1, but got {self.n_members}.")

    def parameters(self, seed: int) -> dict[str, object]:
        """Parameters of one member, as XGBoost names them."""
        return {
            "objective": "reg:squarederror",
            "tree_method": "hist",
            "max_depth": self.max_depth,
            "eta": self.learning_rate,
            "subsample": self.subsample,
            "colsample_bytree": self.colsample_bytree,
            "min_child_weight": self.min_child_weight,
            "alpha": self.reg_alpha,
            "max_bin": self.max_bin,
            "nthread": 1,
            "seed": seed,
            "verbosity": 0,
        }


class XGBoostEnsemble:
    """Regressors fitted on bootstrap resamples; their standard deviation is the dispersion.

    Args:
        seed: Seed of the resamples and of the members, together with the number of labels.
        settings: Settings of the members.

    Raises:
        ImportError: If XGBoost is not installed.
    """

    def __init__(self, seed: int, settings: XGBoostSettings) -> None:
        require_xgboost()
        self._seed = seed
        self._settings = settings
        self._members: list[xgb.Booster] = []

    def fit(self, X: npt.NDArray[np.float32], y: npt.NDArray[np.float64]) -> None:
        """Fit every member on its own resample.

        Args:
            X: Features, shape (n_rows, n_features).
            y: Labels, shape (n_rows,), larger is better.
        """
        import xgboost as xgb

        rng = stream(self._seed, "surrogate", len(y))
        self._members = []
        for _ in range(self._settings.n_members):
            resample = rng.integers(len(y), size=len(y))
            data = xgb.QuantileDMatrix(
                X[resample], label=y[resample], nthread=1, max_bin=self._settings.max_bin
            )
            parameters = self._settings.parameters(int(rng.integers(2**31)))
            self._members.append(
                xgb.train(parameters, data, num_boost_round=self._settings.n_trees)
            )

    def predict(
        self, X: npt.NDArray[np.float32]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Mean and standard deviation over the members.

        Args:
            X: Features, shape (n_rows, n_features).

        Returns:
            Two arrays of shape (n_rows,), in the unit of the labels.
        """
        assert self._members, "fit comes before predict"
        predictions = np.stack([member.inplace_predict(X) for member in self._members])
        predictions = predictions.astype(np.float64)
        return predictions.mean(axis=0), predictions.std(axis=0)
