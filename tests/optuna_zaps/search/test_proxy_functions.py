"""Functions that compute proxies: once for each configuration, and not for every one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from collections.abc import Mapping
import copy
import math
import pickle
from typing import Any
import warnings

from columns import proxy_table
import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
import pandas as pd
import pytest
from warned import only

from optuna_zaps import ZAPSSampler
from optuna_zaps.search import proxy_function
from optuna_zaps.search.candidates import CandidateSet
from optuna_zaps.search.proxies import ProxyTable
from optuna_zaps.search.proxy_function import RememberedProxies


OPS, WIDTHS = list("abcde"), [8, 16, 32, 64]
SPACE = {"op": OPS, "width": WIDTHS}
LARGE = {f"x{i}": CategoricalDistribution(range(8)) for i in range(7)}
"""2,097,152 configurations: too many to enumerate."""


class Scores:
    """Proxies of any space of small numbers and letters, which count what they are asked for.

    Args:
        fails: Configurations for which an exception is raised.
        interrupted: Calls, counted from 1, at which the user interrupts.
    """

    def __init__(
        self,
        fails: Callable[[dict[str, Any]], bool] = lambda params: False,
        interrupted: tuple[int, ...] = (),
    ) -> None:
        self.calls: Counter[str] = Counter()
        self._fails, self._interrupted = fails, interrupted

    def __call__(self, params: dict[str, Any]) -> dict[str, float]:
        if self.calls.total() + 1 in self._interrupted:
            self._interrupted = ()
            raise KeyboardInterrupt
        self.calls[repr(sorted(params.items()))] += 1
        if self._fails(params):
            raise RuntimeError("no such architecture")
        numbers = [float(OPS.index(v) if isinstance(v, str) else v) for v in params.values()]
        return {"sum": sum(numbers), "last": numbers[-1], "root": math.sqrt(sum(numbers))}

    def were_asked_once(self) -> bool:
        return set(self.calls.values()) == {1}


def over(space: Mapping[str, Any]) -> Callable[[optuna.Trial], float]:
    def objective(trial: optuna.Trial) -> float:
        total = 0.0
        for name, given in space.items():
            choices = list(getattr(given, "choices", given))
            total += choices.index(trial.suggest_categorical(name, choices))
        return total

    return objective


def sampler(function: Any, **arguments: Any) -> ZAPSSampler:
    return ZAPSSampler(function, **{"n_startup_trials": 5, "seed": 0} | arguments)


def of_one_op(params: dict[str, Any]) -> bool:
    return bool(params["op"] == "b")


# --- a configuration without proxies -------------------------------------------------------------


@pytest.mark.parametrize("given", [True, False], ids=["given", "inferred"])
def test_where_the_function_raises_there_are_no_proxies_which_is_told_once(given: bool) -> None:
    scores = Scores(of_one_op)
    with pytest.warns(UserWarning) as record:
        zaps = sampler(scores, search_space=SPACE if given else None)
        study = optuna.create_study(sampler=zaps)
        study.optimize(over(SPACE), n_trials=20)
    warning = only(record)
    assert str(warning.message) == (
        "Proxies: 4 of 20 configurations have none and are ranked in the middle, because the "
        "proxy function failed, for {'op': 'b', 'width': 8}: RuntimeError: no such architecture."
    )
    assert len({tuple(trial.params.values()) for trial in study.trials}) == 20
    assert scores.were_asked_once()
    assert scores.calls.total() == 20
    frame = zaps.proxies_
    without = frame["op"] == "b"
    assert frame.loc[without, "sum"].isna().all()
    assert frame.loc[~without, "sum"].notna().all()
    candidates = CandidateSet.grid(SPACE)
    with pytest.warns(UserWarning, match="4 of 20 configurations"):
        ranks = ProxyTable.from_function(Scores(of_one_op), candidates).ranks
    np.testing.assert_array_equal(ranks[candidates.matching({"op": "b"})], 0.5)


def test_what_the_others_have_is_what_they_have_without_failures() -> None:
    """Ranks among those that have proxies, by hand."""
    with pytest.warns(UserWarning, match="1 of 5 configurations"):
        failing = ProxyTable.from_function(Scores(of_one_op), CandidateSet.grid({"op": OPS}))
    ranks = failing.ranks
    assert ranks[:, 0].tolist() == [0.0, 0.5, 1 / 3, 2 / 3, 1.0]
    expected = proxy_table({"sum": [0.0, 2.0, 3.0, 4.0]}).ranks
    np.testing.assert_array_equal(ranks[[0, 2, 3, 4], :1], expected)


def test_a_failure_and_useless_proxies_are_one_warning() -> None:
    def scores(params: dict[str, Any]) -> dict[str, float]:
        if of_one_op(params):
            raise ValueError("too deep")
        return {"flat": 1.0, "holes": math.nan if params["width"] == 8 else 1.0 * params["width"]}

    with pytest.warns(UserWarning) as record:
        sampler(scores, search_space=SPACE)
    warning = only(record)
    message = str(warning.message)
    # Each of the five operations but the failing one has a width of 8.
    for part in ("4 of 20 configurations", "'flat' is constant", "'holes' misses 4 values"):
        assert part in message
    assert warning.filename == __file__


def test_in_pools_failures_are_told_once_and_every_configuration_asked_for_once() -> None:
    scores = Scores(lambda params: params["x0"] == 7)
    with pytest.warns(UserWarning) as record:
        study = optuna.create_study(
            direction="maximize", sampler=sampler(scores, search_space=LARGE)
        )
        study.optimize(over(LARGE), n_trials=12)
    warning = only(record)
    assert "of 1024 configurations have none" in str(warning.message)
    assert scores.were_asked_once()
    assert len(study.trials) == 12


def test_a_failure_that_first_comes_in_a_later_pool_is_told_too() -> None:
    n_calls = 0

    def scores(params: dict[str, Any]) -> dict[str, float]:
        nonlocal n_calls
        n_calls += 1
        if n_calls == 1500:
            raise RuntimeError("out of memory")
        return {"sum": float(sum(params.values())), "last": float(params["x6"])}

    with pytest.warns(UserWarning) as record:
        study = optuna.create_study(sampler=sampler(scores, search_space=LARGE))
        study.optimize(over(LARGE), n_trials=10)
    warning = only(record)
    assert "1 of " in str(warning.message)
    assert "out of memory" in str(warning.message)


@pytest.mark.parametrize(
    "returned",
    [None, 3.0, [("sum", 1.0)], {"sum": "n/a", "last": 1.0}, {"sum": 1j, "last": 1.0}],
    ids=repr,
)
def test_what_is_no_proxies_counts_as_a_failure(returned: Any) -> None:
    scores = Scores()
    with pytest.warns(UserWarning, match="4 of 20 configurations have none") as record:
        sampler(
            lambda params: returned if of_one_op(params) else scores(params), search_space=SPACE
        )
    message = str(only(record).message)
    assert "for {'op': 'b', 'width': 8}: TypeError: " in message
    kind = "'sum' must be a real number" if isinstance(returned, dict) else "return a mapping"
    assert kind in message


@pytest.mark.parametrize("returned", [{}, {"sum": None}, {"sum": math.nan}, {"sum": pd.NA}])
def test_a_value_that_is_not_known_is_missing(returned: dict[str, Any]) -> None:
    with pytest.warns(UserWarning, match=r"^Proxies: 'sum' misses 4 values, ranked in the midd"):
        zaps = sampler(
            lambda params: returned if of_one_op(params) else {"sum": params["width"]},
            search_space=SPACE,
        )
    assert zaps.proxies_["sum"].isna().sum() == 4


@pytest.mark.parametrize("given", [True, False], ids=["given", "inferred"])
def test_other_names_are_refused_and_named(given: bool) -> None:
    scores = Scores()

    def changing(params: dict[str, Any]) -> dict[str, float]:
        row = scores(params)
        return {"sum": row["sum"]} if of_one_op(params) else row

    with pytest.raises(ValueError, match=r"same names everywhere.* got \['sum'\] for {'op': 'b'"):
        study = optuna.create_study(
            sampler=sampler(changing, search_space=SPACE if given else None)
        )
        study.optimize(over(SPACE), n_trials=3)
    assert scores.were_asked_once()


def test_numbers_of_every_library_are_numbers() -> None:
    class Tensor:
        """Stands for one of PyTorch, which pandas takes for an object."""

        def __init__(self, value: float) -> None:
            self._value = value

        def item(self) -> float:
            return self._value

    kinds: list[Callable[[float], Any]] = [
        int, np.float32, np.int64, np.array, Tensor, bool, np.bool_, lambda v: np.array([v])
    ]  # fmt: skip
    table = ProxyTable.from_function(
        lambda params: {str(i): kind(params["n"]) for i, kind in enumerate(kinds)},
        CandidateSet.grid({"n": [1, 0]}),
    )
    assert table.values.tolist() == [[1.0] * len(kinds), [0.0] * len(kinds)]


def test_names_that_are_no_text_are_text_whether_enumerated_or_drawn() -> None:
    for space in (SPACE, LARGE):
        scores = Scores()
        zaps = sampler(
            lambda params, scores=scores: dict(enumerate(scores(params).values())),
            search_space=space,
            initial_proxies=["0", "2"],
        )
        study = optuna.create_study(sampler=zaps)
        study.optimize(over(space), n_trials=9)
        assert zaps.proxies_.columns.tolist() == [*space, "0", "1", "2"]
        assert len(study.trials) == 9
    with pytest.raises(ValueError, match=r"name of its own, but got \[1, '1'\]"):
        sampler(lambda params: {1: 1.0, "1": 2.0}, search_space=SPACE)


def test_continuous_spaces_take_them_too() -> None:
    space = {"x": FloatDistribution(0.0, 1.0), "y": FloatDistribution(0.0, 1.0)}
    zaps = sampler(
        lambda params: {0: params["x"], ("a", 1): params["x"] - params["y"]}, search_space=space
    )
    study = optuna.create_study(sampler=zaps)
    study.optimize(
        lambda trial: trial.suggest_float("x", 0, 1) + trial.suggest_float("y", 0, 1), n_trials=12
    )
    assert zaps.active_proxies_ != []
    assert set(zaps.active_proxies_) <= {"0", "('a', 1)"}


# --- a function that fails altogether, or is interrupted -----------------------------------------


def test_a_function_that_always_fails_is_refused_with_its_first_exception() -> None:
    with pytest.raises(ValueError, match="failed for every configuration") as caught:
        sampler(Scores(lambda params: True), search_space=SPACE)
    assert "for {'op': 'a', 'width': 8}: RuntimeError: no such architecture" in str(caught.value)
    cause = caught.value.__cause__
    assert isinstance(cause, RuntimeError)
    # It leads to the line that raised it.
    trace = cause.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    assert trace is not None
    assert trace.tb_frame.f_code.co_filename == __file__


@pytest.mark.parametrize("space", [SPACE, LARGE], ids=["enumerated", "drawn"])
def test_in_mid_study_it_is_refused_at_each_trial_and_asked_once(space: dict[str, Any]) -> None:
    scores = Scores(lambda params: True)
    study = optuna.create_study(sampler=sampler(scores))
    for _ in range(3):
        with pytest.raises(ValueError, match="failed for every configuration"):
            study.optimize(over(space), n_trials=3)
    assert scores.were_asked_once()
    assert scores.calls.total() == (20 if space is SPACE else 1024)


@pytest.mark.parametrize("space", [SPACE, LARGE], ids=["enumerated", "drawn"])
def test_an_interruption_is_one_and_loses_nothing(space: dict[str, Any]) -> None:
    scores = Scores(interrupted=(13,))
    study = optuna.create_study(sampler=sampler(scores))
    with pytest.raises(KeyboardInterrupt):
        study.optimize(over(space), n_trials=12)
    assert scores.calls.total() == 12
    study.optimize(over(space), n_trials=12)
    assert scores.were_asked_once()


def test_a_warning_that_is_an_error_loses_nothing() -> None:
    scores = Scores(of_one_op)
    study = optuna.create_study(sampler=sampler(scores))
    with pytest.raises(UserWarning, match="4 of 20"):
        study.optimize(over(SPACE), n_trials=12)
    study.optimize(over(SPACE), n_trials=12)
    assert scores.were_asked_once()


def test_threads_ask_once() -> None:
    for space in (SPACE, LARGE):
        scores = Scores()
        study = optuna.create_study(sampler=sampler(scores))
        study.optimize(over(space), n_trials=9, n_jobs=3)
        assert scores.were_asked_once()


def test_a_space_that_grows_asks_only_for_what_is_new() -> None:
    scores = Scores()
    study = optuna.create_study(sampler=sampler(scores))
    for n_widths in (4, 6):

        def objective(trial: optuna.Trial, most: int = n_widths) -> float:
            op = trial.suggest_categorical("op", OPS)
            return float(OPS.index(op) + trial.suggest_int("width", 1, most))

        study.optimize(objective, n_trials=3)
        assert scores.calls.total() == 5 * n_widths
    assert scores.were_asked_once()


def test_groups_with_equal_values_are_not_mistaken_for_each_other() -> None:
    scores = RememberedProxies(lambda params: {"is_a": float("a" in params)})
    assert scores.of({"a": 1}) == {"is_a": 1.0}
    assert scores.of({"b": 1}) == {"is_a": 0.0}
    assert scores.of({"b": 2, "a": 1}) == scores.of({"a": 1, "b": 2}) == {"is_a": 1.0}


# --- memory --------------------------------------------------------------------------------------


def test_memory_is_bounded_and_keeps_what_was_asked_for_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(proxy_function, "_MAX_ROWS", 3)
    calls: list[int] = []

    def function(params: dict[str, int]) -> dict[str, float]:
        calls.append(params["n"])
        return {"n": params["n"]}

    scores = RememberedProxies(function)
    for n in (1, 2, 3, 1, 4, 1, 3, 2):
        assert scores.of({"n": n}) == {"n": n}
    # 4 takes the place of 2, which nobody has asked for the longest, and 2 that of 4.
    assert calls == [1, 2, 3, 4, 2]


class Square:
    """Proxy of a number, another one for what is asked after a change of mind."""

    has_changed = False

    def __call__(self, params: dict[str, int]) -> dict[str, float]:
        if self.has_changed:
            return {"n": -5.0}
        if params["n"] < 0:
            raise RuntimeError(lambda: None)  # which no pickle takes
        return {"n": params["n"] ** 2}


@pytest.mark.parametrize(
    "twin", [copy.deepcopy, lambda scores: pickle.loads(pickle.dumps(scores))]
)
def test_a_copy_takes_the_latest_along(
    twin: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy_function, "_MAX_PICKLED", 2)
    scores = RememberedProxies(Square())
    for n in (1, 2, -1):
        scores.of({"n": n})
    again = twin(scores)
    monkeypatch.setattr(Square, "has_changed", True)
    assert [again.of({"n": n}) for n in (-1, 2, 1)] == [None, {"n": 4}, {"n": -5}]
    assert scores.of({"n": 1}) == {"n": 1}
    with pytest.raises(ValueError, match=r"for {'n': -1}: RuntimeError"):
        again.refuse_failure()


def test_a_proxy_function_without_fault_says_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sampler(Scores(), search_space=SPACE)


def test_a_proxy_of_a_function_may_be_called_like_a_parameter_outside_the_space() -> None:
    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_categorical("x", [0, 1, 2, 3])
        return float(x + trial.suggest_float("cost", 0, 1))

    sampler = ZAPSSampler(
        lambda params: {"cost": float(params["x"])},
        search_space={"x": [0, 1, 2, 3]},
        seed=0,
        warn_independent_sampling=False,
    )
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=4)
    assert {trial.params["x"] for trial in study.trials} == {0, 1, 2, 3}
