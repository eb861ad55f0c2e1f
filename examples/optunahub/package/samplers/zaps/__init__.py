from optuna_zaps import Profile
from optuna_zaps import ZAPSSampler


__all__ = ["Profile", "ZAPSSampler"]
