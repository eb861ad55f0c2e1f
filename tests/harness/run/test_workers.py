from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
import math
from pathlib import Path
from typing import Any

import numpy as np
from odd_samplers import Recording
import pandas as pd
import pytest

from harness import problems
from harness import samplers
from harness.experiment import Cell
from harness.experiment import CellResult
from harness.experiment import make_cells
from harness.run import runner
from harness.run.runner import run_cell
from harness.run.store import Store
from harness.run.workers import MEAN_SECONDS
from harness.run.workers import SIGMA
from harness.run.workers import Workers
from harness.run.workers import duration_of
from harness.run.workers import lognormal_seconds


TABLE = problems.load_table("nasbench201/cifar10@package")


def cell(sampler: str = "random", budget: int = 12, problem: str = "", **setting: Any) -> Cell:
    on = problems.load(problem) if problem else TABLE
    (made,) = make_cells([on], [samplers.make_spec(sampler)], [0], [budget], **setting)
    return made


def recorded(durations: Sequence[float], monkeypatch: pytest.MonkeyPatch, **setting: Any) -> Any:
    """Result of a study whose trials take given times, in the order of the asks."""
    for notes in (Recording.running, Recording.told, Recording.studies):
        notes.clear()
    left = iter(durations)
    monkeypatch.setattr(runner, "duration_of", lambda *_: lambda number, params: next(left))
    chosen = cell("odd_samplers:Recording", len(durations), durations="lognormal", **setting)
    return run_cell(chosen)


def test_three_workers_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    # Time 0: 0, 1, 2 begin. 2: 1 ends, 3 begins. 3: 3 ends, 4 begins. 4: 2 ends, 5 begins, the
    # last. 5: 0 ends. 7: 5 ends. 9: 4 ends.
    result = recorded([5, 2, 4, 1, 6, 3], monkeypatch, in_flight=3)
    assert Recording.running == [[], [0], [0, 1], [0, 2], [0, 2], [0, 4]]
    assert Recording.told == [1, 3, 2, 0, 5, 4]
    assert result.seconds == (5, 2, 4, 3, 9, 7)
    assert result.order == (1, 3, 2, 0, 5, 4)
    assert result.told == tuple(result.asked[n] for n in (1, 3, 2, 0, 5, 4))


def test_of_two_that_end_together_the_older_is_told_first(monkeypatch: pytest.MonkeyPatch) -> None:
    # Time 1: 1 ends, 2 begins. 2: 0 ends before 2, 3 begins beside 2.
    result = recorded([2, 1, 1, 5], monkeypatch, in_flight=2)
    assert Recording.told == [1, 0, 2, 3]
    assert Recording.running == [[], [0], [0], [2]]
    assert result.seconds == (2, 1, 2, 7)


def test_the_clock_stands_until_a_trial_ends() -> None:
    workers = Workers[str](2)
    assert (workers.begin("a", 3.0), workers.begin("b", 1.5)) == (3.0, 1.5)
    assert (workers.are_busy, workers.now) == (True, 0.0)
    assert (workers.end(), workers.now, workers.are_busy) == ("b", 1.5, False)
    assert workers.begin("c", 1.0) == 2.5
    assert [workers.end(), workers.end()] == ["c", "a"]
    assert not workers
    assert workers.now == 3.0


@pytest.mark.parametrize("n_workers", [1, 4, 7, 64])
def test_equal_durations_end_after_as_many_rounds_as_workers_need(n_workers: int) -> None:
    result = run_cell(cell(budget=30, in_flight=n_workers, durations="equal"))
    assert max(result.seconds or ()) == math.ceil(30 / n_workers) * MEAN_SECONDS


