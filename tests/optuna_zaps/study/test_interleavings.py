"""Studies whose events happen in any order (hypothesis, stateful)."""

from __future__ import annotations

from decimal import Decimal
import json
import math
from typing import Any
from unittest import mock

from flat import FLAT
from hypothesis import HealthCheck
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine
from hypothesis.stateful import initialize
from hypothesis.stateful import invariant
from hypothesis.stateful import precondition
from hypothesis.stateful import rule
import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.distributions import IntDistribution
from optuna.trial import TrialState
import pytest

from optuna_zaps import Profile
from optuna_zaps import ZAPSSampler
from optuna_zaps.study import parameters
from optuna_zaps.study.history import HistoryReader
from optuna_zaps.study.spaces import DrawnSpace
from optuna_zaps.study.spaces import Searches


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(width=16), st.text("ab", max_size=2)
)
DISTRIBUTIONS = st.one_of(
    st.lists(SCALARS, min_size=1, max_size=4).map(CategoricalDistribution),
    st.builds(
        lambda low, n, step: IntDistribution(low, low + n * step, step=step),
        st.integers(-5, 5), st.integers(0, 3), st.integers(1, 3),
    ),
    st.builds(
        # In decimals, since Optuna warns of a range that is no multiple of its step.
        lambda low, n, step: FloatDistribution(
            float(low), float(low + n * step), step=float(step)
        ),
        st.sampled_from([Decimal("0"), Decimal("0.1"), Decimal("-1.5")]),
        st.integers(0, 8),
        st.sampled_from([Decimal("0.1"), Decimal("0.25")]),
    ),
)  # fmt: skip
SPACES = st.lists(DISTRIBUTIONS, min_size=1, max_size=3).map(
    lambda distributions: {f"p{i}": each for i, each in enumerate(distributions)}
)
VALUES = st.one_of(st.floats(-10, 10), st.just(math.inf), st.just(-math.inf), st.just(0.0))


class Interleaving(RuleBasedStateMachine):
    """A study asked, told, failed, pruned and queued to in any order."""

    profile: str | Profile = FLAT
    space_is_given = True

    @initialize(space=SPACES, startup=st.integers(0, 4), seed=st.integers(0, 3))
    def begin(self, space: dict[str, BaseDistribution], startup: int, seed: int) -> None:
        self.space = space
        self.candidates = parameters.grid(space)
        self.startup, self.seed = startup, seed
        self.study = optuna.create_study(direction="maximize", sampler=self.fresh_sampler())
        self.running: list[optuna.Trial] = []
        self.taken: set[int] = set()

    def fresh_sampler(self) -> ZAPSSampler:
        return ZAPSSampler(
            search_space=self.space if self.space_is_given else None,
            n_startup_trials=self.startup,
            seed=self.seed,
            profile=self.profile,
        )

    def suggest(self, trial: optuna.Trial) -> int:
        for name, distribution in self.space.items():
            trial._suggest(name, distribution)
        candidate = self.candidates.index(trial.params)
        assert candidate is not None, f"{trial.params} is outside the space"
        return candidate

    def copied(self) -> optuna.Study:
        """Copy the study to a storage of its own, with a sampler that has seen none of it."""
        twin = optuna.create_study(direction="maximize", sampler=self.fresh_sampler())
        twin.add_trials(self.study.trials)
        return twin

    @rule()
    def ask(self) -> None:
        states = {trial.state for trial in self.study.get_trials(deepcopy=False)}
        twin = self.copied()
        trial = self.study.ask()
        candidate = self.suggest(trial)
        free = set(range(len(self.candidates))) - self.taken
        # What waits is no choice of the sampler's, and add_trials may have turned it round. Of an
        # inferred space neither is what comes before the first trial that shows it, or after all.
        if TrialState.WAITING not in states and (
            self.space_is_given or (free and states & {TrialState.COMPLETE, TrialState.PRUNED})
        ):
            assert candidate in free or not free
            assert self.suggest(twin.ask()) == candidate
        self.taken.add(candidate)
        self.running.append(trial)

    @precondition(lambda self: self.running)
    @rule(data=st.data(), value=VALUES)
    def tell(self, data: st.DataObject, value: float) -> None:
        self.study.tell(self.ended(data), value)

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def fail(self, data: st.DataObject) -> None:
        self.study.tell(self.ended(data), state=TrialState.FAIL)

    @precondition(lambda self: self.running)
    @rule(data=st.data(), value=st.one_of(st.none(), VALUES, st.just(math.nan)))
    def prune(self, data: st.DataObject, value: float | None) -> None:
        trial = self.ended(data)
        if value is not None:
            trial.report(value, step=0)
        self.study.tell(trial, state=TrialState.PRUNED)

    @rule(data=st.data())
    def enqueue(self, data: st.DataObject) -> None:
        names = data.draw(st.sets(st.sampled_from(sorted(self.space))))
        row = data.draw(st.integers(0, len(self.candidates) - 1))
        chosen = self.candidates.params(row)
        params = {name: self.rounded(data, name, chosen[name]) for name in sorted(names)}
        self.study.enqueue_trial(params)
        if len(names) == len(self.space):
            self.taken.add(row)

    def rounded(self, data: st.DataObject, name: str, value: Any) -> Any:
        """A value as another program may have added it up, which Optuna takes for the same."""
        distribution = self.space[name]
        if not isinstance(distribution, FloatDistribution) or not data.draw(st.booleans()):
            return value
        assert distribution.step is not None
        n_steps = round((value - distribution.low) / distribution.step)
        binary = sum([distribution.step] * n_steps, start=distribution.low)
        return binary if distribution._contains(binary) else value

    def ended(self, data: st.DataObject) -> optuna.Trial:
        return self.running.pop(data.draw(st.integers(0, len(self.running) - 1)))

    @invariant()
    def a_fresh_process_could_read_the_attributes(self) -> None:
        for trial in self.study.get_trials(deepcopy=False):
            for attributes in (trial.user_attrs, trial.system_attrs):
                # By text, in which NaN equals itself.
                assert repr(json.loads(json.dumps(attributes))) == repr(attributes)


CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

TestInterleaving = Interleaving.TestCase
TestInterleaving.settings = settings(
    max_examples=60, stateful_step_count=25, deadline=None, suppress_health_check=CHECKS
)


class FittedInterleaving(Interleaving):
    """Study with a model."""

    profile = "anytime"


TestFittedInterleaving = FittedInterleaving.TestCase
TestFittedInterleaving.settings = settings(
    max_examples=10, stateful_step_count=20, deadline=None, suppress_health_check=CHECKS
)


class InferredInterleaving(Interleaving):
    """Study of which the sampler infers the space."""

    space_is_given = False


TestInferredInterleaving = InferredInterleaving.TestCase
TestInferredInterleaving.settings = settings(
    max_examples=30, stateful_step_count=25, deadline=None, suppress_health_check=CHECKS
)


class DrawnInterleaving(Interleaving):
    """Study in pools, as if the space were too large to enumerate."""

    def fresh_sampler(self) -> ZAPSSampler:
        with mock.patch.object(parameters, "is_enumerable", return_value=False):
            return super().fresh_sampler()

    @invariant()
    def a_value_is_that_of_its_configuration(self) -> None:
        searches = Searches(FLAT.with_startup(self.startup), self.seed)
        drawn = DrawnSpace(self.space, searches.over_pools(), None, {})
        search, observed = drawn.view(self.study, HistoryReader(), None, {})
        told: dict[int, list[float]] = {}
        others = set()
        for trial in self.study.get_trials(deepcopy=False):
            row = search.primary.candidates.index(trial.params)
            if row is None:
                continue
            if trial.state == TrialState.COMPLETE and math.isfinite(trial.value):
                told.setdefault(row, []).append(trial.value)
            elif trial.state != TrialState.FAIL:
                others.add(row)  # pruned ones count for no more than the median
        (history,) = observed.objectives
        known = dict(zip(history.labelled.tolist(), history.labels.tolist(), strict=True))
        for row in told.keys() - others:
            assert known[row] == pytest.approx(np.mean(told[row]))


TestDrawnInterleaving = DrawnInterleaving.TestCase
TestDrawnInterleaving.settings = settings(
    max_examples=30, stateful_step_count=20, deadline=None, suppress_health_check=CHECKS
)
