"""A user's file of results as a table: one command compares samplers on it.

The text of such a problem is ``FILE?params=lr,width&objective=score``, with these options:

- ``params``: columns that a sampler chooses; by default those that hold no numbers.
- ``objective``: column to optimise; several make a trade-off.
- ``direction``: ``maximize`` (the default) or ``minimize`` for each objective, or one for all.
- ``proxies``: columns that a sampler may see of every configuration beforehand.
- ``limit``: ``column<=number`` or ``column>=number``.

Any other column is not used. A parameter of numbers is ordered, and searched by the position of
its value among the sorted ones, as in the HPO tables; any other is categorical.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
import re

import numpy as np
import numpy.typing as npt
from optuna.distributions import IntDistribution
import pandas as pd

from harness.problems.extended import ExtendedTable
from harness.problems.extended import Limit
from harness.problems.extended import Objective
from harness.problems.options import compose
from harness.problems.options import decompose
from harness.problems.options import directions_of
from harness.problems.table import TabularBenchmark


OPTIONS = ("params", "objective", "direction", "proxies", "limit")

# An empty cell is missing; "None" and "NA" may be choices.
_READERS: Mapping[str, Callable[[Path], pd.DataFrame]] = {
    ".csv": lambda path: pd.read_csv(path, keep_default_na=False, na_values=[""]),
    ".parquet": pd.read_parquet,
    ".xlsx": lambda path: pd.read_excel(path, keep_default_na=False, na_values=[""]),
}
_LIMIT = re.compile(r"(?P<column>.+?)\s*(?P<sign><=|>=)\s*(?P<bound>[^<>=]+)")
_MOST_NAMED = 5


def is_file(target: str) -> bool:
    """Whether a target is the path of a file of results."""
    return Path(target).suffix.lower() in _READERS


def resolved(text: str) -> str:
    """Text with the whole path of its file, which other processes and folders can resolve."""
    target, options = decompose(text, OPTIONS)
    return compose(str(Path(target).expanduser().resolve()), options)


def short_name(text: str) -> str:
    """Short name for tables: the file and its objectives."""
    target, options = decompose(text, OPTIONS)
    return f"{Path(target).name}: {', '.join(options['objective'])}"


def load(text: str) -> TabularBenchmark | ExtendedTable:
    """Read the table of a text; a second call gives the same object unless the file changed.

    Raises:
        ValueError: If the file cannot be read, or is not what the options say.
    """
    path = Path(decompose(text, OPTIONS)[0])
    try:
        state = path.stat()
    except OSError as error:
        raise ValueError(f"The file {path} cannot be read: {error.strerror}.") from error
    return _read(resolved(text), state.st_mtime_ns, state.st_size)


@lru_cache
def _read(text: str, modified: int, size: int) -> TabularBenchmark | ExtendedTable:
    target, options = decompose(text, OPTIONS)
    path = Path(target)
    frame = _frame(path)
    if not options["objective"]:
        numeric = [name for name in frame.columns if pd.api.types.is_numeric_dtype(frame[name])]
        raise ValueError(
            f"The objective of {path.name} must be named (--objective COLUMN); its columns of "
            f"numbers are {', '.join(numeric) or 'none'}."
        )
    objectives = options["objective"]
    limits = [_limit(limit) for limit in options["limit"]]
    params = options["params"] or [
        name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])
    ]
    if not params:
        raise ValueError(
            f"The parameters of {path.name} must be named (--params COLUMN,COLUMN): columns of "
            "numbers are parameters only where they are named."
        )
    numbers = [*objectives, *options["proxies"], *(limit[0] for limit in limits)]
    _check_columns(path.name, frame, params, numbers)
    _check_distinct(params, objectives, options["proxies"])
    columns = _numbers(path.name, frame, numbers)
    wanted = pd.concat(
        [_parameters(path.name, frame, params), columns.drop(columns=params, errors="ignore")],
        axis="columns",
    )
    averaged = wanted.groupby(params, sort=False, as_index=False).mean()
    if len(averaged) < 2:
        raise ValueError(
            f"{path.name} must hold at least two configurations, but holds {len(averaged)}."
        )
    for name in objectives:
        if averaged[name].nunique() == 1:
            raise ValueError(
                f"The objective {name!r} of {path.name} must differ between configurations, but "
                f"is {averaged[name].iloc[0]:g} in all of them."
            )
    notes = _notes(path.name, frame, averaged, options["proxies"])
    levels = {
        name: np.unique(averaged[name]).tolist()
        for name in params
        if pd.api.types.is_numeric_dtype(averaged[name])
        and not pd.api.types.is_bool_dtype(averaged[name])
    }
    positions = {
        name: np.searchsorted(levels[name], averaged[name]) if name in levels else averaged[name]
        for name in params
    }
    directions = directions_of(options["direction"] or ["maximize"], objectives)
    table = TabularBenchmark(
        text=text,
        parameters=pd.DataFrame(positions).astype(object),
        values=averaged[objectives[0]].to_numpy(),
        proxies=averaged[options["proxies"]],
        notes=notes,
        objective=objectives[0],
        direction=directions[0],
        distributions={name: IntDistribution(0, len(each) - 1) for name, each in levels.items()},
        levels=levels,
    )
    if len(objectives) == 1 and not limits:
        return table
    return ExtendedTable(
        text,
        table,
        {
            name: Objective(averaged[name].to_numpy(), direction)
            for name, direction in zip(objectives[1:], directions[1:], strict=True)
        },
        _limits(path.name, averaged, limits),
    )


def _frame(path: Path) -> pd.DataFrame:
    try:
        frame = _READERS[path.suffix.lower()](path)
    except ImportError as error:  # Excel needs a package that pandas does not bring.
        raise ValueError(f"{path.name} cannot be read without a package: {error}") from error
    except (OSError, ValueError, KeyError) as error:
        raise ValueError(f"{path.name} cannot be read as a table: {error}") from error
    frame.columns = [str(name).strip() for name in frame.columns]
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise ValueError(
            f"The columns of {path.name} must each have a name of their own, but several are "
            f"named {repeated[0]!r}."
        )
    return frame


def _check_columns(
    file: str, frame: pd.DataFrame, params: Sequence[str], numbers: Sequence[str]
) -> None:
    unknown = [name for name in dict.fromkeys([*params, *numbers]) if name not in frame.columns]
    if unknown:
        raise ValueError(
            f"{file} has no column {', '.join(map(repr, unknown))}; its columns are "
            f"{', '.join(map(str, frame.columns))}."
        )


def _check_distinct(*roles: Sequence[str]) -> None:
    """Check that no column is a parameter, an objective and a proxy at once."""
    named = [name for role in roles for name in role]
    repeated = sorted({name for name in named if named.count(name) > 1})
    if repeated:
        raise ValueError(
            "A column must be named once, as a parameter, an objective or a proxy, but "
            f"{', '.join(repeated)} is named several times."
        )


def _parameters(file: str, frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Columns of the parameters, of numbers where every cell is one."""
    for name in names:
        _check_rows(file, frame, name, frame[name].isna(), "a value")
    return pd.DataFrame(
        {
            name: frame[name]
            if pd.api.types.is_numeric_dtype(frame[name])
            else frame[name].astype(object)
            for name in names
        }
    )


