"""ZAPS, zero-cost active proxy search, as an Optuna sampler.

Finds the best of a finite set of configurations with few evaluations, given cheap numbers that are
known for every configuration. See :class:`ZAPSSampler`.

``ZAPSSampler(budget=B)`` is the method of the paper: ProxyFit, hybrid K-means, re-selection,
trees, upper confidence bound. ``# Deviation:`` in the source marks where its text leaves a gap.
Not in the paper:

* The initial proxies are by default those on which the proxies agree. No label is used, and on
  NAS-Bench-201 / CIFAR-10 they are the six that ProxyFit finds with all labels.
* K-means looks at 8,192 points at most.
* The default without ``budget``: a short start, a fit at every tenth of growth, and two averaged
  Gaussian processes in the place of the trees. One also sees the mean proxies of a configuration's
  neighbours; the other sees no proxy, and neither does while a permutation test finds none that
  relates to the values.
* Without proxies, and where that test finds none, the process also counts how many parameters
  have each choice, of those that offer the same choices, as the edges of a cell do.
* Between doublings of the values the processes score an eighth of the candidates, at least 2,048
  and at most 65,536, the best at the last doubling.
* While trials are running, the spread of a prediction is the one that remains once they have
  ended (GP-BUCB, Desautels et al., 2014). A model of its own learns where trials fail, or are
  pruned before they report. A fit sees at most 1,024 labels, the best half and a sample.
* Spaces that cannot be enumerated, several objectives and constraints
  (:mod:`optuna_zaps.search.pool`, :mod:`optuna_zaps.search.outcomes`).
"""

from __future__ import annotations

from optuna_zaps.sampler import ZAPSSampler
from optuna_zaps.search.profiles import Profile
from optuna_zaps.search.proxy_fit import ProxyFit


__version__ = "0.1.0"

__all__ = ["Profile", "ProxyFit", "ZAPSSampler"]
