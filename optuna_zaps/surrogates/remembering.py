"""Surrogates that remember their fits from one set of candidates to the next."""

from __future__ import annotations

from typing import Any

from optuna_zaps.surrogates.protocol import FeatureLayout
from optuna_zaps.surrogates.protocol import Surrogate
from optuna_zaps.surrogates.protocol import SurrogateFactory


class RememberingFactory:
    """Factory that makes the surrogate of a layout and seed once.

    Args:
        factory: Makes a surrogate at the first call for its layout and seed.
    """

    def __init__(self, factory: SurrogateFactory) -> None:
        self._factory = factory
        self._made: dict[tuple[FeatureLayout, int], Surrogate] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out the surrogates: they are fitted models."""
        return (RememberingFactory, (self._factory,))

    def __call__(self, layout: FeatureLayout, seed: int) -> Surrogate:
        """Make the surrogate, or return the one made before."""
        if (layout, seed) not in self._made:
            self._made[layout, seed] = self._factory(layout, seed)
        return self._made[layout, seed]