def _numbers(file: str, frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    columns = {}
    for name in dict.fromkeys(names):
        columns[name] = pd.to_numeric(frame[name], errors="coerce").astype(np.float64)
        _check_rows(file, frame, name, ~np.isfinite(columns[name]), "a finite number")
    return pd.DataFrame(columns)


def _check_rows(
    file: str, frame: pd.DataFrame, name: str, wrong: npt.ArrayLike, expected: str
) -> None:
    rows = np.flatnonzero(wrong)
    if not rows.size:
        return
    cell = frame[name].iloc[rows[0]]
    found = "is empty" if pd.isna(cell) else f"holds {cell!r}"
    # As a person counts them: from 1, below the names of the columns.
    others = [str(row + 1) for row in rows[1:_MOST_NAMED]]
    also = f" (and so {', '.join(others)}{', ...' * (rows.size > _MOST_NAMED)})" if others else ""
    raise ValueError(
        f"The column {name!r} of {file} must hold {expected} in every row, but row {rows[0] + 1} "
        f"{found}{also}."
    )


def _limit(text: str) -> tuple[str, str, float]:
    match = _LIMIT.fullmatch(text.strip())
    try:
        assert match is not None
        return match["column"].strip(), match["sign"], float(match["bound"])
    except (AssertionError, ValueError):
        raise ValueError(
            f"A limit must be written 'column<=number' or 'column>=number', but got {text!r}."
        ) from None


def _limits(
    file: str, averaged: pd.DataFrame, limits: Sequence[tuple[str, str, float]]
) -> dict[str, Limit]:
    made: dict[str, Limit] = {}
    for column, sign, bound in limits:
        name = column if column not in made else f"{column} {sign}"  # From both sides.
        made[name] = Limit(averaged[column].to_numpy(), bound, sign == "<=", column)
    if limits and not np.all([each.violations <= 0 for each in made.values()], axis=0).any():
        raise ValueError(
            f"A configuration of {file} must meet the limits "
            f"{', '.join(f'{column}{sign}{bound:g}' for column, sign, bound in limits)}, but none "
            "does."
        )
    return made


def _notes(
    file: str, frame: pd.DataFrame, averaged: pd.DataFrame, proxies: Sequence[str]
) -> tuple[str, ...]:
    size = f"{file} holds {len(averaged)} configurations"
    n_repeated = len(frame) - len(averaged)
    repeated = f"; {n_repeated} rows repeat one, and their numbers are averaged."
    seen = f"Proxies are {', '.join(proxies)}." if proxies else "There are no proxies."
    return (size + (repeated if n_repeated else "."), seen)
