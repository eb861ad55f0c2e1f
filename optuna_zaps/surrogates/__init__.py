"""Models of the objective over all candidates (Section 3.4).

A surrogate is a class with ``fit`` and ``predict`` and an entry in
:data:`optuna_zaps.search.profiles.PROFILES`.
"""

from __future__ import annotations

from optuna_zaps.surrogates._protocol import FeatureLayout
from optuna_zaps.surrogates._protocol import Surrogate
from optuna_zaps.surrogates._protocol import SurrogateFactory
from optuna_zaps.surrogates._protocol import SurrogateOfPending
from optuna_zaps.surrogates.averaged_processes import AveragedProcesses
from optuna_zaps.surrogates.gaussian_process import GaussianProcessSettings
from optuna_zaps.surrogates.xgboost_ensemble import XGBoostEnsemble
from optuna_zaps.surrogates.xgboost_ensemble import XGBoostSettings


__all__ = [
    "AveragedProcesses",
    "FeatureLayout",
    "GaussianProcessSettings",
    "Surrogate",
    "SurrogateFactory",
    "SurrogateOfPending",
    "XGBoostEnsemble",
    "XGBoostSettings",
]
