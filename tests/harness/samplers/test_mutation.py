"""Mutants of a pool, in which most combinations of choices do not exist."""

from __future__ import annotations

from collections import Counter

from grids import run
import numpy as np
import pandas as pd

from harness.samplers.mutation import existing
from harness.samplers.rea import REASampler
from harness.samplers.space import make_space
from harness.samplers.tpe_discrete import TPEDiscreteSampler


# Distances from 0000: 1, 2, 2, 3, 4.
POOL = np.array([[0, 0, 0, 1], [0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 1], [1, 1, 1, 1]])


def test_a_mutant_outside_the_pool_becomes_one_of_the_nearest_but_not_its_parent() -> None:
    names = list("abcd")
    space = make_space(dict.fromkeys(names, (0, 1)), pd.DataFrame(POOL, columns=names))
    assert space is not None
    rng = np.random.default_rng(0)
    parent, mutant = (0, 0, 0, 1), (0, 0, 0, 0)
    children = Counter(existing(space, mutant, parent, 3, rng) for _ in range(900))
    assert set(children) == {(0, 0, 1, 1), (1, 1, 0, 0), (0, 1, 1, 1)}
    assert all(220 <= n <= 380 for n in children.values())  # uniform among the three nearest
    assert existing(space, (1, 1, 1, 1), parent, 3, rng) == (1, 1, 1, 1)


def test_samplers_on_a_pool_propose_its_rows_alone_and_tpe_none_twice() -> None:
    rng = np.random.default_rng(0)
    pool = np.unique(rng.integers(0, 2, size=(60, 20)), axis=0)
    names = [f"bit_{i}" for i in range(20)]
    table = pd.DataFrame(pool, columns=names)
    rows = set(map(tuple, pool.tolist()))
    for sampler in (
        REASampler(candidates=table, population_size=10, repeats="random", seed=0),
        TPEDiscreteSampler(candidates=table, n_startup_trials=10, seed=0),
    ):
        study = run(
            sampler,
            len(pool),
            value=lambda params: float(sum(params.values())),
            choices=dict.fromkeys(names, (0, 1)),
        )
        cells = {tuple(trial.params[name] for name in names) for trial in study.trials}
        assert cells == rows
