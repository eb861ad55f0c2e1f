"""Replace TPESampler in a tuning script, then add a cheap low-fidelity proxy.

Tunes a support vector machine for the digits of scikit-learn (pip install scikit-learn). The proxy
of a configuration is its accuracy after training on 10 % of the rows, known for all before the
first trial. Prints the mean accuracy of five seeds after 15 trials:

          TPESampler: 0.9822
         ZAPSSampler: 0.9867
    ... with a proxy: 0.9938
         best of 108: 0.9956
"""

from functools import cache
from itertools import product

import optuna
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from optuna_zaps import ZAPSSampler


SPACE = {
    "C": [0.001, 0.01, 0.1, 1.0, 10.0, 100.0],
    "gamma": [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1],
    "kernel": ["rbf", "poly", "sigmoid"],
}
X, X_valid, y, y_valid = train_test_split(*load_digits(return_X_y=True), random_state=0)


@cache  # the samplers are compared on the same fits
def accuracy(n_rows, *values):
    model = SVC(**dict(zip(SPACE, values, strict=True)))
    return model.fit(X[:n_rows], y[:n_rows]).score(X_valid, y_valid)


def objective(trial):
    return accuracy(len(X), *(trial.suggest_categorical(name, SPACE[name]) for name in SPACE))


def proxies(params):
    return {"accuracy_tenth": accuracy(len(X) // 10, *params.values())}


optuna.logging.set_verbosity(optuna.logging.WARNING)
samplers = {
    "TPESampler": lambda seed: optuna.samplers.TPESampler(seed=seed),
    "ZAPSSampler": lambda seed: ZAPSSampler(seed=seed),
    "... with a proxy": lambda seed: ZAPSSampler(proxies, search_space=SPACE, seed=seed),
}
for name, make in samplers.items():
    best = []
    for seed in range(5):
        study = optuna.create_study(direction="maximize", sampler=make(seed))
        study.optimize(objective, n_trials=15)
        best.append(study.best_value)
    print(f"{name:>16}: {sum(best) / len(best):.4f}")
best_of_all = max(accuracy(len(X), *values) for values in product(*SPACE.values()))
print(f"     best of 108: {best_of_all:.4f}")
