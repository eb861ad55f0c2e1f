"""Search an architecture of your own: score all of it, train the few that ZAPS asks for.

A convolutional network for scikit-learn's digits with five choices. Thirteen zero-cost proxies
cost milliseconds for each architecture; a trial trains the network and returns its accuracy on
validation data. Needs: pip install "optuna-zaps[zerocost]" scikit-learn. About a minute on two
cores.
"""

from functools import cache
import time

import optuna
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
import torch
from torch import nn
import torch.nn.functional as F

from optuna_zaps import ZAPSSampler
from optuna_zaps.zerocost import score_space


SPACE = {
    "width": [2, 4, 8, 16],
    "depth": [1, 2, 3],
    "kernel": [1, 3, 5],
    "pool": ["max", "avg"],
    "skip": [False, True],
}
N_TRIALS, N_SEEDS, N_EPOCHS = 15, 3, 3

images, labels = load_digits(return_X_y=True)
images = torch.tensor(images, dtype=torch.float32).reshape(-1, 1, 8, 8) / 8 - 1
train_x, valid_x, train_y, valid_y = train_test_split(
    images, torch.tensor(labels), test_size=0.5, random_state=0
)


class Block(nn.Module):
    def __init__(self, width, kernel, skip):
        super().__init__()
        self.conv = nn.Conv2d(width, width, kernel, padding=kernel // 2, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.skip = skip

    def forward(self, x):
        out = F.relu(self.norm(self.conv(x)))
        return x + out if self.skip else out


def build(params):
    width, kernel = params["width"], params["kernel"]
    pool = nn.MaxPool2d if params["pool"] == "max" else nn.AvgPool2d
    blocks = [Block(width, kernel, params["skip"]) for _ in range(params["depth"])]
    stem = nn.Conv2d(1, width, kernel, padding=kernel // 2)
    return nn.Sequential(
        stem, nn.ReLU(), *blocks, pool(2), nn.Flatten(), nn.Linear(16 * width, 10)
    )


@cache  # the samplers are compared on the same trainings
def accuracy(*values):
    torch.manual_seed(0)
    model = build(dict(zip(SPACE, values, strict=True)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(N_EPOCHS):
        for rows in torch.randperm(len(train_x)).split(64):
            optimizer.zero_grad()
            F.cross_entropy(model(train_x[rows]), train_y[rows]).backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        return (model(valid_x).argmax(dim=1) == valid_y).float().mean().item()


def objective(trial):
    return accuracy(*(trial.suggest_categorical(name, SPACE[name]) for name in SPACE))


start = time.perf_counter()
proxies = score_space(build, SPACE, (train_x[:64], train_y[:64]), progress=False)
print(f"{len(proxies)} networks scored in {time.perf_counter() - start:.0f} s")

optuna.logging.set_verbosity(optuna.logging.WARNING)
samplers = {
    "ZAPS": lambda seed: ZAPSSampler(proxies, n_startup_trials=8, seed=seed),
    "TPE": lambda seed: optuna.samplers.TPESampler(seed=seed),
    "random": lambda seed: optuna.samplers.RandomSampler(seed=seed),
}
for name, make in samplers.items():
    best = []
    for seed in range(N_SEEDS):
        study = optuna.create_study(direction="maximize", sampler=make(seed))
        study.optimize(objective, n_trials=N_TRIALS)
        best.append(study.best_value)
    print(f"{name:>6}: best accuracy after {N_TRIALS} trainings {100 * sum(best) / N_SEEDS:.2f} %")
print(f"{accuracy.cache_info().misses} networks trained, {time.perf_counter() - start:.0f} s")
