from __future__ import annotations

from grids import GRID
from grids import GRID_TABLE
from grids import run
from grids import visited
import numpy as np
from sklearn.ensemble import RandomForestRegressor

from harness.samplers.proxybo import ProxyBOSampler
from harness.samplers.proxybo import concordance
from harness.samplers.proxybo import out_of_bag
from harness.samplers.proxybo import rank_sum
from harness.samplers.proxybo import weights
from harness.samplers.suite_zero import SuiteZeroBANANASSampler


def test_concordance_by_hand() -> None:
    labels = np.array([1.0, 2.0, 3.0, 3.0])
    # Five pairs of different labels. In order: (1,2), (1,4), (2,4); not: (2,3); equal: (1,3).
    assert concordance(np.array([0.0, 1.0, 0.0, 2.0]), labels) == (3 + 0.5) / 5
    assert concordance(-labels, labels) == 0.0
    assert concordance(labels, np.ones(4)) == 0.5


def test_weights_are_a_softmax() -> None:
    np.testing.assert_allclose(weights(np.array([0.5, 0.5 + np.log(3)]), 1.0), [0.25, 0.75])
    np.testing.assert_allclose(weights(np.array([0.9, 0.5]), 1e-3), [1.0, 0.0], atol=1e-9)


def test_ranks_are_summed_by_weight() -> None:
    scores = np.array([[10.0, 0.1], [20.0, 0.3], [30.0, 0.1]])
    # Ranks (1, 2, 3) and (1.5, 3, 1.5).
    np.testing.assert_allclose(rank_sum(scores, np.array([0.5, 0.5])), [1.25, 2.5, 2.25])


def test_out_of_bag_is_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    features = rng.integers(0, 2, size=(60, 8)).astype(np.float32)
    labels = features.sum(axis=1) + rng.normal(size=60)
    forest = RandomForestRegressor(n_estimators=60, oob_score=True, random_state=0)
    forest.fit(features, labels)
    np.testing.assert_allclose(out_of_bag(forest, features, labels), forest.oob_prediction_)


def test_both_users_of_proxies_find_the_top_that_a_proxy_knows() -> None:
    table = GRID_TABLE.assign(
        proxy=[-((x - 3) ** 2) - (y - 1) ** 2 for x in range(5) for y in range(5)]
    )
    for sampler in (
        ProxyBOSampler(table, GRID, n_startup_trials=5, seed=0),
        SuiteZeroBANANASSampler(table, GRID, n_startup_trials=5, batch_size=2, seed=0),
    ):
        study = run(sampler, 25)
        cells = visited(study)
        assert len(set(cells)) == 25
        # At random the top would be behind half of the cells, on average.
        assert cells.index((3, 1)) <= 9
