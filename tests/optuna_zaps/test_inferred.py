from __future__ import annotations

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import optuna
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.distributions import IntDistribution
from optuna.search_space import _GroupDecomposedSearchSpace
from optuna.search_space import intersection_search_space
from optuna.trial import TrialState

from optuna_zaps._inferred import InferredSpaces


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
def test_the_spaces_are_those_of_optuna(
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
        assert spaces.shared(study) == intersection_search_space(study.trials, include_pruned=True)
        decomposed = _GroupDecomposedSearchSpace(include_pruned=True).calculate(study)
        assert spaces.groups(study) == decomposed.search_spaces


def test_a_result_is_the_callers_own() -> None:
    study = optuna.create_study()
    study.optimize(lambda trial: trial.suggest_int("n", 1, 9), n_trials=2)
    spaces = InferredSpaces()
    spaces.shared(study).clear()
    spaces.groups(study)[0].clear()
    assert list(spaces.shared(study)) == list(spaces.groups(study)[0]) == ["n"]
