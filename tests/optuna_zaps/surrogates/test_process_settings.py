from __future__ import annotations

from dataclasses import replace

import pytest

from optuna_zaps.search.profiles import PROCESSES


@pytest.mark.parametrize(
    ("growth", "sizes"),
    [
        (1.0, {5: 5, 14: 14, 27: 14, 28: 28, 59: 28, 60: 60}),
        (0.5, {14: 14, 21: 14, 22: 22, 32: 22, 33: 33}),
        (0.2, {16: 14, 17: 17, 21: 17, 22: 22, 27: 22, 28: 28}),
    ],
)
def test_hyper_parameters_follow_the_number_of_labels_alone(
    growth: float, sizes: dict[int, int]
) -> None:
    # Blocks end at 14 15 16 17 18 19 20 22 24 26 28 30 33 36 39 42 46 50 55 60; at least a factor
    # of 2 apart are 14, 28 and 60; of 1.5 14, 22 and 33; of 1.2 14, 17, 22 and 28.
    settings = replace(PROCESSES, refit_growth=growth)
    assert {n: settings.n_hyper(n) for n in sizes} == sizes


def test_settings_are_checked_when_made() -> None:
    with pytest.raises(ValueError, match="refit_growth must be positive"):
        replace(PROCESSES, refit_growth=0)
