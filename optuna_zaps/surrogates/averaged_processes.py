"""Two Gaussian processes, one with proxies and one without, averaged.

Not in the paper, whose surrogate is an ensemble of trees. A process over structure alone needs no
proxy and cannot be misled by one; a process that also sees proxies is right sooner where they are
honest. Their mixture follows whichever knows, and where they disagree its spread grows, so that
the search looks there.
"""

from __future__ import annotations

import numpy as np

from optuna_zaps.surrogates._kernel import FloatArray
from optuna_zaps.surrogates._kernel import Kernel
from optuna_zaps.surrogates._protocol import FeatureLayout
from optuna_zaps.surrogates._rows import Features
from optuna_zaps.surrogates.gaussian_process import GaussianProcess
from optuna_zaps.surrogates.gaussian_process import GaussianProcessSettings


class AveragedProcesses:
    """Equal mixture of a process with proxies and one without.

    The mixture's mean and variance, so that the spread also holds how far the two disagree.

    Args:
        layout: What the columns of ``X`` are.
        settings: Settings of both; by default those of the class, or without proxies
            :meth:`GaussianProcessSettings.alone`.
        lifts_failures: Whether labels far below the median are lifted to as far below it as the
            best lies above: what fails badly is bad, and how badly must not stretch the scale on
            which the best are told apart.
    """

    def __init__(
        self,
        layout: FeatureLayout,
        settings: GaussianProcessSettings | None = None,
        *,
        lifts_failures: bool = True,
    ) -> None:
        settings = settings or GaussianProcessSettings.for_layout(layout)
        self._settings = settings
        self._lifts = lifts_failures
        self._processes = [
            GaussianProcess(
                Kernel(
                    layout,
                    with_proxies=with_proxies,
                    noise=settings.noise,
                    relevance=settings.relevance,
                ),
                settings,
            )
            for with_proxies in ((True, False) if layout.n_proxies else (False,))
        ]
        self._hyper: tuple[bytes, bytes] | None = None
        self._X: Features = np.empty((0, 0))
        self._labels: FloatArray = np.empty(0)
        self._center, self._scale = 0.0, 1.0

    @classmethod
    def for_layout(cls, layout: FeatureLayout, seed: int) -> AveragedProcesses:
        """Factory of the protocol; nothing here is random."""
        del seed
        return cls(layout)

    @classmethod
    def for_constraint(cls, layout: FeatureLayout, seed: int) -> AveragedProcesses:
        """The same for labels of which not the best count, but those near 0."""
        del seed
        return cls(layout, lifts_failures=False)

    def fit(self, X: Features, y: FloatArray) -> None:
        """Take labelled rows; hyper-parameters are fitted where their number has grown enough."""
        n_hyper = self._settings.n_hyper(len(y))
        hyper = (X[:n_hyper].tobytes(), y[:n_hyper].tobytes())
        if hyper != self._hyper:
            labels, *_ = self._standardized(y[:n_hyper])
            for process in self._processes:
                process.fit_hyperparameters(X[:n_hyper], labels)
            self._hyper = hyper
        self._X = X
        self._labels, self._center, self._scale = self._standardized(y)

    def predict(self, X: Features) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the mixture, in the unit of the labels."""
        return self._mixture(X)

    def std_given(self, X: Features, pending: Features) -> FloatArray:
        """As in :class:`~optuna_zaps.surrogates.SurrogateOfPending`.

        Exact for each process; the difference of their means is taken to stay.
        """
        return self._mixture(X, pending)[1]

    def _mixture(
        self, X: Features, pending: Features | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Mean, and standard deviation once further rows are labelled."""
        posteriors = [p.predict(self._X, self._labels, X, pending) for p in self._processes]
        means, variances = map(np.stack, zip(*posteriors, strict=True))
        mean = means.mean(axis=0)
        # Of an equal mixture: mean variance plus variance of the means.
        between = np.square(means - mean).sum(axis=0)
        std = np.sqrt((variances.sum(axis=0) + between) / len(means))
        return self._center + self._scale * mean, self._scale * std

    def _standardized(self, y: FloatArray) -> tuple[FloatArray, float, float]:
        """Labels of mean 0 and standard deviation 1, with both of before."""
        y = _lifted(y) if self._lifts else y
        center, scale = float(y.mean()), float(y.std())
        if scale <= 1e-12 * max(1.0, abs(center)):
            scale = 1.0
        return (y - center) / scale, center, scale


def _lifted(y: FloatArray) -> FloatArray:
    """Labels of which none lies farther below the median than the best above."""
    best = float(y.max())
    reference = float(np.median(y))
    if reference == best and y.min() < best:  # most labels are the best: lift none up to it
        reference = float(y[y < best].max())
    return np.maximum(y, best - 2 * (best - reference))
