from __future__ import annotations

import numpy as np
import pytest

from harness import problems
from harness.experiment import make_cells
from harness.metrics import summarize
from harness.metrics.hypervolume import front
from harness.metrics.hypervolume import truth_of
from harness.problems import fronts
from harness.problems.extended import ExtendedTable
from harness.run.runner import run_cell
from harness.samplers import make_spec


def test_known_values() -> None:
    # g = 1 + 9 * 4 / 9 = 5: f2 = 5 (1 - sqrt(0.2 / 5)) = 4
    x = np.array([0.2, 1, 1, 1, 1, 0, 0, 0, 0, 0])
    assert fronts.zdt1(x) == pytest.approx((0.2, 4.0))
    # g = 0.25: 1.25 cos(pi / 4) (cos(pi / 6), sin(pi / 6)) and 1.25 sin(pi / 4)
    found = fronts.dtlz2(np.array([0.5, 1 / 3, 1.0, 0.5, 0.5, 0.5, 0.5]))
    half = 1.25 / 2**0.5
    assert found == pytest.approx((half * 3**0.5 / 2, half / 2, half))


# Under (1.1, 1.1): 1.1 * 0.1 above and right of the curve 1 - sqrt(f1), below which 1 / 3 lies.
# Under (1.1, 1.1, 1.1): a cube less the eighth of a ball of radius 1.
@pytest.mark.parametrize(
    ("name", "volume", "missing"),
    [("zdt1", 1.21 - 1 / 3, 0.001), ("dtlz2", 1.1**3 - np.pi / 6, 0.03)],
)
def test_the_fronts_have_their_known_hypervolumes(
    name: str, volume: float, missing: float
) -> None:
    problem = fronts.FRONTS[name]
    assert len(front(problem.losses)) == len(problem.losses)
    share = truth_of(problem.losses).volume / volume
    assert 1 - missing < share < 1


def test_a_study_is_told_by_its_hypervolume() -> None:
    problem = problems.load("fronts/dtlz2")
    (cell,) = make_cells([problem], [make_spec("random")], [0], [30], by_trials=True)
    found = summarize([run_cell(cell)], [problem])["hypervolume"].item()
    assert 0 < found < 100


def test_two_costs_make_one_problem_of_three_objectives() -> None:
    problem, latency, params = (
        problems.load(f"nasbench201/cifar10-{costs}")
        for costs in ("latency-params", "latency", "params")
    )
    assert isinstance(problem, ExtendedTable)
    assert isinstance(latency, ExtendedTable)
    assert isinstance(params, ExtendedTable)
    expected = np.column_stack([latency.losses, params.losses[:, 1]])
    np.testing.assert_array_equal(problem.losses, expected)
    assert problem.objectives[1:] == ("latency", "params")
