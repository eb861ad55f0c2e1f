"""Every default is decided in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import optuna
import pytest

from optuna_zaps import Profile
from optuna_zaps import ZAPSSampler
from optuna_zaps.search.initial_design import InitialDesign
from optuna_zaps.search.initial_design import MaximinDesign
from optuna_zaps.search.initial_design import SequenceDesign
from optuna_zaps.search.initial_design import UniformDesign
from optuna_zaps.search.profiles import Situation
from optuna_zaps.search.profiles import constraint_processes
from optuna_zaps.search.profiles import local_process
from optuna_zaps.search.profiles import objective_processes
from optuna_zaps.search.profiles import pool_processes
from optuna_zaps.search.profiles import process_settings
from optuna_zaps.search.profiles import processes
from optuna_zaps.search.schedule import AnytimeSchedule
from optuna_zaps.surrogates import AdditiveTerm
from optuna_zaps.surrogates import AveragedProcesses
from optuna_zaps.surrogates import FeatureLayout
from optuna_zaps.surrogates import ParameterTerm


CHOICES = Situation(with_proxies=True, with_numbers=False)


class NearestNeighbour:
    """A user's own surrogate: the label of the nearest row, doubted by its distance."""

    def fit(self, X: npt.NDArray[np.float32], y: npt.NDArray[np.float64]) -> None:
        self.X, self.y = X, y

    def predict(self, X: npt.NDArray[np.float32]) -> tuple[Any, Any]:
        distance = np.square(X[:, np.newaxis] - self.X).sum(axis=2)
        return self.y[distance.argmin(axis=1)], distance.min(axis=1)


def test_a_surrogate_of_the_user_is_searched_with() -> None:
    seen: list[tuple[FeatureLayout, int]] = []

    def factory(layout: FeatureLayout, seed: int) -> NearestNeighbour:
        seen.append((layout, seed))
        return NearestNeighbour()

    profile = Profile.anytime().with_surrogate(factory)
    sampler = ZAPSSampler(search_space={"n": range(40)}, profile=profile, seed=0)
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda trial: abs(trial.suggest_int("n", 0, 39) - 7), n_trials=25)
    assert study.best_value <= 1
    assert [layout.n_proxies for layout, _ in seen] == [0]
    assert study.trials[-1].user_attrs["zaps:phase"] == "model"


@pytest.mark.parametrize(
    ("situation", "n_startup", "growth", "start"),
    [
        (Situation(True, False), 14, 0.1, None),
        (Situation(True, True), 14, 0.0, None),
        (Situation(True, True, is_pool=True), 14, 0.0, None),
        (Situation(False, False), 10, 0.1, MaximinDesign()),
        (Situation(False, True), 10, 0.0, UniformDesign()),
        (Situation(False, False, is_pool=True), 10, 0.0, SequenceDesign()),
        (Situation(False, True, is_pool=True), 10, 0.0, SequenceDesign()),
    ],
)
def test_the_anytime_profile_adapts(
    situation: Situation, n_startup: int, growth: float, start: InitialDesign | None
) -> None:
    profile = Profile.anytime()
    settings = profile.adapted(situation)
    assert settings.schedule == AnytimeSchedule(n_startup, growth)
    assert settings.start == (start or profile.start)
    assert settings.model.neighbourhood == (not situation.is_pool)
    assert settings.model.shortlist.share == (1.0 if situation.is_pool else 1 / 8)
    explores = situation.is_pool and situation.with_numbers
    assert (settings.stall is not None) == explores


@pytest.mark.parametrize("with_numbers", [True, False])
@pytest.mark.parametrize("with_proxies", [True, False])
def test_the_papers_schedule_is_that_of_its_budget_everywhere(
    with_proxies: bool, with_numbers: bool
) -> None:
    profile = Profile.paper(100)
    settings = profile.adapted(Situation(with_proxies, with_numbers))
    assert settings.schedule == profile.schedule
    assert settings.model == profile.model


def test_the_noise_of_a_process_depends_on_what_it_sees() -> None:
    layouts = [FeatureLayout(2, (3,), (False,)), FeatureLayout(0, (3,), (False,))]
    assert [process_settings(layout).noise for layout in layouts] == [0.05, 0.2]
    for n_proxies in (0, 2):
        settings = process_settings(FeatureLayout(n_proxies, (1, 3), (True, False)))
        assert settings.noise == 0.001
        assert all(terms[0] == ParameterTerm.with_relevance for terms in settings.kernels)


@pytest.mark.parametrize("is_numeric", [True, False])
def test_single_effects_are_summed_in_pools_with_numbers_alone(is_numeric: bool) -> None:
    layout = FeatureLayout(0, (1,) if is_numeric else (3,), (is_numeric,))

    def n_sums(factory: Callable[[FeatureLayout, int], AveragedProcesses]) -> int:
        kernels = [process.kernel for process in factory(layout, 0).processes]
        return sum(isinstance(term, AdditiveTerm) for kernel in kernels for term in kernel._terms)

    assert n_sums(processes) == n_sums(constraint_processes) == n_sums(local_process) == 0
    assert n_sums(pool_processes) == n_sums(objective_processes) == int(is_numeric)


def test_a_start_of_another_length_is_that_without_proxies_too() -> None:
    profile = Profile.anytime().with_startup(3)
    for situation in (CHOICES, replace(CHOICES, with_proxies=False)):
        assert profile.adapted(situation).schedule.n_startup == 3


@pytest.mark.parametrize("make", [Profile.anytime, lambda: Profile.paper(50)])
def test_a_profile_can_be_pickled(make: Callable[[], Profile]) -> None:
    assert pickle.loads(pickle.dumps(make())) == make()
    remembering = make().for_pools()
    layout = FeatureLayout(0, (3,), (False,))
    made = remembering.model.surrogate(layout, 0)
    assert remembering.model.surrogate(layout, 0) is made
    copied = pickle.loads(pickle.dumps(remembering))
    assert copied.model.surrogate(layout, 0) is not made
