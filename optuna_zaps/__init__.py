"""ZAPS, zero-cost active proxy search, as an Optuna sampler.

Finds the best of a finite set of configurations with few evaluations, by learning from numbers
that are cheap to compute for every configuration. See :class:`ZAPSSampler`.

``ZAPSSampler(budget=B)`` is the method of the paper: ProxyFit, hybrid K-means, re-selection,
trees, upper confidence bound. ``# Deviation:`` in the source marks gaps in its text. Not in the
paper, with the module that decides or does it:

* The default without ``budget``: a short start, a fit whenever the labels have grown by a tenth,
  and two averaged Gaussian processes instead of the trees. One also sees the mean proxies of a
  configuration's neighbours; the other sees no proxy, and neither does while a permutation test
  finds none that relates to the values. Every default and its reason:
  :mod:`optuna_zaps.search.profiles`.
* In pools with numbers the covariance has a term of each parameter alone
  (:mod:`optuna_zaps.surrogates.additive_term`), a search that stands still explores
  (:mod:`optuna_zaps.search.stall`), and long studies search locally, within a trust region
  (:mod:`optuna_zaps.search.local_search`).
* The initial proxies are by default those on which the proxies agree; no label is used
  (:func:`optuna_zaps.search.proxy_fit.consensus_subset`).
* K-means clusters at most 8,192 points (:mod:`optuna_zaps.search.initial_design`).
* Without proxies, and where that test finds none, a process also counts how many parameters have
  each choice, among those that offer the same choices, as the edges of a cell do
  (:mod:`optuna_zaps.surrogates.terms`).
* Between doublings of the labels the processes score a shortlist of the candidates, and a fit
  sees at most 1,024 labels (:mod:`optuna_zaps.search.model`).
* While trials are running, the spread of a prediction is the one that remains once they have
  ended (GP-BUCB, Desautels et al., 2014).
* Spaces that cannot be enumerated (:mod:`optuna_zaps.search.pool`); several objectives,
  constraints and trials that fail (:mod:`optuna_zaps.search.outcomes`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from typing import Any

from optuna_zaps import _optional
from optuna_zaps.sampler import ZAPSSampler
from optuna_zaps.search.profiles import Profile


if TYPE_CHECKING:
    from optuna_zaps.search.estimator import ProxyFit

__version__ = "0.1.0"

__all__ = ["Profile", "ProxyFit", "ZAPSSampler"]


def __getattr__(name: str) -> Any:
    """Import ProxyFit when it is asked for: scikit-learn is optional, and slow to import."""
    if name != "ProxyFit":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _optional.require(
        "sklearn", "ProxyFit is an estimator of scikit-learn", install="scikit-learn"
    )
    from optuna_zaps.search.estimator import ProxyFit

    return ProxyFit


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
