"""Sentences on predictions whose errors are known."""

from __future__ import annotations

import numpy as np
import pytest


pytest.importorskip(
    "optuna_dashboard", reason="needs optuna-dashboard: pip install 'optuna-zaps[dashboard]'"
)

from optuna_zaps.dashboard.calibration import Calibration
from optuna_zaps.dashboard.snapshot import Forecast


def forecasts(told: float, n: int = 200, bias: float = 0.0) -> list[Forecast]:
    """Predictions whose errors have a standard deviation of 1, while another is told."""
    rng = np.random.default_rng(0)
    means = rng.normal(scale=5, size=n)
    values = means + bias + rng.normal(size=n)
    return [
        Forecast(i, mean, told, value)
        for i, (mean, value) in enumerate(zip(means.tolist(), values.tolist(), strict=True))
    ]


@pytest.mark.parametrize(
    ("told", "verdict"), [(1.0, "about right"), (0.5, "too small"), (2.0, "too large")]
)
def test_the_spread_is_judged(told: float, verdict: str) -> None:
    calibration = Calibration.of(forecasts(told))
    assert verdict in calibration.in_words()
    assert "standard deviations below" not in calibration.in_words()


def test_the_share_is_that_of_errors_within_the_spread() -> None:
    made = forecasts(1.0)
    calibration = Calibration.of(made)
    assert calibration.n_within == sum(abs(f.value - f.mean) <= 1 for f in made)
    assert f"{calibration.n_within} of 200 results" in calibration.in_words()
    assert calibration.rank_correlation > 0.95


def test_a_bias_is_told() -> None:
    assert (
        "standard deviations below their prediction"
        in Calibration.of(forecasts(1.0, bias=-3.0)).in_words()
    )


@pytest.mark.parametrize("n", [0, 1, 9])
def test_few_predictions_are_not_judged(n: int) -> None:
    assert f"so far: {n}; 10 are needed" in Calibration.of(forecasts(1.0, n=n)).in_words()


def test_predictions_without_spread_or_variation() -> None:
    calibration = Calibration.of([Forecast(i, 1.0, 0.0, 1.0) for i in range(20)])
    assert calibration == Calibration(20, 20, 0.0, 0.0)
