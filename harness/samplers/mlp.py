"""Ensemble of small multilayer perceptrons that are trained together.

scikit-learn's MLPRegressor has no absolute-error loss and trains one network at a time; the five
networks of BANANAS, of ten layers of 20 units each, are too small for that to be fast. Here one
batched product computes a layer of all members.

Notations:
    features: float32 array of shape (n, n_features).
    weights: float32 array of shape (n_members, n_in + 1, n_out) of each layer; the last row is the
        biases. All are views of one vector, on which Adam is a few operations.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
import itertools
import math

import numpy as np
import numpy.typing as npt


Floats = npt.NDArray[np.float32]

_ZERO = np.zeros((), dtype=np.float32)
# The moments of a dead unit decay to denormal numbers, which slow a processor down.
_FLUSH_EVERY = 50
_TINY = 1e-30


@dataclass(frozen=True)
class MLPSettings:
    """Architecture and training, by default those of BANANAS (White et al., 2021).

    Attributes:
        n_members: Networks; they differ in their initialisation and order of batches.
        n_layers: Hidden layers, with rectified linear units.
        n_units: Units of each hidden layer.
        learning_rate: Step size of Adam.
        batch_size: Rows per step.
        n_epochs: Passes over the data.
        beta_1: Decay of Adam's first moment.
        beta_2: Decay of Adam's second moment.
        epsilon: Constant that keeps Adam's quotient finite.
    """

    n_members: int = 5
    n_layers: int = 10
    n_units: int = 20
    learning_rate: float = 0.01
    batch_size: int = 32
    n_epochs: int = 150
    beta_1: float = 0.9
    beta_2: float = 0.99
    epsilon: float = 1e-7


class MLPEnsemble:
    """Regression by several networks with the mean absolute error as loss.

    Args:
        n_features: Number of features.
        settings: Architecture and training.
        rng: Generator of the initial weights and the batches.
    """

    def __init__(self, n_features: int, settings: MLPSettings, rng: np.random.Generator) -> None:
        self._settings = settings
        self._rng = rng
        sizes = [n_features, *[settings.n_units] * settings.n_layers, 1]
        self._shapes = [
            (settings.n_members, n_in + 1, n_out) for n_in, n_out in itertools.pairwise(sizes)
        ]
        self._parameters = np.zeros(sum(map(math.prod, self._shapes)), dtype=np.float32)
        self._weights = self._views(self._parameters)
        for weights in self._weights:
            # Glorot's uniform initialisation, the default of Keras, which the source uses.
            n_in, n_out = weights.shape[1] - 1, weights.shape[2]
            limit = math.sqrt(6.0 / (n_in + n_out))
            weights[:, :-1] = rng.uniform(-limit, limit, size=(len(weights), n_in, n_out))

    def fit(self, features: Floats, targets: Floats) -> None:
        """Train all members.

        Args:
            features: Array of shape (n, n_features).
            targets: Array of shape (n,). They are not scaled, and the weights not regularised.
        """
        settings = self._settings
        gradient = np.empty_like(self._parameters)
        gradients = self._views(gradient)
        # Adam (Kingma and Ba, 2015, Algorithm 1) with the moments m / (1 - beta_1) and
        # v / (1 - beta_2): the constant factors are part of the step size.
        first, second, step = (np.zeros_like(gradient) for _ in range(3))
        workspaces: dict[int, _Workspace] = {}
        batches = self._batches(_with_ones(features), targets)
        for n_steps, (rows, wanted) in enumerate(batches, start=1):
            size = wanted.shape[1]
            if size not in workspaces:
                workspaces[size] = _Workspace(self._shapes, size)
            workspaces[size].differentiate(rows, wanted, self._weights, gradients)
            first *= settings.beta_1
            first += gradient
            second *= settings.beta_2
            np.square(gradient, out=gradient)
            second += gradient
            root = math.sqrt((1 - settings.beta_2) / (1 - settings.beta_2**n_steps))
            np.sqrt(second, out=step)
            step += settings.epsilon / root
            np.divide(first, step, out=step)
            step *= (
                settings.learning_rate
                * (1 - settings.beta_1)
                / ((1 - settings.beta_1**n_steps) * root)
            )
            self._parameters -= step
            if n_steps % _FLUSH_EVERY == 0:
                for moments in (first, second):
                    moments[np.abs(moments) < _TINY] = 0.0

    def predict(self, features: Floats) -> npt.NDArray[np.float64]:
        """Predict by each member, shape (n_members, n)."""
        workspace = _Workspace(self._shapes, len(features))
        rows = np.broadcast_to(
            _with_ones(features), (self._settings.n_members, len(features), features.shape[1] + 1)
        )
        return workspace.forward(rows, self._weights).astype(np.float64)

    def _batches(self, rows: Floats, targets: Floats) -> Iterator[tuple[Floats, Floats]]:
        """Draw the rows and targets of each step; each member has its own order.

        Args:
            rows: Array of shape (n, n_features + 1), features and a one.
            targets: Array of shape (n,).

        Yields:
            Arrays of shapes (n_members, at most batch_size, n_features + 1) and without the last.
        """
        settings, n = self._settings, len(rows)
        for _ in range(settings.n_epochs):
            order = self._rng.random((settings.n_members, n), dtype=np.float32).argsort(axis=1)
            shuffled, shuffled_targets = rows[order], targets[order]
            for start in range(0, n, settings.batch_size):
                batch = slice(start, start + settings.batch_size)
                yield shuffled[:, batch], shuffled_targets[:, batch]

    def _views(self, vector: Floats) -> list[Floats]:
        """Split a vector of all weights into views of each layer's."""
        ends = list(itertools.accumulate(map(math.prod, self._shapes)))
        parts = np.split(vector, ends[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, self._shapes, strict=True)]


