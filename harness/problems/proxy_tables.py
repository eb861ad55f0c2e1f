"""Proxies of the architecture benchmarks, computed with ``optuna_zaps.zerocost``.

    python -m harness.problems.proxy_tables nasbench201 --n-classes 10 --parts DIRECTORY

scores the cells at a reduced scale and writes the table that the project ships. Finished
parts are cached: after an interruption rerun the command. Cells of NAS-Bench-201 whose untrained
networks agree are scored once; ``params`` and ``flops`` are counted for each cell elsewhere, at
full scale, and are no columns here.

Notations:
    row: index of a cell in the table of the benchmark.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import asdict
from dataclasses import dataclass
from functools import partial
import importlib.metadata
import io
import json
import os
from pathlib import Path
from typing import Annotated
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from torch import nn
import typer

from harness.problems import load_table
from harness.problems import own_proxies
from harness.problems.cells import pruned
from harness.problems.cells import representatives
from harness.problems.networks.batches import photograph_crops
from harness.problems.networks.nasbench101 import NASBench101Network
from harness.problems.networks.nasbench201 import NASBench201Network
from harness.problems.proxies import SCORED
from harness.run.files import check_writable
from harness.run.files import write_whole
from optuna_zaps.zerocost import score_space


@dataclass(frozen=True)
class Scale:
    """Size of the scored networks and of their batch.

    Attributes:
        n_cells: Cells of a stage.
        channels: Channels of the first stage.
        n_samples: Images of the batch.
        image_size: Height and width of an image in pixels.
        seed: Seed of weights, images and what a proxy draws.
    """

    n_cells: int
    channels: int
    n_samples: int
    image_size: int
    seed: int = 0


SCALES = {
    # Measured on 100 cells against 5 cells of 16 channels on 64 images of 32 x 32 pixels:
    # the rank correlations with accuracy stay as high, at a fiftieth of the time.
    "nasbench201": Scale(n_cells=2, channels=8, n_samples=32, image_size=8),
    "nasbench101": Scale(n_cells=1, channels=16, n_samples=32, image_size=8),
}
_FULL_SCALES = {"nasbench201": Scale(5, 16, 64, 32), "nasbench101": Scale(3, 128, 64, 32)}


def cells_of_nasbench201() -> list[tuple[str, ...]]:
    """Operations of the 15,625 cells, in the order of the benchmark's rows."""
    parameters = load_table("nasbench201/cifar10@package").parameters
    return [tuple(map(str, row)) for row in parameters.itertuples(index=False, name=None)]


def graphs_of_nasbench101(directory: Path) -> pd.DataFrame:
    """Frame with the columns ``adjacency`` and ``ops`` of the graphs of NAS-Bench-101."""
    return pd.read_parquet(directory / "nasbench101.parquet", columns=["adjacency", "ops"])


def network_of_nasbench201(params: dict[str, Any], *, scale: Scale, n_classes: int) -> nn.Module:
    """Network of the cell ``params["cell"]``, operations joined by commas, at a scale."""
    return NASBench201Network(
        params["cell"].split(","), n_classes, n_cells=scale.n_cells, channels=scale.channels
    )


def network_of_nasbench101(params: dict[str, Any], *, scale: Scale, n_classes: int) -> nn.Module:
    """Network of the graph ``params["adjacency"]`` and ``params["ops"]`` at a scale."""
    operations = params["ops"].split(",")
    matrix = np.array(list(params["adjacency"])) == "1"
    return NASBench101Network(
        matrix.reshape(len(operations), len(operations)),
        operations,
        n_classes,
        n_cells=scale.n_cells,
        channels=scale.channels,
    )


def scored(
    benchmark: str,
    configurations: Sequence[dict[str, str]],
    n_classes: int,
    *,
    parts: Path | None = None,
    n_jobs: int = 1,
) -> pd.DataFrame:
    """Proxies ``SCORED`` of some networks, a row for each, at the scale of the table."""
    scale = SCALES[benchmark]
    builders: dict[str, Callable[..., nn.Module]] = {
        "nasbench201": network_of_nasbench201,
        "nasbench101": network_of_nasbench101,
    }
    return score_space(
        partial(builders[benchmark], scale=scale, n_classes=n_classes),
        configurations,
        photograph_crops(scale.n_samples, n_classes, scale.image_size, seed=scale.seed),
        proxies=SCORED,
        seed=scale.seed,
        device="cpu",
        path=parts,
        n_jobs=n_jobs,
    )


def configurations_of_nasbench201(
    cells: Sequence[Sequence[str]],
) -> tuple[list[dict[str, str]], list[int]]:
    """One configuration for all cells whose untrained networks agree, and its position by row."""
    first = representatives(cells)
    rows = sorted(set(first))
    position = {row: index for index, row in enumerate(rows)}
    return [{"cell": ",".join(pruned(cells[row]))} for row in rows], [position[r] for r in first]


def main(
    benchmark: Annotated[str, typer.Argument(help="nasbench201 or nasbench101.")],
    parts: Annotated[Path, typer.Option(help="Directory of the finished parts.")],
    n_classes: Annotated[int, typer.Option(min=2, help="Classes of the data set.")] = 10,
    n_jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
) -> None:
    """Score a benchmark's networks at reduced scale and write the table of their proxies."""
    if benchmark == "nasbench201":
        configurations, position = configurations_of_nasbench201(cells_of_nasbench201())
    elif benchmark == "nasbench101":
        frame = graphs_of_nasbench101(Path(os.environ["ZAPS_DATA_DIR"]))
        configurations = frame.to_dict(orient="records")  # type: ignore[assignment]
        position = list(range(len(frame)))
    else:
        raise typer.BadParameter(
            f"The benchmark must be one of {sorted(SCALES)}, but got {benchmark!r}."
        )
    file = own_proxies.path(benchmark, n_classes)
    check_writable(file.parent, [file.name])
    table = scored(benchmark, configurations, n_classes, parts=parts, n_jobs=n_jobs)
    values = table.to_numpy(np.float32)[position]
    _write(pd.DataFrame(values, columns=list(SCORED)), file, _metadata(benchmark, n_classes))
    typer.echo(f"{file}: {len(values)} rows, {len(configurations)} networks")


def _metadata(benchmark: str, n_classes: int) -> dict[str, Any]:
    return {
        "command": f"python -m harness.problems.proxy_tables {benchmark} "
        f"--n-classes {n_classes} --parts DIRECTORY",
        "versions": {
            name: importlib.metadata.version(name)
            for name in ("optuna-zaps", "torch", "numpy", "scikit-learn", "pillow")
        },
        "scale": asdict(SCALES[benchmark]),
        "full scale": asdict(_FULL_SCALES[benchmark]),
        "batch": "crops of the two photographs of scikit-learn, arbitrary labels",
    }


def _write(frame: pd.DataFrame, file: Path, metadata: dict[str, Any]) -> None:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    table = table.replace_schema_metadata({own_proxies.METADATA: json.dumps(metadata).encode()})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd", compression_level=19)
    write_whole(file, buffer.getvalue())


if __name__ == "__main__":
    typer.run(main)
