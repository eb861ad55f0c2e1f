from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
import math

import numpy as np
import pytest
from toy import study
from toy import table

from harness.experiment import CellResult
from harness.metrics import Budgets
from harness.metrics import Snapshot
from harness.metrics import summarize
from harness.metrics.over_time import over_time
from harness.metrics.progress import Axis
from harness.metrics.progress import progress
from harness.report.time_tables import time_tables
from harness.suites import ONE_TABLE


METRICS = {table().text: ("best_value",)}


def timed(asked: Sequence[int], seconds: Sequence[float], label: str = "a") -> CellResult:
    made = study(asked, label=label)
    cell = replace(made.cell, in_flight=2, durations="measured")
    return replace(made, cell=cell, seconds=tuple(seconds))


def test_the_order_of_evaluation_is_that_in_which_trials_ended_by_hand() -> None:
    # Row 3 is asked first and last of all to end; its repeat ends before.
    result = timed([3, 9, 3, 5], [40.0, 10.0, 20.0, 30.0])
    assert result.order == (1, 2, 3, 0)
    assert result.told == (9, 3, 5, 3)
    assert result.evaluated == (9, 3, 5)
    assert Snapshot(result, 2).steps == (9, 3)
    assert Snapshot(result, 3).step_seconds == pytest.approx([10, 20, 30])
    assert Snapshot(result, 4, by_trials=True).step_seconds == pytest.approx([10, 20, 30, 40])
    assert Snapshot(result, 3).n_ended([9, 10, 25, 99]).tolist() == [0, 1, 2, 3]
    # The value of row r is r + 1: the best after one evaluation is that of row 9, not of row 3.
    budgets = {table().text: Budgets((1, 3))}
    assert summarize([result], [table()], budgets)["best_value"].tolist() == [10.0, 10.0]
    untimed = replace(result, seconds=None)
    assert summarize([untimed], [table()], budgets)["best_value"].tolist() == [4.0, 10.0]
    with pytest.raises(ValueError, match="must have a clock"):
        Snapshot(untimed, 3).n_ended([1.0])


def test_samplers_are_compared_after_the_same_time_by_hand() -> None:
    slow, fast = timed([3, 9, 3, 5], [40.0, 10.0, 20.0, 30.0]), timed([199], [20.0], "b")
    frame = over_time([slow, fast], [table()], METRICS)
    assert frame["seconds"].tolist() == [5, 5, 10, 10, 20, 20]
    assert frame["n_ended"].tolist() == [0, 0, 1, 0, 2, 1]
    np.testing.assert_equal(
        frame["best_value"].to_numpy(), [math.nan, math.nan, 10, math.nan, 10, 200]
    )
    assert over_time([replace(slow, seconds=None)], [table()], METRICS).empty


def test_settings_have_a_clock_of_their_own() -> None:
    two = timed([3, 9], [1.0, 2.0])
    four = replace(two, cell=replace(two.cell, in_flight=4), seconds=(5.0, 8.0))
    frame = over_time([two, four], [table()], METRICS)
    assert frame.groupby("in_flight")["seconds"].max().to_dict() == {2: 2.0, 4: 8.0}
    suite = replace(ONE_TABLE, problems=(table().text,), metrics=("best_value",))
    titles = [str(each.title) for each in time_tables(frame, [suite])]
    assert [title.split(", ")[2:] for title in titles] == [
        ["2 workers", "measured or log-normal times"],
        ["4 workers", "measured or log-normal times"],
    ]


def test_progress_follows_the_order_in_which_trials_ended() -> None:
    result = replace(
        timed([3, 9, 3, 5], [40.0, 10.0, 20.0, 30.0]),
        ask_seconds=(1.0, 2.0, 4.0, 8.0),
        tell_seconds=(0.0,) * 4,
    )
    # Ends: row 9 at 10, 3 at 20, 5 at 30. The asks of trials 1, 2, 3 took 2, 4, 8 CPU seconds.
    expected = {Axis.STEPS: [1, 2, 3], Axis.CLOCK: [10, 20, 30], Axis.CPU: [2, 6, 14]}
    for axis, at in expected.items():
        followed = progress(Snapshot(result, 3), table(), "precision", axis)
        assert followed.at.tolist() == at
        assert followed.losses.tolist() == [100, 100, 100]
    by_trials = progress(Snapshot(result, 4, by_trials=True), table(), "precision", Axis.CLOCK)
    assert by_trials.at.tolist() == [10, 20, 30, 40]
