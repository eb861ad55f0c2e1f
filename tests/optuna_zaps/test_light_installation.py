"""An installation without extras has neither pandas, nor scikit-learn, nor XGBoost."""

from __future__ import annotations

from collections.abc import Sequence
import json
import subprocess
import sys


BLOCKED = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"joblib", "pandas", "sklearn", "xgboost"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())

import numpy as np
import optuna
import optuna_zaps
from optuna_zaps import Profile, ZAPSSampler

SPACE = {"op": list("abcde"), "width": [8, 16, 32]}
TABLE = {
    "op": [op for op in "abcde" for _ in range(3)],
    "width": np.tile([8, 16, 32], 5),
    "cost": [i * j for i in range(5) for j in range(3)],
    "noise": np.random.default_rng(0).random(15),
}

def categorical(trial):
    op = trial.suggest_categorical("op", SPACE["op"])
    return SPACE["op"].index(op) + trial.suggest_categorical("width", SPACE["width"])

def numeric(trial):
    return (trial.suggest_float("x", 0, 1) - 0.3) ** 2 + trial.suggest_int("n", 0, 9)

def study_of(sampler, objective=categorical, n_trials=15):
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=n_trials)
    return study
"""


EACH = """
import json

said = []
for code in {!r}:
    try:
        exec(code, dict(globals()))
    except Exception as error:
        said.append(f"{{type(error).__name__}}: {{error}}")
    else:
        said.append("")
print(json.dumps(said))
"""


def run(codes: Sequence[str]) -> list[str]:
    """Run pieces of code in an interpreter in which the optional packages cannot be imported.

    Returns:
        For each piece the exception that ended it, empty if none did.
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", BLOCKED + EACH.format(list(codes))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ended: list[str] = json.loads(done.stdout)
    return ended


STUDIES = [
    "assert study_of(ZAPSSampler(seed=0), numeric, 25).best_value < 0.1",
    "assert study_of(ZAPSSampler(search_space=SPACE, seed=0)).best_value == 8",
    "assert study_of(ZAPSSampler(TABLE, search_space=SPACE, seed=0)).best_value == 8",
    "assert study_of(ZAPSSampler({**TABLE, 'width': list(map(str, TABLE['width']))}, seed=0)"
    ", lambda t: t.suggest_categorical('op', SPACE['op']) + "
    "t.suggest_categorical('width', ['8', '16', '32']) == 'e32').best_value == 0",
    "zaps = ZAPSSampler(TABLE, search_space=SPACE, initial_proxies=['cost'], seed=0)\n"
    "assert zaps.initial_proxies_ == ['cost']",
    "proxies = lambda params: {'cost': params['width'], 'op': ord(params['op'])}\n"
    "assert study_of(ZAPSSampler(proxies, search_space=SPACE, seed=0)).best_value == 8",
    "proxies = lambda params: {'x': params.get('x', 0), 'n': params.get('n', 0)}\n"
    "assert study_of(ZAPSSampler(proxies, seed=0), numeric, 20).best_value < 9",
    "import pickle\n"
    "zaps = pickle.loads(pickle.dumps(ZAPSSampler(TABLE, search_space=SPACE, seed=0)))\n"
    "assert study_of(zaps).best_value == 8",
]


def test_a_study_needs_none_of_them() -> None:
    done = run(STUDIES)
    assert done == [""] * len(STUDIES)


NEEDS = [
    (
        "zaps = ZAPSSampler(TABLE, search_space=SPACE, seed=0); zaps.rank(study_of(zaps))",
        'rank() is a pandas.DataFrame: it needs pandas: pip install "optuna-zaps[pandas]".',
    ),
    (
        "ZAPSSampler(TABLE, search_space=SPACE).proxies_",
        'proxies_ is a pandas.DataFrame: it needs pandas: pip install "optuna-zaps[pandas]".',
    ),
    (
        "ZAPSSampler(budget=20)",
        'with trees, needs XGBoost: pip install "optuna-zaps[xgboost]".',
    ),
    (
        "from dataclasses import replace\n"
        "start = Profile.paper(20).start\n"
        "ZAPSSampler(TABLE, search_space=SPACE, "
        "profile=replace(Profile.anytime(), start=start))",
        "The K-means of the paper's profile needs scikit-learn: pip install scikit-learn.",
    ),
    (
        "optuna_zaps.ProxyFit",
        "ProxyFit is an estimator of scikit-learn: pip install scikit-learn.",
    ),
]


def test_what_needs_one_says_what_to_install() -> None:
    said = run([code for code, _ in NEEDS])
    for (_, message), error in zip(NEEDS, said, strict=True):
        assert error.startswith("ImportError: ")
        assert error.endswith(message)


def test_a_wrong_type_of_initial_proxies_is_refused_as_ever() -> None:
    (said,) = run(["ZAPSSampler(TABLE, search_space=SPACE, initial_proxies=3)"])
    assert said.startswith("TypeError: initial_proxies must be a sequence of names or a fitted")
