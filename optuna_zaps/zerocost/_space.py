"""All proxies of all configurations of a space, in chunks that survive an interruption."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import closing
import hashlib
from itertools import groupby
import json
import math
import os
from pathlib import Path
from typing import Any
import warnings

import joblib
import pandas as pd
import torch
from torch import nn
import torch.nn.functional as F
from tqdm.auto import tqdm

from optuna_zaps.candidates import CandidateSet
from optuna_zaps.zerocost._passes import Batch
from optuna_zaps.zerocost._passes import Loss
from optuna_zaps.zerocost._score import ALL
from optuna_zaps.zerocost._score import checked_names
from optuna_zaps.zerocost._score import score_with_reasons


Builder = Callable[[dict[str, Any]], nn.Module]
Configurations = Mapping[str, Sequence[Any]] | Iterable[Mapping[str, Any]] | pd.DataFrame

_REASONS = "_reasons"


def score_space(
    builder: Builder,
    configurations: Configurations,
    batch: Batch,
    *,
    proxies: Iterable[str] = ALL,
    loss: Loss = F.cross_entropy,
    seed: int = 0,
    device: torch.device | str | None = None,
    path: Path | str | None = None,
    chunk_size: int = 32,
    n_jobs: int = 1,
    progress: bool = True,
) -> pd.DataFrame:
    """Score every configuration of a space.

    Args:
        builder:
            Makes the network of a configuration. Torch is seeded before each call.
        configurations:
            Choices by parameter, of which all combinations are scored; or one mapping per
            configuration, or a frame with a row per configuration.
        batch:
            As for :func:`~optuna_zaps.zerocost.score`.
        proxies:
            Names among ``ALL``.
        loss:
            Function of logits and targets.
        seed:
            Seed of every network.
        device:
            Where to compute, by default on CUDA where there is one.
        path:
            Directory in which finished chunks are kept as parquet files, to go on from after an
            interruption. By default nothing is kept.
        chunk_size:
            Configurations of a chunk.
        n_jobs:
            Processes, of one thread each if there are several.
        progress:
            Show a progress bar with the time left.

    Returns:
        Table that ``ZAPSSampler(proxies=...)`` takes: a row per configuration in the order given,
        parameters as the levels of its index, a column per proxy.

    Warns:
        UserWarning: One warning that says which proxies are NaN for how many configurations, and
            why. A network that cannot be built or run has NaN everywhere.

    Raises:
        ValueError: If there is no configuration or no such proxy, or the directory belongs to
            other configurations, proxies, seed or batch.

    Example:
        >>> import torch
        >>> def build(params):
        ...     width = params["width"]
        ...     return torch.nn.Sequential(
        ...         torch.nn.Linear(4, width), torch.nn.ReLU(), torch.nn.Linear(width, 3)
        ...     )
        >>> batch = torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])
        >>> table = score_space(build, {"width": [8, 16]}, batch, progress=False)
        >>> table["params"].to_dict()
        {8: 67.0, 16: 131.0}
    """
    names = checked_names(proxies)
    rows = _rows(configurations)
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    options = {"proxies": names, "loss": loss, "seed": seed, "device": str(device)}
    starts = range(0, len(rows), chunk_size)
    store = _Chunks(path, _fingerprint(rows, batch, names, seed, chunk_size))
    missing = [start for start in starts if not store.has(start)]
    tasks = [(start, rows[start : start + chunk_size]) for start in missing]
    n_done = len(rows) - sum(len(chunk) for _, chunk in tasks)
    with tqdm(
        total=len(rows), initial=n_done, desc="proxies", unit="network", disable=not progress
    ) as bar:
        scored = _scored(builder, tasks, batch, options, n_jobs)
        for start, records in groupby(scored, key=lambda pair: pair[0]):
            chunk = []
            for _, record in records:
                chunk.append(record)
                bar.update()
            store.write(start, pd.DataFrame(chunk))
    table = store.read()
    _warn_of_missing(table, names)
    parameters = pd.DataFrame(rows, dtype=object)
    table.index = (
        pd.MultiIndex.from_frame(parameters)
        if parameters.shape[1] > 1
        else pd.Index(parameters.iloc[:, 0], name=parameters.columns[0])
    )
    return table[list(names)]


class _Chunks:
    """Finished chunks by the row that they start at, in memory or in a directory.

    A chunk is renamed into place when it is whole, so whatever file is there is complete.
    """

    def __init__(self, path: Path | str | None, fingerprint: str) -> None:
        self._frames: dict[int, pd.DataFrame] = {}
        self._directory = None if path is None else Path(path)
        if self._directory is None:
            return
        self._directory.mkdir(parents=True, exist_ok=True)
        note = self._directory / "fingerprint.json"
        if not note.exists():
            _replace(note, lambda part: part.write_text(json.dumps(fingerprint), "utf-8"))
        elif json.loads(note.read_text(encoding="utf-8")) != fingerprint:
            raise ValueError(
                f"{self._directory} must hold chunks of the same configurations, proxies, seed, "
                "batch and chunk_size, but holds others. Name another path, or remove it."
            )
        for file in self._directory.glob("chunk-*.parquet"):
            self._frames[int(file.stem.removeprefix("chunk-"))] = pd.read_parquet(file)

    def has(self, start: int) -> bool:
        return start in self._frames

    def write(self, start: int, frame: pd.DataFrame) -> None:
        self._frames[start] = frame
        if self._directory is not None:
            _replace(self._directory / f"chunk-{start:09d}.parquet", frame.to_parquet)

    def read(self) -> pd.DataFrame:
        return pd.concat([self._frames[start] for start in sorted(self._frames)])


def _replace(file: Path, write: Callable[[Path], Any]) -> None:
    part = file.with_name(f"{file.name}.{os.getpid()}.part")
    write(part)
    part.replace(file)


def _rows(configurations: Configurations) -> list[dict[str, Any]]:
    if isinstance(configurations, Mapping):
        configurations = CandidateSet.grid(configurations).frame()
    if isinstance(configurations, pd.DataFrame):
        columns = [str(name) for name in configurations.columns]
        values = configurations.astype(object).itertuples(index=False, name=None)
        rows = [dict(zip(columns, row, strict=True)) for row in values]
    else:
        rows = [dict(row) for row in configurations]
    if not rows or not rows[0]:
        raise ValueError("There must be at least one configuration with a parameter.")
    odd = next((row for row in rows if row.keys() != rows[0].keys()), None)
    if odd is not None:
        raise ValueError(
            f"Every configuration must have the parameters {list(rows[0])}, but got {odd}."
        )
    return rows


def _fingerprint(
    rows: list[dict[str, Any]], batch: Batch, names: tuple[str, ...], seed: int, chunk_size: int
) -> str:
    digest = hashlib.sha256(repr((rows, names, seed, chunk_size)).encode())
    for part in batch:
        digest.update(part.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _scored(
    builder: Builder,
    tasks: list[tuple[int, list[dict[str, Any]]]],
    batch: Batch,
    options: dict[str, Any],
    n_jobs: int,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Pairs of a chunk's start and a record, the records of a chunk one after the other."""
    if n_jobs == 1:
        for start, chunk in tasks:
            for row in chunk:
                yield start, _record(builder, row, batch, options)
        return
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    finished = parallel(
        joblib.delayed(_chunk)(builder, start, chunk, batch, options) for start, chunk in tasks
    )
    with closing(finished):
        for start, records in finished:
            for record in records:
                yield start, record


