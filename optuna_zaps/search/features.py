"""Features of the candidates that a surrogate is given (Section 3.4).

Notations:
    matrix: float32 array of shape (n_candidates, n_columns), phi(a) = [r(a); e(a)]: the ranks of
        every proxy, the mean ranks of the neighbours where they are wanted, and the encoding of
        the parameters. A fit selects columns of it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.proxies import ProxyTable
from optuna_zaps.surrogates import FeatureLayout


IntArray = npt.NDArray[np.intp]
Features = npt.NDArray[np.float32]

FEATURES = ("both", "proxies", "parameters")
"""Possible features of a surrogate."""


class FeatureMatrix:
    """Features of the candidates, for any choice of proxies.

    Args:
        candidates: All there are.
        proxies: Their proxies, ``None`` if there are none.
        features: One of :data:`FEATURES`.
        neighbourhood: Whether to add the mean ranks of the neighbours of each candidate.
    """

    def __init__(
        self,
        candidates: CandidateSet,
        proxies: ProxyTable | None,
        features: str,
        *,
        neighbourhood: bool,
    ) -> None:
        self._candidates = candidates
        self._proxies = proxies
        self._features = features
        self._neighbourhood = neighbourhood

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the matrix, which can be computed again."""
        return {name: value for name, value in vars(self).items() if name != "_matrix"}

    def of(self, active: IntArray) -> tuple[Features, FeatureLayout]:
        """Features with some proxies, and their layout.

        Args:
            active: Columns of the proxies, in increasing order.
        """
        candidates = self._candidates
        n_proxies = 0 if self._proxies is None else len(self._proxies.names)
        n_columns = self._matrix.shape[1]
        encoding = np.arange(n_columns - candidates.encoding.shape[1], n_columns)
        widths, numeric, shared = candidates.widths, candidates.numeric, candidates.shared_choices
        if self._features == "proxies":
            encoding, widths, numeric, shared = encoding[:0], (), (), ()
        neighbours = active + n_proxies if self._neighbourhood else active[:0]
        columns = np.concatenate([active, neighbours, encoding])
        features = self._matrix
        if len(columns) < n_columns or np.any(np.diff(columns) != 1):
            features = features[:, columns]
        return features, FeatureLayout(len(active), widths, numeric, len(neighbours) > 0, shared)

    @cached_property
    def _matrix(self) -> Features:
        """Ranks of every proxy, those of the neighbours, and the encoding."""
        ranks = [] if self._proxies is None else [self._proxies.ranks]
        if ranks and self._neighbourhood:
            ranks.append(self._candidates.neighbourhood_mean(ranks[0]))
        if not ranks:
            return self._candidates.encoding
        parts: list[npt.NDArray[np.floating[Any]]] = [*ranks, self._candidates.encoding]
        # Columns next to each other in memory, since a fit selects columns.
        shape = (len(self._candidates), sum(part.shape[1] for part in parts))
        features = np.empty(shape, dtype=np.float32, order="F")
        start = 0
        for part in parts:
            features[:, start : start + part.shape[1]] = part
            start += part.shape[1]
        return features
