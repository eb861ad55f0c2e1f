"""Settings of the Gaussian processes.

A profile decides which suit a situation (:mod:`optuna_zaps.search.profiles`).
"""

from __future__ import annotations

from dataclasses import dataclass

from optuna_zaps._sizes import growing_sizes
from optuna_zaps._sizes import thinned_sizes
from optuna_zaps.surrogates.label_scale import SkewTest
from optuna_zaps.surrogates.terms import TermFactory


@dataclass(frozen=True)
class GaussianProcessSettings:
    """Settings of one process or of several that are averaged.

    Attributes:
        kernels: Terms of the covariance of each process; a covariance is their sum.
        noise: Prior median of the noise variance, of labels of variance 1.
        least_noise: Lower bound of the noise variance. Below 0.1 % of the variance near-equal
            labels would contradict each other.
        prior_std: Standard deviation of the log-normal priors, in natural logarithms. Weak by
            default: a factor of 4.5 either way is one standard deviation.
        double_precision: Whether to predict in double precision. Near-equal numbers need it:
            their covariance is all but singular, and predictions near an optimum differ in digits
            that single precision does not have.
        clip_failures: Whether labels far below the median are raised to as far below it as the
            best lies above: a failure is bad, and how bad must not stretch the scale on which the
            best labels are told apart. Not for constraints, whose labels near 0 matter.
        noise_reach: Distance below the best label, in standard deviations of the noise, within
            which no label is raised; 0 for none. Raised to within the noise of the best, labels
            would show nothing else.
        skew_test: Decides whether the processes see the logarithm of the gaps to the best label,
            which are not clipped then; ``None`` for never.
        max_points: Hyper-parameters are fitted on this many of the best labels; the posterior
            uses all.
        max_iterations: Iterations of L-BFGS.
        refit_growth: Relative growth of the labels from one fit of the hyper-parameters to the
            next.
        first: Number of labels at the first of these fits.
        growth: Relative growth of the labels from one block of rows to the next. Best equal to
            that of the search's schedule: then no row enters the factor twice.
    """

    kernels: tuple[tuple[TermFactory, ...], ...]
    noise: float
    least_noise: float
    prior_std: float
    double_precision: bool
    clip_failures: bool
    noise_reach: float
    skew_test: SkewTest | None
    max_points: int
    max_iterations: int
    refit_growth: float
    first: int
    growth: float

    def __post_init__(self) -> None:
        if self.refit_growth <= 0:
            raise ValueError(f"refit_growth must be positive, but got {self.refit_growth}.")

    def n_hyper(self, n_labelled: int) -> int:
        """Number of labels, oldest first, to which the hyper-parameters are fitted.

        It depends on the number of labels alone, so that a process started anew agrees with one
        that has been running.
        """
        sizes = growing_sizes(self.first, self.growth, n_labelled)
        sizes = thinned_sizes(sizes, self.refit_growth)
        return max(sizes, default=n_labelled)

    def next_block(self, n: int) -> int:
        """Number of labels at which the block that holds label ``n`` ends."""
        sizes = growing_sizes(self.first, self.growth, 2 * max(n, self.first))
        return next(size for size in sizes if size > n)
