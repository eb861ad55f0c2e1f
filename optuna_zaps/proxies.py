"""Cheap numbers known for every candidate, and their ranks (Section 3.4: r(a)).

Notations:
    values: float64 array of shape (n_candidates, n_proxies), as the user gave them.
    ranks: float64 array of the same shape, average ranks over all candidates scaled to [0, 1].
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import inspect
from pathlib import Path
from typing import Any
import warnings

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import rankdata
from tqdm.auto import tqdm

from optuna_zaps.candidates import CandidateSet


ProxyFunction = Callable[[dict[str, Any]], Mapping[str, float]]


class ProxyTable:
    """Proxies aligned with a candidate set, useless ones removed.

    Args:
        values:
            Frame of shape (n_candidates, n_proxies), row ``i`` belonging to candidate ``i``.
        reference:
            Table that says which proxies are of use, and among whose values the ranks are
            counted, so that they can be compared from one set of candidates to another. By
            default the values' own.

    Attributes:
        names: Names of the proxies that are of use.
        values: See the module's notations.
        ranks: See the module's notations. A missing value takes the middle rank 0.5.

    Warns:
        UserWarning: One warning that names every proxy that is dropped (constant, or without a
            single number) or that has non-finite values, and says what becomes of them.

    Raises:
        ValueError: If a column is not numeric or a name occurs twice.
    """

    def __init__(self, values: pd.DataFrame, reference: ProxyTable | None = None) -> None:
        if reference is not None:
            self.names: tuple[str, ...] = reference.names
            self.values = values[list(self.names)].to_numpy(dtype=np.float64, na_value=np.nan)
            self.ranks = _ranks_among(self.values, reference.values)
            return
        repeated = values.columns[values.columns.duplicated()].unique().tolist()
        if repeated:
            raise ValueError(f"Each proxy must have a name of its own, but got {repeated} twice.")
        for name in values.columns:
            if not pd.api.types.is_numeric_dtype(values[name].dtype):
                raise ValueError(
                    f"Proxies must be numbers, but column {name!r} has dtype "
                    f"{values[name].dtype}. Drop it, or name it in search_space if it is a "
                    "parameter."
                )
        array = values.to_numpy(dtype=np.float64, na_value=np.nan)
        kept = self._report(list(map(str, values.columns)), array)
        self.names = tuple(str(values.columns[column]) for column in kept)
        self.values = np.asarray(array[:, kept], dtype=np.float64)
        self.ranks = scaled_ranks(self.values)

    @classmethod
    def from_function(
        cls,
        function: ProxyFunction,
        candidates: CandidateSet,
        reference: ProxyTable | None = None,
    ) -> ProxyTable:
        """Call a function once for every candidate, under a progress bar if it takes long.

        Args:
            function: From parameters to proxies.
            candidates: What it is called for.
            reference: As for the class.

        Raises:
            ValueError: If the function does not return a mapping from names to numbers, or not
                the same names everywhere.
        """
        rows: list[Mapping[str, float]] = []
        for candidate in tqdm(
            range(len(candidates)), desc="proxies", unit="configuration", leave=False, delay=1
        ):
            params = candidates.params(candidate)
            row = function(params)
            if not isinstance(row, Mapping):
                raise ValueError(
                    "The proxy function must return a mapping {name: number}, but got "
                    f"{row!r} for {params}."
                )
            if rows and row.keys() != rows[0].keys():
                raise ValueError(
                    f"The proxy function must return the same names everywhere, but got "
                    f"{sorted(row)} for {params} and {sorted(rows[0])} before."
                )
            rows.append(row)
        return cls(pd.DataFrame(rows), reference)

    @property
    def frame(self) -> pd.DataFrame:
        """Values as a frame of shape (n_candidates, n_proxies)."""
        return pd.DataFrame(self.values, columns=list(self.names))

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

    @staticmethod
    def _report(names: Sequence[str], values: npt.NDArray[np.float64]) -> list[int]:
        """Warn once of what is not as it should be; return the columns of use."""
        kept, complaints = [], []
        for column, name in enumerate(names):
            known = values[~np.isnan(values[:, column]), column]
            n_missing = len(values) - len(known)
            n_infinite = int(np.isinf(known).sum())
            if len(known) == 0:
                complaints.append(f"{name!r} holds no number and is ignored")
                continue
            if np.all(known == known[0]):
                complaints.append(f"{name!r} is constant and is ignored")
                continue
            kept.append(column)
            if n_missing:
                complaints.append(f"{name!r} misses {n_missing} values, ranked in the middle")
            if n_infinite:
                complaints.append(f"{name!r} has {n_infinite} infinite values, ranked at the ends")
        if complaints:
            warnings.warn(
                f"Proxies: {'; '.join(complaints)}.", UserWarning, stacklevel=_level_of_the_user()
            )
        return kept


def _level_of_the_user() -> int:
    """Stack level, seen from the caller, of the first frame outside this package."""
    package = str(Path(__file__).parent)
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1
    return level


def scaled_ranks(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Average ranks of each column scaled to [0, 1]; NaN becomes 0.5.

    Args:
        values: Array of shape (n_candidates, n_proxies).

    Returns:
        Array of the same shape.
    """
    ranks = rankdata(values, axis=0, nan_policy="omit")
    n_known = np.sum(~np.isnan(values), axis=0)
    scaled = (ranks - 1.0) / np.maximum(n_known - 1, 1)
    return np.asarray(np.where(np.isnan(values), 0.5, scaled), dtype=np.float64)


