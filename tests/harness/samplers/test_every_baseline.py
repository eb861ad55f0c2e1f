"""Checks of every baseline: Optuna's contract, determinism, state in the storage alone."""

from __future__ import annotations

from collections.abc import Callable
import pickle
from typing import Any

from grids import GRID
from grids import GRID_TABLE
from grids import hill
from grids import run
from grids import visited
import optuna
from optuna.samplers import BaseSampler
from optuna.testing.pytest_samplers import BasicSamplerTestCase
from optuna.testing.pytest_samplers import MultiObjectiveSamplerTestCase
from optuna.testing.pytest_samplers import RelativeSamplerTestCase
import pytest

from harness.samplers.bananas import BANANASSampler
from harness.samplers.local_search import LocalSearchSampler
from harness.samplers.proxybo import ProxyBOSampler
from harness.samplers.random_distinct import RandomDistinctSampler
from harness.samplers.rea import REASampler
from harness.samplers.suite_zero import SuiteZeroBANANASSampler
from harness.samplers.tpe_discrete import TPEDiscreteSampler


Make = Callable[..., BaseSampler]

SMALL: dict[str, Make] = {
    "random-distinct": RandomDistinctSampler,
    "local-search": LocalSearchSampler,
    "local-search-first": lambda *a, **k: LocalSearchSampler(*a, improvement="first", **k),
    "rea": lambda *a, **k: REASampler(*a, population_size=5, tournament_size=2, **k),
    "tpe-discrete": lambda *a, **k: TPEDiscreteSampler(*a, n_startup_trials=5, **k),
    "bananas": lambda *a, **k: BANANASSampler(*a, n_startup_trials=5, batch_size=4, **k),
}
WITH_PROXIES: dict[str, Make] = {
    "suite-zero-bananas": lambda *a, **k: SuiteZeroBANANASSampler(
        GRID_TABLE, *a, n_startup_trials=5, batch_size=4, n_trees=5, **k
    ),
    "proxybo": lambda *a, **k: ProxyBOSampler(
        GRID_TABLE, *a, n_startup_trials=5, batch_size=2, n_trees=5, **k
    ),
}
every_baseline = pytest.mark.parametrize("name", [*SMALL, *WITH_PROXIES])
N_TRIALS = 16


def make(name: str, **arguments: Any) -> BaseSampler:
    return (SMALL | WITH_PROXIES)[name](GRID, **arguments)


# A table of other parameters than the suite's "x" and "y", whose choices it cannot have.
ELSEWHERE = GRID_TABLE.rename(columns={"x": "row", "y": "column"}).set_index(["row", "column"])
CONTRACT: dict[str, Make] = SMALL | {
    "tpe-discrete": lambda: TPEDiscreteSampler(n_startup_trials=2),
    "bananas": lambda: BANANASSampler(n_startup_trials=2, n_candidates=5),
    "suite-zero-bananas": lambda: SuiteZeroBANANASSampler(ELSEWHERE, n_startup_trials=2),
    "proxybo": lambda: ProxyBOSampler(ELSEWHERE, n_startup_trials=2),
}


class TestContract(BasicSamplerTestCase, RelativeSamplerTestCase, MultiObjectiveSamplerTestCase):
    """Optuna's own suite."""

    @pytest.fixture(params=list(CONTRACT))
    def sampler(self, request: pytest.FixtureRequest) -> Callable[[], BaseSampler]:
        return CONTRACT[request.param]


@every_baseline
def test_a_seed_is_a_study_and_another_seed_another(name: str) -> None:
    first, again, other = (visited(run(make(name, seed=seed), N_TRIALS)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@every_baseline
def test_a_fresh_sampler_goes_on_as_the_old_one_would(name: str) -> None:
    whole = visited(run(make(name, seed=1), N_TRIALS))
    study = run(make(name, seed=1), 7)
    study = run(make(name, seed=1), 4, study=study)
    study = run(pickle.loads(pickle.dumps(study.sampler)), N_TRIALS - 11, study=study)
    assert visited(study) == whole


@every_baseline
def test_minimising_is_maximising_the_negative(name: str) -> None:
    study = run(make(name, seed=1), N_TRIALS, study=optuna.create_study(direction="minimize"))
    assert visited(study) == visited(run(make(name, seed=1), N_TRIALS))


@every_baseline
def test_failures_and_prunings_do_not_stop_a_study(name: str) -> None:
    study = optuna.create_study(direction="maximize", sampler=make(name, seed=1))

    def objective(trial: optuna.Trial) -> float:
        params = {key: trial.suggest_categorical(key, GRID[key]) for key in GRID}
        if trial.number % 3 == 1:
            raise optuna.TrialPruned
        if trial.number % 3 == 2:
            return float("nan")
        return hill(params)

    study.optimize(objective, n_trials=25)
    assert len(study.trials) == 25
    if "rea" not in name:
        assert len(set(visited(study))) == 25  # what failed is not tried again


@pytest.mark.parametrize("name", list(SMALL))
def test_the_space_can_be_read_from_the_trials(name: str) -> None:
    study = run(SMALL[name](seed=1), 26)
    if name != "rea":
        assert len(set(visited(study))) >= 25


@every_baseline
def test_a_study_may_list_choices_in_another_order(name: str) -> None:
    reversed_ = {key: values[::-1] for key, values in GRID.items()}
    study = run(make(name, seed=1), N_TRIALS, choices=reversed_)
    assert visited(study) == visited(run(make(name, seed=1), N_TRIALS))


@every_baseline
def test_several_workers_share_a_study(name: str) -> None:
    study = optuna.create_study(direction="maximize", sampler=make(name, seed=1))

    def objective(trial: optuna.Trial) -> float:
        return hill({key: trial.suggest_categorical(key, GRID[key]) for key in GRID})

    study.optimize(objective, n_trials=16, n_jobs=4)
    assert all(trial.state.is_finished() for trial in study.trials)
    assert study.best_value > hill({"x": 0, "y": 4})


@every_baseline
def test_pending_configurations_are_not_proposed_to_another(name: str) -> None:
    study = optuna.create_study(direction="maximize", sampler=make(name, seed=1))
    trials = [study.ask() for _ in range(12)]
    cells = [tuple(trial.suggest_categorical(key, GRID[key]) for key in GRID) for trial in trials]
    assert len(set(cells)) == 12


@pytest.mark.parametrize("name", list(SMALL))
def test_one_sampler_serves_two_studies_of_different_spaces(name: str) -> None:
    # Optuna's IntersectionSearchSpace refuses a second study.
    sampler = SMALL[name](seed=1)
    other = {"x": ["a", "b"], "z": [0, 1, 2]}
    first, second = (optuna.create_study(sampler=sampler) for _ in range(2))
    for _ in range(8):
        run(sampler, 1, study=first, value=lambda params: float(params["x"]))
        run(sampler, 1, study=second, value=lambda params: float(params["z"]), choices=other)
    assert {tuple(trial.params) for trial in second.trials} == {("x", "z")}


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="must not be negative, but got -1"):
        RandomDistinctSampler(seed=-1)
