from __future__ import annotations

import os
from typing import Any

import numpy as np
import optuna
import pandas as pd
import pytest

from harness import problems
from harness.problems import nasbench101
from harness.problems import nasbench201


DATASETS = ("cifar10", "cifar100", "imagenet16_120")
OPTIMA = {"cifar10": 91.57, "cifar100": 73.26, "imagenet16_120": 47.33}  # paper, Section 4.2


@pytest.fixture(autouse=True)
def _data(request: pytest.FixtureRequest) -> None:
    if "suite_zero" in request.node.name and "ZAPS_DATA_DIR" not in os.environ:
        pytest.skip("needs the development tables: set ZAPS_DATA_DIR to their folder")


@pytest.mark.parametrize("dataset", DATASETS)
def test_suite_zero_has_the_papers_optima_and_13_proxies(dataset: str) -> None:
    benchmark = problems.load_table(f"nasbench201/{dataset}@suite-zero")
    assert benchmark.optimum == pytest.approx(OPTIMA[dataset], abs=0.005)
    assert benchmark.proxies.shape == (15_625, 13)
    assert len(benchmark.parameters.drop_duplicates()) == 15_625


@pytest.mark.parametrize("dataset", DATASETS)
def test_suite_zero_and_package_hold_the_same_cells(dataset: str) -> None:
    ours, theirs = (
        problems.load_table(f"nasbench201/{dataset}@{source.name}")
        for source in nasbench201.FAMILY.sources
    )
    merged = ours.parameters.assign(a=ours.values).merge(
        theirs.parameters.assign(b=theirs.values), on=list(nasbench201.EDGES)
    )
    assert len(merged) == 15_625
    # Another order of the edges would give about 0.5; single trainings against means give 0.99.
    assert merged["a"].corr(merged["b"], method="spearman") > 0.97


@pytest.mark.parametrize("dataset", DATASETS)
def test_counted_proxies_are_those_of_suite_zero(dataset: str) -> None:
    benchmark = problems.load_table(f"nasbench201/{dataset}@suite-zero")
    for name, count in (("params", nasbench201.count_params), ("flops", nasbench201.count_flops)):
        counted = count(benchmark.parameters, dataset)
        np.testing.assert_allclose(counted, benchmark.proxies[name], rtol=1e-5)


def test_counts_by_the_formula_of_the_data_folder() -> None:
    cell = pd.DataFrame(
        [["nor_conv_3x3", "nor_conv_3x3", "nor_conv_1x1", "avg_pool_3x3", "none", "skip_connect"]],
        columns=list(nasbench201.EDGES),
    )
    params = nasbench201.count_params(cell, "cifar10")[0]
    flops = nasbench201.count_flops(cell, "cifar10")[0]
    assert params == pytest.approx(0.073306 + 2 * 0.24304 + 0.028)
    assert flops == pytest.approx(7.943872 + 2 * 35.81952 + 4.36224 + 1.29024)


def test_suite_zero_says_which_proxies_are_borrowed() -> None:
    notes = " ".join(problems.load("nasbench201/cifar100@suite-zero").notes)
    assert "are those of CIFAR-10" in notes
    assert "grasp" in notes
    assert "synflow" not in notes


def test_a_benchmark_is_an_objective() -> None:
    benchmark = problems.load_table("nasbench201/cifar10@package")
    study = optuna.create_study(directions=benchmark.directions)
    study.optimize(benchmark, n_trials=3)
    assert set(study.best_params) == set(benchmark.search_space) == set(nasbench201.EDGES)
    assert study.best_value == benchmark.evaluate(study.best_params)


def test_the_top_is_a_stable_sort_in_table_order() -> None:
    benchmark = problems.load_table("nasbench201/cifar10@package")
    top = benchmark.top(100)
    others = np.delete(benchmark.values, top)
    assert benchmark.values[top].min() >= others.max()
    ties = np.flatnonzero(benchmark.values == benchmark.values[top[-1]])
    assert set(ties[: np.isin(ties, top).sum()]) <= set(top)


