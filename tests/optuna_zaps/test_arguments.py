"""Wrong arguments are refused at once, and code written for TPESampler runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import inspect
import math
from typing import Any
import warnings

from flat import Flat
import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution
from optuna.distributions import IntDistribution
from optuna.samplers import RandomSampler
from optuna.samplers import TPESampler
import pandas as pd
import pytest
from sklearn.base import clone
from warned import only

from optuna_zaps import Profile
from optuna_zaps import ProxyFit
from optuna_zaps import ZAPSSampler
from optuna_zaps.search.profiles import processes
from optuna_zaps.study import parameters


SPACE = {"op": list("abcde"), "width": [8, 16, 32]}


def params_of(n_trials: int = 9, **arguments: Any) -> list[dict[str, Any]]:
    """Configurations that a study of a sampler with these arguments tries."""
    study = optuna.create_study(
        sampler=ZAPSSampler(
            **{"search_space": SPACE, "n_startup_trials": 4, "seed": 0} | arguments
        )
    )
    study.optimize(
        lambda trial: sum(
            choices.index(trial.suggest_categorical(name, choices))
            for name, choices in SPACE.items()
        ),
        n_trials=n_trials,
    )
    return [trial.params for trial in study.trials]


# --- keywords of TPESampler ----------------------------------------------------------------------


def constant_gamma(n_trials: int) -> int:
    return 3


TUNED: dict[str, Any] = {
    "n_ei_candidates": 48,
    "gamma": constant_gamma,
    "weights": np.ones,
    "prior_weight": 2.0,
    "consider_prior": False,
    "consider_magic_clip": False,
    "consider_endpoints": True,
    "categorical_distance_func": {"op": lambda a, b: float(a != b)},
}


def test_every_keyword_of_tpe_is_taken_and_its_default_in_silence() -> None:
    # pytest turns any warning into an error.
    for name, parameter in inspect.signature(TPESampler).parameters.items():
        ZAPSSampler(**{name: parameter.default})
    # So Optuna 4 and a file that was written with it spell the defaults.
    ZAPSSampler(
        n_startup_trials=10,
        n_ei_candidates=24,
        prior_weight=1.0,
        consider_prior=True,
        consider_magic_clip=True,
        consider_endpoints=False,
        multivariate=False,
        constant_liar=False,
        warn_independent_sampling=True,
    )
    ZAPSSampler(**dict.fromkeys([*TUNED, "multivariate", "constant_liar"]))


def test_one_warning_names_what_tunes_tpe_and_nothing_comes_of_it() -> None:
    plain = params_of()
    with pytest.warns(UserWarning, match="no effect") as record:
        assert params_of(**TUNED, multivariate=True, constant_liar=True) == plain
    warning = only(record)
    message = str(warning.message)
    assert all(name in message for name in TUNED)
    assert "multivariate" not in message
    assert "constant_liar" not in message
    assert warning.filename == __file__


@pytest.mark.parametrize("name", TUNED)
def test_a_keyword_that_is_not_given_is_not_named(name: str) -> None:
    with pytest.warns(UserWarning) as record:
        ZAPSSampler(**{name: TUNED[name]})
    warning = only(record)
    assert [other for other in TUNED if other in str(warning.message)] == [name]


@pytest.mark.parametrize("value", [True, False, None])
def test_parameters_are_always_seen_together_and_with_what_is_running(value: bool | None) -> None:
    assert params_of(multivariate=value, constant_liar=value) == params_of()


def test_an_unknown_keyword_is_refused_in_pythons_words() -> None:
    with pytest.raises(TypeError, match=r"__init__\(\) got an unexpected keyword argument 'n_ei'"):
        ZAPSSampler(n_ei=24)  # type: ignore[call-arg]


def test_constraints_func_is_deprecated_where_it_is_for_tpe() -> None:
    said = []
    for sampler_class in (TPESampler, ZAPSSampler):
        with warnings.catch_warnings(record=True) as record:
            warnings.simplefilter("always")
            sampler_class(constraints_func=lambda trial: (0.0,))
        future = [warning for warning in record if warning.category is FutureWarning]
        said.append(["set_constraint" in str(warning.message) for warning in future])
    assert said[0] == said[1] == [True] * hasattr(optuna.Trial, "set_constraint")
    if said[1]:
        assert future[0].filename == __file__


# --- arguments that are wrong --------------------------------------------------------------------


def too_few(layout: Any) -> Any:
    return layout


INTEGERS: list[Any] = [1.5, 20.0, math.nan, math.inf, "20", True, np.float64(20), [20], 20j]


@pytest.mark.parametrize("value", INTEGERS, ids=repr)
@pytest.mark.parametrize("name", ["budget", "n_startup_trials", "seed"])
def test_a_number_of_something_is_an_integer(name: str, value: Any) -> None:
    # Both, as scikit-learn's: a float is of a wrong type, or a wrong value.
    for kind in (TypeError, ValueError):
        with pytest.raises(kind, match=rf"^{name} must be an integer, but got "):
            ZAPSSampler(**{name: value})


@pytest.mark.parametrize("value", [np.int64(20), np.uint8(20), np.array(20)], ids=repr)
@pytest.mark.parametrize("name", ["budget", "n_startup_trials", "seed"])
def test_integers_of_numpy_are_integers(name: str, value: Any) -> None:
    assert params_of(**{name: value}) == params_of(**{name: 20})


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"budget": 9}, ValueError, "budget must be at least 10, but got 9"),
        ({"n_startup_trials": -1}, ValueError, "n_startup_trials must not be negative"),
        ({"seed": -1}, ValueError, "seed must not be negative, but got -1"),
        ({"seed": 2**32}, ValueError, "seed must be at most 4294967295, but got 4294967296"),
        ({"seed": 2**70}, ValueError, "seed must be at most 4294967295"),
        ({"search_space": [1, 2]}, TypeError, r"search_space must map .* but got \[1, 2\] of"),
        ({"search_space": "ab"}, TypeError, "search_space must map .* of type str"),
        ({"search_space": {"a", "b"}}, TypeError, "search_space must map .* of type set"),
        ({"search_space": set()}, TypeError, "search_space must map .* of type set"),
        ({"search_space": 5}, TypeError, "search_space must map .* but got 5 of type int"),
        ({"search_space": pd.Series({"a": [1]})}, TypeError, "of type Series"),
        ({"search_space": {0: [1, 2]}}, TypeError, "name each parameter by a string.* got 0 of"),
        ({"search_space": {"op": b"ab"}}, TypeError, "sequence of choices, but got b'ab' for"),
        ({"search_space": {"op": {"a"}}}, TypeError, "sequence of choices, but got {'a'} for"),
        ({"search_space": {"op": {"a": 1}}}, TypeError, "sequence of choices, but got {'a': 1}"),
        ({"search_space": {"op": iter("ab")}}, TypeError, "sequence of choices, but got <"),
        ({"search_space": {"op": np.ones((2, 2))}}, TypeError, "sequence of choices"),
        ({"search_space": {"op": IntDistribution}}, TypeError, "sequence of choices"),
        ({"search_space": {"op": []}}, ValueError, "a choice for each name, but 'op' has none"),
        (
            {"profile": 5},
            TypeError,
            "profile must be one of .* or a Profile, but got 5 of type int",
        ),
        ({"profile": ["paper"]}, TypeError, "profile must be one of"),
        ({"profile": Profile}, TypeError, "profile must be one of"),
        ({"profile": "paper"}, ValueError, "profile='paper' needs .* budget="),
        (
            {"profile": "anytime", "budget": 50},
            ValueError,
            "plans for no budget, but got bud",
        ),
        (
            {"profile": Profile.anytime(), "budget": 50},
            ValueError,
            r"profile=Profile.paper\(50",
        ),
        ({"profile": ""}, ValueError, r"one of \['anytime', 'paper'\].* but got ''"),
        (
            {"profile": "paper+sobol", "budget": 50},
            ValueError,
            "but got 'paper.sobol'",
        ),
        ({"group": "yes"}, TypeError, "group must be True or False, but got 'yes' of type str"),
        ({"group": 1}, TypeError, "group must be True or False"),
        ({"warn_independent_sampling": "no"}, TypeError, "warn_independent_sampling must be True"),
        ({"multivariate": "yes"}, TypeError, "multivariate must be True or False"),
        ({"constant_liar": 1.0}, TypeError, "constant_liar must be True or False"),
        ({"independent_sampler": "tpe"}, TypeError, "independent_sampler must be a sampler"),
        ({"independent_sampler": RandomSampler}, TypeError, "independent_sampler must be a sampl"),
        ({"independent_sampler": False}, TypeError, "independent_sampler must be a sampler"),
        ({"constraints_func": [0.0]}, TypeError, r"a function of a finished trial, but got \[0.0"),
        ({"initial_proxies": 5}, TypeError, "sequence of names or a fitted ProxyFit, but got 5"),
        ({"initial_proxies": {"flops"}}, TypeError, "sequence of names"),
        ({"initial_proxies": b"flops"}, TypeError, "sequence of names"),
        ({"initial_proxies": ["flops"]}, ValueError, "there are no proxies to choose from"),
        ({"profile": "anytime+trees+proxies-only"}, ValueError, "needs proxies, but there"),
    ],
)
def test_what_is_wrong_is_said_when_the_sampler_is_made(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ZAPSSampler(**arguments)


def test_the_largest_seed_is_that_of_tpe() -> None:
    TPESampler(seed=2**32 - 1)
    with pytest.raises(ValueError, match=r"2\*\*32 - 1"):
        TPESampler(seed=2**32)
    assert len(params_of(seed=2**32 - 1)) == 9


@pytest.mark.parametrize(
    "choices",
    [
        np.array([8, 16, 32]),
        np.array([8, 16, 32], dtype=object),
        pd.Series([8, 16, 32], index=list("abc")),
        pd.Index([8, 16, 32]),
        pd.array([8, 16, 32], dtype="Int64"),
        pd.Categorical([8, 16, 32]),
        (np.int8(8), np.uint16(16), np.int64(32)),
    ],
    ids=lambda choices: type(choices).__name__,
)
def test_arrays_are_sequences_of_choices(choices: Any) -> None:
    space = parameters.normalized({"width": choices})
    assert space == {"width": CategoricalDistribution([8, 16, 32])}
    assert {type(choice) for choice in space["width"].choices} == {int}  # type: ignore[attr-defined]


def test_a_missing_choice_of_pandas_is_none() -> None:
    space = parameters.normalized({"width": pd.array([8, None], dtype="Int64")})
    assert space == {"width": CategoricalDistribution([8, None])}


def of_any_arguments(*arguments: Any) -> Any:
    return processes(*arguments)


@pytest.mark.parametrize(
    "surrogate",
    [processes, partial(of_any_arguments), of_any_arguments, Flat.for_layout],
)
def test_any_factory_of_two_arguments_is_one(surrogate: Callable[..., Any]) -> None:
    assert len(params_of(profile=Profile.anytime().with_surrogate(surrogate))) == 9


@pytest.mark.parametrize(
    ("surrogate", "message"),
    [
        (too_few, "takes a FeatureLayout and a seed, but .*too_few"),
        (object, "takes a FeatureLayout and a seed"),
        ("xgboost", "must be a factory, but got 'xgboost'"),
    ],
)
def test_a_surrogate_that_is_no_factory(surrogate: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Profile.anytime().with_surrogate(surrogate)


@pytest.mark.parametrize("n", [1.5, math.nan, "2", True])
def test_a_ranking_of_no_whole_number(n: Any) -> None:
    with pytest.raises(TypeError, match="n must be an integer"):
        ZAPSSampler(search_space=SPACE).rank(optuna.create_study(), n)


# --- ProxyFit ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        *(({"n_select": n}, TypeError, "n_select must be an integer") for n in INTEGERS),
        ({"n_select": math.nan}, ValueError, "n_select must be an integer, but got nan"),
        ({"n_select": 0}, ValueError, "n_select must be at least 1, but got 0"),
        ({"redundancy": math.nan}, ValueError, r"redundancy must lie in \(0, 1\], but got nan"),
        ({"redundancy": math.inf}, ValueError, r"redundancy must lie in \(0, 1\], but got inf"),
        ({"redundancy": "0.5"}, TypeError, "redundancy must be a number, but got '0.5'"),
        ({"redundancy": True}, TypeError, "redundancy must be a number"),
        ({"redundancy": None}, TypeError, "redundancy must be a number"),
    ],
)
def test_proxyfit_refuses_at_the_fit(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    # As scikit-learn asks of its estimators, not before: set_params may still mend it.
    fit = clone(ProxyFit(**arguments))
    with pytest.raises(error, match=message):
        fit.fit([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]], [1.0, 2.0, 3.0])


def test_proxyfit_takes_numpys_numbers() -> None:
    fit = ProxyFit(n_select=np.int64(1), redundancy=np.float32(0.5))  # type: ignore[arg-type]
    fit.fit([[1.0, 3.0], [2.0, 1.0], [3.0, 2.0]], [1.0, 2.0, 3.0])
    assert fit.selected_names_ == ["x0"]