def _with_ones(features: Floats) -> Floats:
    return np.hstack([features, np.ones((len(features), 1), dtype=np.float32)])


class _Workspace:
    """Arrays for batches of one size: allocating them costs as much as the products."""

    def __init__(self, shapes: Sequence[tuple[int, int, int]], n_rows: int) -> None:
        n_members = shapes[0][0]
        # Input of each later layer, with a last column of ones that the biases multiply.
        self._inputs = [
            np.ones((n_members, n_rows, n_in), dtype=np.float32) for _, n_in, _ in shapes[1:]
        ]
        self._units = [array[:, :, :-1] for array in self._inputs]
        # A product is fast only into a contiguous array, so sums have arrays of their own.
        self._sums, self._deltas = (
            [np.empty((n_members, n_rows, n_out), dtype=np.float32) for _, _, n_out in shapes]
            for _ in range(2)
        )

    def forward(self, rows: Floats, weights: Sequence[Floats]) -> Floats:
        """Compute the output of each member, shape (n_members, n).

        Args:
            rows: Array of shape (n_members, n, n_features + 1), features and a one.
            weights: Weights of each layer.
        """
        np.matmul(rows, weights[0], out=self._sums[0])
        for layer, inputs in enumerate(self._inputs, start=1):
            np.maximum(self._sums[layer - 1], _ZERO, out=self._units[layer - 1])
            np.matmul(inputs, weights[layer], out=self._sums[layer])
        return self._sums[-1][:, :, 0]

    def differentiate(
        self,
        rows: Floats,
        targets: Floats,
        weights: Sequence[Floats],
        gradients: Sequence[Floats],
    ) -> None:
        """Write the gradient of each member's mean absolute error on its batch."""
        error = self.forward(rows, weights) - targets
        np.divide(np.sign(error), np.float32(error.shape[1]), out=self._deltas[-1][:, :, 0])
        for layer in range(len(self._inputs), 0, -1):
            delta, below = self._deltas[layer], self._deltas[layer - 1]
            np.matmul(self._inputs[layer - 1].transpose(0, 2, 1), delta, out=gradients[layer])
            np.matmul(delta, weights[layer][:, :-1].transpose(0, 2, 1), out=below)
            # The derivative of a rectified unit is the sign of its output, 0 or 1.
            below *= np.sign(self._units[layer - 1])
        np.matmul(rows.transpose(0, 2, 1), self._deltas[0], out=gradients[0])
