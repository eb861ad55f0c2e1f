"""Search a space of your own with proxies of your own: replace the two functions."""

import optuna

from optuna_zaps import ZAPSSampler


SPACE = {"width": [8, 16, 32, 64], "depth": [1, 2, 3, 4, 5], "act": ["relu", "gelu", "tanh"]}


def proxies(params):  # cheap, called once for each of the 60 configurations
    return {"params": params["depth"] * params["width"] ** 2, "depth": params["depth"]}


def objective(trial):  # expensive: here you would train a network
    params = {name: trial.suggest_categorical(name, choices) for name, choices in SPACE.items()}
    return params["width"] ** 0.5 - (params["depth"] - 3) ** 2 + (params["act"] == "gelu")


sampler = ZAPSSampler(proxies, search_space=SPACE, n_startup_trials=8, seed=0)
study = optuna.create_study(direction="maximize", sampler=sampler)
study.optimize(objective, n_trials=25)
print(study.best_params)  # sampler.rank(study) ranks all 60, with pandas
