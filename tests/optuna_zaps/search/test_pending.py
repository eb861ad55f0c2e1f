"""Running trials: the spread that remains after them counts, and no prediction of theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from histories import history_of
import numpy as np
import optuna
from optuna.trial import TrialState
import pytest

from optuna_zaps import ZAPSSampler
from optuna_zaps.search.candidates import CandidateSet


SPACE = {"a": list(range(8)), "b": list(range(8))}


def suggested(trial: optuna.Trial) -> float:
    a, b = (trial.suggest_categorical(name, choices) for name, choices in SPACE.items())
    return float(a + b * b)


def study_after(n_trials: int, direction: str = "maximize") -> optuna.Study:
    sampler = ZAPSSampler(search_space=SPACE, n_startup_trials=6, seed=0)
    study = optuna.create_study(direction=direction, sampler=sampler)
    study.optimize(suggested, n_trials=n_trials)
    return study


def ask(study: optuna.Study) -> tuple[optuna.Trial, float]:
    trial = study.ask()
    return trial, suggested(trial)


@pytest.mark.parametrize(("direction", "sign"), [("maximize", 1), ("minimize", -1)])
def test_a_running_trial_has_no_label_until_it_has_a_value(direction: str, sign: int) -> None:
    study = study_after(8, direction)
    (first, value), (second, _) = ask(study), ask(study)
    before = history_of(study, SPACE)
    assert len(before.labelled) == len(before.labels) == 8
    assert len(before.pending) == 2

    study.tell(second, 3.0)
    study.tell(first, value)
    after = history_of(study, SPACE)
    assert len(after.pending) == 0
    # Told out of order, and still in the order of the trials.
    assert after.labelled[8:].tolist() == before.pending.tolist()
    assert after.labels[8:].tolist() == [sign * value, sign * 3.0]


def test_an_attribute_of_a_running_trial_changes_no_proposal() -> None:
    # Whatever it holds: it is an ordinary user attribute, which anybody may write.
    proposals = []
    for mean in (None, -1e6, 1e6, "text", [1.0, 2.0], {"a": 1}):
        study = study_after(12)
        running, _ = ask(study)
        if mean is not None:
            study._storage.set_trial_user_attr(running._trial_id, "zaps:mean", mean)
        proposals.append(ask(study)[0].params)
    assert all(params == proposals[0] for params in proposals)


def test_a_failed_trial_is_not_pending_and_keeps_its_candidate() -> None:
    study = study_after(8)
    trial, _ = ask(study)
    study.tell(trial, state=TrialState.FAIL)
    seen = history_of(study, SPACE)
    assert len(seen.labelled) == 8
    assert len(seen.pending) == 0
    assert np.count_nonzero(seen.unavailable) == 9


def test_a_configuration_with_a_value_is_not_pending() -> None:
    study = study_after(8)
    trial, _ = ask(study)
    study.enqueue_trial(trial.params)
    again, _ = ask(study)
    study.tell(again, 5.0)
    seen = history_of(study, SPACE)
    assert len(seen.pending) == 0
    assert seen.labels[8] == 5.0


def test_the_ranking_knows_values_only() -> None:
    study = study_after(12)
    ranking = study.sampler.rank(study)
    for _ in range(5):
        ask(study)
    assert study.sampler.rank(study).equals(ranking)


def test_the_same_history_with_pending_trials_gives_the_same_proposal() -> None:
    study = study_after(12)
    pending = [ask(study) for _ in range(5)]
    study.tell(*pending[3])
    study.tell(pending[0][0], state=TrialState.FAIL)

    twin = optuna.create_study(
        direction="maximize", sampler=ZAPSSampler(search_space=SPACE, n_startup_trials=6, seed=0)
    )
    twin.add_trials(study.trials)
    for _ in range(4):
        assert ask(twin)[0].params == ask(study)[0].params


def test_a_trial_that_never_ends_does_not_make_each_ask_look_up_every_trial(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = study_after(3)
    ask(study)  # its worker has died
    study.optimize(suggested, n_trials=36)
    looked_up: list[Any] = []
    index = CandidateSet.index

    def counting(self: CandidateSet, params: Any) -> int | None:
        looked_up.append(params)
        return index(self, params)

    monkeypatch.setattr(CandidateSet, "index", counting)
    study.optimize(suggested, n_trials=1)
    # Its own and the dead worker's, at each reading of the history; not the 36 between.
    assert len(looked_up) < 12


def precision(table: Any, seed: int, n_pending: int) -> int:
    """P@100 after 200 trials of which so many run at a time, and end in a random order."""
    rng = np.random.default_rng(seed)
    sampler = ZAPSSampler(table.frame, seed=seed)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    running: list[tuple[optuna.Trial, float]] = []
    for _ in range(200):
        if len(running) == n_pending:
            study.tell(*running.pop(int(rng.integers(n_pending))))
        trial = study.ask()
        running.append((trial, table.objective(trial)))
    assert len({table.row(trial.params) for trial in study.trials}) == 200
    return int(table.precision(study))


@pytest.mark.slow
def test_eight_workers_find_what_one_finds(nasbench201: Callable[[str], Any]) -> None:
    # The floor: within 5 points of P@100 of the sequential study's.
    table = nasbench201("cifar10")
    alone, together = (
        np.mean([precision(table, seed, n_pending) for seed in range(10)]) for n_pending in (1, 8)
    )
    print(f"\nP@100 at 200, 10 seeds: {alone:.1f} one at a time, {together:.1f} eight at a time")
    assert together > alone - 5
