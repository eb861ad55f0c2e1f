"""Terms of the covariance of labels: one class for each.

To add a term, write a class with the methods of :class:`Term` and name it in the sum,
:attr:`GaussianProcessSettings.kernels
<optuna_zaps.surrogates.settings.GaussianProcessSettings.kernels>`. The term of the parameters
has a module of its own, :mod:`optuna_zaps.surrogates.parameter_term`. Equations of Rasmussen and
Williams, "Gaussian Processes for Machine Learning", MIT Press, 2006, are cited as "RW Eq. 4.9".

Notations:
    a, b: two configurations; m: number of parameters; p: number of proxies.
    r: (p,) proxy ranks of a configuration in [0, 1]; r': mean ranks of its neighbours.
    n: (n_shared_choices,) number of parameters that have each shared choice.
    theta: logarithms of the hyper-parameters of a term; values: exp(theta). The first value is
        the amplitude of the term, its prior variance (on average over the candidates).
    X: (n_rows, p [+ p] + n_encoding) features, as :mod:`optuna_zaps.surrogates.protocol` has them.
    G: (n_rows, n_rows) derivative of a loss by the covariance of the rows.
"""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from collections.abc import Callable
from collections.abc import Sequence
from typing import Any
from typing import Protocol
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from optuna_zaps.surrogates.protocol import FeatureLayout
from optuna_zaps.surrogates.rows import DenseRows
from optuna_zaps.surrogates.rows import Features
from optuna_zaps.surrogates.rows import FloatArray
from optuna_zaps.surrogates.rows import Rows
from optuna_zaps.surrogates.rows import SparseRows


Gradient: TypeAlias = Callable[[FloatArray], Sequence[float]]
"""Maps G to the derivatives of the loss by theta: sum(G * dK/dtheta_i), by the chain rule."""

WIDE = 64
"""Number of columns beyond which it pays to multiply only those that are not 0."""


class Term(Protocol):
    """Summand of a covariance; a sum of covariances is a covariance (RW Section 4.2.4)."""

    @property
    def prior_medians(self) -> tuple[float, ...]:
        """Medians of the log-normal priors of the hyper-parameters, the amplitude's first."""

    @property
    def least_values(self) -> tuple[float, ...]:
        """Lower bounds of the hyper-parameters, 0 where the kernel's own is enough."""

    def rows(self, theta: FloatArray, X: Features, dtype: np.dtype[Any]) -> Any:
        """Prepare rows for :meth:`covariance` and :meth:`variance` under theta.

        Args:
            theta: Logarithms of the hyper-parameters.
            X: Features, shape (n_rows, n_features).
            dtype: Precision of what is computed from the rows.

        Returns:
            Object that only this term reads.
        """

    def covariance(self, values: Features, a: Any, b: Any) -> Features:
        """Covariance of every pair of prepared rows, a new array of shape (n_a, n_b)."""

    def variance(self, values: Features, a: Any) -> Any:
        """Covariance of each row with itself: one number if all are alike, else shape (n_a,)."""

    def distances(self, X: Features) -> Any:
        """Pairwise distances for :meth:`covariance_and_gradient`, independent of theta.

        Args:
            X: Features in double precision, shape (n_rows, n_features).

        Returns:
            Object that only this term reads.
        """

    def covariance_and_gradient(
        self, values: FloatArray, distances: Any
    ) -> tuple[FloatArray, Gradient]:
        """Covariance of rows among themselves, and its gradient by theta.

        Args:
            values: Hyper-parameters.
            distances: Result of :meth:`distances`.

        Returns:
            Array of shape (n_rows, n_rows), which the caller leaves as it is, and the gradient of
            a loss as a function of G.
        """


TermFactory: TypeAlias = Callable[[FeatureLayout], Term]
"""Makes a term for features of a layout; a class of a term is one."""


