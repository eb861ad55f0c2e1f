"""Run eight workers on one study in PostgreSQL.

    pip install "optuna-zaps[pandas]" scikit-learn "psycopg[binary]"
    python examples/eight_workers.py postgresql+psycopg://user@host/database

Each worker is a process that could as well run on another machine: all that they share is the
storage. They tune a support vector machine for scikit-learn's digits. Prints:

    40 trials by 8 workers, 40 different configurations
    accuracy 0.971
"""

from multiprocessing import get_context
from pathlib import Path
import sys

import optuna
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from optuna_zaps import ZAPSSampler


NAME = "eight workers"
PARAMETERS = ["C", "gamma", "kernel"]


def work(url, n_trials):
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    X, y = load_digits(return_X_y=True)
    table = pd.read_csv(Path(__file__).parent / "cheap_numbers.csv", index_col=PARAMETERS)
    choices = {level.name: level.tolist() for level in table.index.levels}

    def objective(trial):
        params = {name: trial.suggest_categorical(name, choices[name]) for name in PARAMETERS}
        return SVC(**params).fit(X[:900], y[:900]).score(X[900:], y[900:])

    # The same table and seed in each worker; the sampler's state is in the storage.
    study = optuna.load_study(study_name=NAME, storage=url, sampler=ZAPSSampler(table, seed=0))
    study.optimize(objective, n_trials=n_trials)


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    url = sys.argv[1]
    study = optuna.create_study(study_name=NAME, storage=url, direction="maximize")
    workers = [get_context("spawn").Process(target=work, args=(url, 5)) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    n_configurations = len({tuple(trial.params.values()) for trial in study.trials})
    print(
        f"{len(study.trials)} trials by {len(workers)} workers, "
        f"{n_configurations} different configurations"
    )
    print(f"accuracy {study.best_value:.3f}")
    optuna.delete_study(study_name=NAME, storage=url)
