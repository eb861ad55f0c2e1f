from __future__ import annotations

import math

import numpy as np
import pytest

from optuna_zaps.search.profiles import pool_processes
from optuna_zaps.surrogates import FeatureLayout
from optuna_zaps.surrogates import LinearScale
from optuna_zaps.surrogates import SkewTest
from optuna_zaps.surrogates.label_scale import LogGapScale


TEST = SkewTest(n_oldest=16, ratio=4.0)


def test_a_gap_of_one_unit_is_the_logarithm_of_two() -> None:
    scale = LogGapScale(best=5.0, unit=2.0)
    np.testing.assert_allclose(
        scale.scaled(np.array([5.0, 3.0, 5.0 - 2.0 * (math.e - 1)])), [0.0, -math.log(2), -1.0]
    )


def test_labels_come_back_from_the_scale() -> None:
    scale = LogGapScale(best=-1.0, unit=1e-3)
    labels = -1.0 - np.logspace(-9, 12, 22)
    np.testing.assert_allclose(scale.labels(scale.scaled(labels)), labels, rtol=1e-12)
    # What may be better than the best is, by a unit at most.
    assert -1.0 < scale.labels(np.array([0.5]))[0] < -1.0 + 1e-3
    assert np.isfinite(scale.labels(np.array([-1e9]))).all()


def test_dispersion_near_the_best_is_that_of_a_straight_line_of_slope_one_unit() -> None:
    scale = LogGapScale(best=0.0, unit=7.0)
    # dy/ds = unit exp(-s), which is the unit at s = 0.
    narrow = scale.dispersion(np.zeros(1), np.array([1e-4]))
    assert narrow[0] == pytest.approx(7e-4, rel=1e-6)


@pytest.mark.parametrize(
    ("labels", "is_skewed"),
    [
        (-np.linspace(0.0, 1.0, 16), False),  # median over quartile: about 2
        (-np.logspace(0, 8, 16), True),
        (-np.logspace(0, 1, 16), False),
        (np.zeros(16), False),
        (np.array([0.0, 0.0, 0.0, -1.0]), False),  # too few gaps to tell
    ],
)
def test_labels_are_skewed_where_they_span_magnitudes(
    labels: np.ndarray[tuple[int], np.dtype[np.float64]], is_skewed: bool
) -> None:
    assert isinstance(TEST.scale_of(labels), LogGapScale) == is_skewed


def test_only_the_oldest_labels_are_asked() -> None:
    even = -np.linspace(1.0, 2.0, 16)
    converging = -np.logspace(-1, -9, 100)  # as of a search that has found the optimum
    assert isinstance(TEST.scale_of(np.concatenate([even, converging])), LinearScale)


def test_a_process_predicts_skewed_labels_in_their_order() -> None:
    surrogate = pool_processes(FeatureLayout(0, (1,), (True,)), 0)
    X = np.linspace(0, 1, 24, dtype=np.float32)[:, np.newaxis]
    y = -np.exp(60 * np.square(X[:, 0].astype(np.float64) - 0.3))
    surrogate.fit(X, y)
    mean, _ = surrogate.predict(X)
    predicted = surrogate.label_scale.labels(mean)
    assert isinstance(surrogate.label_scale, LogGapScale)
    assert np.abs(np.log(-predicted / -y)).max() < 0.1  # over 12 magnitudes
