from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from flat import Flat
from flat import plain_settings
import numpy as np
import numpy.typing as npt
import pytest
from searches import ANYTIME
from searches import CANDIDATES
from searches import FIFTY
from searches import N_SIDE
from searches import PROXIES
from searches import THIRTY
from searches import VALUES
from searches import history
from searches import run
from searches import search
from searches import with_model

from optuna_zaps.search.model import Shortlist
from optuna_zaps.search.search import ZAPSSearch
from optuna_zaps.surrogates import FeatureLayout


def layouts_of_a_fit(
    check: Callable[[npt.NDArray[np.float32]], None], **model: Any
) -> list[FeatureLayout]:
    """Layouts of the surrogates of a search that has 12 labels; their rows are checked."""
    layouts: list[FeatureLayout] = []

    class Checking(Flat):
        def fit(self, X: npt.NDArray[np.float32], y: npt.NDArray[np.float64]) -> None:
            check(X)

    def factory(layout: FeatureLayout, seed: int) -> Flat:
        layouts.append(layout)
        return Checking()

    machine = ZAPSSearch(
        CANDIDATES, PROXIES, with_model(plain_settings(factory, ANYTIME), **model), seed=0
    )
    machine.propose(history(range(12)), 12)
    return layouts


def test_the_surrogate_sees_proxy_ranks_first_then_the_encoding() -> None:
    def check(X: npt.NDArray[np.float32]) -> None:
        np.testing.assert_array_equal(X[:, :2], PROXIES.ranks[:12].astype(np.float32))
        np.testing.assert_array_equal(X[:, 2:], CANDIDATES.encoding[:12])

    layouts = layouts_of_a_fit(check)
    sides = (N_SIDE, N_SIDE)
    kinds = (*range(N_SIDE), *range(N_SIDE))  # both parameters offer the same choices
    assert layouts == [
        FeatureLayout(2, widths=sides, numeric=(False, False), shared_choices=kinds)
    ]


def test_of_many_candidates_the_best_are_kept_up_to_date() -> None:
    # Fifty of 144 at a time are scored anew; the search still goes to the best, and everything
    # is proposed once in the end.
    machine = search(shortlist=FIFTY)
    evaluated = run(machine, 60)
    assert int(VALUES.argmax()) in evaluated[:40]
    again = search(shortlist=FIFTY)
    assert again.propose(history(evaluated), 60) == machine.propose(history(evaluated), 60)
    assert sorted(run(machine, len(CANDIDATES))) == list(range(len(CANDIDATES)))


def test_only_the_shortlist_competes_by_its_spread() -> None:
    machine = search(profile="anytime", shortlist=FIFTY)
    evaluated = run(machine, 26)
    model = machine.model.predict(history(evaluated))
    assert np.count_nonzero(model.acquisition > model.mean) == 50
    assert np.all(model.std > 0)
    # A ranking is of all candidates, each as the labels now have it.
    whole = search(profile="anytime").rank(history(evaluated))
    listed = machine.rank(history(evaluated))
    np.testing.assert_array_equal(listed.candidates, whole.candidates)


def test_the_shortlist_is_of_the_largest_upper_bounds() -> None:
    """Candidates that may be best are scored again, though their mean is low."""
    means = np.arange(144.0)
    stds = np.where(np.arange(144) % 2, 0.5, 100.5)  # beta = 0.5: a bonus of 50 for every other

    class Table:
        def fit(self, X: npt.NDArray[np.float32], y: npt.NDArray[np.float64]) -> None:
            self.n_labels = len(y)

        def predict(self, X: npt.NDArray[np.float32]) -> tuple[np.ndarray, np.ndarray]:
            rows = X[:, :N_SIDE].argmax(axis=1) * N_SIDE + X[:, N_SIDE:].argmax(axis=1)
            return means[rows] + self.n_labels, stds[rows]

    machine = ZAPSSearch(
        CANDIDATES,
        None,
        with_model(plain_settings(lambda *_: Table(), ANYTIME), shortlist=THIRTY),
        seed=0,
    )
    # Fits are at 10 11 12 13 14 15 16 17 18 19 20 22 and 24 labels, which last doubled at 20.
    model = machine.model.predict(history(range(25)))
    listed = np.argsort(-(means + 0.5 * stds))[:30]
    assert np.any(means[listed] < 100)
    assert np.any(stds[listed] < 1)
    is_listed = np.isin(np.arange(144), listed)
    expected = means + np.where(is_listed, 24, 20)
    np.testing.assert_array_equal(model.mean, expected)
    np.testing.assert_array_equal(model.std, stds)
    np.testing.assert_allclose(model.acquisition, expected + np.where(is_listed, stds / 2, 0))