class LinearRankTerm:
    """Linear function of the proxy ranks (RW Section 4.2.2).

    k = u (12 / p) (r(a) - 1/2) . (r(b) - 1/2), with prior variance u on average, since a uniform
    rank has variance 1 / 12.

    Hyper-parameter: u.

    Args:
        layout: Meaning of the columns of ``X``, with at least one proxy.
    """

    def __init__(self, layout: FeatureLayout) -> None:
        assert layout.n_proxies > 0
        self.prior_medians, self.least_values = (0.1,), (0.0,)
        self._ranks = slice(0, layout.n_proxies)

    def rows(self, theta: FloatArray, X: Features, dtype: np.dtype[Any]) -> DenseRows:
        """Implement :meth:`Term.rows`."""
        del theta
        return DenseRows(_centred(X[:, self._ranks], dtype))

    def covariance(self, values: Features, a: DenseRows, b: DenseRows) -> Features:
        """Implement :meth:`Term.covariance`."""
        covariance: Features = (12 * values[0] * a.x) @ b.transposed
        return covariance

    def variance(self, values: Features, a: DenseRows) -> Any:
        """Implement :meth:`Term.variance`: u (12 / p) |r(a) - 1/2|^2."""
        return 12 * values[0] * np.square(a.x).sum(axis=1)

    def distances(self, X: Features) -> FloatArray:
        """Implement :meth:`Term.distances`: k / u."""
        x = _centred(X[:, self._ranks], X.dtype)
        products: FloatArray = 12 * x @ x.T
        return products

    def covariance_and_gradient(
        self, values: FloatArray, distances: FloatArray
    ) -> tuple[FloatArray, Gradient]:
        """Implement :meth:`Term.covariance_and_gradient`."""
        covariance = values[0] * distances
        # dk/dlog u = k
        return covariance, lambda G: [float(np.vdot(G, covariance))]


class _SquaredExponentialTerm(ABC):
    """Smooth function of points: k = t exp(-|x(a) - x(b)|^2 / (2 l^2)) (RW Eq. 4.9).

    Hyper-parameters: t, l.
    """

    least_values = (0.0, 0.0)

    @abstractmethod
    def _points(self, X: Features, dtype: np.dtype[Any]) -> Features:
        """Points of rows of ``X``, shape (n_rows, n_columns)."""

    def rows(self, theta: FloatArray, X: Features, dtype: np.dtype[Any]) -> Rows:
        """Implement :meth:`Term.rows`."""
        del theta
        return DenseRows(self._points(X, dtype))

    def covariance(self, values: Features, a: Rows, b: Rows) -> Features:
        """Implement :meth:`Term.covariance`."""
        amplitude, length = values
        return a.exponential(amplitude, -1 / (2 * length**2), b)

    def variance(self, values: Features, a: Rows) -> Any:
        """Implement :meth:`Term.variance`: t."""
        del a
        return values[0]

    def distances(self, X: Features) -> FloatArray:
        """Implement :meth:`Term.distances`: |x(a) - x(b)|^2."""
        from scipy.spatial.distance import cdist

        points = self._points(X, X.dtype)
        return cdist(points, points, "sqeuclidean")

    def covariance_and_gradient(
        self, values: FloatArray, distances: FloatArray
    ) -> tuple[FloatArray, Gradient]:
        """Implement :meth:`Term.covariance_and_gradient`."""
        amplitude, length = values
        covariance = amplitude * np.exp(-distances / (2 * length**2))

        def gradient(G: FloatArray) -> list[float]:
            # dk/dlog t = k, dk/dlog l = k |x(a) - x(b)|^2 / l^2
            by_length = np.vdot(G, covariance * distances / length**2)
            return [float(np.vdot(G, covariance)), float(by_length)]

        return covariance, gradient


