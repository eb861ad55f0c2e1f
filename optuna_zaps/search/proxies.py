"""Numbers that are cheap to compute for every candidate, and their ranks (Section 3.4: r(a)).

Notations:
    values: float64 array of shape (n_candidates, n_proxies), as the user gave them.
    ranks: float64 array of the same shape, average ranks over all candidates scaled to [0, 1].
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm.auto import tqdm

from optuna_zaps import _checks
from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.proxy_function import ProxyFunction
from optuna_zaps.search.proxy_function import RememberedProxies


class ProxyTable:
    """Proxies aligned with a candidate set, useless ones removed.

    Args:
        names:
            Name of each proxy, all distinct.
        values:
            Array of shape (n_candidates, n_proxies), row ``i`` belonging to candidate ``i``; NaN
            where a value is missing.
        reference:
            Table with the usable proxies, among whose values the ranks are counted, so that they
            can be compared from one set of candidates to another. By default the values
            themselves.
        n_failed:
            Number of candidates for which a function failed, which are not counted where a proxy
            misses values.
        remark:
            Further text of the warning.

    Attributes:
        names: Names of the usable proxies.
        values: See the module's notations.
        ranks: See the module's notations. A missing value takes the middle rank 0.5.

    Warns:
        UserWarning: One warning that names every proxy that is dropped (constant, or without a
            single number) or that has non-finite values, and how they are ranked.
    """

    def __init__(
        self,
        names: Sequence[str],
        values: npt.NDArray[np.float64],
        reference: ProxyTable | None = None,
        *,
        n_failed: int = 0,
        remark: str | None = None,
    ) -> None:
        complaints = [remark] if remark else []
        self._ranks_are_own = reference is None
        if reference is not None:
            self.names: tuple[str, ...] = reference.names
            self.values = values[:, [names.index(name) for name in self.names]]
            self.ranks = _ranks_among(self.values, reference.values)
        else:
            usable = self._screened(names, values, n_failed, complaints)
            self.names = tuple(names[column] for column in usable)
            self.values = values[:, usable]
            self.ranks = scaled_ranks(self.values)
        if complaints:
            _checks.warn(f"Proxies: {'; '.join(complaints)}.")

    @classmethod
    def from_function(
        cls,
        function: ProxyFunction | RememberedProxies,
        candidates: CandidateSet,
        reference: ProxyTable | None = None,
    ) -> ProxyTable:
        """Call a function once for every candidate, under a progress bar if it takes long.

        Args:
            function: From parameters to proxies. A candidate for which it fails or returns an
                empty mapping has none.
            candidates: What it is called for.
            reference: As for the class.

        Raises:
            ValueError: If the function does not return the same names everywhere, or failed for
                every candidate.
        """
        if not isinstance(function, RememberedProxies):
            function = RememberedProxies(function)
        names: tuple[str, ...] | None = None
        rows: list[Mapping[str, float] | None] = []
        for candidate in tqdm(
            range(len(candidates)), desc="proxies", unit="configuration", leave=False, delay=1
        ):
            params = candidates.params(candidate)
            row = function.of(params)
            rows.append(row)
            if not row or reference is not None:
                continue
            names = tuple(row) if names is None else names
            if row.keys() != set(names):
                raise ValueError(
                    "The proxy function must return the same names everywhere, and NaN for what "
                    f"is not known, but got {sorted(row)} for {params} and {sorted(names)} before."
                )
        if reference is not None:
            names = reference.names
        n_failed = sum(row is None for row in rows)
        if n_failed == len(rows) and reference is None:
            function.refuse_failure()
        names = names or ()
        values = np.array(
            [[(row or {}).get(name, np.nan) for name in names] for row in rows], dtype=np.float64
        )
        remark = function.remark(n_failed, len(rows))
        return cls(names, values, reference, n_failed=n_failed, remark=remark)

    def __getstate__(self) -> dict[str, Any]:
        """Return the values; ranks that follow from them are left out."""
        return {**vars(self), "ranks": None if self._ranks_are_own else self.ranks}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._ranks_are_own:
            self.ranks = scaled_ranks(self.values)

    def columns(self, names: Iterable[str]) -> npt.NDArray[np.intp]:
        """Positions of proxies by name, shape (n_names,).

        Raises:
            ValueError: If a name is not a proxy of this table.
        """
        positions = {name: column for column, name in enumerate(self.names)}
        names = list(names)
        unknown = [name for name in names if name not in positions]
        if unknown:
            raise ValueError(
                f"initial_proxies must be among the usable proxies {list(self.names)}, but got "
                f"{unknown}."
            )
        return np.asarray([positions[name] for name in names], dtype=np.intp)

    def names_of(self, columns: npt.NDArray[np.intp]) -> tuple[str, ...]:
        """Names of proxies by position."""
        return tuple(self.names[column] for column in columns.tolist())

    @staticmethod
    def _screened(
        names: Sequence[str],
        values: npt.NDArray[np.float64],
        n_failed: int,
        complaints: list[str],
    ) -> list[int]:
        """Find the usable columns, and add the faults of all columns to the complaints."""
        usable = []
        for column, name in enumerate(names):
            known = values[~np.isnan(values[:, column]), column]
            n_missing = len(values) - n_failed - len(known)
            n_infinite = int(np.isinf(known).sum())
            if len(known) == 0:
                complaints.append(f"{name!r} holds no number and is ignored")
                continue
            if np.all(known == known[0]):
                complaints.append(f"{name!r} is constant and is ignored")
                continue
            usable.append(column)
            if n_missing:
                complaints.append(f"{name!r} misses {n_missing} values, ranked in the middle")
            if n_infinite:
                complaints.append(f"{name!r} has {n_infinite} infinite values, ranked at the ends")
        return usable


def scaled_ranks(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Scale the average ranks of each column to [0, 1]; NaN becomes 0.5.

    Args:
        values: Array of shape (n_candidates, n_proxies).

    Returns:
        Array of the same shape.
    """
    from scipy.stats import rankdata

    ranks = rankdata(values, axis=0, nan_policy="omit")
    n_known = np.sum(~np.isnan(values), axis=0)
    scaled = (ranks - 1.0) / np.maximum(n_known - 1, 1)
    return np.asarray(np.where(np.isnan(values), 0.5, scaled), dtype=np.float64)


def _ranks_among(
    values: npt.NDArray[np.float64], reference: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Rank values among others, as if each were one of them; NaN becomes 0.5."""
    ranks = np.full(values.shape, 0.5)
    for column in range(values.shape[1]):
        known = np.sort(reference[~np.isnan(reference[:, column]), column])
        asked = ~np.isnan(values[:, column])
        below = np.searchsorted(known, values[asked, column], side="left")
        not_above = np.searchsorted(known, values[asked, column], side="right")
        rank = (below + np.maximum(not_above - 1, below)) / 2
        ranks[asked, column] = np.minimum(rank / max(len(known) - 1, 1), 1.0)
    return ranks