@pytest.mark.parametrize("sampler", ["tpe", "zaps"])
def test_workers_of_equal_durations_are_trials_in_flight(sampler: str) -> None:
    in_flight = run_cell(cell(sampler, 16, in_flight=4))
    workers = run_cell(cell(sampler, 16, in_flight=4, durations="equal"))
    assert workers.asked == in_flight.asked
    assert workers.told == in_flight.told == in_flight.asked
    assert in_flight.seconds is None
    assert workers.seconds == tuple(MEAN_SECONDS * (1 + n // 4) for n in range(len(workers.asked)))


@pytest.mark.parametrize("durations", ["measured", "lognormal"])
def test_a_seed_is_a_study_and_one_worker_is_the_study_without_a_clock(durations: str) -> None:
    first, again = (run_cell(cell("tpe", 24, in_flight=4, durations=durations)) for _ in range(2))
    assert (first.asked, first.seconds) == (again.asked, again.seconds)
    assert first.told != first.asked
    alone = run_cell(cell("tpe", 24, durations=durations))
    assert alone.asked == run_cell(cell("tpe", 24)).asked
    assert alone.told == alone.asked


def test_workers_take_the_training_times_of_a_table() -> None:
    result = run_cell(cell(budget=8, durations="measured"))
    table = problems.nasbench201.read_package("cifar10")
    keys = list(table)
    times = [np.mean(table[keys[row]]["train_time"]) for row in result.asked]
    assert result.seconds == pytest.approx(np.cumsum(times).tolist(), abs=1e-3)
    # The same networks, so the same times, whatever the accuracies and the second objective.
    assert TABLE.training_seconds is not None
    other = problems.load("nasbench201/cifar10-params").table
    assert other is not None
    assert other.training_seconds is not None
    assert other.training_seconds[:99].tolist() == TABLE.training_seconds[:99].tolist()


def test_hyperparameters_have_the_training_times_of_their_table() -> None:
    # HPOBench: twice as wide and deep a network takes longer; australian takes 0.056 to 8,563 s.
    table = problems.load_table("hpo/australian")
    assert table.training_seconds is not None
    assert table.training_seconds.min() == pytest.approx(0.056, abs=1e-3)
    assert table.training_seconds.max() == pytest.approx(8563.4, abs=0.1)
    by_width = pd.Series(table.training_seconds).groupby(table.parameters["width_index"]).median()
    assert by_width.is_monotonic_increasing


def test_log_normal_durations_have_their_moments_and_depend_on_nothing_else() -> None:
    drawn = np.array([lognormal_seconds({"x": n, "y": "a"}, seed=3) for n in range(20_000)])
    assert drawn.mean() / MEAN_SECONDS == pytest.approx(1.0, abs=4 * 0.87 / 20_000**0.5)
    assert np.log(drawn).std() == pytest.approx(SIGMA, abs=0.02)
    assert lognormal_seconds({"y": "a", "x": 7}, 3) == drawn[7]
    assert lognormal_seconds({"x": 7, "y": "a"}, 4) != drawn[7]


def test_a_function_has_no_training_times() -> None:
    branin = problems.load("functions/branin")
    measured, drawn = (duration_of(name, branin, 1) for name in ("measured", "lognormal"))
    assert measured(0, {"x": 0.5}) == drawn(0, {"x": 0.5}) == lognormal_seconds({"x": 0.5}, 1)
    result = run_cell(cell(budget=6, problem="functions/branin", durations="measured"))
    times = [lognormal_seconds(params, 0) for params in result.configurations]
    assert result.seconds == pytest.approx(np.cumsum(times).tolist(), abs=1e-4)


def test_a_cell_without_a_clock_keeps_its_key_and_one_with_a_clock_its_seconds(
    tmp_path: Path,
) -> None:
    plain = replace(cell(), sampler=replace(cell().sampler, fingerprint="f"))
    plain = replace(plain, problem_fingerprint="p")
    assert plain.key == "b2f6fbf8cd50c8dfc417"  # that of the version before there were clocks
    keys = {plain.key, *(replace(plain, durations=d).key for d in ("measured", "equal"))}
    assert len(keys) == 3
    store = Store(tmp_path)
    clocked, untimed = (run_cell(cell(durations=name)) for name in ("measured", ""))
    for result in (clocked, untimed):
        store.save(result)
        assert store.load(result.cell) == result
    assert len(store.load_all()) == 2


def test_durations_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match=r"one of \['measured', .*\], but got 'slow'"):
        cell(durations="slow")


SHORT = {
    "rea": "rea(population_size=8, tournament_size=3)",
    "bananas": "bananas(n_startup_trials=8, batch_size=4)",
    "suite-zero-bananas": "suite-zero-bananas(n_startup_trials=8, batch_size=4, n_trees=5)",
    "proxybo": "proxybo(n_startup_trials=8, batch_size=4, n_trees=5)",
    "nsgaii": "nsgaii(population_size=8)",
}
PRESENT = [entry.name for entry in samplers.available() if not entry.how_to_have]


@pytest.mark.parametrize("name", PRESENT)
def test_every_sampler_serves_four_workers_whatever_the_order_of_tells(name: str) -> None:
    result: CellResult = run_cell(
        cell(SHORT.get(name, name), 24, in_flight=4, durations="lognormal")
    )
    assert len(result.evaluated) == 24
    assert result.told != result.asked
