"""Samplers that do what they should not, by which the runner is tested."""

from __future__ import annotations

import os
from pathlib import Path
import signal
import sys
from typing import Any
from typing import ClassVar

import numpy as np
import optuna
from optuna.samplers import BaseSampler
from optuna.samplers import RandomSampler
from optuna.trial import TrialState


class Stubborn(BaseSampler):
    """Proposes one configuration for ever."""

    def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
        return {}

    def sample_relative(self, study: Any, trial: Any, search_space: Any) -> dict[str, Any]:
        return {}

    def sample_independent(self, study: Any, trial: Any, name: str, distribution: Any) -> Any:
        return distribution.choices[0]


class RanksSomethingElse(Stubborn):
    def rank(self, candidates: Any) -> Any:
        raise AssertionError("this is no ranking of a study")


class Broken(Stubborn):
    def sample_independent(self, study: Any, trial: Any, name: str, distribution: Any) -> Any:
        raise RuntimeError("no idea")


class Dies(Stubborn):
    """Takes its process with it, as a crash in native code does."""

    def sample_independent(self, study: Any, trial: Any, name: str, distribution: Any) -> Any:
        os._exit(9)


class DiesOnce(RandomSampler):
    """Takes its process with it the first time, as a machine that is switched off does.

    Args:
        folder: Folder of a file that says that it did.
        seed: Seed.
    """

    def __init__(self, folder: str, seed: int | None = None) -> None:
        super().__init__(seed=seed)
        self._died = Path(folder, f"died-{seed}")

    def before_trial(self, study: Any, trial: Any) -> None:
        if trial.number == 5 and not self._died.exists():
            self._died.touch()
            os.kill(os.getpid(), signal.SIGKILL)


class Exits(Stubborn):
    """Ends the program, or so it thinks."""

    def sample_independent(self, study: Any, trial: Any, name: str, distribution: Any) -> Any:
        sys.exit("no licence")


class ExitsAtOnce(Stubborn):
    def __init__(self) -> None:
        sys.exit(3)


class Recording(RandomSampler):
    """Notes what each ask sees of the others, and the order in which trials are told."""

    running: ClassVar[list[list[int]]] = []
    told: ClassVar[list[int]] = []
    studies: ClassVar[list[optuna.Study]] = []

    def before_trial(self, study: optuna.Study, trial: Any) -> None:
        running = study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        self.running.append([other.number for other in running if other.number != trial.number])
        self.studies.append(study)

    def after_trial(self, study: Any, trial: Any, state: Any, values: Any) -> None:
        self.told.append(trial.number)


class Repeating(Recording):
    """Proposes each configuration of its parent twice."""

    def sample_independent(self, study: Any, trial: Any, name: str, distribution: Any) -> Any:
        if trial.number % 2:
            return study.get_trials(deepcopy=False)[trial.number - 1].params[name]
        return super().sample_independent(study, trial, name, distribution)


class Talkative(Stubborn):
    """Sets attributes that JSON does not know."""

    def before_trial(self, study: Any, trial: Any) -> None:
        storage = study._storage
        for name, value in (("array", np.arange(3)), ("number", np.int64(7)), ("set", {1})):
            storage.set_trial_user_attr(trial._trial_id, name, value)