def _ranks_among(
    values: npt.NDArray[np.float64], reference: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Scaled ranks that values have, or would have, among others; NaN becomes 0.5."""
    ranks = np.full(values.shape, 0.5)
    for column in range(values.shape[1]):
        known = np.sort(reference[~np.isnan(reference[:, column]), column])
        asked = ~np.isnan(values[:, column])
        below = np.searchsorted(known, values[asked, column], side="left")
        not_above = np.searchsorted(known, values[asked, column], side="right")
        rank = (below + np.maximum(not_above - 1, below)) / 2
        ranks[asked, column] = np.minimum(rank / max(len(known) - 1, 1), 1.0)
    return ranks


def split_table(
    table: pd.DataFrame, parameters: Sequence[str] | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tell the parameters of a user's table from its proxies.

    Args:
        table:
            Frame with a configuration per row. Its parameters are the columns or index levels
            named ``parameters``; without ``parameters``, the named index levels, and where the
            index has no names, the columns that are not numeric.
        parameters:
            Names of the parameters, where they are known. An unnamed index of tuples is read in
            this order.

    Returns:
        Frame of the parameters and frame of the proxies, both of n_candidates rows.

    Raises:
        ValueError: If a parameter is missing, or nothing tells which columns are parameters.
    """
    table = _index_to_columns(table, parameters)
    if parameters is None:
        parameters = [
            name
            for name in table.columns
            if not pd.api.types.is_numeric_dtype(table[name].dtype)
            or pd.api.types.is_bool_dtype(table[name].dtype)
        ]
        if not parameters:
            raise ValueError(
                "Cannot tell parameters from proxies: all columns are numeric. Pass "
                "search_space=, or name the parameters by table.set_index([...])."
            )
    missing = [name for name in parameters if name not in table.columns]
    if missing:
        raise ValueError(
            f"The proxy table must have a column for each parameter, but {missing} are missing "
            f"from its columns {list(table.columns)}."
        )
    names = list(parameters)
    return table[names], table.drop(columns=names)


def _index_to_columns(table: pd.DataFrame, parameters: Sequence[str] | None) -> pd.DataFrame:
    index = table.index
    if all(name is not None for name in index.names):
        if parameters is None:
            # Named levels say which values are parameters, whatever their type.
            levels = index.to_frame(index=False).astype(object)
            return pd.concat([levels, table.reset_index(drop=True)], axis=1)
        return table.reset_index()
    table = table.reset_index(drop=True)
    if isinstance(index, pd.RangeIndex) or not isinstance(index[0], tuple):
        return table
    if parameters is None:
        raise ValueError(
            "An index of tuples must have named levels, or search_space must give the "
            "parameters' names."
        )
    if len(index[0]) != len(parameters):
        raise ValueError(
            f"Each tuple of the index must have one value per parameter {list(parameters)}, but "
            f"got {index[0]}."
        )
    levels = pd.DataFrame(list(index), columns=list(parameters), dtype=object)
    return pd.concat([levels, table], axis=1)
