from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
import optuna
import pandas as pd
import pytest
import quick_sqlite  # noqa: F401


EDGES = ["edge_0_1", "edge_0_2", "edge_1_2", "edge_0_3", "edge_1_3", "edge_2_3"]
PROXIES = (
    "params flops l2_norm synflow nwot jacov epe_nas zen plain fisher snip grad_norm grasp"
).split()


class NASBench201:
    """One data set of the development table, read without the harness."""

    def __init__(self, table: pd.DataFrame, dataset: str) -> None:
        self.parameters = table[EDGES].astype(object)
        columns = {p: f"{p}__{dataset}" for p in PROXIES}
        self.proxies = pd.DataFrame(
            {p: table[c if c in table else f"{p}__cifar10"] for p, c in columns.items()}
        )
        self.values: npt.NDArray[np.float64] = table[f"accuracy__{dataset}"].to_numpy(np.float64)
        self.choices = {edge: sorted(self.parameters[edge].unique()) for edge in EDGES}
        self.rows = {tuple(row): i for i, row in enumerate(self.parameters.to_numpy())}
        self.top = set(np.argsort(-self.values, kind="stable")[:100].tolist())

    @property
    def frame(self) -> pd.DataFrame:
        return pd.concat([self.parameters, self.proxies], axis=1)

    def row(self, params: dict[str, str]) -> int:
        return self.rows[tuple(params[edge] for edge in EDGES)]

    def objective(self, trial: optuna.Trial) -> float:
        params = {e: trial.suggest_categorical(e, self.choices[e]) for e in EDGES}
        return float(self.values[self.row(params)])

    def precision(self, study: optuna.Study) -> int:
        return len(self.top & {self.row(trial.params) for trial in study.trials})


@pytest.fixture(scope="session")
def nasbench201() -> Callable[[str], NASBench201]:
    table = pd.read_parquet(_development_tables() / "nasbench201.parquet")
    return lambda dataset: NASBench201(table, dataset)


@pytest.fixture(scope="session")
def graphs() -> pd.DataFrame:
    """The graphs of NAS-Bench-101."""
    return pd.read_parquet(_development_tables() / "nasbench101.parquet")


def _development_tables() -> Path:
    folder = os.environ.get("ZAPS_DATA_DIR")
    if not folder:
        pytest.skip("needs the development tables: set ZAPS_DATA_DIR to their folder")
    return Path(folder)


@pytest.fixture(autouse=True)
def _quiet_optuna() -> Iterator[None]:
    # Optuna logs through a handler of its own; propagation lets caplog see what is logged.
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    optuna.logging.enable_propagation()
    yield
    optuna.logging.disable_propagation()
