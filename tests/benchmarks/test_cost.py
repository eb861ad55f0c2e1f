"""What a study costs, as a ratio against Optuna's own samplers in the same run.

    pytest -m benchmark -n 0 tests/benchmarks

No test asserts a time: the ratio to :class:`~optuna.samplers.TPESampler` at its defaults is
printed, and stands in ``extra_info`` of ``--benchmark-json``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import time
import tracemalloc
from typing import Any

import optuna
from optuna.samplers import BaseSampler
from optuna.samplers import GPSampler
from optuna.samplers import RandomSampler
from optuna.samplers import TPESampler
import pytest

from optuna_zaps import ProxyFit
from optuna_zaps import ZAPSSampler


pytestmark = pytest.mark.benchmark

Make = Callable[[int, int], BaseSampler]


def samplers(benchmark: Any) -> dict[str, Make]:
    """Samplers by name, each made from (seed, number of trials)."""
    subset = ProxyFit().fit(benchmark.proxies, benchmark.values).selected_names_
    table = benchmark.frame
    return {
        "tpe": lambda seed, n: TPESampler(seed=seed),
        "random": lambda seed, n: RandomSampler(seed=seed),
        "zaps": lambda seed, n: ZAPSSampler(table, seed=seed),
        "zaps-paper": lambda seed, n: ZAPSSampler(
            table, budget=n, initial_proxies=subset, seed=seed
        ),
    }


def whole_study(objective: Callable[[optuna.Trial], float], make: Make, n: int, seed: int) -> None:
    study = optuna.create_study(direction="maximize", sampler=make(seed, n))
    study.optimize(objective, n_trials=n)


def cpu_seconds(function: Callable[[], None], rounds: int = 3) -> float:
    times = []
    for _ in range(rounds):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize("n_trials", [200, 500])
@pytest.mark.parametrize("name", ["random", "zaps", "zaps-paper"])
def test_cpu_of_a_whole_study(
    nasbench201: Callable[[str], Any], benchmark: Any, name: str, n_trials: int
) -> None:
    table = nasbench201("cifar10")
    made = samplers(table)
    study = partial(whole_study, table.objective, made[name], n_trials, 0)
    study()  # imports and caches are not the study's cost
    tpe = cpu_seconds(partial(whole_study, table.objective, made["tpe"], n_trials, 0))
    benchmark.pedantic(study, rounds=3)
    ratio = cpu_seconds(study) / tpe
    benchmark.extra_info["cpu ratio to tpe"] = ratio
    print(f"\n{name}, {n_trials} trials: {ratio:.2f} x TPE ({tpe:.2f} s CPU)")


def test_cpu_against_gp_sampler(nasbench201: Callable[[str], Any], benchmark: Any) -> None:
    pytest.importorskip("torch", reason="optuna's GPSampler needs torch: pip install torch")
    table, n_trials = nasbench201("cifar10"), 100
    study = partial(whole_study, table.objective, samplers(table)["zaps"], n_trials, 0)
    study()
    benchmark.pedantic(study, rounds=3)
    theirs = cpu_seconds(
        partial(whole_study, table.objective, lambda seed, n: GPSampler(seed=seed), n_trials, 0), 1
    )
    ratio = theirs / cpu_seconds(study)
    benchmark.extra_info["cpu ratio of GPSampler to zaps"] = ratio
    print(f"\nGPSampler, {n_trials} trials: {ratio:.0f} x zaps ({theirs:.1f} s CPU)")


@pytest.mark.parametrize("name", ["zaps", "zaps-paper"])
def test_peak_memory_of_a_study(nasbench201: Callable[[str], Any], name: str) -> None:
    table = nasbench201("cifar10")
    made = samplers(table)
    peaks = {}
    for each in ("tpe", name):
        tracemalloc.start()
        whole_study(table.objective, made[each], 200, 0)
        peaks[each] = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
    print(f"\n{name}: peak {peaks[name]:.1f} MiB of Python memory, tpe {peaks['tpe']:.1f} MiB")
