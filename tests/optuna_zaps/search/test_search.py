from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from flat import Flat
from flat import plain_settings
import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.model import Shortlist
from optuna_zaps.search.observations import History
from optuna_zaps.search.profiles import Profile
from optuna_zaps.search.profiles import Situation
from optuna_zaps.search.proxies import ProxyTable
from optuna_zaps.search.schedule import AnytimeSchedule
from optuna_zaps.search.schedule import BudgetSchedule
from optuna_zaps.search.schedule import Schedule
from optuna_zaps.search.search import SearchSettings
from optuna_zaps.search.search import ZAPSSearch
from optuna_zaps.surrogates import FeatureLayout


N_SIDE = 12
CANDIDATES = CandidateSet.grid({"a": range(N_SIDE), "b": range(N_SIDE)})
VALUES = (CANDIDATES.codes[:, 0] * 1.0 + CANDIDATES.codes[:, 1] ** 2).astype(float)
PROXIES = ProxyTable(
    pd.DataFrame(
        {
            "honest": VALUES + np.random.default_rng(0).normal(scale=20, size=len(VALUES)),
            "noise": np.random.default_rng(1).normal(size=len(VALUES)),
        }
    )
)


PROFILES = ["anytime", "anytime+trees"]
ANYTIME, UNPLANNED = AnytimeSchedule(10, growth=0.1), AnytimeSchedule(0, growth=0.1)
TWENTY = AnytimeSchedule(20, growth=0.1)
FIFTY = Shortlist(share=1.0, least=50, most=50)
THIRTY = Shortlist(share=1.0, least=30, most=30)


def search(
    seed: int = 0,
    schedule: Schedule | None = None,
    proxies: ProxyTable | None = PROXIES,
    initial_proxies: Sequence[str] | None = None,
    *,
    profile: str = "anytime+trees",
    **model: Any,
) -> ZAPSSearch:
    settings = adapted(profile, with_proxies=proxies is not None)
    settings = with_model(replace(settings, schedule=schedule or ANYTIME), **model)
    return ZAPSSearch(CANDIDATES, proxies, settings, seed=seed, initial_proxies=initial_proxies)


def adapted(profile: str, *, with_proxies: bool) -> SearchSettings:
    situation = Situation(with_proxies=with_proxies, with_numbers=False)
    return Profile.from_name(profile).adapted(situation)


def with_model(settings: SearchSettings, **model: Any) -> SearchSettings:
    return replace(settings, model=replace(settings.model, **model))


def history(evaluated: Sequence[int], pending: Sequence[int] = ()) -> History:
    labelled = np.asarray(evaluated, dtype=np.intp)
    unavailable = np.zeros(len(CANDIDATES), dtype=np.bool_)
    unavailable[labelled] = True
    unavailable[list(pending)] = True
    return History(labelled, VALUES[labelled], unavailable)


def run(machine: ZAPSSearch, n: int) -> list[int]:
    evaluated: list[int] = []
    for number in range(n):
        proposal = machine.propose(history(evaluated), number)
        assert proposal is not None
        evaluated.append(proposal.candidate)
    return evaluated


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("proxies", [PROXIES, None], ids=["proxies", "none"])
def test_nothing_is_proposed_twice_and_everything_once(
    profile: str, proxies: ProxyTable | None
) -> None:
    machine = search(profile=profile, proxies=proxies)
    evaluated = run(machine, len(CANDIDATES))
    assert sorted(evaluated) == list(range(len(CANDIDATES)))
    assert machine.propose(history(evaluated), len(evaluated)) is None


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("proxies", [PROXIES, None], ids=["proxies", "none"])
def test_a_search_rebuilt_from_the_history_goes_on_as_the_one_that_ran(
    profile: str, proxies: ProxyTable | None
) -> None:
    evaluated = run(search(profile=profile, proxies=proxies), 60)
    for n in (3, 10, 11, 25, 39, 59):
        machine = search(profile=profile, proxies=proxies)
        proposal = machine.propose(history(evaluated[:n]), n)
        assert proposal is not None
        assert proposal.candidate == evaluated[n]


@pytest.mark.parametrize("profile", PROFILES)
def test_it_finds_the_optimum_early(profile: str) -> None:
    # Random search finds it within 40 of 144 with probability 28 %: 5 seeds of 5 is 0.2 %.
    assert all(VALUES.argmax() in run(search(seed, profile=profile), 40) for seed in range(5))


def test_without_a_start_the_first_model_has_two_labels() -> None:
    for schedule in (BudgetSchedule(100, n_startup=0, iterations=2), UNPLANNED):
        assert len(set(run(search(schedule=schedule), 12))) == 12


