from __future__ import annotations

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import optuna
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.distributions import IntDistribution
from optuna.trial import TrialState
from optuna.trial import create_trial
import pytest

from optuna_zaps.search.conditions import active_params
from optuna_zaps.study.inferred_space import InferredSpaces


DISTRIBUTIONS: dict[str, list[BaseDistribution]] = {
    "a": [IntDistribution(1, 4), IntDistribution(1, 5)],
    "b": [CategoricalDistribution(["x", "y"])],
    "c": [FloatDistribution(0, 1, step=0.5)],
    "d": [IntDistribution(3, 3)],
}
SPACES = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 1)).map(
    lambda chosen: {
        name: DISTRIBUTIONS[name][which % len(DISTRIBUTIONS[name])]
        for name, which in chosen.items()
    }
)
STATES = st.sampled_from([TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL])


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(SPACES, st.integers(0, 3), STATES), max_size=8))
def test_the_space_has_all_that_finished_trials_had(
    steps: list[tuple[dict[str, BaseDistribution], int, TrialState]],
) -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    spaces, running = InferredSpaces(), []
    for space, which, state in steps:
        trial = study.ask()
        for name, distribution in space.items():
            trial._suggest(name, distribution)
        running.append(trial)
        if which < len(running):
            value = 1.0 if state == TrialState.COMPLETE else None
            study.tell(running.pop(which), value, state=state)
        finished = [t for t in study.trials if t.state in (TrialState.COMPLETE, TrialState.PRUNED)]
        latest = {name: d for trial in finished for name, d in trial.distributions.items()}
        known = spaces.known(study)
        assert known == latest
        assert list(known) == sorted(latest)
        lacking = {name for name in latest if any(name not in t.params for t in finished)}
        conditions = spaces.conditions(study, known)
        assert conditions.keys() == lacking
        # They tell of each of these trials which parameters it had, as far as they can.
        for trial in finished:
            active = active_params(trial.params, conditions)
            assert active == trial.params


@pytest.mark.parametrize(
    ("one", "other", "union"),
    [
        (FloatDistribution(0, 1), FloatDistribution(0.5, 10), FloatDistribution(0, 10)),
        (FloatDistribution(5, 6), FloatDistribution(0, 1), FloatDistribution(0, 6)),
        (
            FloatDistribution(1e-3, 1e-2, log=True),
            FloatDistribution(1e-5, 1e-4, log=True),
            FloatDistribution(1e-5, 1e-2, log=True),
        ),
        (
            FloatDistribution(0, 1, step=0.1),
            FloatDistribution(0.3, 2, step=0.1),
            FloatDistribution(0, 2, step=0.1),
        ),
        # Grids that do not lie on each other, and a grid with a continuum.
        (
            FloatDistribution(0, 1, step=0.1),
            FloatDistribution(0.05, 1.05, step=0.1),
            FloatDistribution(0, 1.05),
        ),
        (
            FloatDistribution(0, 1, step=0.1),
            FloatDistribution(0, 1, step=0.25),
            FloatDistribution(0, 1),
        ),
        (FloatDistribution(0, 1, step=0.1), FloatDistribution(0, 2), FloatDistribution(0, 2)),
        (IntDistribution(1, 5), IntDistribution(3, 9), IntDistribution(1, 9)),
        (
            IntDistribution(1, 8, log=True),
            IntDistribution(4, 99, log=True),
            IntDistribution(1, 99, log=True),
        ),
        # The coarsest grid of integers that has both: 0, 4, 8 and 2, 8, 14.
        (
            IntDistribution(0, 8, step=4),
            IntDistribution(2, 14, step=6),
            IntDistribution(0, 14, step=2),
        ),
    ],
)
def test_a_parameter_whose_range_changes_is_one_over_the_union(
    one: BaseDistribution, other: BaseDistribution, union: BaseDistribution
) -> None:
    for first, second in ((one, other), (other, one)):
        study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
        for distribution in (first, second, second):
            study.tell(study.ask({"x": distribution}), 1.0)
        spaces = InferredSpaces()
        assert spaces.known(study) == {"x": second}
        assert list(spaces.changing(study)) == ["x"]
        assert spaces.united(study, {"x": second}) == {"x": union}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (FloatDistribution(1, 9), FloatDistribution(1, 9, log=True)),
        (FloatDistribution(1, 9), IntDistribution(1, 9)),
        (CategoricalDistribution([1, 2]), CategoricalDistribution([1, 2, 3])),
        (CategoricalDistribution([1, 2]), IntDistribution(1, 2)),
    ],
)
def test_what_optuna_takes_for_another_parameter_is_left_out(
    one: BaseDistribution, other: BaseDistribution
) -> None:
    """Suggested where another distribution was proposed from, it would raise."""
    study = optuna.create_study()
    for distribution in (one, other, one):
        trial = create_trial(
            params={"x": 1, "y": 2},
            distributions={"x": distribution, "y": IntDistribution(1, 9)},
            value=1.0,
        )
        study.add_trial(trial)
    spaces = InferredSpaces()
    assert spaces.known(study) == {"y": IntDistribution(1, 9)}
    assert spaces.is_left_out(study, "x")


def test_a_result_is_the_callers_own() -> None:
    study = optuna.create_study()
    study.optimize(lambda trial: trial.suggest_int("n", 1, 9), n_trials=2)
    spaces = InferredSpaces()
    spaces.known(study).clear()
    assert list(spaces.known(study)) == ["n"]
