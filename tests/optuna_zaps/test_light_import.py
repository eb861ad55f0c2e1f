from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import optuna
import pytest

import optuna_zaps
from optuna_zaps import Profile
from optuna_zaps import ZAPSSampler


HINT = r'pip install "optuna-zaps\[xgboost\]"'


def after(code: str) -> Any:
    """Value of `result` after some code in a fresh interpreter."""
    shown = f"import sys, json\n{code}\nprint(json.dumps(result))"
    return json.loads(
        subprocess.run(
            [sys.executable, "-c", shown], capture_output=True, text=True, check=True
        ).stdout
    )


def test_an_import_loads_little_more_than_optuna_does() -> None:
    count = "result = len(sys.modules)"
    own = after(f"from optuna_zaps import Profile, ZAPSSampler\n{count}")
    assert own <= 1.5 * after(f"import optuna\n{count}")


def test_what_is_slow_to_import_waits_for_its_use() -> None:
    loaded = (
        "result = sorted({'pandas', 'scipy', 'sklearn', 'xgboost', 'torch'} & sys.modules.keys())"
    )
    assert after(f"from optuna_zaps import ZAPSSampler\nZAPSSampler(seed=0)\n{loaded}") == []
    assert after(f"import optuna_zaps\noptuna_zaps.ProxyFit\n{loaded}") == [
        "pandas",
        "scipy",
        "sklearn",
    ]


def test_proxy_fit_is_a_name_of_the_package_like_the_others() -> None:
    assert "ProxyFit" in dir(optuna_zaps)
    assert isinstance(optuna_zaps.ProxyFit(), optuna_zaps.ProxyFit)
    with pytest.raises(AttributeError, match="'optuna_zaps' has no attribute 'ProxyFits'"):
        _ = optuna_zaps.ProxyFits  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "arguments",
    [
        {"budget": 20},
        {"profile": "paper", "budget": 20},
        {"profile": "anytime+trees"},
        {"profile": Profile.paper(20)},
    ],
)
def test_trees_without_xgboost_say_what_to_install(
    arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(ImportError, match=HINT):
        ZAPSSampler(**arguments)


@pytest.mark.parametrize(
    "arguments", [{}, {"profile": "anytime"}, {"profile": "paper+processes", "budget": 20}]
)
def test_processes_need_no_xgboost(
    arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xgboost", None)
    study = optuna.create_study(sampler=ZAPSSampler(**arguments, seed=0))
    study.optimize(lambda trial: trial.suggest_int("n", 0, 99), n_trials=20)
    assert study.best_value < 20


@pytest.mark.parametrize(("api", "library"), [("blas", "scipy.linalg"), (None, "sklearn.cluster")])
def test_libraries_that_are_loaded_later_are_limited_too(api: str | None, library: str) -> None:
    threads = after(
        "from optuna_zaps.search.threads import one_thread\n"
        "with one_thread('blas'): pass\n"
        f"import {library}, threadpoolctl\n"
        "threadpoolctl.threadpool_limits(2)\n"
        f"with one_thread({api!r}):\n"
        "    result = [(pool['user_api'], pool['num_threads'])\n"
        "              for pool in threadpoolctl.threadpool_info()]\n"
    )
    limited = [n for kind, n in threads if api in (None, kind)]
    assert len(limited) >= 2
    assert set(limited) == {1}
