"""Optuna's own contract for samplers, held by the loaded package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import optuna
from optuna.testing.pytest_samplers import BasicSamplerTestCase
from optuna.testing.pytest_samplers import RelativeSamplerTestCase
import optunahub
import pytest


REGISTRY = Path(__file__).parents[3]


class TestZAPSSampler(BasicSamplerTestCase, RelativeSamplerTestCase):
    @pytest.fixture
    def sampler(self) -> Callable[[], optuna.samplers.BaseSampler]:
        module = optunahub.load_local_module("samplers/zaps", registry_root=str(REGISTRY))
        return lambda: module.ZAPSSampler(n_startup_trials=0)
