"""ZAPS, zero-cost active proxy search, as an Optuna sampler.

Finds the best of a finite set of configurations with few evaluations, given cheap numbers that are
known for every configuration. See :class:`ZAPSSampler`.
"""

from __future__ import annotations

from optuna_zaps.sampler import ZAPSSampler
from optuna_zaps.selection import ProxyFit


__version__ = "0.1.0"

__all__ = ["ProxyFit", "ZAPSSampler"]
