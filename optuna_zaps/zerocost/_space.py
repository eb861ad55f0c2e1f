"""All proxies of all configurations of a space, in chunks that survive an interruption."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import closing
from itertools import groupby
import json
import math
from pathlib import Path
from typing import Any
import warnings

import joblib
import pandas as pd
import torch
from torch import nn
import torch.nn.functional as F
from tqdm.auto import tqdm

from optuna_zaps import _checks
from optuna_zaps.zerocost._checks import checked_batch
from optuna_zaps.zerocost._checks import checked_builder
from optuna_zaps.zerocost._checks import checked_device
from optuna_zaps.zerocost._checks import checked_model
from optuna_zaps.zerocost._checks import checked_n_jobs
from optuna_zaps.zerocost._checks import checked_seed
from optuna_zaps.zerocost._checks import one_line
from optuna_zaps.zerocost._chunks import REASONS
from optuna_zaps.zerocost._chunks import Chunks
from optuna_zaps.zerocost._configurations import Configurations
from optuna_zaps.zerocost._configurations import checked_rows
from optuna_zaps.zerocost._key import Key
from optuna_zaps.zerocost._passes import Batch
from optuna_zaps.zerocost._passes import Loss
from optuna_zaps.zerocost._score import ALL
from optuna_zaps.zerocost._score import OF_LOSS
from optuna_zaps.zerocost._score import checked_names
from optuna_zaps.zerocost._score import score_with_reasons


Builder = Callable[[dict[str, Any]], nn.Module]


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
            interruption. By default nothing is kept. It belongs to one key: configurations,
            proxies, seed, batch, chunk size, type of device, torch's default data type, loss,
            builder, and the versions of Python, torch and this package. Builder and loss count
            with the code and the values that they read (closure, defaults, attributes, global
            names, functions and classes that they call); installed packages count by their
            version, and what a builder changes itself as it runs (a counter) does not count.
            Files and environment variables that they read are not seen.
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
            why. A network that cannot be built or run has NaN everywhere. Another one names the
            damaged files of the directory, which are computed anew.

    Raises:
        ValueError: If there is no configuration or no such proxy, the batch is no pair of tensors
            of the same length, the device is not there, the chunk size is not positive, the
            directory belongs to another key, or no configuration at all can be scored, which is
            a mistake of the builder, batch or loss. Nothing is stored then.
        TypeError: If the builder or the loss is no function, a number no integer, or the
            configurations no mapping of sequences, no mappings and no frame.

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
    if not names:
        raise ValueError("proxies must name at least one proxy, but is empty.")
    checked_builder(builder)
    _checks.function("loss", loss, "a function of logits and targets")
    batch, seed, n_jobs = checked_batch(batch), checked_seed(seed), checked_n_jobs(n_jobs)
    chunk_size = _checks.integer("chunk_size", chunk_size, least=1)
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    there = checked_device(device)
    rows = checked_rows(configurations)
    options = {"proxies": names, "loss": loss, "seed": seed, "device": str(there)}
    chunks = {start: rows[start : start + chunk_size] for start in range(0, len(rows), chunk_size)}
    sizes = {start: len(chunk) for start, chunk in chunks.items()}
    decisive = {
        "configurations": rows,
        "batch": batch,
        "proxies": names,
        "seed": seed,
        "chunk_size": chunk_size,
        "device": there.type,
    }
    key = Key(decisive, {"builder": builder, "loss": loss})
    store = Chunks(path, sizes, names, key)
    tasks = [(start, chunk) for start, chunk in chunks.items() if not store.has(start)]
    n_done = len(rows) - sum(len(chunk) for _, chunk in tasks)
    with tqdm(
        total=len(rows), initial=n_done, desc="proxies", unit="network", disable=not progress
    ) as bar:
        scored = _scored(builder, tasks, batch, options, n_jobs)
        try:
            for start, records in groupby(scored, key=lambda pair: pair[0]):
                chunk = []
                for _, record in records:
                    chunk.append(record)
                    bar.update()
                frame = pd.DataFrame(chunk)
                store.write(start, frame, sound=_is_sound(frame, names))
        finally:
            store.leave_out_changes()
    table = store.read()
    if not _is_sound(table, names):
        raise ValueError(_mistake(table, names, rows))
    _warn_of_missing(table, names)
    parameters = pd.DataFrame(rows, dtype=object)
    table.index = (
        pd.MultiIndex.from_frame(parameters)
        if parameters.shape[1] > 1
        else pd.Index(parameters.iloc[:, 0], name=parameters.columns[0])
    )
    return table[list(names)]


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
        values, reasons = score_with_reasons(
            lambda: checked_model(builder(dict(row)), "builder"), batch, **options
        )
    except Exception as error:  # One network of thousands must not end the work of a night.
        values = dict.fromkeys(options["proxies"], math.nan)
        reasons = dict.fromkeys(options["proxies"], f"{type(error).__name__}: {one_line(error)}")
    return {**values, REASONS: json.dumps(reasons)}


def _telling(names: Sequence[str]) -> list[str]:
    """Proxies that show whether the call can be right: those that need all of its arguments."""
    return [name for name in names if name in OF_LOSS] or list(names)


def _is_sound(table: pd.DataFrame, names: Sequence[str]) -> bool:
    return bool(table[_telling(names)].notna().any(axis=None))


def _mistake(table: pd.DataFrame, names: Sequence[str], rows: Sequence[dict[str, Any]]) -> str:
    telling = _telling(names)
    reason = json.loads(table[REASONS].iloc[0])[telling[0]]
    return (
        f"At least one configuration must have a value of {', '.join(telling)}, but none of the "
        f"{len(table)} has. The reason of the first is: {reason}. Correct the builder, the batch "
        "or the loss, or leave these proxies out. To look at one network: "
        f"score(lambda: builder({rows[0]}), batch)."
    )


def _warn_of_missing(table: pd.DataFrame, names: Sequence[str]) -> None:
    told = []
    for name in names:
        missing = table[name].isna()
        if missing.any():
            reason = json.loads(table.loc[missing, REASONS].iloc[0])[name]
            told.append(f"{name} for {missing.sum()} ({reason})")
    if told:
        warnings.warn(
            f"Of {len(table)} configurations, proxies that cannot be computed are NaN: "
            f"{'; '.join(told)}.",
            stacklevel=3,
        )
