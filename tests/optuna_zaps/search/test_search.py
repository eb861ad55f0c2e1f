from __future__ import annotations

from flat import Flat
from flat import plain_settings
import numpy as np
import numpy.typing as npt
import pytest
from searches import ANYTIME
from searches import CANDIDATES
from searches import PROFILES
from searches import PROXIES
from searches import UNPLANNED
from searches import VALUES
from searches import history
from searches import run
from searches import search

from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.model import Shortlist
from optuna_zaps.search.observations import History
from optuna_zaps.search.profiles import Profile
from optuna_zaps.search.proxies import ProxyTable
from optuna_zaps.search.schedule import AnytimeSchedule
from optuna_zaps.search.schedule import BudgetSchedule
from optuna_zaps.search.search import ZAPSSearch


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
