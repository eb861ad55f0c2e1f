"""Gaussian processes, averaged.

Not in the paper, whose surrogate is an ensemble of trees. A process over the parameters alone
needs no proxy and cannot be misled by one; a process that also sees proxies is right sooner where
they are honest. Their mixture follows whichever knows, and where they disagree its spread grows,
so that the search explores there.
"""

from __future__ import annotations

import math

import numpy as np

from optuna_zaps.surrogates.kernel import Kernel
from optuna_zaps.surrogates.label_scale import LabelScale
from optuna_zaps.surrogates.label_scale import LinearScale
from optuna_zaps.surrogates.protocol import FeatureLayout
from optuna_zaps.surrogates.rows import Features
from optuna_zaps.surrogates.rows import FloatArray
from optuna_zaps.surrogates.settings import GaussianProcessSettings


class AveragedProcesses:
    """Equal mixture of Gaussian processes, one for each kernel of the settings.

    Args:
        layout: Meaning of the columns of ``X``.
        settings: Settings of all processes.
    """

    def __init__(self, layout: FeatureLayout, settings: GaussianProcessSettings) -> None:
        from optuna_zaps.surrogates.gaussian_process import GaussianProcess

        self._settings = settings
        self.processes = tuple(
            GaussianProcess(
                Kernel(
                    [make(layout) for make in terms],
                    noise=settings.noise,
                    least_noise=settings.least_noise,
                    double_precision=settings.double_precision,
                ),
                settings,
            )
            for terms in settings.kernels
        )
        """Members of the mixture."""
        self._fitted_on: tuple[bytes, bytes] | None = None
        self._X: Features = np.empty((0, 0))
        self._labels: FloatArray = np.empty(0)
        self._center, self._scale = 0.0, 1.0
        self._reach = 0.0
        self.label_scale: LabelScale = LinearScale()
        """Scale of the predictions after the latest fit."""

    @property
    def noise(self) -> float:
        """Noise variance of labels of variance 1, as the process that sees least of it says."""
        return min(process.noise for process in self.processes)

    def fit(self, X: Features, y: FloatArray) -> None:
        """Learn from labelled rows; refit hyper-parameters where the rows have grown enough.

        Args:
            X: Features, shape (n_rows, n_features), oldest first.
            y: Labels, shape (n_rows,), larger is better.
        """
        n_hyper = self._settings.n_hyper(len(y))
        fitted_on = (X[:n_hyper].tobytes(), y[:n_hyper].tobytes())
        if fitted_on != self._fitted_on:
            self.fit_hyperparameters(X[:n_hyper], y[:n_hyper])
            self._fitted_on = fitted_on
        self._learn(X, y)

    def fit_hyperparameters(self, X: Features, y: FloatArray) -> None:
        """Fit the hyper-parameters to labelled rows, again where labels were raised into noise.

        Args:
            X: Features, shape (n_rows, n_features).
            y: Labels, shape (n_rows,), larger is better.
        """
        self._reach = 0.0
        labels, _, scale, _ = self._standardized(y)
        for process in self.processes:
            process.fit_hyperparameters(X, labels)
        # sigma_noise in the unit of the labels.
        noise = scale * math.sqrt(self.noise)
        self._reach = self._settings.noise_reach * noise
        reaching = self._standardized(y)[0] if self._reach else labels
        if not np.array_equal(reaching, labels):
            for process in self.processes:
                process.fit_hyperparameters(X, reaching)

    def condition(self, X: Features, y: FloatArray) -> None:
        """Learn from labelled rows, which need not be those of the last call, and refit nothing.

        Args:
            X: Features, shape (n_rows, n_features).
            y: Labels, shape (n_rows,), larger is better.
        """
        for process in self.processes:
            process.forget(len(X))
        self._learn(X, y)

    def predict(self, X: Features) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the mixture, on :attr:`label_scale`.

        Args:
            X: Features, shape (n_rows, n_features).

        Returns:
            Two arrays of shape (n_rows,).
        """
        return self._mixture(X)

    def std_given(self, X: Features, pending: Features) -> FloatArray:
        """Standard deviation that remains once the pending rows have labels.

        Their variance is known before their labels are: sigma_{t-1} of GP-BUCB (Desautels et al.,
        2014, Eq. 7). Exact for each process; the difference of their means is taken to stay.

        Args:
            X: Rows to predict, shape (n_rows, n_features).
            pending: Rows that will be labelled, shape (n_pending, n_features).

        Returns:
            Array of shape (n_rows,), on :attr:`label_scale`.
        """
        return self._mixture(X, pending)[1]

    def _learn(self, X: Features, y: FloatArray) -> None:
        self._X = X
        self._labels, self._center, self._scale, self.label_scale = self._standardized(y)

    def _mixture(
        self, X: Features, pending: Features | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Mean, and standard deviation once further rows are labelled."""
        posteriors = [
            process.predict(self._X, self._labels, X, pending) for process in self.processes
        ]
        means, variances = map(np.array, zip(*posteriors, strict=True))
        # m = (sum of m_i) / P for P processes.
        mean = means.sum(axis=0) / len(means)
        # Law of total variance: v = (sum of v_i) / P + (sum of (m_i - m)^2) / P.
        between = np.square(means - mean).sum(axis=0)
        std = np.sqrt((variances.sum(axis=0) + between) / len(means))
        return self._center + self._scale * mean, self._scale * std

    def _standardized(self, y: FloatArray) -> tuple[FloatArray, float, float, LabelScale]:
        """Scale labels to mean 0 and standard deviation 1.

        Returns:
            The labels, their mean and standard deviation before, and the scale of these.
        """
        test = self._settings.skew_test
        label_scale: LabelScale = LinearScale() if test is None else test.scale_of(y)
        if not isinstance(label_scale, LinearScale):
            y = label_scale.scaled(y)
        elif self._settings.clip_failures:
            y = _clipped(y, self._reach)
        center, scale = float(y.mean()), float(y.std())
        if scale <= 1e-12 * max(1.0, abs(center)):
            scale = 1.0
        return (y - center) / scale, center, scale, label_scale


def _clipped(y: FloatArray, reach: float) -> FloatArray:
    """Raise labels that are farther below the median than the best is above it.

    Args:
        y: The labels.
        reach: Distance below the best within which none is raised.
    """
    best = float(y.max())
    reference = float(np.median(y))
    if reference == best and y.min() < best:  # most labels are the best: raise no other to it
        reference = float(y[y < best].max())
    # As far below the reference as the best is above it: reference - (best - reference).
    return np.maximum(y, best - max(2 * (best - reference), reach))
