from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import optuna
from optuna.distributions import FloatDistribution
import pandas as pd
import pytest

from optuna_zaps import Profile
from optuna_zaps import ProxyFit
from optuna_zaps import ZAPSSampler


TABLE = pd.DataFrame({"op": list("abcd"), "flops": [1, 2, 3, 4], "depth": [4, 2, 1, 3]})


def proxies(params: dict[str, Any]) -> dict[str, float]:
    return {"n": float(params["n"])}


class Proxies:
    def __call__(self, params: dict[str, Any]) -> dict[str, float]:
        return proxies(params)


@pytest.mark.parametrize(
    ("sampler", "shown"),
    [
        (ZAPSSampler(), "ZAPSSampler()"),
        (ZAPSSampler(None, seed=None, group=False), "ZAPSSampler()"),
        (
            ZAPSSampler(TABLE, budget=20, seed=0),
            "ZAPSSampler(proxies=<DataFrame of 4 x 3>, budget=20, seed=0)",
        ),
        (
            ZAPSSampler(proxies, search_space={"z": ["relu", None], "n": (1, 2)}),
            "ZAPSSampler(proxies=<function proxies>, "
            "search_space={'z': ['relu', None], 'n': (1, 2)})",
        ),
        (
            ZAPSSampler(Proxies(), search_space={"n": np.arange(30)}, seed=np.int64(3)),
            "ZAPSSampler(proxies=<Proxies>, search_space={'n': <ndarray of 30>}, seed=3)",
        ),
        (
            ZAPSSampler(search_space={"n": list(range(30)), "x": FloatDistribution(0, 1)}),
            "ZAPSSampler(search_space={'n': [0, 1, 2, 3, 4, 5, 6, 7, ...], "
            "'x': FloatDistribution(high=1.0, log=False, low=0.0, step=None)})",
        ),
        (
            ZAPSSampler(search_space={f"p{i}": [0, 1] for i in range(9)}),
            "ZAPSSampler(search_space={"
            + ", ".join(f"'p{i}': [0, 1]" for i in range(8))
            + ", ...})",
        ),
        (
            ZAPSSampler(profile=Profile.anytime(), group=True, multivariate=True),
            "ZAPSSampler(profile=Profile(...), group=True, multivariate=True)",
        ),
        (
            ZAPSSampler(independent_sampler=optuna.samplers.RandomSampler(seed=0)),
            "ZAPSSampler(independent_sampler=<RandomSampler>)",
        ),
        (
            ZAPSSampler(
                TABLE,
                initial_proxies=ProxyFit(n_select=1).fit(TABLE[["flops", "depth"]], [1, 2, 3, 4]),
            ),
            "ZAPSSampler(proxies=<DataFrame of 4 x 3>, initial_proxies=ProxyFit(n_select=1))",
        ),
    ],
)
def test_it_reads_as_the_call(sampler: ZAPSSampler, shown: str) -> None:
    assert repr(sampler) == shown
    assert str(sampler) == "ZAPSSampler"  # as of every sampler of Optuna


def test_it_survives_a_pickle_and_names_a_subclass() -> None:
    class Own(ZAPSSampler):
        pass

    assert repr(Own(seed=1)) == "Own(seed=1)"
    sampler = ZAPSSampler(TABLE, seed=1)
    assert repr(pickle.loads(pickle.dumps(sampler))) == repr(sampler)
