"""Models of the objective over all candidates (Section 3.4).

A surrogate is a class with ``fit`` and ``predict`` and one line in :data:`SURROGATES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from optuna_zaps.surrogates._protocol import FeatureLayout
from optuna_zaps.surrogates._protocol import Surrogate
from optuna_zaps.surrogates._protocol import SurrogateFactory
from optuna_zaps.surrogates.xgboost_ensemble import XGBoostEnsemble
from optuna_zaps.surrogates.xgboost_ensemble import XGBoostSettings


SURROGATES: Mapping[str, SurrogateFactory] = MappingProxyType(
    {"xgboost": XGBoostEnsemble.for_layout}
)
"""Factories by the name that ``ZAPSSampler(surrogate=...)`` takes."""


__all__ = [
    "SURROGATES",
    "FeatureLayout",
    "Surrogate",
    "SurrogateFactory",
    "XGBoostEnsemble",
    "XGBoostSettings",
]
