"""ZAPS sampler from the package optuna-zaps, for OptunaHub."""

from optuna_zaps import Profile
from optuna_zaps import ZAPSSampler


__all__ = ["Profile", "ZAPSSampler"]
