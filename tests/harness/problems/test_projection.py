from __future__ import annotations

from collections import Counter

import numpy as np

from harness.problems.projection import HammingProjection


# Distances from 0000: 1, 2, 2, 3, 4.
POOL = np.array([[0, 0, 0, 1], [0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 1], [1, 1, 1, 1]])


def test_nearest_first_without_the_excluded() -> None:
    projection = HammingProjection(POOL)
    rng = np.random.default_rng(0)
    assert projection.nearest([0, 0, 0, 0], 1, [], rng).tolist() == [0]
    assert projection.nearest([0, 0, 0, 0], 5, [1, 0], rng).tolist() == [2, 3, 4]
    assert projection.nearest([1, 1, 1, 1], 2, [4], rng)[0] == 3
    assert projection.nearest([0, 0, 0, 0], 3, range(5), rng).tolist() == []


def test_ties_favour_no_row() -> None:
    projection = HammingProjection(POOL)
    rng = np.random.default_rng(0)
    seconds = Counter(int(projection.nearest([0, 0, 0, 0], 2, [], rng)[1]) for _ in range(1000))
    assert set(seconds) == {1, 2}
    assert 437 <= seconds[1] <= 563  # four standard errors
