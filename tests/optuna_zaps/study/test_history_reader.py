from __future__ import annotations

import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution
from optuna.trial import TrialState

from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.study.history import HistoryReader
from optuna_zaps.study.trials import CLAIM_KEY


CANDIDATES = CandidateSet.grid({"n": range(4)})


def evaluate(study: optuna.Study, n: int, value: float | None, constraint: float) -> None:
    """Evaluate a configuration; without a value in vain."""
    study.enqueue_trial({"n": n})
    trial = study.ask()
    trial.suggest_categorical("n", range(4))
    study._storage.set_trial_system_attr(trial._trial_id, "constraints", [constraint])
    study.tell(trial, value, state=TrialState.FAIL if value is None else TrialState.COMPLETE)


def test_a_reader_that_went_along_says_what_one_started_anew_says() -> None:
    """Also where a worker has died, so that what others tell later is read again and again."""
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    reader = HistoryReader()
    study.enqueue_trial({"n": 3})
    study.ask().suggest_categorical("n", range(4))  # and never ends
    for n, value, constraint in ((0, 1.0, 5.0), (1, 2.0, -1.0), (0, 4.0, 8.0), (2, None, 1.0)):
        evaluate(study, n, value, constraint)
        for _ in range(3):
            observed = reader.read(study, CANDIDATES, None)
        anew = HistoryReader().read(study, CANDIDATES, None)
        for ours, theirs in zip(
            (*observed.objectives, *observed.constraints),
            (*anew.objectives, *anew.constraints),
            strict=True,
        ):
            np.testing.assert_array_equal(ours.labelled, theirs.labelled)
            np.testing.assert_array_equal(ours.labels, theirs.labels)
            np.testing.assert_array_equal(ours.unavailable, theirs.unavailable)
    # Larger is better of either: a value that is minimised, a constraint that holds up to 0. Of
    # the configuration that was evaluated twice they are means. A trial that failed has told its
    # constraint all the same.
    (objective,), (constraint_history,) = observed.objectives, observed.constraints
    assert objective.labelled.tolist() == [0, 1]
    assert constraint_history.labelled.tolist() == [0, 1, 2]
    assert objective.labels.tolist() == [-2.5, -2.0]
    assert constraint_history.labels.tolist() == [-6.5, 1.0, -1.0]
    assert objective.unavailable.tolist() == [True] * 4


def test_what_a_trial_was_enqueued_with_is_taken_before_it_is_suggested() -> None:
    study = optuna.create_study()
    reader = HistoryReader()
    study.enqueue_trial({"n": 2})
    assert reader.read(study, CANDIDATES, None).unavailable.tolist() == [False, False, True, False]
    study.ask()
    assert reader.read(study, CANDIDATES, None).unavailable.tolist() == [False, False, True, False]


def test_what_was_suggested_counts_for_more_than_what_was_claimed() -> None:
    """An outer sampler may have overruled a value."""
    study = optuna.create_study(direction="maximize")
    study.add_trial(
        optuna.trial.create_trial(
            params={"n": 1},
            distributions={"n": CategoricalDistribution(range(4))},
            value=5.0,
            system_attrs={CLAIM_KEY: {"n": 0}},
        )
    )
    observed = HistoryReader().read(study, CANDIDATES, None)
    assert observed.unavailable.tolist() == [False, True, False, False]
    assert observed.labelled.tolist() == [1]
