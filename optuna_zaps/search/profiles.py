"""What belongs together: a surrogate, how it explores, and how long a search starts without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from optuna_zaps.search.acquisition import DecayingExploration
from optuna_zaps.search.initial_design import InitializationSettings
from optuna_zaps.search.proxy_fit import ScreeningSettings
from optuna_zaps.search.search import SearchSettings
from optuna_zaps.search.search import Shortlist
from optuna_zaps.surrogates import AveragedProcesses
from optuna_zaps.surrogates import FeatureLayout
from optuna_zaps.surrogates import Surrogate
from optuna_zaps.surrogates import SurrogateFactory
from optuna_zaps.surrogates import XGBoostEnsemble


@dataclass(frozen=True)
class Profile:
    """A way to search.

    Attributes:
        surrogate: Factory of the model.
        settings: Hyper-parameters of the search; the paper's by default.
        n_startup: Initial evaluations of the anytime schedule.
        n_startup_alone: The same where there are no proxies, from which a start learns less.
        of_constraints: Factory of the model of a constraint, by default that of an objective.
    """

    surrogate: SurrogateFactory
    settings: SearchSettings = field(default_factory=SearchSettings)
    n_startup: int = 20
    n_startup_alone: int = 20
    of_constraints: SurrogateFactory | None = None

    def kept(self) -> Profile:
        """The same with models that remember their fits from one candidate set to the next."""
        return replace(
            self,
            surrogate=_Kept(self.surrogate),
            of_constraints=self.of_constraints and _Kept(self.of_constraints),
        )


class _Kept:
    """A factory that makes the surrogate of a layout and seed once.

    Args:
        factory: Makes the surrogate of a layout and seed that is asked for the first time.
    """

    def __init__(self, factory: SurrogateFactory) -> None:
        self._factory = factory
        self._made: dict[tuple[FeatureLayout, int], Surrogate] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out what was made: it is fitted models."""
        return (_Kept, (self._factory,))

    def __call__(self, layout: FeatureLayout, seed: int) -> Surrogate:
        if (layout, seed) not in self._made:
            self._made[layout, seed] = self._factory(layout, seed)
        return self._made[layout, seed]


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "gaussian-process": Profile(
            AveragedProcesses.for_layout,
            # The processes weigh proxies themselves, and all of them at once; they need only be
            # told when none is worth it. And they forgive a start from a coarser clustering.
            SearchSettings(
                exploration=DecayingExploration(),
                initialization=InitializationSettings(max_points=4096),
                reselection=ScreeningSettings(),
                neighbourhood=True,
                shortlist=Shortlist(share=1 / 8),
                max_labels=1024,
            ),
            n_startup=14,
            n_startup_alone=10,
            of_constraints=AveragedProcesses.for_constraint,
        ),
        "xgboost": Profile(XGBoostEnsemble.for_layout),
    }
)
"""Profiles by the name that ``ZAPSSampler(surrogate=...)`` takes."""
