"""Models of the objective over all candidates (Section 3.4).

A surrogate is a class with ``fit`` and ``predict`` (:class:`Surrogate`), made by a factory that
a profile names (:mod:`optuna_zaps.search.profiles`).
"""

from __future__ import annotations

from optuna_zaps.surrogates.additive_term import AdditiveTerm
from optuna_zaps.surrogates.averaged_processes import AveragedProcesses
from optuna_zaps.surrogates.label_scale import LabelScale
from optuna_zaps.surrogates.label_scale import LinearScale
from optuna_zaps.surrogates.label_scale import SkewTest
from optuna_zaps.surrogates.parameter_term import ParameterTerm
from optuna_zaps.surrogates.protocol import FeatureLayout
from optuna_zaps.surrogates.protocol import Surrogate
from optuna_zaps.surrogates.protocol import SurrogateFactory
from optuna_zaps.surrogates.protocol import SurrogateOfPending
from optuna_zaps.surrogates.protocol import SurrogateOnScale
from optuna_zaps.surrogates.remembering import RememberingFactory
from optuna_zaps.surrogates.settings import GaussianProcessSettings
from optuna_zaps.surrogates.terms import LinearRankTerm
from optuna_zaps.surrogates.terms import SharedChoiceTerm
from optuna_zaps.surrogates.terms import SmoothRankTerm
from optuna_zaps.surrogates.terms import TermFactory
from optuna_zaps.surrogates.xgboost_ensemble import XGBoostEnsemble
from optuna_zaps.surrogates.xgboost_ensemble import XGBoostSettings
from optuna_zaps.surrogates.xgboost_ensemble import require_xgboost


__all__ = [
    "AdditiveTerm",
    "AveragedProcesses",
    "FeatureLayout",
    "GaussianProcessSettings",
    "LabelScale",
    "LinearRankTerm",
    "LinearScale",
    "ParameterTerm",
    "RememberingFactory",
    "SharedChoiceTerm",
    "SkewTest",
    "SmoothRankTerm",
    "Surrogate",
    "SurrogateFactory",
    "SurrogateOfPending",
    "SurrogateOnScale",
    "TermFactory",
    "XGBoostEnsemble",
    "XGBoostSettings",
    "require_xgboost",
]
