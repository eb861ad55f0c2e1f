"""Cost of a study, as a ratio to Optuna's own samplers in the same run.

    pytest -m benchmark -n 0 tests/benchmarks

No test asserts a time. The ratio to :class:`~optuna.samplers.TPESampler` at its defaults is
printed, stands in ``extra_info`` of ``--benchmark-json``, and is asserted with room for a busy
machine: about twice what an idle one measures.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import subprocess
import sys
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


@pytest.mark.parametrize(
    ("name", "n_trials"),
    [
        *((name, n) for name in ("random", "zaps", "zaps-paper") for n in (200, 500)),
        ("zaps", 1000),
        ("zaps", 2000),
    ],
)
def test_cpu_of_a_whole_study(
    nasbench201: Callable[[str], Any], benchmark: Any, name: str, n_trials: int
) -> None:
    table = nasbench201("cifar10")
    made = samplers(table)
    study = partial(whole_study, table.objective, made[name], n_trials, 0)
    rounds = 3 if n_trials <= 500 else 1
    whole_study(table.objective, made[name], 50, 0)  # imports are not the study's cost
    tpe = cpu_seconds(partial(whole_study, table.objective, made["tpe"], n_trials, 0), rounds)
    benchmark.pedantic(study, rounds=rounds)
    ratio = cpu_seconds(study, rounds) / tpe
    benchmark.extra_info["cpu ratio to tpe"] = ratio
    print(f"\n{name}, {n_trials} trials: {ratio:.2f} x TPE ({tpe:.2f} s CPU)")
    assert ratio < (1.0 if name == "random" else 2.5)


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
    assert ratio > 5


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
    # 15,625 rows of 6 + 13 columns, ranked and encoded, are what TPE does not hold.
    assert peaks[name] < peaks["tpe"] + 100


_OF_MANY = """
import resource, sys, time
import numpy as np, optuna, pandas as pd
from optuna_zaps import ZAPSSampler
optuna.logging.set_verbosity(optuna.logging.ERROR)
n = int(sys.argv[1])
codes = np.indices((10,) * n).reshape(n, -1).T
weights = np.random.default_rng(0).normal(size=(n, 10))
value = weights[np.arange(n), codes].sum(axis=1)
table = pd.DataFrame({f"p{i}": codes[:, i].astype(str) for i in range(n)})
for j in range(5):
    table[f"x{j}"] = value + np.random.default_rng(j).normal(size=len(value)) * (1 + j)
def objective(trial):
    chosen = [int(trial.suggest_categorical(f"p{i}", list("0123456789"))) for i in range(n)]
    return weights[range(n), chosen].sum()
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
before, start = peak(), time.process_time()
study = optuna.create_study(direction="maximize", sampler=ZAPSSampler(table, seed=0))
study.optimize(objective, n_trials=200)
print(time.process_time() - start, before, peak())
"""


@pytest.mark.parametrize("exponent", [3, 4, 5, 6])
def test_growth_with_the_number_of_candidates(benchmark: Any, exponent: int) -> None:
    command = [sys.executable, "-c", _OF_MANY, str(exponent)]
    done = benchmark.pedantic(
        partial(subprocess.run, command, check=True, capture_output=True, text=True), rounds=1
    )
    seconds, before, peak = map(float, done.stdout.split())
    benchmark.extra_info.update({"cpu seconds": seconds, "peak GiB": peak})
    print(
        f"\n10^{exponent} candidates, 200 trials: {seconds:.1f} s CPU, peak {peak:.2f} GiB "
        f"({before:.2f} before the study: libraries and the table)"
    )
    assert peak - before < 0.2 + 1.8 * 10**exponent / 10**6


@pytest.mark.parametrize(
    ("few", "many"),
    [([10] * 5, [251] * 5), ([3] * 8 + [2] * 4, [10] * 12)],
    ids=["5 parameters", "12 parameters"],
)
@pytest.mark.parametrize("kind", ["integers", "choices", "both in turn"])
def test_a_space_of_10_to_the_12_costs_no_more_per_ask_than_one_of_10_to_the_5(
    benchmark: Any, kind: str, few: list[int], many: list[int]
) -> None:
    def zaps(searched: Any) -> BaseSampler:
        return ZAPSSampler(search_space=searched, seed=0)

    def space(sizes: list[int]) -> dict[str, optuna.distributions.BaseDistribution]:
        return {
            f"p{i}": optuna.distributions.IntDistribution(0, size - 1)
            if kind == "integers" or (kind == "both in turn" and i % 2)
            else optuna.distributions.CategoricalDistribution(range(size))
            for i, size in enumerate(sizes)
        }

    def study(sizes: list[int], make: Callable[[Any], BaseSampler] = zaps) -> None:
        searched = space(sizes)
        optuna.create_study(sampler=make(searched)).optimize(
            lambda trial: sum(abs(trial._suggest(name, d) - 4) for name, d in searched.items()),
            n_trials=100,
        )

    def of_asks(sizes: list[int]) -> float:
        """Without what Optuna does itself, which compares distributions choice by choice."""
        own = cpu_seconds(partial(study, sizes, lambda searched: RandomSampler(seed=0)))
        return cpu_seconds(partial(study, sizes)) - own

    study(many)
    benchmark.pedantic(partial(study, many), rounds=3)
    of_few, of_many = of_asks(few), of_asks(many)
    benchmark.extra_info["cpu ratio of 10^12 to 10^5"] = of_many / of_few
    print(
        f"\n{len(few)} {kind}, 100 asks: 10^12 configurations {of_many:.2f} s CPU, "
        f"10^5 {of_few:.2f} s, {of_many / of_few:.2f} x"
    )
    assert of_many < 1.5 * of_few


@pytest.mark.parametrize(
    ("n_choices", "n_trials", "most"),
    [(0, 100, 6.0), (0, 300, 4.0), (0, 600, 2.6), (0, 1000, 1.8), (5, 300, 4.0)],
)
def test_cpu_of_numbers(benchmark: Any, n_choices: int, n_trials: int, most: float) -> None:
    def objective(trial: optuna.Trial) -> float:
        numbers = [trial.suggest_float(f"x{i}", -5.0, 5.0) for i in range(5)]
        choices = [trial.suggest_categorical(f"c{i}", list("abcdef")) for i in range(n_choices)]
        return sum((x - 1.0) ** 2 for x in numbers) + sum(c != "b" for c in choices)

    def study(n: int, sampler: BaseSampler) -> None:
        optuna.create_study(sampler=sampler).optimize(objective, n_trials=n)

    study(50, ZAPSSampler(seed=0))  # imports are not the study's cost
    tpe = cpu_seconds(lambda: study(n_trials, TPESampler(seed=0)), rounds=1)
    benchmark.pedantic(lambda: study(n_trials, ZAPSSampler(seed=0)), rounds=1)
    ratio = cpu_seconds(lambda: study(n_trials, ZAPSSampler(seed=0)), rounds=1) / tpe
    benchmark.extra_info["cpu ratio to tpe"] = ratio
    print(
        f"\n5 floats, {n_choices} choices, {n_trials} trials: {ratio:.2f} x TPE ({tpe:.2f} s CPU)"
    )
    assert ratio < most
