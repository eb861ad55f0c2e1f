from __future__ import annotations

from grids import history
import numpy as np
import pytest

from harness.samplers.bananas import BANANASSampler
from harness.samplers.rounds import thompson_order
from harness.samplers.space import Space


def test_a_round_proposes_new_mutants_of_the_best_and_keeps_its_ranking() -> None:
    space = Space(dict.fromkeys("abcdef", range(5)))
    sampler = BANANASSampler(seed=0, mutation_probability=0.05, n_parents=1)
    past = history()
    for number in range(10):
        past.add((sampler.propose(space, past, number), float(number)))
    best = past.observations[-1][0]
    ranking = sampler.rank(space, past.values, sampler.rng("round", 10))
    for number in range(10, 20):
        proposal = sampler.propose(space, past, number)
        assert proposal == ranking[number - 10]
        # At five percent a parameter, one mutant in ten thousand has four changes.
        assert sum(a != b for a, b in zip(proposal, best, strict=True)) in (1, 2, 3)
        past.add((proposal, 100.0 + number))  # does not change the round's ranking


def test_the_networks_lead_to_what_they_have_learned() -> None:
    # The value is the number of zeros in 12 bits, so that of the mutants those with more zeros are
    # better: the ten picked must have more than the hundred that they are picked from.
    space = Space({f"b{i}": [0, 1] for i in range(12)})
    rng = np.random.default_rng(0)
    past = history()
    while len(past.values) < 100:
        cell = space.random(rng)
        past.add((cell, float(cell.count(0))))
    sampler = BANANASSampler(n_startup_trials=100, seed=0)
    ranking = sampler.rank(space, past.values, np.random.default_rng(1))
    zeros = np.array([cell.count(0) for cell in ranking])
    assert len(ranking) == len(set(ranking)) == 100
    assert not set(ranking) & set(past.values)
    assert zeros[:10].mean() > zeros.mean() + 1.0


def test_thompson_sampling_draws_once_for_each_candidate() -> None:
    certain = np.array([[1.0, 3.0, 2.0], [1.0, 3.0, 2.0]])
    assert thompson_order(certain, np.random.default_rng(0)).tolist() == [1, 2, 0]
    # N(0, 1) against N(1, 1): the difference is N(-1, 2), above 0 with a probability of 0.2398.
    split = np.array([[-1.0, 0.0], [1.0, 2.0]])
    rng = np.random.default_rng(0)
    first = np.mean([thompson_order(split, rng)[0] == 0 for _ in range(4000)])
    assert first == pytest.approx(0.2398, abs=0.027)  # four standard errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"encoding": "adjacency"}, "encoding must be one of"),
        ({"batch_size": 0}, "batch_size at least 1"),
        ({"mutation_probability": 0.0}, "mutation_probability"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BANANASSampler(**arguments)  # type: ignore[arg-type]
