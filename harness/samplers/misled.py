"""ZAPS with misleading proxies, and with none, to measure its guard against useless ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution
import pandas as pd

from optuna_zaps.sampler import ZAPSSampler


LIES = ("none", "shuffled", "permuted", "negated")


class MisledZAPSSampler(ZAPSSampler):
    """ZAPS with proxies that mislead it about each configuration.

    Args:
        proxies: Frame of parameters and proxies, a row per configuration.
        search_space: Distribution of each parameter; the other columns are proxies.
        lie: ``"shuffled"`` permutes the rows of the proxies, which preserves their correlations
            with each other; ``"permuted"`` permutes each proxy on its own; ``"negated"`` negates
            all; ``"none"`` removes all, for comparison.
        seed: Seed of the sampler and of the permutations.
        **arguments: Further arguments of :class:`~optuna_zaps.ZAPSSampler`.

    Raises:
        ValueError: If there is no such lie, or the sampler refuses an argument.
    """

    def __init__(
        self,
        proxies: pd.DataFrame,
        *,
        search_space: Mapping[str, BaseDistribution],
        lie: str = "shuffled",
        seed: int | None = None,
        **arguments: Any,
    ) -> None:
        parameters = list(search_space)
        told = lied(proxies.drop(columns=parameters), lie, np.random.default_rng(seed))
        table = pd.concat([proxies[parameters], told], axis="columns")
        super().__init__(table, search_space=dict(search_space), seed=seed, **arguments)


def lied(proxies: pd.DataFrame, lie: str, rng: np.random.Generator) -> pd.DataFrame:
    """Falsify the proxies of a table.

    Args:
        proxies: Shape (n_configurations, n_proxies).
        lie: See :class:`MisledZAPSSampler`.
        rng: Generator of the permutations.

    Returns:
        A frame with the same index, and without columns for ``"none"``.

    Raises:
        ValueError: If there is no such lie.
    """
    if lie == "none":
        return proxies.iloc[:, :0]
    if lie == "shuffled":
        return proxies.iloc[rng.permutation(len(proxies))].set_axis(proxies.index)
    if lie == "permuted":
        return proxies.apply(lambda column: rng.permutation(column.to_numpy()))
    if lie == "negated":
        return -proxies
    raise ValueError(f"lie must be one of {LIES}, but got {lie!r}.")
