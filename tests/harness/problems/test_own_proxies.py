"""The shipped tables of the project's own proxies, and what is counted: without torch."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from harness import problems
from harness.problems import nasbench101
from harness.problems import own_proxies
from harness.problems.cells import canonical
from harness.problems.cells import pruned
from harness.problems.cells import representatives
from harness.problems.graphs import counts
from harness.problems.graphs import vertex_widths
from harness.problems.proxies import PROXIES
from harness.problems.proxies import SCORED


TABLES = [("nasbench201", 10, 15_625), ("nasbench201", 100, 15_625), ("nasbench101", 10, 10_250)]


@pytest.mark.parametrize(("space", "n_classes", "n_rows"), TABLES)
def test_a_table_is_whole_and_says_how_it_was_made(
    space: str, n_classes: int, n_rows: int
) -> None:
    table = own_proxies.load(space, n_classes)
    assert table is not None
    assert tuple(table) == SCORED
    assert len(table) == n_rows
    assert np.isfinite(table).all(axis=None)
    metadata = own_proxies.metadata(space, n_classes)
    # The module had another place when the tables were made.
    assert f"proxy_tables {space} --n-classes {n_classes}" in metadata["command"]
    assert {"optuna-zaps", "torch", "numpy"} <= set(metadata["versions"])
    assert metadata["scale"].keys() == metadata["full scale"].keys()
    assert metadata["scale"]["seed"] == 0
    assert metadata["scale"]["channels"] < metadata["full scale"]["channels"]


def test_the_tables_together_have_at_most_two_megabytes() -> None:
    sizes = [own_proxies.path(space, n).stat().st_size for space, n, _ in TABLES]
    assert sum(sizes) <= 2e6


@pytest.mark.parametrize(
    ("dataset", "clause"),
    [
        ("cifar10", "zerocost for 10 classes"),
        ("cifar100", "zerocost for 100 classes"),
        ("imagenet16_120", "of imagenet16_120 are the ones for 100 classes"),
    ],
)
def test_the_package_has_13_proxies_and_says_whose(dataset: str, clause: str) -> None:
    benchmark = problems.load_table(f"nasbench201/{dataset}@package")
    assert tuple(benchmark.proxies) == PROXIES
    assert clause in " ".join(benchmark.notes)
    assert "networks of 2 cells a stage and 8 channels" in " ".join(benchmark.notes)


def test_graphs_have_the_published_accuracies_and_13_proxies(graphs: pd.DataFrame) -> None:
    own = problems.load_table("nasbench101/cifar10@parquet-own")
    assert tuple(own.proxies) == PROXIES
    assert own.text == "nasbench101/cifar10@parquet-own"
    assert "1 cell a stage and 16 channels" in " ".join(own.notes)
    published = problems.load_table("nasbench101/cifar10")
    assert published.text == "nasbench101/cifar10"
    np.testing.assert_array_equal(own.values, published.values)
    # The rows of the table are those of the graphs: the published score of the same name agrees.
    assert spearmanr(own.proxies["zen"], published.proxies["zen"]).statistic > 0.98


def test_rows_of_another_number_of_graphs_are_refused(
    graphs: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs.head(20).to_parquet(tmp_path / "nasbench101.parquet")
    monkeypatch.setenv("ZAPS_DATA_DIR", str(tmp_path))
    assert len(problems.load_table("nasbench101/cifar10@parquet").values) == 20
    with pytest.raises(ValueError, match=r"each of the 20 graphs .* got 10,250 rows"):
        problems.load_table("nasbench101/cifar10@parquet-own")


def test_proxies_rank_accuracy(nasbench201: Callable[[str], Any]) -> None:
    values = nasbench201("cifar10").values
    table = problems.load_table("nasbench201/cifar10@package").proxies
    strong = dict.fromkeys(("nwot", "synflow", "params", "flops", "l2_norm"), 0.65)
    for name, floor in (strong | dict.fromkeys(("snip", "grad_norm", "fisher"), 0.4)).items():
        assert spearmanr(table[name], values).statistic >= floor, name


@pytest.mark.parametrize("n_classes", [10, 100])
def test_the_norm_of_a_cell_is_that_of_its_own_weights(n_classes: int) -> None:
    # By default torch draws weights with a variance of 1 / (3 fan-in): a convolution to C channels
    # has the norm sqrt(C / 3) whatever its kernel. Two cells at 8, 16 and 32 channels.
    table = own_proxies.load("nasbench201", n_classes)
    assert table is not None
    cells = problems.load_table("nasbench201/cifar10@package").parameters.to_numpy()
    n_convolutions = [_n_convolutions(pruned(cell)) for cell in cells]
    per_convolution = 2 * sum(np.sqrt(width / 3) for width in (8, 16, 32))
    skeleton = table["l2_norm"][n_convolutions.index(0)]
    expected = skeleton + per_convolution * np.array(n_convolutions)
    np.testing.assert_allclose(table["l2_norm"], expected, rtol=0.1)


def _n_convolutions(cell: Sequence[str]) -> int:
    return sum(name.startswith("nor_conv") for name in cell)


def test_one_convolution_twice_is_not_two() -> None:
    # A(x) + A(x) by way of node 1, and A(x) + B(x): the same function with other weights.
    conv, skip, none = "nor_conv_3x3", "skip_connect", "none"
    shared = (conv, none, skip, none, skip, skip)
    apart = (conv, conv, none, none, skip, skip)
    mirrored = (conv, none, none, conv, skip, none)
    assert representatives([shared, apart, mirrored]) == [0, 1, 1]


def test_functions_refine_to_those_of_the_release(nasbench201: Callable[[str], Any]) -> None:
    table = pd.read_parquet(Path(os.environ["ZAPS_DATA_DIR"]) / "nasbench201.parquet")
    cells = nasbench201("cifar10").parameters.to_numpy().tolist()
    functions = pd.Series([canonical(cell) for cell in cells])
    assert (functions.groupby(table["iso_class"]).nunique() == 1).all()
    dead = [pruned(cell) != tuple(cell) for cell in cells]
    assert dead == table["has_dead_edge"].tolist()


def test_channels_of_an_uneven_concatenation() -> None:
    # 1, 2 and 3 lead to the output, 16 = 6 + 5 + 5; 1 also leads to 2.
    matrix = np.zeros((5, 5), dtype=bool)
    for edge in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (2, 4), (3, 4)):
        matrix[edge] = True
    assert vertex_widths(matrix, 8, 16) == [8, 6, 5, 5, 16]


def test_counts_of_the_smallest_graph_by_hand() -> None:
    # Input to output: a cell is a 1 x 1 projection. A convolution has k^2 C D + 2 D weights and
    # k^2 C D + 3 D operations a pixel; a max-pooling has 4 C, the global one 9^2 C.
    cells = [[(128, 128)] * 3, [(128, 256), *[(256, 256)] * 2], [(256, 512), *[(512, 512)] * 2]]
    n_params = 27 * 128 + 2 * 128 + 512 * 10 + 10
    n_params += sum(c * d + 2 * d for stack in cells for c, d in stack)
    n_flops = (27 * 128 + 3 * 128) * 32**2 + 4 * 128 * 16**2 + 4 * 256 * 8**2
    n_flops += 81 * 512 + 5120
    for stack, size in zip(cells, (32, 16, 8), strict=True):
        n_flops += sum(c * d + 3 * d for c, d in stack) * size**2
    matrix = np.array([[False, True], [False, False]])
    assert counts(matrix, ["input", "output"]) == (n_params, n_flops)


def test_counted_weights_are_those_of_the_release(graphs: pd.DataFrame) -> None:
    counted = [nasbench101.count(*cell)[0] for cell in graphs[["adjacency", "ops"]].to_numpy()]
    np.testing.assert_allclose(counted, graphs["params"], rtol=1e-6)
