"""Choice of a configuration for one trial: propose, claim, and propose again if it was lost."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from optuna.storages._heartbeat import is_heartbeat_enabled
from optuna.study import Study
from optuna.trial import FrozenTrial
from optuna.trial import TrialState

from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.observations import Observations
from optuna_zaps.search.outcomes import JointSearch
from optuna_zaps.study.cache import OwnTrials
from optuna_zaps.study.cache import TrialRecord
from optuna_zaps.study.cache import TrialRecords
from optuna_zaps.study.cache import TrialsOfAsk
from optuna_zaps.study.claims import Claims
from optuna_zaps.study.history import HistoryReader
from optuna_zaps.study.notes import OneTimeWarnings
from optuna_zaps.study.notes import annotate
from optuna_zaps.study.spaces import CandidateSpace
from optuna_zaps.study.trials import PHASE_KEY
from optuna_zaps.study.trials import Ask
from optuna_zaps.study.trials import claim_in
from optuna_zaps.study.trials import fixed_params


_MAX_WORKERS = 1024


@dataclass(frozen=True)
class Chosen:
    """A configuration that the trial has claimed.

    Attributes:
        params: The configuration.
        n_free: Number of candidates that are free hereafter, less one for each running trial that
            may take another.
    """

    params: dict[str, Any]
    n_free: int


@dataclass(frozen=True)
class Exhausted:
    """An outcome without a new configuration: all that agree with fixed parameters are taken.

    Attributes:
        candidates: Candidates of the space.
        matching: Mask of shape (n_candidates,) of those that agree with the fixed parameters.
        abandoned: Number of running trials of other processes, which may have died, of each
            candidate that nobody else evaluates.
    """

    candidates: CandidateSet
    matching: npt.NDArray[np.bool_]
    abandoned: Mapping[int, int]

    @property
    def is_whole(self) -> bool:
        """Whether the whole space is exhausted, and not only a part of it."""
        return bool(self.matching.all())

    def least_abandoned(self) -> int:
        """Abandoned candidate of the fewest trials, the first of them."""
        return min(self.abandoned, key=lambda candidate: (self.abandoned[candidate], candidate))


class Chooser:
    """Chooses configurations for trials, and remembers what this process knows of the trials.

    Args:
        warnings: Logs warnings.
    """

    def __init__(self, warnings: OneTimeWarnings) -> None:
        self._warnings = warnings
        self.trials = TrialsOfAsk()
        self._reader = HistoryReader(self.trials.of, warnings)
        self._claims = Claims(self.trials, self._reader)
        self._records = TrialRecords()
        self._own = OwnTrials()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Chooser, (self._warnings,))

    def begin(self, study: Study, trial: FrozenTrial) -> None:
        """Remember a trial of this process."""
        self._records.begin(study, trial)
        self._own.begin(study, trial)

    def end(self, study: Study, trial: FrozenTrial) -> None:
        """Forget a trial that has ended."""
        self._records.end(study, trial)
        self._own.end()

    def record(self, ask: Ask) -> TrialRecord:
        """Memory of the trial that asks."""
        return self._records.of(ask.study, ask.trial)

    def view(self, study: Study, space: CandidateSpace) -> tuple[JointSearch, Observations]:
        """Search over a space and its observations, for no trial in particular."""
        return space.view(study, self._reader, None, {})

    def choose(self, ask: Ask, space: CandidateSpace) -> Chosen | Exhausted | None:
        """Choose a configuration for a trial, claim it, and annotate the trial with the reason.

        Args:
            ask: The trial.
            space: Candidates to choose from.

        Returns:
            ``None`` if no candidate agrees with the parameters that are fixed already.
        """
        study, trial = ask.study, ask.trial
        fixed = self._fixed(ask, space)
        refused: list[dict[str, Any]] = []
        # Each refusal means that another worker holds the candidate.
        for _ in range(_MAX_WORKERS):
            next_number = self._claims.next_number(study, trial, space.configurations)
            search, observations = space.proposer(study, self._reader, trial, fixed)
            candidates = search.candidates
            matching = candidates.matching(fixed)
            if not matching.any():
                return None
            allowed = _without(matching, candidates, refused)
            proposal = search.propose(observations, trial.number, allowed)
            if proposal is None and not refused:
                return self._exhausted(ask, space, candidates, matching)
            if proposal is None:
                # The rival may have backed off too; re-read the history.
                refused.clear()
                self.trials.refresh(study)
                continue
            params = candidates.params(proposal.candidate)
            if self._claims.secure(study, trial, space.configurations, params, next_number):
                annotate(study, trial, proposal)
                n_running = len(observations.objectives[0].pending)
                n_free = int((matching & ~observations.unavailable).sum()) - 1
                return Chosen(params, n_free - 2 * n_running)
            refused.append(params)
        return None

    def repeat(self, ask: Ask, params: dict[str, Any], *, is_claimed: bool) -> dict[str, Any]:
        """Let a trial evaluate a configuration again.

        Args:
            ask: The trial.
            params: The configuration.
            is_claimed: Whether others shall not repeat it as well.
        """
        if is_claimed:
            self._claims.write(ask.study, ask.trial, params)
        ask.study._storage.set_trial_user_attr(ask.trial._trial_id, PHASE_KEY, "repetition")
        return params

    def withdraw_unused(self, ask: Ask) -> None:
        """Withdraw what a finished trial has claimed and not suggested."""
        self._claims.withdraw_unused(ask.study, ask.trial)

    def is_used_up(self, ask: Ask, space: CandidateSpace) -> bool:
        """Whether every configuration was evaluated or is being evaluated in this process.

        Args:
            ask: A trial that has ended.
            space: An enumerated space.
        """
        study, candidates = ask.study, space.search.primary.candidates
        matching = candidates.matching(ask.fixed)
        self.trials.refresh(study)
        abandoned = self._abandoned(ask, candidates)
        unavailable = self._reader.read(study, candidates, None).unavailable
        states = {each.state for each in self.trials.of(study)}
        self.trials.forget()
        # Until they are evaluated again, since the workers of these trials may have died.
        unavailable[list(abandoned)] = False
        return bool(
            matching.any() and unavailable[matching].all() and TrialState.WAITING not in states
        )

    def _fixed(self, ask: Ask, space: CandidateSpace) -> dict[str, Any]:
        """Parameters of a trial that are decided before a candidate is chosen.

        A retried trial has the claim of the trial whose worker died, and keeps it unless another
        trial holds that configuration.
        """
        attributes = self.record(ask).attributes
        fixed = {**ask.fixed, **fixed_params(ask.trial, attributes)}
        claim = {} if attributes is None else claim_in(attributes)
        if not claim:
            return fixed
        retried = {**claim, **fixed}
        search, observations = space.view(ask.study, self._reader, ask.trial, retried)
        free = search.candidates.matching(retried) & ~observations.unavailable
        return retried if free.any() else fixed

    def _exhausted(
        self,
        ask: Ask,
        space: CandidateSpace,
        candidates: CandidateSet,
        matching: npt.NDArray[np.bool_],
    ) -> Exhausted:
        abandoned: Mapping[int, int] = {}
        if space.is_exhaustible:
            abandoned = self._abandoned(ask, candidates)
        return Exhausted(
            candidates, matching, {each: n for each, n in abandoned.items() if matching[each]}
        )

    def _abandoned(self, ask: Ask, candidates: CandidateSet) -> dict[int, int]:
        """Candidates held only by running trials of other processes, which may have died.

        Returns:
            Number of such trials of each candidate; empty where the storage has a heartbeat, and
            fails the trials of dead workers itself.
        """
        if is_heartbeat_enabled(ask.study._storage):
            return {}
        own = self._own.ids() | {ask.trial._trial_id}
        return self._reader.unfinished(ask.study, candidates, own)


def _without(
    mask: npt.NDArray[np.bool_], candidates: CandidateSet, excluded: Sequence[Mapping[str, Any]]
) -> npt.NDArray[np.bool_]:
    """Mask without some configurations, which the candidates may lack."""
    mask = mask.copy()
    for params in excluded:
        candidate = candidates.index(params)
        if candidate is not None:
            mask[candidate] = False
    return mask
