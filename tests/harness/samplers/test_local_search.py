from __future__ import annotations

from collections.abc import Iterable

from grids import GRID
from grids import run
from grids import visited
import pytest

from harness.samplers.local_search import Climb
from harness.samplers.local_search import LocalSearchSampler
from harness.samplers.space import Configuration
from harness.samplers.space import Space


# The value of (row, column). From (0, 0) the best neighbour is (0, 2) with 3, from there (2, 2)
# with 9, which is a local optimum.
TABLE = [
    [1.0, 2.0, 3.0],
    [0.0, 8.0, 4.0],
    [2.0, 5.0, 9.0],
]


def observe(climb: Climb, cells: Iterable[Configuration]) -> None:
    climb.observe((cell, TABLE[cell[0]][cell[1]]) for cell in cells)


def square() -> Space:
    return Space({"row": range(3), "column": range(3)})


def test_steepest_ascent_waits_for_the_whole_neighbourhood() -> None:
    climb = Climb(square())
    observe(climb, [(0, 0), (0, 1), (0, 2), (1, 0)])
    assert climb.current == (0, 0)
    assert list(climb.unknown) == [(2, 0)]
    observe(climb, [(2, 0)])
    assert climb.current == (0, 2)
    assert list(climb.unknown) == [(1, 2), (2, 2)]  # (0, 0) and (0, 1) are known
    observe(climb, [(2, 2)])
    assert climb.current == (0, 2)
    observe(climb, [(1, 2)])
    assert climb.current == (2, 2)
    assert list(climb.unknown) == [(2, 1)]
    observe(climb, [(2, 1)])
    assert climb.current is None  # a local optimum: the next trial is a new start
    observe(climb, [(1, 1)])
    # All neighbours of the last cell are known: (0,1), (2,1), (1,0), (1,2) have less than 8.
    assert climb.current is None


def test_first_improvement_moves_at_once_and_skips_what_it_knows() -> None:
    climb = Climb(square(), first_improvement=True)
    observe(climb, [(0, 0), (1, 0)])
    assert climb.current == (0, 0)
    observe(climb, [(0, 1)])
    assert climb.current == (0, 1)
    assert list(climb.unknown) == [(1, 1), (2, 1), (0, 2)]


def test_a_climb_starts_from_the_best_of_several() -> None:
    climb = Climb(square(), n_starts=3, n_restarts=1)
    observe(climb, [(0, 0), (2, 1)])
    assert climb.current is None
    observe(climb, [(1, 0)])
    assert climb.current == (2, 1)
    observe(climb, [(0, 1), (1, 1), (2, 0), (2, 2)])
    assert climb.current in ((1, 1), (2, 2))


def test_the_grid_is_climbed_within_two_neighbourhoods_of_the_start() -> None:
    # On a hill without interaction, steepest ascent corrects one coordinate a neighbourhood: after
    # 1 + 8 + 7 evaluations at most it stands on top, wherever it started.
    for seed in range(20):
        study = run(LocalSearchSampler(GRID, seed=seed), 16)
        assert (3, 1) in visited(study)
        assert len(set(visited(study))) == 16


@pytest.mark.parametrize("arguments", [{"improvement": "worst"}, {"n_starts": 0}])
def test_arguments_out_of_range_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(arguments))):
        LocalSearchSampler(GRID, **arguments)  # type: ignore[arg-type]
