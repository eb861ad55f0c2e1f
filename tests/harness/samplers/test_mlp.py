from __future__ import annotations

import time

import numpy as np

from harness.samplers.mlp import MLPEnsemble
from harness.samplers.mlp import MLPSettings
from harness.samplers.mlp import _Workspace


def test_the_gradient_is_that_of_finite_differences() -> None:
    rng = np.random.default_rng(0)
    ensemble = MLPEnsemble(3, MLPSettings(n_members=2, n_layers=2, n_units=4), rng)
    rows = rng.normal(size=(2, 6, 4)).astype(np.float32)
    rows[:, :, -1] = 1.0
    targets = rng.normal(size=(2, 6)).astype(np.float32)
    workspace = _Workspace(ensemble._shapes, 6)
    gradient = np.zeros_like(ensemble._parameters)
    workspace.differentiate(rows, targets, ensemble._weights, ensemble._views(gradient))

    def loss() -> float:
        outputs = workspace.forward(rows, ensemble._weights).astype(np.float64)
        return float(np.abs(outputs - targets).mean(axis=1).sum())

    step = np.float32(1e-3)
    differences = []
    for i in range(len(gradient)):
        kept = ensemble._parameters[i]
        ensemble._parameters[i] = kept + step
        above = loss()
        ensemble._parameters[i] = kept - step
        differences.append((above - loss()) / 2e-3)
        ensemble._parameters[i] = kept
    wrong = np.abs(differences - gradient) > 5e-3
    # Both the loss and the units have kinks, and a step may cross one, but few do.
    assert wrong.mean() < 0.05


def test_the_absolute_error_is_minimised_by_the_median() -> None:
    # One constant feature: the best constant is the median, 1, far from the mean, 20.8.
    features = np.ones((5, 1), dtype=np.float32)
    targets = np.array([0.0, 0.5, 1.0, 2.5, 100.0], dtype=np.float32)
    settings = MLPSettings(n_layers=1, n_epochs=600, batch_size=5)
    ensemble = MLPEnsemble(1, settings, np.random.default_rng(0))
    ensemble.fit(features, targets)
    np.testing.assert_allclose(ensemble.predict(features), 1.0, atol=0.2)


def test_members_differ_and_a_seed_repeats_them() -> None:
    rng = np.random.default_rng(1)
    features = rng.integers(0, 2, size=(40, 8)).astype(np.float32)
    targets = features @ np.arange(8, dtype=np.float32)
    predictions = []
    for _ in range(2):
        ensemble = MLPEnsemble(8, MLPSettings(n_epochs=20), np.random.default_rng(7))
        ensemble.fit(features, targets)
        predictions.append(ensemble.predict(features))
    np.testing.assert_array_equal(*predictions)
    assert (predictions[0].std(axis=0) > 0).all()


def test_a_dead_network_costs_no_more_than_a_living_one() -> None:
    # Denormal moments would make the later epochs several times slower than the first.
    features = np.ones((64, 30), dtype=np.float32)
    seconds = []
    for n_epochs in (100, 1200):
        ensemble = MLPEnsemble(30, MLPSettings(n_epochs=n_epochs), np.random.default_rng(0))
        ensemble._parameters[:] = 0.0  # no gradient but that of the last bias
        start = time.process_time()
        ensemble.fit(features, np.zeros(64, dtype=np.float32))
        seconds.append((time.process_time() - start) / n_epochs)
    assert seconds[1] < 2.5 * seconds[0]
