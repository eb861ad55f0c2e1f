"""Claims, by which no two workers evaluate the same configuration.

A worker writes its claim, then reads the trials again in search of another claim on the same
configuration, and keeps the configuration only if it finds none. Of two that read at the same time
at least one sees the other, so no two keep the same. The higher trial number backs off at once;
the lower one waits a moment for that.
"""

from __future__ import annotations

from collections.abc import Mapping
import time
from typing import Any

from optuna.study import Study
from optuna.trial import FrozenTrial

from optuna_zaps.study.cache import TrialsOfAsk
from optuna_zaps.study.history import Configurations
from optuna_zaps.study.history import HistoryReader
from optuna_zaps.study.trials import CLAIM_KEY
from optuna_zaps.study.trials import claim_in
from optuna_zaps.study.trials import claimable


_PATIENCE = (0.01, 0.02, 0.04, 0.08)
"""Seconds that the lower trial number waits for the other to back off, again and again."""


class Claims:
    """Claims of a study's trials on configurations.

    Args:
        trials: The trials as this ask has read them.
        reader: Reads which of them hold a configuration.
    """

    def __init__(self, trials: TrialsOfAsk, reader: HistoryReader) -> None:
        self._trials = trials
        self._reader = reader

    def next_number(
        self, study: Study, trial: FrozenTrial, configurations: Configurations
    ) -> int | None:
        """Number that the next trial will have, if no present one may still claim anything.

        To be asked before a configuration is chosen, and handed to :meth:`secure`.
        """
        if self._reader.any_undecided(study, configurations, trial):
            return None
        return len(self._trials.of(study))

    def secure(
        self,
        study: Study,
        trial: FrozenTrial,
        configurations: Configurations,
        params: Mapping[str, Any],
        next_number: int | None,
    ) -> bool:
        """Claim a configuration, and back off if another trial holds it.

        Args:
            study: The study.
            trial: The trial.
            configurations: The space of the configuration.
            params: The configuration.
            next_number: Result of :meth:`next_number`.

        Returns:
            Whether the trial may evaluate it.
        """
        self.write(study, trial, params)
        if self._is_alone(study, next_number) or self._holds(study, trial, configurations, params):
            return True
        # At once, since the other waits for it no longer than a moment.
        self.write(study, trial, {})
        self._trials.refresh(study)
        return False

    def write(self, study: Study, trial: FrozenTrial, params: Mapping[str, Any]) -> None:
        """Write the claim of a trial in place of its former one, if it fits into a storage."""
        claim = claimable(params)
        if claim is not None:
            study._storage.set_trial_system_attr(trial._trial_id, CLAIM_KEY, claim)

    def withdraw_unused(self, study: Study, trial: FrozenTrial) -> None:
        """Withdraw what was claimed and not suggested: another branch of the objective."""
        claim = claim_in(trial.system_attrs)
        used = {name: value for name, value in claim.items() if name in trial.params}
        if len(used) < len(claim):
            self.write(study, trial, used)

    def _is_alone(self, study: Study, next_number: int | None) -> bool:
        """Whether no trial can have claimed anything since the history was read.

        A trial that begins later sees this one's claim. To look for one takes a single SQL
        statement, where :meth:`_holds` reads all trials.
        """
        if next_number is None:
            return False
        try:
            study._storage.get_trial_id_from_study_id_trial_number(study._study_id, next_number)
        except KeyError:
            return True
        return False

    def _holds(
        self,
        study: Study,
        trial: FrozenTrial,
        configurations: Configurations,
        params: Mapping[str, Any],
    ) -> bool:
        for patience in (*_PATIENCE, None):
            self._trials.refresh(study)
            others = self._reader.holders(study, configurations, params, trial)
            if not others:
                return True
            if patience is None or min(others) < trial.number:
                break
            time.sleep(patience)
        return False
