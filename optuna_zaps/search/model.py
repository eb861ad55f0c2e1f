"""Settings of a model: what it is fitted on, and how many candidates it scores."""

from __future__ import annotations

from dataclasses import dataclass
import math

from optuna_zaps.search.acquisition import Exploration
from optuna_zaps.search.proxy_fit import Selector
from optuna_zaps.surrogates import SurrogateFactory


FEATURES = ("both", "proxies", "parameters")
"""What a surrogate may see."""


@dataclass(frozen=True)
class Shortlist:
    """Number of candidates that every fit scores, the best of when the labels last doubled.

    The others keep their prediction of that time and compete by their mean alone, so that
    neither memory nor time grows with labels times candidates.

    Attributes:
        share: Share of the candidates.
        least: Fewest candidates that are scored.
        most: Most candidates that are scored.
    """

    share: float
    least: int
    most: int

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(f"share must lie in (0, 1], but got {self.share}.")
        if not 1 <= self.least <= self.most:
            raise ValueError(
                f"least and most must be positive and in order, but got {self.least} and "
                f"{self.most}."
            )

    def size(self, n_candidates: int) -> int:
        """Number of candidates on the list."""
        wanted = math.ceil(self.share * n_candidates)
        return min(max(wanted, self.least), self.most, n_candidates)


@dataclass(frozen=True)
class ModelSettings:
    """How labels become a score of every candidate.

    Attributes:
        surrogate: Factory of the regressor.
        exploration: Weight of the spread in the upper confidence bound.
        selector: Chooses the proxies that the surrogate is given, ``None`` to give it every one.
        features: Features of the surrogate: ``"both"``, or for an ablation only ``"proxies"`` or
            only ``"parameters"``. The initial design knows the proxies in any case.
        neighbourhood: Whether the surrogate is also given the mean proxy ranks of the
            configurations that differ in one parameter. Not in the paper.
        shortlist: Number of candidates that every fit scores.
        max_labels: Most labels of a fit, the best half and a sample of the others, so that its
            time does not grow with the cube of their number; ``None`` for all.
    """

    surrogate: SurrogateFactory
    exploration: Exploration
    selector: Selector | None
    features: str
    neighbourhood: bool
    shortlist: Shortlist
    max_labels: int | None

    def __post_init__(self) -> None:
        if self.features not in FEATURES:
            raise ValueError(f"features must be one of {FEATURES}, but got {self.features!r}.")