def test_pending_candidates_are_left_alone() -> None:
    evaluated = run(search(), 30)
    machine, pending = search(), []
    for _ in range(5):
        proposal = machine.propose(history(evaluated, pending), 30 + len(pending))
        assert proposal is not None
        pending.append(proposal.candidate)
    assert len({*evaluated, *pending}) == 35


def test_only_allowed_candidates_are_proposed() -> None:
    allowed = CANDIDATES.matching({"a": 3})
    machine, evaluated = search(), run(search(), 30)
    for number in (2, 30):
        proposal = machine.propose(history(evaluated), number, allowed)
        assert proposal is not None
        assert CANDIDATES.params(proposal.candidate)["a"] == 3
    assert machine.propose(history(range(144)), 144, allowed) is None


def test_phases_and_predictions_are_reported() -> None:
    machine = search()
    evaluated = run(machine, 10)
    assert [machine.propose(history([]), i).phase for i in range(3)] == [  # type: ignore[union-attr]
        "exploitation", "coverage", "exploitation",
    ]  # fmt: skip
    proposal = machine.propose(history(evaluated), 10)
    assert proposal is not None
    assert proposal.phase == "model"
    (mean,), (std,) = proposal.means, proposal.stds
    assert proposal.acquisition == pytest.approx(mean + 0.5 * std)  # Eq. 3
    assert set(proposal.proxies) == {"honest", "noise"}


def test_without_labels_it_goes_on_at_random() -> None:
    unavailable = np.zeros(len(CANDIDATES), dtype=np.bool_)
    nothing = History(np.empty(0, dtype=np.intp), np.empty(0), unavailable)
    chosen = {search().propose(nothing, number).candidate for number in range(50, 60)}  # type: ignore[union-attr]
    assert len(chosen) > 5


def test_a_taken_entry_of_the_plan_is_replaced_by_the_next() -> None:
    plan = search().plan.candidates
    proposal = search().propose(history(plan[:1].tolist()), 0)
    assert proposal is not None
    assert proposal.candidate == plan[1]


def test_the_ranking_is_by_the_mean_after_a_fit_on_every_label() -> None:
    seen: list[int] = []

    class Spy:
        def fit(self, X: npt.NDArray[np.float32], y: npt.NDArray[np.float64]) -> None:
            seen.append(len(y))

        def predict(self, X: npt.NDArray[np.float32]) -> tuple[np.ndarray, np.ndarray]:
            return VALUES, np.ones_like(VALUES)

    machine = ZAPSSearch(CANDIDATES, PROXIES, plain_settings(lambda *_: Spy(), ANYTIME), seed=0)
    ranking = machine.rank(history(range(37)))
    assert seen == [37]
    assert np.all(np.diff(VALUES[ranking.candidates]) <= 0)
    np.testing.assert_array_equal(ranking.mean, VALUES[ranking.candidates])


def test_a_ranking_needs_labels() -> None:
    with pytest.raises(ValueError, match=r"at least 2 configurations.*got 1"):
        search().rank(history([0]))


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


def test_ties_are_broken_by_the_seed_not_by_the_table() -> None:
    def chosen(seed: int) -> int:
        machine = ZAPSSearch(
            CANDIDATES, None, plain_settings(lambda *_: Flat(), UNPLANNED), seed=seed
        )
        proposal = machine.propose(history([0, 1]), 5)
        assert proposal is not None
        return proposal.candidate

    assert len({chosen(seed) for seed in range(20)}) > 10


def test_the_seed_matters_and_the_order_of_asking_does_not() -> None:
    assert run(search(0), 15) != run(search(1), 15)
    evaluated = run(search(), 30)
    machine = search()
    late = machine.propose(history(evaluated), 30)
    machine.propose(history(evaluated[:12]), 12)
    assert machine.propose(history(evaluated), 30) == late


@pytest.mark.parametrize(
    ("budget", "n_startup", "batch"),
    [(200, 50, 75), (300, 75, 112), (100, 25, 37), (50, 12, 19), (10, 10, 1), (30, 10, 10)],
)
def test_the_papers_schedule(budget: int, n_startup: int, batch: int) -> None:
    # n0 = max(10, B // 4) and b = max(1, (B - n0) // T) with T = 2: Algorithm 3, line 2.
    schedule = Profile.paper(budget).schedule
    assert isinstance(schedule, BudgetSchedule)
    assert (schedule.n_startup, schedule.batch) == (n_startup, batch)


