from __future__ import annotations

from grids import history
from grids import space
import pandas as pd
import pytest

from harness.samplers.rea import REASampler


def n_different(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    return sum(x != y for x, y in zip(a, b, strict=True))


def test_the_population_starts_at_random_without_repeats() -> None:
    sampler, grid = REASampler(population_size=25, seed=0), space()
    past = history()
    for number in range(25):
        past.add((sampler.propose(grid, past, number), 0.0))
    assert len(past.values) == 25


def test_the_oldest_dies_however_good_it_is() -> None:
    sampler = REASampler(population_size=3, tournament_size=50, seed=0)
    big = space(6, 5)
    best, second = (0,) * 6, (4,) * 6
    others = [((1, 2, 3, 1, 2, 3), 0.1), ((3, 2, 1, 3, 2, 1), 0.2)]
    # Fifty draws of three members miss the best with a probability of (2/3)^50.
    alive = history((second, 1.0), (best, 9.0), *others)
    assert n_different(sampler.propose(big, alive, 4), best) == 1
    aged = history((best, 9.0), (second, 1.0), *others)
    assert n_different(sampler.propose(big, aged, 4), second) == 1


def test_a_mutation_chooses_positions_and_other_choices_uniformly() -> None:
    sampler = REASampler(population_size=1, tournament_size=1, seed=0)
    grid = space(2, 3)
    past = history(((0, 1), 1.0))
    children = pd.Series([sampler.propose(grid, past, number) for number in range(2000)])
    shares = children.value_counts(normalize=True)
    assert set(shares.index) == {(1, 1), (2, 1), (0, 0), (0, 2)}
    # Four standard errors of a share of 1/4 among 2000.
    assert shares.between(0.25 - 0.039, 0.25 + 0.039).all()


def test_a_child_seen_before_enters_again_or_gives_way() -> None:
    line = space(1, 2)  # the only child of one configuration is the other
    reenter = REASampler(population_size=1, tournament_size=1, seed=0)
    assert reenter.propose(line, history(((0,), 1.0), ((1,), 0.0)), 2) == (0,)
    wide = space(1, 50)
    seen = history(*[((i,), float(i)) for i in range(1, 50)])
    gives_way = REASampler(population_size=2, tournament_size=1, repeats="random", seed=0)
    assert {gives_way.propose(wide, seen, number) for number in range(20)} == {(0,)}


def test_a_population_that_only_repeats_gets_a_random_configuration() -> None:
    sampler = REASampler(population_size=2, tournament_size=1, seed=0)
    grid = space(3, 4)
    a, b = ((0, 0, 0), 1.0), ((0, 0, 1), 0.5)
    stuck = history(a, b, a, b)  # two repeats in a row
    proposals = [sampler.propose(grid, stuck, number) for number in range(50)]
    assert max(n_different(p, (0, 0, 0)) for p in proposals) == 3


@pytest.mark.parametrize("arguments", [{"population_size": 0}, {"repeats": "never"}])
def test_arguments_out_of_range_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(arguments))):
        REASampler(**arguments)  # type: ignore[arg-type]
