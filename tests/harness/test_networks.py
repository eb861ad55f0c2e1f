from __future__ import annotations

from collections.abc import Callable
import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from harness.benchmarks import nasbench201
from harness.benchmarks import own_proxies
from harness.benchmarks.cells import EDGES
from harness.benchmarks.cells import canonical
from harness.benchmarks.cells import pruned
from harness.benchmarks.cells import representatives


torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'optuna-zaps[zerocost]'")
pytest.importorskip("PIL", reason="needs Pillow for the photographs: pip install pillow")

from harness.benchmarks import proxy_tables  # noqa: E402
from harness.benchmarks.networks.batches import photograph_crops  # noqa: E402
from harness.benchmarks.networks.nasbench101 import NASBench101Network  # noqa: E402
from harness.benchmarks.networks.nasbench201 import NASBench201Network  # noqa: E402
from optuna_zaps.zerocost import score  # noqa: E402


ALL_CELLS = list(itertools.product(nasbench201.OPERATIONS, repeat=len(EDGES)))


def random_cells(n_cells: int, seed: int) -> list[tuple[str, ...]]:
    rows = np.random.default_rng(seed).choice(len(ALL_CELLS), size=n_cells, replace=False)
    return [ALL_CELLS[row] for row in rows]


@pytest.mark.parametrize("n_classes", [10, 100])
def test_nasbench201_counts_are_those_of_the_release(n_classes: int) -> None:
    dataset = {10: "cifar10", 100: "cifar100"}[n_classes]
    batch = torch.zeros(2, 3, 32, 32), torch.tensor([0, 1])
    cells = random_cells(4, seed=n_classes)
    frame = pd.DataFrame(cells, columns=list(nasbench201.EDGES))
    for row, cell in enumerate(cells):
        network = NASBench201Network(cell, n_classes)
        counts = score(network, batch, proxies=["params", "flops"])
        assert counts["params"] == round(1e6 * nasbench201.count_params(frame, dataset)[row])
        # Edges that get nothing are not executed; the release counts them all.
        if pruned(cell) == cell:
            assert counts["flops"] == round(1e6 * nasbench201.count_flops(frame, dataset)[row])


def test_nasbench201_flops_of_the_readme() -> None:
    # 7.943872 + 35.81952 n3 + 4.36224 n1 + 1.29024 npool millions.
    cell = "nor_conv_3x3 avg_pool_3x3 nor_conv_1x1 skip_connect nor_conv_3x3 nor_conv_1x1".split()
    batch = torch.zeros(2, 3, 32, 32), torch.tensor([0, 1])
    flops = score(NASBench201Network(cell, 10), batch, proxies=["flops"])["flops"]
    assert flops == round(1e6 * (7.943872 + 2 * 35.81952 + 2 * 4.36224 + 1.29024))


@pytest.fixture(scope="module")
def graphs() -> pd.DataFrame:
    folder = os.environ.get("ZAPS_DATA_DIR")
    if not folder:
        pytest.skip("needs the development tables: set ZAPS_DATA_DIR to their folder")
    return pd.read_parquet(Path(folder) / "nasbench101.parquet")


def test_nasbench101_params_are_those_of_the_release(graphs: pd.DataFrame) -> None:
    small = graphs[graphs["n_vertices"] < 6]
    for graph in [*graphs.sample(30, random_state=0).itertuples(), *small.head(20).itertuples()]:
        matrix = np.array(list(graph.adjacency)).reshape(graph.n_vertices, -1) == "1"
        with torch.device("meta"):  # 128 channels: counted without being allocated
            network = NASBench101Network(matrix, graph.ops.split(","), 10)
        counted = sum(parameter.numel() for parameter in network.parameters())
        assert counted / 1e6 == pytest.approx(graph.params, rel=1e-6), graph.hash


def test_channels_of_an_uneven_concatenation() -> None:
    # 1, 2 and 3 lead to the output, 16 = 6 + 5 + 5; 1 also leads to 2.
    matrix = np.zeros((5, 5), dtype=bool)
    for edge in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (2, 4), (3, 4)):
        matrix[edge] = True
    assert vertex_widths(matrix, 8, 16) == [8, 6, 5, 5, 16]