def test_without_the_folder_the_package_is_the_default(monkeypatch: Any) -> None:
    monkeypatch.delenv("ZAPS_DATA_DIR", raising=False)
    assert problems.load("nasbench201/cifar10").text == "nasbench201/cifar10@package"
    defaults = {family.name: family.present_sources for family in problems.FAMILIES[:3]}
    assert defaults == {
        "nasbench201": ("package",),
        "nasbench101": (),
        "hpo": ("package", "package-costs"),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nasbench301/cifar10", "The nearest: nasbench201/cifar10, nasbench101/cifar10, "),
        ("nasbench101/mnist", "The nearest: nasbench"),
        ("nasbench101/cifar10@web", r"must be one of \['parquet', 'parquet-own'\]"),
        ("nasbench201/mnist", "The nearest: nasbench"),
        ("nasbench201/cifar10@web", r"must be one of \['suite-zero', 'package'\]"),
    ],
)
def test_a_table_that_does_not_exist_is_named_with_the_nearest(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        problems.load(text)


def test_a_cell_in_56_bits_by_hand() -> None:
    # input -> 3x3 -> output and input -> output, in three vertices: the output becomes the
    # seventh, so the edges are 0-1, 0-6 and 1-6.
    bits = nasbench101.encode("011001000", "input,conv3x3-bn-relu,output")
    named = {name for name, bit in zip(nasbench101.PARAMETERS, bits, strict=True) if bit}
    assert named == {"edge_0_1", "edge_0_6", "edge_1_6", "op_0_input", "op_1_conv3x3-bn-relu",
                     "op_6_output"}  # fmt: skip
    assert len(bits) == 21 + 7 * 5


def test_suite_zero_graphs_are_10250_and_differ() -> None:
    benchmark = problems.load_table("nasbench101/cifar10")
    assert benchmark.parameters.shape == (10_250, 56)
    assert not benchmark.parameters.duplicated().any()
    assert {"params", "zen"} <= set(benchmark.proxies)
    # NAS-Bench-101 has at most nine edges; the paper's sample has an optimum of 94.72.
    assert benchmark.parameters.iloc[:, :21].sum(axis=1).max() == 9
    assert benchmark.optimum == pytest.approx(94.72, abs=0.3)


def test_a_proposal_outside_the_table_is_the_nearest_that_is_left() -> None:
    frame = pd.DataFrame(
        [(0, 0, 0), (0, 1, 1), (1, 1, 0), (1, 0, 1)], columns=["x", "y", "z"], dtype=object
    )
    toy = problems.TabularBenchmark(
        "toy/toy@made", frame, np.arange(4.0), pd.DataFrame(index=frame.index)
    )
    outside = {"x": 1, "y": 1, "z": 1}  # one bit from rows 1, 2 and 3, three from row 0
    drawn = {toy.nearest(outside, set(), (seed,)) for seed in range(50)}
    assert drawn == {1, 2, 3}
    assert toy.nearest(outside, {1, 3}, (0,)) == 2
    assert toy.nearest(outside, {1, 2, 3}, (0,)) == 0
    assert toy.nearest({"x": 0, "y": 0, "z": 0}, {0}, (0,)) == 0  # a repeat stays a repeat
    with pytest.raises(ValueError, match="has been evaluated"):
        toy.nearest(outside, {0, 1, 2, 3}, (0,))


def test_a_missing_file_is_said_to_be_missing(monkeypatch: Any, tmp_path: Any) -> None:
    monkeypatch.setenv("ZAPS_DATA_DIR", str(tmp_path))
    with pytest.raises(ValueError, match=r"nasbench201.parquet must lie in .*ZAPS_DATA_DIR"):
        problems.load("nasbench201/cifar10@suite-zero")
    with pytest.raises(ValueError, match=r"nasbench101.parquet must lie in .*ZAPS_DATA_DIR"):
        problems.load_table("nasbench101/cifar10")


def test_a_configuration_that_is_not_there() -> None:
    benchmark = problems.load_table("nasbench201/cifar10@package")
    with pytest.raises(KeyError, match="is not in the table"):
        benchmark.row(dict.fromkeys(nasbench201.EDGES, "dil_conv_3x3"))
