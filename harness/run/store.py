"""A directory in which each finished cell is one file, written once and whole."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import asdict
from dataclasses import replace
import gzip
import json
from pathlib import Path
from typing import Any
import warnings

import numpy as np

from harness.experiment import Cell
from harness.experiment import CellResult
from harness.experiment import SamplerSpec
from harness.run.files import check_writable
from harness.run.files import write_whole


class Store:
    """Results by the content hash of their cell.

    Args:
        directory: Directory of the results; made when the first result is saved.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        # Worker processes may have begun in another folder.
        self._cells = directory.absolute() / "cells"

    def path(self, cell: Cell) -> Path:
        """File of a cell, whether it is there or not."""
        return self._cells / f"{cell.key}.json.gz"

    def save(self, result: CellResult) -> None:
        """Write a result so that its file is whole or not there, whatever happens meanwhile."""
        content = gzip.compress(json.dumps(asdict(result), default=_plain).encode(), mtime=0)
        write_whole(self.path(result.cell), content)

    def check_writable(self, names: Iterable[str] = ()) -> None:
        """Try the directory before studies are run for it.

        Args:
            names: Files that will be written beside the cells.

        Raises:
            ValueError: If it cannot be written.
        """
        check_writable(self.directory, names)
        check_writable(self._cells)

    def load(self, cell: Cell) -> CellResult | None:
        """Load the result of a cell under the cell's own label, ``None`` if there is none.

        Warns:
            UserWarning: If the file is there but cannot be read; it counts as missing.
        """
        result = self._read(self.path(cell))
        if result is None:
            return None
        return CellResult(**{**_fields(result), "cell": cell})

    def found(self, cells: Iterable[Cell]) -> Iterator[CellResult]:
        """Results of those of the cells that are there, in their order."""
        for cell in cells:
            result = self.load(cell)
            if result is not None:
                yield result

    def load_all(self) -> list[CellResult]:
        """Load all results, in the order in which they were finished.

        Warns:
            UserWarning: Names each file that cannot be read.
        """
        results = [self._read(path) for path in sorted(self._cells.glob("*.json.gz"))]
        return sorted(
            (result for result in results if result is not None),
            key=lambda result: (str(result.provenance.get("finished")), result.cell.seed),
        )

    def missing(self, cells: Iterable[Cell]) -> list[Cell]:
        """Cells without a readable result."""
        return [cell for cell in cells if self._read(self.path(cell)) is None]

    def larger(self, cells: Sequence[Cell]) -> list[Cell | None]:
        """Stored cells by evaluations for those by trials, in their order, else ``None``.

        A study by evaluations has the one by trials in it.
        """
        by_evaluations = [replace(cell, by_trials=False) for cell in cells if cell.by_trials]
        missing = {cell.key for cell in self.missing(by_evaluations)}
        larger = (replace(cell, by_trials=False) for cell in cells)
        return [
            other if cell.by_trials and other.key not in missing else None
            for cell, other in zip(cells, larger, strict=True)
        ]

    @staticmethod
    def _read(path: Path) -> CellResult | None:
        try:
            return _result(json.loads(gzip.decompress(path.read_bytes())))
        except FileNotFoundError:
            return None
        except Exception as error:  # Damage has many names: zlib.error, EOFError, KeyError, ...
            warnings.warn(
                f"{path} is no readable result ({type(error).__name__}: {error}) and counts as "
                "missing.",
                stacklevel=3,
            )
            return None


def latest(results: Sequence[CellResult]) -> list[CellResult]:
    """Results of the latest version of each sampler and problem, in their given order.

    A directory that saw several versions of the code holds cells of all of them under one label.

    Args:
        results: Results in the order in which they were finished.

    Returns:
        Those whose sampler and numbers are those of the last result of their label and problem.
    """
    newest = {_row(result): _version(result) for result in results}
    return [result for result in results if _version(result) == newest[_row(result)]]


def _row(result: CellResult) -> tuple[str, str]:
    return (result.cell.problem, result.cell.sampler.label)


def _version(result: CellResult) -> tuple[Any, ...]:
    sampler = result.cell.sampler
    arguments = json.dumps(sampler.arguments, sort_keys=True)
    return (
        result.cell.problem_fingerprint,
        sampler.target,
        arguments,
        sampler.fingerprint,
    )


def _result(content: dict[str, Any]) -> CellResult:
    """Read a result from the content of its file.

    Raises:
        Exception: Of several types, if that is no result.
    """
    cell = content.pop("cell")
    sampler = SamplerSpec(**cell.pop("sampler"))
    lists = {name: tuple(value) for name, value in content.items() if isinstance(value, list)}
    result = CellResult(cell=Cell(**cell, sampler=sampler), **{**content, **lists})
    _check(result)
    return result


def _check(result: CellResult) -> None:
    cell, sampler = result.cell, result.cell.sampler
    n_asks = len(result.asked)
    types: tuple[tuple[type | tuple[type, ...], Iterable[Any]], ...] = (
        (str, (cell.problem, cell.problem_fingerprint, cell.durations)),
        (str, (sampler.label, sampler.target, sampler.fingerprint)),
        (dict, (sampler.arguments, result.provenance, *result.user_attrs, *result.constraints)),
        (int, (cell.seed, cell.budget, cell.in_flight, *result.asked)),
        (bool, (cell.by_trials, sampler.budget_aware)),
        ((int, float), (*result.ask_seconds, *result.tell_seconds)),
        ((int, float, list), result.values),
        ((int, float, type(None)), (result.spearman,)),
        ((int, float), result.seconds or ()),
        ((int, type(None)), (result.recommended,)),
    )
    sound = all(isinstance(value, expected) for expected, values in types for value in values)
    by_ask = (result.ask_seconds, result.tell_seconds, result.user_attrs, result.seconds)
    lengths = {len(each) for each in by_ask if each is not None}
    if not sound or lengths != {n_asks} or not n_asks or min(result.asked) < 0:
        raise ValueError("it does not hold a study's asks with their seconds and attributes")


def _plain(value: Any) -> Any:
    """Form of a sampler's attribute that JSON can hold: numbers and lists, else the text."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


def _fields(result: CellResult) -> dict[str, Any]:
    return {name: getattr(result, name) for name in CellResult.__dataclass_fields__}