def test_cells_of_one_class_have_the_same_jacobian() -> None:
    # Without convolutions there is nothing random in a cell, so members agree to rounding.
    free = ("none", "skip_connect", "avg_pool_3x3")
    cells = list(itertools.product(free, repeat=len(EDGES)))
    by_class: dict[str, list[tuple[str, ...]]] = {}
    for cell in cells:
        by_class.setdefault(canonical(cell), []).append(cell)
    shared = [members for members in by_class.values() if len(members) > 1]
    assert len(shared) > 10
    batch = photograph_crops(8, 2, 8)
    for members in shared[:: len(shared) // 8]:
        values = [
            score(lambda c=cell: NASBench201Network(c, 2, n_cells=1, channels=4), batch)
            for cell in (members[0], members[-1])
        ]
        for name in ("nwot", "jacov", "snip", "synflow", "zen"):
            assert values[0][name] == pytest.approx(values[1][name], rel=1e-3, nan_ok=True), name


def test_classes_refine_to_those_of_the_release(nasbench201: Callable[[str], Any]) -> None:
    table = pd.read_parquet(Path(os.environ["ZAPS_DATA_DIR"]) / "nasbench201.parquet")
    cells = nasbench201("cifar10").parameters.to_numpy().tolist()
    first = pd.Series(representatives(cells))
    assert (first.groupby(table["iso_class"]).nunique() == 1).all()
    dead = [pruned(cell) != tuple(cell) for cell in cells]
    assert dead == table["has_dead_edge"].tolist()


def test_crops_are_normalised_seeded_and_have_three_samples_of_a_class() -> None:
    images, labels = photograph_crops(32, 100, 8, seed=1)
    assert images.shape == (32, 3, 8, 8)
    torch.testing.assert_close(images.mean(dim=(0, 2, 3)), torch.zeros(3), atol=1e-5, rtol=0)
    torch.testing.assert_close(images.std(dim=(0, 2, 3)), torch.ones(3))
    assert torch.equal(images, photograph_crops(32, 100, 8, seed=1)[0])
    assert int(labels.bincount(minlength=100).max()) <= 4
    assert sorted(set(labels.bincount().tolist()) - {0}) == [3, 4]


TABLES = [("nasbench201", 10), ("nasbench201", 100), ("nasbench101", 10)]


@pytest.mark.parametrize(("space", "n_classes"), TABLES)
def test_random_rows_of_the_table_can_be_computed_again(
    space: str, n_classes: int, request: pytest.FixtureRequest
) -> None:
    table = own_proxies.load(space, n_classes)
    if table is None:
        pytest.skip(f"the table of {space} for {n_classes} classes is not shipped")
    if space == "nasbench201":
        cells = proxy_tables.cells_of_nasbench201()
        configurations, position = proxy_tables.configurations_of_nasbench201(cells)
    else:
        frame = request.getfixturevalue("graphs")[["adjacency", "ops"]]
        configurations, position = frame.to_dict(orient="records"), list(range(len(frame)))
    rows = np.random.default_rng(0).choice(len(table), size=20, replace=False)
    again = proxy_tables.scored(space, [configurations[position[row]] for row in rows], n_classes)
    np.testing.assert_allclose(again, table.iloc[rows], rtol=1e-2, atol=1e-3)


def test_the_table_ranks_accuracy(nasbench201: Callable[[str], Any]) -> None:
    table = own_proxies.load("nasbench201", 10)
    if table is None:
        pytest.skip("the table of nasbench201 is not shipped")
    values = nasbench201("cifar10").values
    floors = {"nwot": 0.65, "synflow": 0.65, "l2_norm": 0.65, "snip": 0.4, "grad_norm": 0.4}
    for name, floor in (floors | {"fisher": 0.4}).items():
        assert spearmanr(table[name], values).statistic >= floor, name


@pytest.mark.slow
def test_full_size_networks_agree_with_nasbench_suite_zero(
    nasbench201: Callable[[str], Any],
) -> None:
    floors = {"params": 0.99, "flops": 0.99, "l2_norm": 0.95, "synflow": 0.95, "nwot": 0.95}
    floors |= {"snip": 0.95, "grad_norm": 0.95, "fisher": 0.9, "zen": 0.9, "jacov": 0.9}
    benchmark = nasbench201("cifar10")
    rows = np.random.default_rng(0).choice(len(benchmark.values), size=300, replace=False)
    batch = photograph_crops(64, 10, 32)
    scores = pd.DataFrame(
        score(lambda c=cell: NASBench201Network(c, 10), batch, proxies=floors)
        for cell in map(pruned, benchmark.parameters.to_numpy()[rows])
    )
    for name, floor in floors.items():
        reference = benchmark.proxies[name].to_numpy()[rows]
        found = spearmanr(scores[name], reference, nan_policy="omit").statistic
        assert found >= floor, (name, found)
