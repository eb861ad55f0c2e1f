from __future__ import annotations

import numpy as np
from toy import study
from toy import table

from harness.metrics import summarize
from harness.problems.limits import limited


def test_the_best_feasible_by_hand() -> None:
    # The lower quartile of 1, 2, 3, 4 is 1.75: only row 0 of value 10 is feasible.
    problem = limited(
        "made/limited", table([10.0, 20.0, 30.0, 5.0]), {"params": np.arange(1.0, 5.0)}
    )
    assert problem.limits["params"].bound == 1.75
    assert problem.optimum == 10.0
    missed, found = (
        summarize([study(asked, on=problem)], [problem]).iloc[0]
        for asked in ([1, 2, 1, 3], [1, 0, 0, 2])
    )
    assert missed["feasible_share"] == 0.0
    assert found["feasible_share"] == 50.0
    assert found["gap"] == 0.0
    assert found["regret"] == 0.0  # all that is feasible is the optimum
    assert found["found_optimum"] == 100.0
    assert found["best_value"] == 10.0


def test_the_regret_under_a_limit_is_among_the_feasible() -> None:
    # Of 1, 1, 1, 2, 3 and 4 the first three are feasible, of values 10, 20 and 40.
    values, costs = [10.0, 20.0, 40.0, 50.0, 60.0, 70.0], np.array([1.0, 1, 1, 2, 3, 4])
    problem = limited("made/limited", table(values), {"params": costs})
    row = summarize([study([3, 0], on=problem)], [problem]).iloc[0]
    assert row["regret"] == 150.0  # (40 - 10) / (40 - 20)
    assert row["gap"] == 75.0