def _chunk(
    builder: Builder,
    start: int,
    chunk: list[dict[str, Any]],
    batch: Batch,
    options: dict[str, Any],
) -> tuple[int, list[dict[str, Any]]]:
    torch.set_num_threads(1)
    return start, [_record(builder, row, batch, options) for row in chunk]


def _record(
    builder: Builder, row: dict[str, Any], batch: Batch, options: dict[str, Any]
) -> dict[str, Any]:
    try:
        values, reasons = score_with_reasons(lambda: builder(dict(row)), batch, **options)
    except Exception as error:  # One network of thousands must not end the work of a night.
        values = dict.fromkeys(options["proxies"], math.nan)
        reasons = dict.fromkeys(options["proxies"], f"{type(error).__name__}: {error}")
    return {**values, _REASONS: json.dumps(reasons)}


def _warn_of_missing(table: pd.DataFrame, names: Sequence[str]) -> None:
    told = []
    for name in names:
        missing = table[name].isna()
        if missing.any():
            reason = json.loads(table.loc[missing, _REASONS].iloc[0])[name]
            told.append(f"{name} for {missing.sum()} ({reason})")
    if told:
        warnings.warn(
            f"Of {len(table)} configurations, proxies that cannot be computed are NaN: "
            f"{'; '.join(told)}.",
            stacklevel=3,
        )
