"""Numbers that are cheap to compute for every candidate, and their ranks (Section 3.4: r(a)).

Notations:
    values: float64 array of shape (n_candidates, n_proxies), as the user gave them.
    ranks: float64 array of the same shape, average ranks over all candidates scaled to [0, 1].
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm.auto import tqdm

from optuna_zaps import _checks
from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.choices import is_missing
from optuna_zaps.search.proxy_function import ProxyFunction
from optuna_zaps.search.proxy_function import RememberedProxies
from optuna_zaps.search.proxy_function import real_number


if TYPE_CHECKING:
    import pandas as pd


class ProxyTable:
    """Proxies aligned with a candidate set, useless ones removed.

    Args:
        values:
            Frame of shape (n_candidates, n_proxies), row ``i`` belonging to candidate ``i``.
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

    Raises:
        ValueError: If a column does not hold real numbers or a name occurs twice.
    """

    def __init__(
        self,
        values: pd.DataFrame,
        reference: ProxyTable | None = None,
        *,
        n_failed: int = 0,
        remark: str | None = None,
    ) -> None:
        complaints = [remark] if remark else []
        values = values.set_axis(list(map(str, values.columns)), axis="columns")
        self._ranks_are_own = reference is None
        if reference is not None:
            self.names: tuple[str, ...] = reference.names
            self.values = _numbers(values[list(self.names)])
            self.ranks = _ranks_among(self.values, reference.values)
        else:
            repeated = values.columns[values.columns.duplicated()].unique().tolist()
            if repeated:
                raise ValueError(
                    f"Each proxy must have a name of its own, but got {repeated} twice."
                )
            array = _numbers(values)
            usable = self._screened(list(values.columns), array, n_failed, complaints)
            self.names = tuple(values.columns[column] for column in usable)
            self.values = np.asarray(array[:, usable], dtype=np.float64)
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
        import pandas as pd

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
        frame = pd.DataFrame(
            [[(row or {}).get(name, np.nan) for name in names] for row in rows],
            columns=list(names),
            dtype=np.float64,
        )
        return cls(
            frame, reference, n_failed=n_failed, remark=function.remark(n_failed, len(rows))
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the values; ranks that follow from them are left out."""
        return {**vars(self), "ranks": None if self._ranks_are_own else self.ranks}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._ranks_are_own:
            self.ranks = scaled_ranks(self.values)

    @property
    def frame(self) -> pd.DataFrame:
        """Values as a frame of shape (n_candidates, n_proxies)."""
        import pandas as pd

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


