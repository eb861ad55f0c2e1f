"""Publish to optuna-dashboard what the sampler has done and believes.

    pip install "optuna-zaps[dashboard]" scikit-learn
    python examples/publish_to_dashboard.py
    optuna-dashboard sqlite:///digits.db

Tunes a support vector machine on scikit-learn's digits; its score on a tenth of the training data
is a cheap proxy of each configuration. Prints:

    accuracy 0.996 with {'C': 1.0, 'gamma': 0.001, 'kernel': 'rbf'}
"""

import optuna
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from optuna_zaps import ZAPSSampler
from optuna_zaps.dashboard import PublishCallback
from optuna_zaps.dashboard import publish
from optuna_zaps.dashboard import record_proxies


SPACE = {
    "C": [0.01, 0.1, 1.0, 10.0, 100.0],
    "gamma": [1e-5, 1e-4, 1e-3, 1e-2],
    "kernel": ["rbf", "poly", "sigmoid"],
}
X, X_valid, Y, Y_valid = train_test_split(*load_digits(return_X_y=True), random_state=0)


def accuracy(params, n_rows):
    return SVC(**params).fit(X[:n_rows], Y[:n_rows]).score(X_valid, Y_valid)


def proxies(params):
    model = SVC(**params).fit(X[:135], Y[:135])
    return {"accuracy_tenth": model.score(X_valid, Y_valid), "n_support": sum(model.n_support_)}


def objective(trial):
    params = {name: trial.suggest_categorical(name, choices) for name, choices in SPACE.items()}
    record_proxies(trial)  # columns of the dashboard's trial table
    return accuracy(params, n_rows=len(X))


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        study_name="digits",
        storage="sqlite:///digits.db",
        direction="maximize",
        sampler=ZAPSSampler(proxies, search_space=SPACE, seed=0),
    )
    study.optimize(objective, n_trials=25, callbacks=[PublishCallback(every=10)])
    publish(study, metric_names=["accuracy"])  # with the trials since the last callback
    print(f"accuracy {study.best_value:.3f} with {study.best_params}")
