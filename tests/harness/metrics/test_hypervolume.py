from __future__ import annotations

import numpy as np
import pytest
from toy import study
from toy import table

from harness import problems
from harness.experiment import make_cells
from harness.metrics import hypervolume as measured
from harness.metrics import snapshots
from harness.metrics import summarize
from harness.metrics.hypervolume import front
from harness.metrics.hypervolume import hypervolume
from harness.metrics.hypervolume import truth_of
from harness.problems.extended import ExtendedTable
from harness.problems.tradeoffs import tradeoff
from harness.run.runner import run_cell
from harness.samplers import make_spec


def test_the_front_by_hand() -> None:
    points = np.array([[2.0, 2.0], [1.0, 3.0], [3.0, 1.0], [2.0, 3.0], [1.0, 4.0], [2.0, 2.0]])
    assert front(points).tolist() == [1, 0, 2]


def test_the_hypervolume_by_hand() -> None:
    # Three steps under (5, 6): widths 4, 3, 1 and heights 1, 2, 2; (4.5, 5.5) is dominated and
    # (6, 0) beyond the reference.
    points = np.array([[1.0, 5.0], [2.0, 3.0], [4.0, 1.0], [4.5, 5.5], [6.0, 0.0]])
    assert hypervolume(points, (5.0, 6.0)) == 4 * 1 + 3 * 2 + 1 * 2
    assert hypervolume(points[-1:], (5.0, 6.0)) == 0.0


def test_the_volume_of_three_objectives_by_hand() -> None:
    # Boxes of 0.5 x 1.5 and 1.5 x 0.5 that share 0.5 x 0.5, 1.5 high, whatever the type of
    # the reference.
    points = np.array([[1.5, 0.5, 0.5], [0.5, 1.5, 0.5], [1.6, 1.6, 0.7]])
    assert hypervolume(points, (2.0, 2.0, 2.0)) == pytest.approx(1.875)
    assert hypervolume(points, (2, 2, 2)) == pytest.approx(1.875)


def test_the_hypervolume_is_that_of_optuna() -> None:
    private = pytest.importorskip("optuna._hypervolume.wfg")
    points = np.random.default_rng(0).random((50, 2))
    ours = hypervolume(points, (1.1, 1.1))
    assert ours == pytest.approx(private.compute_hypervolume(points, np.array([1.1, 1.1])))


def four(costs: list[float]) -> ExtendedTable:
    return tradeoff("made/four", table([1.0, 2.0, 3.0, 0.0]), {"params": np.array(costs)})


def test_a_share_of_the_true_front_by_hand() -> None:
    # The front is rows 0, 1, 2 at (1, 0), (0.5, 0.5) and (0, 1) once scaled; under (1.1, 1.1) it
    # has 1.1 * 0.1 + 0.6 * 0.5 + 0.1 * 0.5 = 0.46, and the middle alone has 0.6^2.
    problem = four([1.0, 2.0, 3.0, 4.0])
    summary = summarize([study([1, 3, 1], on=problem)], [problem]).iloc[0]
    assert summary["hypervolume"] == pytest.approx(100 * 0.36 / 0.46)
    assert summary["on_front"] == 1
    assert summary["repeat_share"] == 0.0  # the repeat came after the second distinct row
    everything = summarize([study([0, 1, 2, 3], on=problem)], [problem]).iloc[0]
    assert everything["hypervolume"] == pytest.approx(100.0)


def test_the_curve_grows_with_the_front() -> None:
    problem = four([1.0, 2.0, 3.0, 4.0])
    (snapshot,) = snapshots([study([1, 3, 0, 2], on=problem)])
    curve = measured.METRIC.curve
    assert curve is not None
    # The end (1, 0) adds 0.1 * 0.6 to the middle, the end (0, 1) as much again, minus 0.1^2 twice.
    shares = 100 * np.array([0.36, 0.36, 0.41, 0.46]) / 0.46
    np.testing.assert_allclose(curve(snapshot, problem), shares)


def test_objectives_that_do_not_conflict_have_the_scale_of_all_losses() -> None:
    truth = truth_of(np.array([[0.0, 0.0], [1.0, 2.0], [np.inf, np.inf]]))
    assert truth.front == {(0.0, 0.0)}
    assert truth.span.tolist() == [1.0, 2.0]
    assert truth.volume == pytest.approx(1.1**2)


def test_three_objectives_by_optunas_hypervolume() -> None:
    private = pytest.importorskip("optuna._hypervolume.wfg")
    points = np.random.default_rng(1).random((40, 3))
    ours = hypervolume(points, (1.1,) * 3)
    assert ours == pytest.approx(private.compute_hypervolume(points, np.full(3, 1.1)))
    ahead = set(front(points).tolist())
    for row, point in enumerate(points):
        dominated = ((points <= point).all(axis=1) & (points < point).any(axis=1)).any()
        assert (row in ahead) != dominated


def test_a_budget_of_trials_ends_a_study_that_repeats_itself() -> None:
    problem, spec = (
        problems.load("nasbench201/cifar10-params"),
        make_spec("odd_samplers:Stubborn"),
    )
    (cell,) = make_cells([problem], [spec], [0], [7], by_trials=True)
    result = run_cell(cell)
    assert len(result.asked) == 7
    summary = summarize([result], [problem]).iloc[0]
    assert summary["repeat_share"] == pytest.approx(600 / 7)
    (by_evaluations,) = make_cells([problem], [spec], [0], [7])
    assert by_evaluations.key != cell.key
