"""Features, layouts and kernels for tests of the surrogates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.surrogates import AdditiveTerm
from optuna_zaps.surrogates import FeatureLayout
from optuna_zaps.surrogates import LinearRankTerm
from optuna_zaps.surrogates import ParameterTerm
from optuna_zaps.surrogates import SharedChoiceTerm
from optuna_zaps.surrogates import SmoothRankTerm
from optuna_zaps.surrogates.kernel import Kernel
from optuna_zaps.surrogates.terms import TermFactory


N_PROXIES, N_PARAMETERS = 3, 4
GRID = CandidateSet.grid({f"p{i}": "abc" for i in range(N_PARAMETERS)})
_RNG = np.random.default_rng(0)
RANKS = _RNG.random((len(GRID), N_PROXIES))
Y = np.sin(3 * RANKS[:, 0]) + GRID.encoding[:, 0] - GRID.encoding[:, -1]
Y += 0.1 * _RNG.normal(size=len(Y))
ALL = np.hstack([RANKS, GRID.neighbourhood_mean(RANKS), GRID.encoding])
X = np.hstack([RANKS, GRID.encoding])
LAYOUT = FeatureLayout(N_PROXIES, GRID.widths, GRID.numeric)
WITH_NEIGHBOURS = replace(LAYOUT, has_neighbourhood=True)
MIXED = CandidateSet.grid(
    {"p0": "abc", "p1": [0, 1, 5], "p2": "abc", "p3": [1, 10, 100]},
    coordinates={"p1": [0.0, 0.2, 1.0], "p3": [0.0, 0.5, 1.0]},
)
MIXED_X = np.hstack([RANKS, MIXED.encoding])
MIXED_LAYOUT = FeatureLayout(N_PROXIES, MIXED.widths, MIXED.numeric)
SHARED_LAYOUT = FeatureLayout(0, GRID.widths, GRID.numeric, shared_choices=GRID.shared_choices)
# So many choices that a covariance uses only those that rows have.
WIDE = CandidateSet(
    {f"p{i}": range(70) for i in range(N_PARAMETERS)},
    5 * np.random.default_rng(2).integers(13, size=(len(GRID), N_PARAMETERS)),
)
WIDE_LAYOUT = FeatureLayout(0, WIDE.widths, WIDE.numeric, shared_choices=WIDE.shared_choices)
WIDE_MIXED = CandidateSet(
    {"p0": "abc", "p1": [0, 1, 5], "p2": range(70), "p3": [1, 10, 100]},
    np.column_stack([MIXED.codes[:, :2], np.arange(len(GRID)) % 17 * 4, MIXED.codes[:, 3]]),
    coordinates=MIXED.coordinates,
)
WIDE_MIXED_X = np.hstack([RANKS, WIDE_MIXED.encoding])
WIDE_MIXED_LAYOUT = FeatureLayout(N_PROXIES, WIDE_MIXED.widths, WIDE_MIXED.numeric)

ONE_WEIGHT, RELEVANCE = ParameterTerm, ParameterTerm.with_relevance
PROXIES = (LinearRankTerm, SmoothRankTerm)
NEIGHBOURS = (
    LinearRankTerm,
    SmoothRankTerm.half_of_own,
    SmoothRankTerm.half_of_neighbours,
)
GRID_X, WIDE_X = GRID.encoding.astype(np.float64), WIDE.encoding.astype(np.float64)
CASES: dict[str, tuple[np.ndarray, FeatureLayout, Sequence[TermFactory]]] = {
    "parameters": (X, LAYOUT, (ONE_WEIGHT,)),
    "parameters and shared choices": (GRID_X, SHARED_LAYOUT, (ONE_WEIGHT, SharedChoiceTerm)),
    "parameters by relevance": (X, LAYOUT, (RELEVANCE,)),
    "proxies": (X, LAYOUT, (ONE_WEIGHT, *PROXIES)),
    "neighbours": (ALL, WITH_NEIGHBOURS, (ONE_WEIGHT, *NEIGHBOURS)),
    "parameters beside neighbours": (ALL, WITH_NEIGHBOURS, (ONE_WEIGHT,)),
    "numbers": (MIXED_X, MIXED_LAYOUT, (ONE_WEIGHT,)),
    "numbers by relevance": (MIXED_X, MIXED_LAYOUT, (RELEVANCE,)),
    "numbers and proxies by relevance": (MIXED_X, MIXED_LAYOUT, (RELEVANCE, *PROXIES)),
    "numbers one by one": (MIXED_X, MIXED_LAYOUT, (RELEVANCE, AdditiveTerm)),
    "many choices and numbers one by one": (WIDE_MIXED_X, WIDE_MIXED_LAYOUT, (AdditiveTerm,)),
    "many shared choices": (WIDE_X, WIDE_LAYOUT, (ONE_WEIGHT, SharedChoiceTerm)),
    "many choices by relevance": (WIDE_X, WIDE_LAYOUT, (RELEVANCE,)),
    "many choices and numbers by relevance": (
        WIDE_MIXED_X,
        WIDE_MIXED_LAYOUT,
        (RELEVANCE, *PROXIES),
    ),
}
# Hyper-parameters of each term, as far as it has them.
VALUES: dict[TermFactory, tuple[float, ...]] = {
    ONE_WEIGHT: (1.3, 2.1),
    RELEVANCE: (1.3, 2.1, 0.9, 4.0, 0.5),
    AdditiveTerm: (0.9, 0.3),
    LinearRankTerm: (0.2,),
    SmoothRankTerm: (0.8, 0.6),
    SmoothRankTerm.half_of_own: (0.8, 0.6),
    SmoothRankTerm.half_of_neighbours: (0.4, 0.3),
    SharedChoiceTerm: (0.8, 0.6),
}
NOISE = 0.07


def make_kernel(case: str) -> tuple[Kernel, np.ndarray, np.ndarray]:
    """A kernel, a point of its hyper-parameters, and features."""
    features, layout, terms = CASES[case]
    kernel = Kernel([make(layout) for make in terms])
    theta = np.log([NOISE, *(value for make in terms for value in VALUES[make])])
    assert theta.shape == kernel.prior_mean.shape
    return kernel, theta, features
