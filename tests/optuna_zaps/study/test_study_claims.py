"""Two workers that want the same candidate at the same time, step by step."""

from __future__ import annotations

from collections.abc import Callable
import threading
import time
from typing import Any

from flat import FLAT
import optuna
import pytest

from optuna_zaps import ZAPSSampler
from optuna_zaps.search.outcomes import JointSearch
from optuna_zaps.study.trials import CLAIM_KEY


class Rival:
    """Another worker's trial, which acts in the middle of ours.

    Args:
        monkeypatch: Puts it where the search proposes.
        n_free: How many candidates nobody has evaluated.
        retreats: At which of our proposals it takes its claim back.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, n_free: int, retreats: int) -> None:
        self.claims: list[dict[str, Any]] = []
        self._retreats = retreats
        space = {"n": list(range(1 + n_free))}
        zaps = ZAPSSampler(search_space=space, n_startup_trials=0, seed=0, profile=FLAT)
        self.study = optuna.create_study(sampler=zaps)
        self._space = space
        self.study.optimize(self._suggest, n_trials=1)
        self._theirs = self.study.ask()
        self._ours = self.study.ask()
        self._propose = JointSearch.propose
        rival = self

        def acting(search: JointSearch, *arguments: Any) -> Any:
            return rival._acting(search, *arguments)

        monkeypatch.setattr(JointSearch, "propose", acting)

    def run(self) -> dict[str, Any]:
        """Let our trial choose; its attributes and parameters."""
        self._suggest(self._ours)
        trial = self.study.trials[self._ours.number]
        return trial.params | trial.user_attrs

    def _suggest(self, trial: optuna.Trial) -> float:
        return float(trial.suggest_categorical("n", self._space["n"]))

    def _acting(self, search: JointSearch, *arguments: Any) -> Any:
        trial = self.study.get_trials()[self._ours.number]
        self.claims.append(trial.system_attrs.get(CLAIM_KEY, {}))
        proposal = self._propose(search, *arguments)
        if len(self.claims) == 1:
            # It claims what we are about to claim, after we read that it had not.
            assert proposal is not None
            self._say(search.primary.candidates.params(proposal.candidate))
        elif len(self.claims) == self._retreats:
            self._say({})
        return proposal

    def _say(self, claim: dict[str, Any]) -> None:
        self.study._storage.set_trial_system_attr(self._theirs._trial_id, CLAIM_KEY, claim)


def test_who_gives_way_takes_its_claim_back_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rival = Rival(monkeypatch, n_free=3, retreats=0)
    ours = rival.run()
    # When it proposes again it stands in nobody's way.
    assert rival.claims == [{}, {}]
    assert ours["n"] != rival.study.trials[1].system_attrs[CLAIM_KEY]["n"]
    assert ours["zaps:phase"] == "random"  # one label is too little for a model


def test_the_last_candidate_is_not_lost_when_both_give_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rival = Rival(monkeypatch, n_free=1, retreats=2)
    assert rival.run()["zaps:phase"] == "random"
    assert rival.claims == [{}, {}, {}]


def test_the_last_candidate_held_by_a_running_trial_is_evaluated_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As GridSampler does: its worker may have died.
    rival = Rival(monkeypatch, n_free=1, retreats=0)
    ours = rival.run()
    assert ours["zaps:phase"] == "repetition"
    assert ours["n"] == rival.study.trials[1].system_attrs[CLAIM_KEY]["n"]


CHOICES = list(range(20))


class Staged(optuna.storages.InMemoryStorage):
    """A storage that calls something before and after the first claim of a thread."""

    def __init__(self) -> None:
        super().__init__()
        self._calls = threading.local()

    def set_trial_system_attr(self, trial_id: int, key: str, value: Any) -> None:
        nothing = (lambda: None, lambda: None)
        before, after = self._calls.__dict__.pop("both", nothing) if key == CLAIM_KEY else nothing
        before()
        super().set_trial_system_attr(trial_id, key, value)
        after()

    def suggest(
        self, trial: optuna.Trial, before: Callable[[], Any], after: Callable[[], Any]
    ) -> threading.Thread:
        """Let a trial choose in a thread of its own, named by its number."""

        def run() -> None:
            self._calls.both = (before, after)
            trial.suggest_categorical("n", CHOICES)

        thread = threading.Thread(target=run, name=str(trial.number))
        thread.start()
        return thread


def two_that_want_the_same(storage: Staged) -> tuple[optuna.Trial, optuna.Trial, int]:
    """Trials of two workers, the lower number first, and what either would choose alone."""

    def sampler() -> ZAPSSampler:
        return ZAPSSampler(search_space={"n": CHOICES}, n_startup_trials=0, seed=0, profile=FLAT)

    study = optuna.create_study(study_name="shared", storage=storage, sampler=sampler())
    for n in (3, 7):  # from two values on there is a model, and all workers want the same
        study.enqueue_trial({"n": n})
    study.optimize(lambda trial: trial.suggest_categorical("n", CHOICES), n_trials=2)
    alone = optuna.create_study(sampler=sampler())
    alone.add_trials(study.trials)
    wanted = alone.ask().suggest_categorical("n", CHOICES)
    lower, higher = (
        optuna.load_study(study_name="shared", storage=storage, sampler=sampler()).ask()
        for _ in range(2)
    )
    assert lower.number < higher.number
    return lower, higher, wanted


def test_of_two_claims_at_once_the_trial_of_the_lower_number_keeps_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Waits for the other, which backs off without waiting."""
    waiting: set[str] = set()
    has_looked, sleep = threading.Event(), time.sleep

    def patient(seconds: float) -> None:
        waiting.add(threading.current_thread().name)
        has_looked.set()
        sleep(20 * seconds)  # a busy machine may be slow to give way

    storage = Staged()
    lower, higher, wanted = two_that_want_the_same(storage)
    monkeypatch.setattr(time, "sleep", patient)
    # Both read the history, both claim, and the lower number looks first.
    have_read, have_claimed = (threading.Barrier(2, timeout=30).wait for _ in range(2))
    first = storage.suggest(lower, have_read, have_claimed)
    second = storage.suggest(higher, have_read, lambda: (have_claimed(), has_looked.wait(30)))
    first.join()
    has_looked.set()
    second.join()
    assert lower.params == {"n": wanted}
    assert higher.params["n"] not in {3, 7, wanted}
    assert waiting == {str(lower.number)}


@pytest.mark.parametrize("ends", [False, True], ids=["runs", "has ended"])
@pytest.mark.parametrize("which", ["lower", "higher", "begun", "later"])
def test_what_another_trial_holds_already_is_left_to_it(which: str, ends: bool) -> None:
    """Of what was claimed after the history was read: the other has looked, and seen nobody."""
    storage = Staged()
    lower, higher, wanted = two_that_want_the_same(storage)
    holder, ours = (higher, lower) if which == "higher" else (lower, higher)
    if which == "begun":
        holder.suggest_float("of no space", 0.0, 1.0)
    elif which == "later":
        lower.study.tell(lower, state=optuna.trial.TrialState.FAIL)
    has_read, may_claim = threading.Event(), threading.Event()
    thread = storage.suggest(ours, lambda: (has_read.set(), may_claim.wait(30)), lambda: None)
    assert has_read.wait(30)
    if which == "later":
        holder = lower.study.ask()
    holder.suggest_categorical("n", CHOICES)
    if ends:
        holder.study.tell(holder, 1.0)
    may_claim.set()
    thread.join()
    assert holder.params["n"] == wanted
    assert ours.params["n"] not in {3, 7, wanted}
