"""Draw the figures of the page on how the sampler works, from real searches.

    pip install -e ".[docs,harness]" && python docs/figures/draw.py

``posterior.png`` is a search of one parameter without proxies, ``search.png`` one of NAS-Bench-201
on CIFAR-10 with the 13 proxies of the harness.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import optuna
import pandas as pd

from harness.problems import load_table
from optuna_zaps import ZAPSSampler


FOLDER = Path(__file__).parent
STYLE = {"dpi": 80, "bbox_inches": "tight"}


def loss(x):
    """Two minima, the right one deeper."""
    return np.sin(x / 6) + (x / 60 - 1) ** 2


def draw_posterior():
    """Draw belief and next choice after 5, 7 and 11 trials on 100 values."""
    grid = np.arange(100)
    space = {"x": optuna.distributions.IntDistribution(0, 99)}
    sampler = ZAPSSampler(search_space=space, n_startup_trials=4, seed=1)
    study = optuna.create_study(sampler=sampler)
    figure, axes = plt.subplots(1, 3, figsize=(11, 2.9), sharey=True)
    for axis, n_trials in zip(axes, (5, 7, 11), strict=True):
        study.optimize(
            lambda trial: loss(trial.suggest_int("x", 0, 99)), n_trials - len(study.trials)
        )
        belief = sampler.rank(study, n=100).set_index("x").loc[grid]
        upcoming = study.ask()
        following = upcoming.suggest_int("x", 0, 99)
        study.tell(upcoming, loss(following))
        tried = [t.params["x"] for t in study.trials[:-1]]
        axis.fill_between(
            grid, belief["mean"] - belief["std"], belief["mean"] + belief["std"], alpha=0.3
        )
        axis.plot(grid, belief["mean"], label="mean of the model, with its spread")
        axis.plot(grid, loss(grid), "k--", linewidth=1, label="objective (minimised)")
        axis.plot(tried, loss(np.array(tried)), "ko", markersize=4, label="evaluated")
        axis.axvline(following, color="tab:red", label="next")
        axis.set(title=f"after {n_trials} trials", xlabel="x", ylim=(-2.0, 3.2))
    axes[0].legend(fontsize=7)
    figure.savefig(FOLDER / "posterior.png", **STYLE)


def draw_search():
    """Draw initial design, later evaluations and the best 100 in the plane of two proxies."""
    table = load_table("nasbench201/cifar10@package")
    sampler = ZAPSSampler(pd.concat([table.parameters, table.proxies], axis=1), seed=0)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    rows = []

    def objective(trial):
        rows.append(table.row(table.suggest(trial)))
        return table.values[rows[-1]]

    study.optimize(objective, n_trials=100)
    names = ["nwot", "synflow"]
    ranks = table.proxies[names].rank(pct=True).to_numpy()
    phases = np.array([trial.user_attrs["zaps:phase"] for trial in study.trials])
    evaluated = ranks[rows]
    top = table.top(100)
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), sharex=True, sharey=True)
    for axis, title in zip(axes, ("14 initial evaluations", "100 evaluations"), strict=True):
        axis.plot(*ranks[::10].T, ".", color="0.85", markersize=2, label="candidates (a tenth)")
        axis.plot(*ranks[top].T, "s", color="tab:green", markersize=4, label="true best 100")
        axis.set(title=title, xlabel=f"rank of {names[0]}")
        shown = 14 if title.startswith("14") else 100
        for phase, colour in (
            ("exploitation", "tab:orange"),
            ("coverage", "tab:blue"),
            ("model", "tab:red"),
        ):
            points = evaluated[:shown][phases[:shown] == phase]
            if len(points):
                axis.plot(*points.T, "o", color=colour, markersize=4, label=phase)
        axis.legend(fontsize=7, loc="lower right")
    axes[0].set_ylabel(f"rank of {names[1]}")
    figure.savefig(FOLDER / "search.png", **STYLE)
    print(f"{len(set(rows) & set(top))} of the best 100 in {len(rows)} evaluations")


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    draw_posterior()
    draw_search()
