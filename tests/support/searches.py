"""Searches of a small grid, for tests of a search and its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from columns import proxy_table
import numpy as np

from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.model import Shortlist
from optuna_zaps.search.observations import History
from optuna_zaps.search.profiles import Profile
from optuna_zaps.search.profiles import Situation
from optuna_zaps.search.proxies import ProxyTable
from optuna_zaps.search.schedule import AnytimeSchedule
from optuna_zaps.search.schedule import Schedule
from optuna_zaps.search.search import SearchSettings
from optuna_zaps.search.search import ZAPSSearch


N_SIDE = 12
CANDIDATES = CandidateSet.grid({"a": range(N_SIDE), "b": range(N_SIDE)})
VALUES = (CANDIDATES.codes[:, 0] * 1.0 + CANDIDATES.codes[:, 1] ** 2).astype(float)
PROXIES = proxy_table(
    {
        "honest": VALUES + np.random.default_rng(0).normal(scale=20, size=len(VALUES)),
        "noise": np.random.default_rng(1).normal(size=len(VALUES)),
    }
)


PROFILES = ["anytime", "anytime+trees"]
ANYTIME, UNPLANNED = AnytimeSchedule(10, growth=0.1), AnytimeSchedule(0, growth=0.1)
TWENTY = AnytimeSchedule(20, growth=0.1)
FIFTY = Shortlist(share=1.0, least=50, most=50)
THIRTY = Shortlist(share=1.0, least=30, most=30)


def search(
    seed: int = 0,
    schedule: Schedule | None = None,
    proxies: ProxyTable | None = PROXIES,
    initial_proxies: Sequence[str] | None = None,
    *,
    profile: str = "anytime+trees",
    **model: Any,
) -> ZAPSSearch:
    """Search of the grid, the paper's but for the arguments."""
    settings = adapted(profile, with_proxies=proxies is not None)
    settings = with_model(replace(settings, schedule=schedule or ANYTIME), **model)
    return ZAPSSearch(CANDIDATES, proxies, settings, seed=seed, initial_proxies=initial_proxies)


def adapted(profile: str, *, with_proxies: bool) -> SearchSettings:
    """Settings of a profile by its name."""
    situation = Situation(with_proxies=with_proxies, with_numbers=False)
    return Profile.from_name(profile).adapted(situation)


def with_model(settings: SearchSettings, **model: Any) -> SearchSettings:
    """Settings with another model."""
    return replace(settings, model=replace(settings.model, **model))


def history(evaluated: Sequence[int], pending: Sequence[int] = ()) -> History:
    """History of a search that has evaluated candidates."""
    labelled = np.asarray(evaluated, dtype=np.intp)
    unavailable = np.zeros(len(CANDIDATES), dtype=np.bool_)
    unavailable[labelled] = True
    unavailable[list(pending)] = True
    return History(labelled, VALUES[labelled], unavailable)


def run(machine: ZAPSSearch, n: int) -> list[int]:
    """Candidates of a search in order."""
    evaluated: list[int] = []
    for number in range(n):
        proposal = machine.propose(history(evaluated), number)
        assert proposal is not None
        evaluated.append(proposal.candidate)
    return evaluated