def test_the_shortlist_outlasts_a_change_of_proxies() -> None:
    """The proxies of a fit may change while the list stays."""
    given: dict[int, np.ndarray] = {}

    class Turns:
        def select(
            self, proxies: np.ndarray, labels: np.ndarray, rng: np.random.Generator
        ) -> np.ndarray:
            return np.arange(len(labels) % 3)[::-1]  # none, the first, or both backwards

    class Spy:
        def fit(self, X: npt.NDArray[np.float32], y: npt.NDArray[np.float64]) -> None:
            given[len(y)], self.n_columns = X, X.shape[1]

        def predict(self, X: npt.NDArray[np.float32]) -> tuple[np.ndarray, np.ndarray]:
            assert X.shape[1] == self.n_columns
            return np.zeros(len(X)), np.ones(len(X))

    machine = ZAPSSearch(
        CANDIDATES,
        PROXIES,
        with_model(plain_settings(lambda *_: Spy(), ANYTIME), selector=Turns(), shortlist=THIRTY),
        seed=0,
    )
    names = [machine.model.predict(history(range(n))).proxies for n in (10, 11, 12, 13)]
    # In order of importance; the surrogate has them in that of the table, whatever the votes.
    assert names == [("honest",), ("noise", "honest"), (), ("honest",)]
    for n, columns in ((11, [0, 1]), (12, []), (13, [0])):
        ranks = PROXIES.ranks[:n, columns].astype(np.float32)
        np.testing.assert_array_equal(given[n], np.hstack([ranks, CANDIDATES.encoding[:n]]))


def test_a_value_that_changes_is_learned_though_nothing_new_was_evaluated() -> None:
    """A repetition of a configuration changes the mean of its values, and no number of labels."""
    machine, known = search(profile="anytime"), history(range(0, 120, 10))
    before = machine.model.predict(known)
    changed = replace(known, labels=known.labels[::-1].copy())
    after = machine.model.predict(changed)
    fresh = search(profile="anytime").model.predict(changed)
    assert not np.allclose(before.mean, after.mean)
    np.testing.assert_array_equal(after.mean, fresh.mean)


def test_the_surrogate_sees_the_mean_ranks_of_the_neighbours_between() -> None:
    def check(X: npt.NDArray[np.float32]) -> None:
        # On a full grid the neighbours are the others of the row and of the column.
        ranks = PROXIES.ranks.reshape(N_SIDE, N_SIDE, 2)
        sums = ranks.sum(axis=0, keepdims=True) + ranks.sum(axis=1, keepdims=True) - 2 * ranks
        means = (sums / (2 * N_SIDE - 2)).reshape(-1, 2)
        np.testing.assert_array_equal(X[:, :2], PROXIES.ranks[:12].astype(np.float32))
        np.testing.assert_allclose(X[:, 2:4], means[:12], rtol=1e-5)
        np.testing.assert_array_equal(X[:, 4:], CANDIDATES.encoding[:12])

    layouts = layouts_of_a_fit(check, neighbourhood=True)
    assert [(each.n_proxies, each.has_neighbourhood) for each in layouts] == [(2, True)]


@pytest.mark.parametrize(
    ("share", "n_candidates", "size"),
    [
        (1.0, 100, 100),
        (0.125, 100, 100),
        (0.125, 15625, 2048),
        (0.125, 80000, 10000),
        (0.125, 10**6, 2**16),
        (1.0, 10**6, 2**16),
    ],
)
def test_size_of_the_shortlist(share: float, n_candidates: int, size: int) -> None:
    assert Shortlist(share, least=2**11, most=2**16).size(n_candidates) == size