def _numbers(values: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Values of proxies as floats, NaN where they are missing, shape (n_candidates, n_proxies).

    Raises:
        ValueError: If a column does not hold real numbers.
    """
    array = np.empty(values.shape, dtype=np.float64, order="F")
    for column, name in enumerate(values.columns):
        array[:, column] = _floats(str(name), values[name])
    return array


def _floats(name: str, column: pd.Series[Any]) -> npt.NDArray[np.float64]:
    import pandas as pd

    dtype = column.dtype
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    holds = ""
    if pd.api.types.is_object_dtype(dtype) or isinstance(dtype, pd.CategoricalDtype):
        values = column.tolist()
        numbers = [real_number(value) for value in values]
        if None not in numbers:
            return np.array(numbers, dtype=np.float64)
        holds = f" and holds {values[numbers.index(None)]!r}"
    raise ValueError(
        f"Proxies must be real numbers, but column {name!r} has dtype {dtype}{holds}. Drop it, or "
        "name it in search_space if it is a parameter."
    )


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


def split_table(
    table: pd.DataFrame, parameters: Sequence[str] | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tell the parameters of a user's table from its proxies.

    Args:
        table:
            Frame with a configuration per row. Its parameters are the columns or index levels
            named ``parameters``; without ``parameters``, the named index levels, and where the
            index has no names, the columns that are not numeric. Names count as text.
        parameters:
            Names of the parameters, where they are known. An unnamed index of tuples is read in
            this order, unless the columns have them all.

    Returns:
        Frame of the parameters and frame of the proxies, both of n_candidates rows.

    Raises:
        ValueError: If a parameter is missing, a name occurs twice, or nothing tells which columns
            are parameters.
    """
    import pandas as pd

    if isinstance(table.columns, pd.MultiIndex):
        raise ValueError(
            "The proxy table must have one name for each column, but has tuples of names as "
            f"{table.columns[0]!r}. Join them, for example by table.columns = "
            "table.columns.map(' '.join)."
        )
    columns = table.reset_index(drop=True).set_axis(list(map(str, table.columns)), axis="columns")
    levels = _levels(table.index, columns, parameters)
    table = pd.concat([levels, columns], axis="columns")
    repeated = table.columns[table.columns.duplicated()].unique().tolist()
    if repeated:
        raise ValueError(
            "Each column and each level of the index of the proxy table must have a name of its "
            f"own, but {repeated} occur more than once. Drop or rename them, or "
            "table.reset_index(drop=True) where the index repeats a column."
        )
    if parameters is None:
        parameters = levels.columns.tolist() or _not_numeric(table)
    missing = [name for name in parameters if name not in table.columns]
    if missing:
        raise ValueError(
            f"The proxy table must have a column for each parameter, but {missing} are missing "
            f"from its columns {list(table.columns)}."
        )
    names = list(parameters)
    return table[names], table.drop(columns=names)


def _levels(
    index: pd.Index[Any], columns: pd.DataFrame, parameters: Sequence[str] | None
) -> pd.DataFrame:
    """Turn the levels of an index into columns, none of one that only counts the rows."""
    import pandas as pd

    if all(name is not None for name in index.names):
        # Two levels may have the same name, which pandas makes no frame of.
        levels = index.set_names(list(range(index.nlevels))).to_frame(index=False)
        return levels.set_axis(list(map(str, index.names)), axis="columns")
    nothing = pd.DataFrame(index=range(len(index)))
    if not _holds_tuples(index):
        return nothing
    if parameters is None:
        raise ValueError(
            "An index of tuples must have named levels, or search_space must give the "
            "parameters' names."
        )
    if set(parameters) <= set(columns):
        return nothing
    for row in index:
        if len(row) != len(parameters):
            raise ValueError(
                "Each tuple of the index must have one value per parameter "
                f"{list(parameters)}, but got {row}."
            )
    if len(index.names) > 1 and any(
        level is not None and str(level) != name
        for level, name in zip(index.names, parameters, strict=True)
    ):
        raise ValueError(
            "The index must name all of its levels or none, or those that have names as "
            f"{list(parameters)}, but they are {list(index.names)}."
        )
    return pd.DataFrame(list(index), columns=list(parameters), dtype=object)


def _holds_tuples(index: pd.Index[Any]) -> bool:
    import pandas as pd

    if not pd.api.types.is_object_dtype(index):
        return False
    return len(index) > 0 and all(isinstance(row, tuple) for row in index)


def _not_numeric(table: pd.DataFrame) -> list[str]:
    """Find the parameters among the columns where nothing names them.

    Raises:
        ValueError: If there is none, or if a column of numbers is one of objects, which is either.
    """
    import pandas as pd

    names = [
        name
        for name in table.columns
        if not pd.api.types.is_numeric_dtype(table[name].dtype)
        or pd.api.types.is_bool_dtype(table[name].dtype)
    ]
    if not names:
        raise ValueError(
            "Cannot tell parameters from proxies: all columns are numeric. Pass search_space=, or "
            "name the parameters by table.set_index([...])."
        )
    either = [
        name
        for name in names
        if pd.api.types.is_object_dtype(table[name]) and _is_numbers(table[name])
    ]
    if either:
        raise ValueError(
            f"Cannot tell whether {either}, numbers in columns of dtype object, are parameters or "
            "proxies. Make them numeric by table.infer_objects() if they are proxies; if they are "
            "parameters, pass search_space=, or name the parameters by table.set_index([...])."
        )
    return names


def _is_numbers(column: pd.Series[Any]) -> bool:
    known = [value for value in column.tolist() if not is_missing(value)]
    return bool(known) and all(
        isinstance(value, Real) and not isinstance(value, bool) for value in known
    )
