from __future__ import annotations

import numpy as np
import pytest

from optuna_zaps.search.observations import History
from optuna_zaps.search.observations import Observations
from optuna_zaps.search.observations import n_dominating
from optuna_zaps.search.observations import pareto_front


def history(labels: list[float], labelled: list[int] | None = None) -> History:
    candidates = list(range(len(labels))) if labelled is None else labelled
    return History(np.array(candidates), np.array(labels), np.zeros(10, dtype=np.bool_))


def test_dominance_by_hand() -> None:
    labels = np.array([[3.0, 1.0], [1.0, 3.0], [2.0, 2.0], [1.0, 1.0], [2.0, 2.0], [2.0, 1.0]])
    assert n_dominating(labels).tolist() == [0, 0, 0, 5, 0, 3]
    assert pareto_front(labels).tolist() == [[3, 1], [1, 3], [2, 2], [2, 2]]


def test_feasible_first_then_by_dominance() -> None:
    observed = Observations(
        (history([1.0, 2.0, 3.0, 4.0]), history([1.0, 2.0, 3.0, 4.0])),
        (history([0.0, 9.0, -5.0, -1.0]),),  # slack makes up for nothing
    )
    np.testing.assert_allclose(observed.violations(), [0, 0, 1, 0.2])
    assert observed.best_first().tolist() == [1, 0, 3, 2]


def test_a_constraint_that_is_not_known_is_no_violation() -> None:
    observed = Observations((history([1.0, 2.0]),), (history([-1.0], [1]),))
    assert observed.violations().tolist() == [0.0, 1.0]


def test_failures_are_rare_where_few_of_the_latest_failed() -> None:
    observed = Observations((history([1.0, 2.0]),), success=history([0, 0, 1, 0.5, 1, 1]))
    assert observed.failures_are_rare(n_latest=4, most=0.125)
    assert not observed.failures_are_rare(n_latest=4, most=0.12)
    assert not observed.failures_are_rare(n_latest=10, most=0.4)  # 2.5 of 6
    assert Observations((history([1.0]),)).failures_are_rare(n_latest=4, most=0.0)


def many(n: int) -> tuple[Observations, np.ndarray]:
    """Two objectives and a constraint on every other of n candidates, and their merit."""
    rng = np.random.default_rng(1)
    candidates, merit = rng.permutation(n), rng.permutation(n).astype(np.float64)
    nothing = np.zeros(n, dtype=np.bool_)
    return (
        Observations(
            (History(candidates, merit, nothing), History(candidates, 2 * merit, nothing)),
            (History(candidates[::2], 1.0 + merit[::2], nothing),),
        ),
        merit,
    )


def test_thinning_keeps_the_best_half_and_a_sample_of_the_others() -> None:
    observed, merit = many(600)
    thinned = observed.thinned(256, observed.best_first(), np.random.default_rng(0))
    first, second = thinned.objectives
    assert len(first.labelled) == 256
    # Each candidate keeps its labels, and the oldest come first.
    kept = np.isin(observed.labelled, first.labelled)
    for part, factor in ((first, 1), (second, 2)):
        np.testing.assert_array_equal(part.labelled, observed.labelled[kept])
        np.testing.assert_array_equal(part.labels, factor * merit[kept])
    (constraint,) = thinned.constraints
    np.testing.assert_array_equal(constraint.labelled, observed.labelled[::2][kept[::2]])
    np.testing.assert_array_equal(constraint.labels, 1 + merit[::2][kept[::2]])
    # Labels are 0 to 599: the best 128 are all there; of the other 472 there is a sample of 128,
    # whose mean of 235.5 has a standard error of 136 sqrt((1 - 128 / 472) / 128) = 10.3.
    assert set(range(472, 600)) <= set(first.labels)
    assert np.mean(first.labels[first.labels < 472]) == pytest.approx(235.5, abs=3 * 10.3)


def test_thinning_leaves_few_labels_alone_and_most_of_the_sample_as_labels_arrive() -> None:
    few, _ = many(20)
    whole = few.thinned(20, few.best_first(), np.random.default_rng(0))
    np.testing.assert_array_equal(whole.labelled, few.labelled)
    assert len(few.thinned(19, few.best_first(), np.random.default_rng(0)).labelled) == 19
    observed, _ = many(400)
    before = observed.objectives[0]
    fewer = Observations(
        (History(before.labelled[:390], before.labels[:390], before.unavailable),)
    )
    samples = [
        set(each.thinned(100, each.best_first(), np.random.default_rng(0)).labelled.tolist())
        for each in (fewer, observed)
    ]
    assert len(samples[0] & samples[1]) > 90  # of independent samples about 58
