"""Two workers that want the same candidate at the same time, step by step."""

from __future__ import annotations

from typing import Any

from flat import Flat
import optuna
import pytest

from optuna_zaps import ZAPSSampler
from optuna_zaps._history import CLAIM_KEY


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
        zaps = ZAPSSampler(
            search_space=space, n_startup_trials=0, seed=0, surrogate=Flat.for_layout
        )
        self.study = optuna.create_study(sampler=zaps)
        self._space = space
        self.study.optimize(self._suggest, n_trials=1)
        self._theirs = self.study.ask()
        self._ours = self.study.ask()
        self._search = zaps._arena.search
        self._propose = self._search.propose
        monkeypatch.setattr(self._search, "propose", self._acting)

    def run(self) -> dict[str, Any]:
        """Let our trial choose; its attributes and parameters."""
        self._suggest(self._ours)
        trial = self.study.trials[self._ours.number]
        return trial.params | trial.user_attrs

    def _suggest(self, trial: optuna.Trial) -> float:
        return float(trial.suggest_categorical("n", self._space["n"]))

    def _acting(self, *arguments: Any) -> Any:
        trial = self.study.get_trials()[self._ours.number]
        self.claims.append(trial.system_attrs.get(CLAIM_KEY, {}))
        proposal = self._propose(*arguments)
        if len(self.claims) == 1:
            # It claims what we are about to claim, after we read that it had not.
            assert proposal is not None
            self._say(self._search.first.candidates.params(proposal.candidate))
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
