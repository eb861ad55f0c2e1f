"""Compare samplers on a table of one's own: which is best, and by how much?

    pip install "optuna-zaps[harness]"
    python examples/compare_on_own_table.py

Trains each of 108 support vector machines for scikit-learn's digits once, which gives a file of
results like one that you may have, and compares samplers on it. The command prints its tables
and writes ``own-results/dashboard.html``. At the end stands the mean over ten seeds of the best
accuracy after 20 trials:

    random: 0.9896
       tpe: 0.9889
      zaps: 0.9953
"""

from itertools import product
import shlex

import pandas as pd
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from harness.cli import app


COMMAND = (
    "compare results.csv --params C,gamma,kernel --objective accuracy --proxies accuracy_tenth "
    "-s zaps -s tpe -s random --budget 20 --seeds 10 --output own-results"
)
X, X_valid, y, y_valid = train_test_split(*load_digits(return_X_y=True), random_state=0)
C = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]
gamma = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1]


def accuracy(n_rows, **params):
    return SVC(**params).fit(X[:n_rows], y[:n_rows]).score(X_valid, y_valid)


if __name__ == "__main__":
    table = pd.DataFrame(
        product(C, gamma, ["rbf", "poly", "sigmoid"]), columns=["C", "gamma", "kernel"]
    )
    rows = table.to_dict("records")
    table["accuracy_tenth"] = [accuracy(len(X) // 10, **row) for row in rows]
    table["accuracy"] = [accuracy(len(X), **row) for row in rows]
    table.to_csv("results.csv", index=False)
    print(f"zaps-harness {COMMAND}")
    app(shlex.split(COMMAND), standalone_mode=False)
    summary = pd.read_csv("own-results/summary.csv")
    for sampler, best in summary.groupby("sampler")["best_value"].mean().items():
        print(f"{sampler:>6}: {best:.4f}")
