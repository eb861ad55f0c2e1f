from __future__ import annotations

from grids import GRID
from grids import history
from grids import run
from grids import space
from grids import visited
import numpy as np
import pytest

from harness.samplers.tpe_discrete import TPEDiscreteSampler
from harness.samplers.tpe_discrete import densities
from harness.samplers.tpe_discrete import split


def test_counts_are_smoothed_by_hand() -> None:
    first, second = densities([(0, 1), (0, 0), (2, 1)], (3, 2), prior=1.0)
    np.testing.assert_allclose(first, [3 / 6, 1 / 6, 2 / 6])
    np.testing.assert_allclose(second, [2 / 5, 3 / 5])
    (flat,) = densities([], (4,), prior=0.5)
    np.testing.assert_allclose(flat, np.full(4, 0.25))


def test_the_best_quarter_rounded_up_is_good() -> None:
    good, bad = split({(i,): float(v) for i, v in enumerate([3, 9, 1, 7, 5])}, 0.25)
    assert good == [(1,), (3,)]
    assert bad == [(4,), (0,), (2,)]


def test_the_candidate_with_the_largest_ratio_is_proposed_unless_seen() -> None:
    # One of four values is good. With hundreds of draws every pair of choices is drawn.
    sampler = TPEDiscreteSampler(n_startup_trials=4, n_candidates=500, seed=0)
    plane = space(2, 3)
    past = history(((0, 0), 9.0), ((1, 0), 1.0), ((2, 0), 2.0), ((1, 1), 0.0))
    # l = (2, 1, 1) / 4 for both. g = (1, 3, 2) / 6 for the first parameter, (3, 2, 1) / 6 for the
    # second. The ratios are (3, 1/2, 3/4) and (1, 3/4, 3/2): (0, 2) leads with 4.5.
    assert sampler.propose(plane, past, 4) == (0, 2)
    # Then (0, 0) with 3, which is seen, then (0, 1) with 9/4.
    past.pending = frozenset({(0, 2)})
    assert sampler.propose(plane, past, 4) == (0, 1)


def test_nothing_is_proposed_twice() -> None:
    study = run(TPEDiscreteSampler(GRID, n_startup_trials=5, seed=3), 25)
    assert len(set(visited(study))) == 25


@pytest.mark.parametrize("arguments", [{"gamma": 1.0}, {"n_startup_trials": 1}, {"prior": 0}])
def test_arguments_out_of_range_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(arguments))):
        TPEDiscreteSampler(**arguments)  # type: ignore[arg-type]