class SmoothRankTerm(_SquaredExponentialTerm):
    """Smooth function of the proxy ranks, of the configuration or of its neighbours.

    k = t exp(-d / (2 l^2)), where d is the mean squared difference of the ranks r, or of r'.

    Args:
        layout: Meaning of the columns of ``X``, with at least one proxy.
        amplitude: Prior median of t.
        neighbours: Whether the ranks are the mean ranks of the neighbours, which the layout must
            have.
    """

    def __init__(
        self, layout: FeatureLayout, amplitude: float = 1.0, *, neighbours: bool = False
    ) -> None:
        assert layout.n_proxies > 0
        assert layout.has_neighbourhood or not neighbours
        self.prior_medians = (amplitude, 0.5)
        start = layout.n_proxies if neighbours else 0
        self._ranks = slice(start, start + layout.n_proxies)

    @classmethod
    def half_of_own(cls, layout: FeatureLayout) -> SmoothRankTerm:
        """Term of the configuration's own ranks beside one of its neighbours', as a factory."""
        return cls(layout, amplitude=0.5)

    @classmethod
    def half_of_neighbours(cls, layout: FeatureLayout) -> SmoothRankTerm:
        """Term of the neighbours' ranks beside one of the configuration's own, as a factory."""
        return cls(layout, amplitude=0.5, neighbours=True)

    def _points(self, X: Features, dtype: np.dtype[Any]) -> Features:
        return _centred(X[:, self._ranks], dtype)


class SharedChoiceTerm(_SquaredExponentialTerm):
    """Smooth function of how many parameters have each shared choice.

    k = t exp(-b / (2 l^2)), with b = |n(a) - n(b)|^2 / (2 m).

    Args:
        layout: Meaning of the columns of ``X``, with shared choices.
    """

    def __init__(self, layout: FeatureLayout) -> None:
        assert layout.n_shared_choices > 0
        self.prior_medians = (1.0, 0.4)
        self._n_encoding, self._n_parameters = layout.n_encoding, layout.n_parameters
        self._n_choices = layout.n_shared_choices
        choices = np.array(layout.shared_choices, dtype=np.intp)
        parameter = np.repeat(np.arange(layout.n_parameters), layout.widths)
        # For each parameter that is counted its columns, and the choices that they stand for.
        self._counted = [
            (_sliced(columns), _sliced(choices[columns]))
            for i in range(layout.n_parameters)
            for columns in [np.flatnonzero(parameter == i)]
            if choices[columns[0]] >= 0
        ]

    def rows(self, theta: FloatArray, X: Features, dtype: np.dtype[Any]) -> Rows:
        """Implement :meth:`Term.rows`."""
        if self._n_choices <= WIDE:
            return super().rows(theta, X, dtype)
        counts = self._counts(X)
        square = dtype.type(0.5 / self._n_parameters)
        norms = square * np.square(counts).sum(axis=0)
        return SparseRows(counts.T, np.full(len(counts), square), norms)

    def _points(self, X: Features, dtype: np.dtype[Any]) -> Features:
        """Counts scaled so that their squared distance is b, shape (n_rows, n_shared_choices)."""
        scale = dtype.type(np.sqrt(0.5 / self._n_parameters))
        points: Features = np.ascontiguousarray(self._counts(X).T) * scale
        return points

    def _counts(self, X: Features) -> Features:
        """Number of parameters that have each choice, shape (n_shared_choices, n_rows)."""
        encoding = X[:, X.shape[1] - self._n_encoding :]
        counts = np.zeros((self._n_choices, len(X)), dtype=X.dtype)
        for columns, choices in self._counted:
            counts[choices] += encoding.T[columns]
        return counts


def _centred(ranks: Features, dtype: np.dtype[Any]) -> Features:
    """(r - 1/2) / sqrt(p), whose squared distances are mean squared differences of ranks."""
    root = dtype.type(np.sqrt(ranks.shape[1]))
    return np.ascontiguousarray((ranks - dtype.type(0.5)) / root)


def _sliced(positions: npt.NDArray[np.intp]) -> slice | npt.NDArray[np.intp]:
    """Positions in a row as a slice, which does not copy."""
    if np.all(np.diff(positions) == 1):
        return slice(int(positions[0]), int(positions[-1]) + 1)
    return positions
