"""Committed results, from which tables, figures and claims are read without running anything.

Two files, at most 3 MB together. ``metrics.parquet`` has one row per study and budget with its
metrics, and the provenance of the numbers in its metadata. ``cells.parquet`` has one row per study
of the first seeds, with the rows of the table that it evaluated, in order: from these the metrics
can be recomputed, and new samplers are compared with them.

Notations:
    evaluated: rows of the table, each once, in order of evaluation; all tables have fewer than
        2^16 rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import asdict
from dataclasses import replace
from importlib.resources import files
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from harness.experiment import Cell
from harness.experiment import CellResult
from harness.experiment import SamplerSpec
from harness.paper.measured import MeasuredResults
from harness.problems import TabularBenchmark
from harness.problems.registry import parts_of
from harness.problems.registry import text_of
from harness.report.provenance import Fact
from harness.run.files import write_whole


MAX_BYTES = 3_000_000
RAW_SEEDS = 30
"""Number of first seeds whose evaluated rows are stored; all would take four times the space."""

METRICS = "metrics.parquet"
CELLS = "cells.parquet"

_METADATA = b"harness.paper"
_INTEGERS = {"budget": np.uint16, "seed": np.uint16, "run": np.int16}
_FLOATS = ("precision", "regret", "best_value", "repeat_share", "cpu_seconds", "spearman")
_BUDGET_AWARE = "zaps-paper"  # the only sampler here that plans for its budget
_DIGITS = 5  # Significant ones; no table shows more.


def default_directory() -> Path:
    """Directory of the results that come with the harness."""
    return Path(str(files("harness.paper"))) / "data"


def row_of(cell: Cell) -> tuple[str, str, str, str]:
    """Benchmark, data set, source and label: a row of a table of the paper."""
    return (*parts_of(cell.problem), cell.sampler.label)


def write(
    results: MeasuredResults,
    studies: Sequence[CellResult],
    directory: Path,
    *,
    raw_seeds: int = RAW_SEEDS,
) -> int:
    """Write both files.

    Args:
        results: All metrics, their correlations and facts.
        studies: The studies behind them; of duplicates the first is stored.
        directory: Where to write; made if it is missing.
        raw_seeds: Number of first seeds whose evaluated rows are stored.

    Returns:
        Size of both files in bytes.

    Raises:
        ValueError: If they would be larger than 3 MB. Nothing is written then.
    """
    raw: dict[tuple[Any, ...], CellResult] = {}
    for study in studies:
        cell = study.cell
        if cell.seed < raw_seeds:
            raw.setdefault((*row_of(cell), cell.budget, cell.seed), study)
    contents = {
        METRICS: _parquet(_metrics_table(results)),
        CELLS: _parquet(_cells_table(list(raw.values()))),
    }
    size = sum(map(len, contents.values()))
    if size > MAX_BYTES:
        raise ValueError(
            f"The committed results must have at most {MAX_BYTES:,} bytes, but have {size:,}. "
            f"Keep the evaluated rows of fewer than {raw_seeds} seeds."
        )
    for name, content in contents.items():
        write_whole(directory / name, content)
    return size


def read(directory: Path | None = None) -> MeasuredResults:
    """Read the results of a directory, by default the committed ones.

    Raises:
        ValueError: If the directory has no results.
    """
    table = _read(directory, METRICS)
    content = json.loads(table.schema.metadata[_METADATA])
    metrics = table.to_pandas()
    for name in ("benchmark", "dataset", "source", "sampler", "made_by"):
        metrics[name] = metrics[name].astype(object)
    metrics = metrics.astype({name: np.int64 for name in _INTEGERS})
    problems = {tuple(problem.split("/")): problem for problem in content["sizes"]}
    return MeasuredResults(
        metrics.astype(dict.fromkeys(_FLOATS, np.float64)),
        {
            (benchmark, dataset): pd.DataFrame(
                matrix["values"], index=matrix["names"], columns=matrix["names"]
            )
            for (benchmark, dataset), problem in problems.items()
            if (matrix := content["spearman"].get(problem))
        },
        {
            (benchmark, dataset): content["sizes"][problem]
            for (benchmark, dataset), problem in problems.items()
        },
        {title: [Fact(**fact) for fact in facts] for title, facts in content["facts"].items()},
        [[Fact(**fact) for fact in run] for run in content["runs"]],
    )


def read_cells(directory: Path | None = None) -> list[CellResult]:
    """Read the studies whose evaluated rows are stored.

    Repeated proposals are not stored, and the CPU time of a study is spread evenly over its
    evaluations.

    Raises:
        ValueError: If the directory has no results.
    """
    return [_cell_result(row) for row in _read(directory, CELLS).to_pylist()]


def published_studies(
    benchmarks: Sequence[TabularBenchmark], labels: Sequence[str], directory: Path | None = None
) -> list[CellResult]:
    """Read the committed studies on the given tables, labelled as published, for comparisons.

    Args:
        benchmarks: Tables of a comparison.
        labels: Rows of the paper's tables to read.
        directory: Directory to read, by default that of the committed results.

    Returns:
        Results under the label ``"... (published)"``.
    """
    wanted = {(table.text, table.fingerprint) for table in benchmarks}
    return [
        _as_published(result)
        for result in read_cells(directory)
        if result.cell.sampler.label in labels
        and (result.cell.problem, result.cell.problem_fingerprint) in wanted
    ]


def _as_published(result: CellResult) -> CellResult:
    """Relabel a committed study.

    Versions of the code whose studies were found to agree (:mod:`harness.paper.continuation`)
    count as one sampler.
    """
    sampler = result.cell.sampler
    sampler = replace(sampler, label=f"{sampler.label} (published)", fingerprint="published")
    return replace(result, cell=replace(result.cell, sampler=sampler))


def _metrics_table(results: MeasuredResults) -> pa.Table:
    frame = results.metrics.sort_values(
        ["benchmark", "dataset", "sampler", "budget", "seed"], kind="stable"
    ).astype(_INTEGERS)
    for name in _FLOATS:
        frame[name] = _rounded(frame[name].to_numpy(np.float64)).astype(np.float32)
    frame["found_optimum"] = frame["found_optimum"].astype(bool)
    content = {
        "facts": {
            title: [asdict(fact) for fact in facts] for title, facts in results.facts.items()
        },
        "runs": [[asdict(fact) for fact in run] for run in results.runs],
        "sizes": {"/".join(problem): size for problem, size in results.sizes.items()},
        "spearman": {
            "/".join(problem): {
                "names": list(matrix.columns),
                "values": matrix.to_numpy().round(_DIGITS).tolist(),
            }
            for problem, matrix in results.spearman.items()
        },
    }
    return _with_metadata(pa.Table.from_pandas(frame, preserve_index=False), content)


def _cells_table(results: Sequence[CellResult]) -> pa.Table:
    columns: dict[str, list[Any]] = {field.name: [] for field in _CELL_SCHEMA}
    for result in results:
        cell = result.cell
        benchmark, dataset, source = parts_of(cell.problem)
        row = {
            "benchmark": benchmark,
            "dataset": dataset,
            "source": source,
            "fingerprint": cell.problem_fingerprint,
            "sampler": cell.sampler.label,
            "target": cell.sampler.target,
            "arguments": json.dumps(dict(cell.sampler.arguments), sort_keys=True),
            "code": cell.sampler.fingerprint,
            "seed": cell.seed,
            "budget": cell.budget,
            "cpu_seconds": sum(result.ask_seconds) + sum(result.tell_seconds),
            "spearman": result.spearman,
            "finished": str(result.provenance.get("finished", "")),
            "evaluated": np.asarray(result.evaluated, dtype=np.uint16),
        }
        for name, value in row.items():
            columns[name].append(value)
    return pa.table(columns, schema=_CELL_SCHEMA)


_CELL_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("benchmark", "dataset", "source", "fingerprint")),
        *((name, pa.string()) for name in ("sampler", "target", "arguments", "code")),
        ("seed", pa.uint16()),
        ("budget", pa.uint16()),
        ("cpu_seconds", pa.float32()),
        ("spearman", pa.float32()),
        ("finished", pa.string()),
        ("evaluated", pa.list_(pa.uint16())),
    ]
)


def _cell_result(row: Mapping[str, Any]) -> CellResult:
    n_evaluated = len(row["evaluated"])
    return CellResult(
        cell=Cell(
            problem=text_of(row["benchmark"], row["dataset"], row["source"]),
            problem_fingerprint=row["fingerprint"],
            sampler=SamplerSpec(
                row["sampler"],
                row["target"],
                json.loads(row["arguments"]),
                row["code"],
                budget_aware=row["target"] == _BUDGET_AWARE,
            ),
            seed=row["seed"],
            budget=row["budget"],
        ),
        asked=tuple(row["evaluated"]),
        ask_seconds=(row["cpu_seconds"] / n_evaluated,) * n_evaluated,
        tell_seconds=(0.0,) * n_evaluated,
        user_attrs=({},) * n_evaluated,
        provenance={"finished": row["finished"]},
        spearman=row["spearman"],
    )


def _with_metadata(table: pa.Table, content: Mapping[str, Any]) -> pa.Table:
    encoded = json.dumps(content, ensure_ascii=False).encode()
    return table.replace_schema_metadata({**(table.schema.metadata or {}), _METADATA: encoded})


def _parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd", compression_level=19)
    return buffer.getvalue()


def _read(directory: Path | None, name: str) -> pa.Table:
    path = (directory or default_directory()) / name
    if not path.is_file():
        raise ValueError(
            f"{path.parent} must hold committed results, but has no {name}. Write them from a "
            "results directory: zaps-harness reproduce --write DIRECTORY"
        )
    return pq.read_table(path)


def _rounded(values: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
    """Round to a few significant digits, which compress better."""
    with np.errstate(divide="ignore"):
        magnitude = np.floor(np.log10(np.abs(values)))
    factor = 10.0 ** (_DIGITS - 1 - np.where(np.isfinite(magnitude), magnitude, 0.0))
    return np.round(values * factor) / factor