def test_the_paper_fits_twice_and_a_study_beyond_its_budget_goes_on_in_batches() -> None:
    sizes = [max(Profile.paper(300).schedule.training_sizes(n)) for n in range(75, 301)]
    assert sorted(set(sizes[:-1])) == [75, 187]
    assert sizes.index(187) == 112
    assert (
        max(Profile.paper(300).schedule.training_sizes(299)) == 187
    )  # the evaluation that the floor leaves
    # n0 + 2 b = 75 + 2 * 112: the model of a trial beyond the budget.
    assert max(Profile.paper(300).schedule.training_sizes(300)) == 299
    assert max(Profile.paper(200).schedule.training_sizes(275)) == 275


def test_the_anytime_schedule_fits_at_every_tenth_of_growth() -> None:
    sizes = [max(TWENTY.training_sizes(n)) for n in range(20, 46)]
    assert sorted(set(sizes)) == [20, 22, 24, 26, 28, 30, 33, 36, 39, 42]
    assert all(size <= n < size * 1.1 + 1 for size, n in zip(sizes, range(20, 46), strict=True))


@pytest.mark.parametrize("schedule", [Profile.paper(200).schedule, TWENTY])
def test_fewer_labels_than_planned_are_all_used(schedule: Schedule) -> None:
    assert [max(schedule.training_sizes(n)) for n in (2, 9, 20)] == [2, 9, 20]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Profile.paper(9), "budget must be at least 10, but got 9"),
        (lambda: BudgetSchedule(0, n_startup=10, iterations=2), "budget must be at least 1"),
        (lambda: BudgetSchedule(20, n_startup=-1, iterations=2), "n_startup"),
        (lambda: BudgetSchedule(20, n_startup=10, iterations=0), "iterations"),
        (lambda: AnytimeSchedule(-1, growth=0.1), "n_startup"),
        (lambda: AnytimeSchedule(20, growth=-0.1), "growth"),
        (lambda: Shortlist(share=0.0, least=10, most=100), "share"),
        (lambda: Shortlist(share=1.0, least=100, most=10), "100 and 10"),
        (lambda: search(initial_proxies=["flops"]), r"\['flops'\]"),
        (lambda: search(initial_proxies=[]), "at least one proxy"),
        (lambda: search(proxies=None, initial_proxies=["flops"]), "no proxies"),
    ],
)
def test_bad_arguments(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]


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
    """What may be best is kept up to date, though its mean is low."""
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
    """Which proxies a fit is given may change while the list stays."""
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


def test_one_label_is_too_little_for_a_model() -> None:
    proposal = search().propose(history([7]), 50)
    assert proposal is not None
    assert (proposal.phase, proposal.means) == ("random", ())


def test_equal_means_are_ranked_in_an_order_of_the_seed() -> None:
    class Equal:
        def fit(self, X: npt.NDArray[np.float32], y: npt.NDArray[np.float64]) -> None:
            pass

        def predict(self, X: npt.NDArray[np.float32]) -> tuple[np.ndarray, np.ndarray]:
            return np.zeros(len(X)), np.arange(len(X))  # the spread does not count

    rankings = []
    for seed in (0, 0, 1):
        machine = ZAPSSearch(
            CANDIDATES,
            PROXIES,
            plain_settings(lambda *_: Equal(), UNPLANNED),
            seed=seed,
        )
        rankings.append(machine.rank(history(range(5))).candidates.tolist())
    assert rankings[0] == rankings[1] != rankings[2]
    assert all(sorted(ranking) == list(range(144)) for ranking in rankings)
    assert abs(np.corrcoef(rankings[0], np.arange(144))[0, 1]) < 0.4


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


def test_more_candidates_than_are_scored_at_a_time_are_all_scored() -> None:
    n = 2 * 2**16 + 5
    candidates = CandidateSet.grid({"n": range(n)}, coordinates={"n": np.linspace(0, 1, n)})

    class Identity:
        def fit(self, X: npt.NDArray[np.float32], y: npt.NDArray[np.float64]) -> None:
            pass

        def predict(self, X: npt.NDArray[np.float32]) -> tuple[np.ndarray, np.ndarray]:
            return X[:, 0].astype(np.float64), 1 - X[:, 0].astype(np.float64)

    machine = ZAPSSearch(
        candidates, None, plain_settings(lambda *_: Identity(), UNPLANNED), seed=0
    )
    known = History(np.array([3, 9]), np.array([1.0, 2.0]), np.zeros(n, dtype=np.bool_))
    ranking = machine.rank(known)
    order = np.argsort(ranking.candidates)
    np.testing.assert_allclose(ranking.mean[order], candidates.encoding[:, 0])
    np.testing.assert_allclose(ranking.std[order], 1 - candidates.encoding[:, 0], atol=1e-6)


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
