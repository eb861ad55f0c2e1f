"""Optuna's own contract for samplers; .ci/run repeats it on the oldest supported Optuna."""

from __future__ import annotations

from collections.abc import Callable

from optuna.samplers import BaseSampler
from optuna.testing.pytest_samplers import BasicSamplerTestCase
from optuna.testing.pytest_samplers import MultiObjectiveSamplerTestCase
from optuna.testing.pytest_samplers import RelativeSamplerTestCase
import pytest

from optuna_zaps import ZAPSSampler


class TestZAPSSampler(
    BasicSamplerTestCase, RelativeSamplerTestCase, MultiObjectiveSamplerTestCase
):
    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return lambda: ZAPSSampler(n_startup_trials=0)
