"""Failures with a place and without, told by nearest neighbours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from optuna_zaps.search.failures import CollapseSettings
from optuna_zaps.search.failures import ScatterSettings


SETTINGS = ScatterSettings(most=0.5, excess=0.0, n_latest=100)
LINE = np.array([[0.0], [0.1], [0.5], [0.6], [1.0], [1.1]])
"""Three pairs of nearest neighbours."""


def ended(*success: int) -> npt.NDArray[np.float64]:
    return np.array(success, dtype=np.float64)


@pytest.mark.parametrize(
    ("success", "anywhere"),
    [
        # Two trials at random end alike with a chance of (2 * 1 + 4 * 3) / 30, neighbours in one
        # pair of three.
        (ended(0, 1, 0, 1, 1, 1), True),
        # (3 * 2 + 3 * 2) / 30, and two pairs of three.
        (ended(0, 0, 0, 1, 1, 1), False),
        # No pair.
        (ended(0, 1, 0, 1, 0, 1), True),
    ],
)
def test_neighbours_tell_whether_failures_have_a_place(
    success: npt.NDArray[np.float64], anywhere: bool
) -> None:
    assert SETTINGS.strike_anywhere(LINE, success) is anywhere


def test_neighbours_must_end_alike_clearly_more_often() -> None:
    # 2/3 of the neighbours and 0.4 at random, with a standard error of sqrt(0.4 * 0.6 / 6) = 0.2.
    success = ended(0, 0, 0, 1, 1, 1)
    assert not replace(SETTINGS, excess=1.3).strike_anywhere(LINE, success)
    assert replace(SETTINGS, excess=1.4).strike_anywhere(LINE, success)


def test_most_failures_have_a_place() -> None:
    success = ended(0, 1, 0, 1, 0, 0)
    assert not SETTINGS.strike_anywhere(LINE, success)
    assert replace(SETTINGS, most=0.7).strike_anywhere(LINE, success)


def test_the_latest_trials_tell() -> None:
    points = np.vstack([LINE, LINE + 5.0])
    success = ended(0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1, 1)
    assert not replace(SETTINGS, n_latest=6).strike_anywhere(points, success)
    assert replace(SETTINGS, n_latest=12, excess=1.0).strike_anywhere(points, success)


def test_configurations_equally_far_from_each_other_count_alike() -> None:
    # Four choices, one-hot: the neighbours of each are all others, whatever their order.
    success = ended(0, 1, 1, 1)
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2]):
        # In floating point the shares may differ by their last digit.
        assert replace(SETTINGS, excess=1e-9).strike_anywhere(np.eye(4), success[order])
        assert not replace(SETTINGS, excess=-1e-9).strike_anywhere(np.eye(4), success[order])


def test_trials_that_all_gave_values_have_no_failures() -> None:
    assert not SETTINGS.strike_anywhere(LINE, np.ones(6))
    assert not SETTINGS.strike_anywhere(LINE[:1], ended(0))


COLLAPSES = CollapseSettings(n_equal=3, n_others=4, distinct=0.9)


@pytest.mark.parametrize(
    ("labels", "n_collapsed"),
    [
        ((-5.0, -5.0, -5.0, -1.0, -2.0, -3.0, -9.0), 3),
        # Too few equal ones, or too few others.
        ((-5.0, -5.0, -4.0, -1.0, -2.0, -3.0, -9.0), 0),
        ((-5.0, -5.0, -5.0, -5.0, -1.0, -2.0, -3.0), 0),
        # The value is good.
        ((-1.0, -1.0, -1.0, -0.5, -2.0, -3.0, -9.0), 0),
        # The objective has few values.
        ((-5.0, -5.0, -5.0, -1.0, -1.0, -2.0, -2.0), 0),
        ((-1.0, -2.0), 0),
        ((), 0),
    ],
)
def test_failed_runs_have_a_value_in_common(labels: tuple[float, ...], n_collapsed: int) -> None:
    mask = COLLAPSES.collapsed(np.array(labels))
    assert mask.tolist() == [i < n_collapsed for i in range(len(labels))]
