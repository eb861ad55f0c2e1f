"""Settings of the Gaussian processes, and the decisions that depend on the situation."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace

from optuna_zaps.search.schedule import coarser
from optuna_zaps.search.schedule import rungs
from optuna_zaps.surrogates.parameter_term import ParameterTerm
from optuna_zaps.surrogates.protocol import FeatureLayout
from optuna_zaps.surrogates.terms import LinearRankTerm
from optuna_zaps.surrogates.terms import SharedChoiceTerm
from optuna_zaps.surrogates.terms import SmoothRankTerm
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
        max_points: Hyper-parameters are fitted on this many of the best labels; the posterior
            uses all.
        max_iterations: Iterations of L-BFGS.
        refit_growth: Relative growth of the labels from one fit of the hyper-parameters to the
            next.
        first: Number of labels at the first of these fits.
        growth: Relative growth of the labels from one block of rows to the next. Best equal to
            that of the search's schedule: then no row enters the factor twice.
    """

    kernels: tuple[tuple[TermFactory, ...], ...] = ((ParameterTerm,),)
    noise: float = 0.05
    least_noise: float = 1e-3
    prior_std: float = 1.5
    double_precision: bool = False
    clip_failures: bool = True
    max_points: int = 100
    max_iterations: int = 15
    refit_growth: float = 1.0
    first: int = 14
    growth: float = 0.1

    def __post_init__(self) -> None:
        if self.refit_growth <= 0:
            raise ValueError(f"refit_growth must be positive, but got {self.refit_growth}.")

    @classmethod
    def for_layout(cls, layout: FeatureLayout) -> GaussianProcessSettings:
        """Choose the settings of an objective for the features of a layout.

        With proxies, a process that sees them and one that does not are averaged.

        Without proxies the parameters explain less, and a process that expects so is right
        sooner: on NAS-Bench-201 / CIFAR-10, over 200 seeds, P@100 at 50 / 100 labels was
        15.2 / 36.5 instead of 14.0 / 34.9 (standard error 0.6).

        Where parameters are numbers, some matter much more than others, and the labels show
        which; their priors stay weak. The noise is small until they show otherwise: if the shape
        of a function is taken for noise, a search returns to the same region again and again. On
        the problems of ``zaps-harness everyday`` a prior median of 0.1 left nearly twice the
        regret (0.31 % in the geometric mean, 0.17 % now), also where noise of half a typical
        difference was added to every value. The bound of the noise is low, because a smooth
        function of numbers is known better than 0.1 % near its optimum.
        """
        settings = cls(kernels=_kernels(layout))
        if not layout.n_proxies:
            settings = replace(settings, noise=0.2, prior_std=0.7, refit_growth=0.5)
        if any(layout.numeric):
            settings = replace(
                settings,
                noise=0.001,
                least_noise=1e-6,
                prior_std=1.5,
                double_precision=True,
                refit_growth=0.2,
            )
        return settings

    @classmethod
    def for_constraint(cls, layout: FeatureLayout) -> GaussianProcessSettings:
        """Choose the settings of a constraint, where accuracy near 0 matters.

        Among many satisfied labels a few violations are far below the median; raised, they would
        appear feasible.
        """
        return replace(cls.for_layout(layout), clip_failures=False)

    def n_hyper(self, n_labelled: int) -> int:
        """Number of labels, oldest first, to which the hyper-parameters are fitted.

        It depends on the number of labels alone, so that a process started anew agrees with one
        that has been running.
        """
        sizes = coarser(rungs(self.first, self.growth, n_labelled), self.refit_growth)
        return max(sizes, default=n_labelled)

    def next_block(self, n: int) -> int:
        """Number of labels at which the block that holds label ``n`` ends."""
        return next(
            size for size in rungs(self.first, self.growth, 2 * max(n, self.first)) if size > n
        )


def _kernels(layout: FeatureLayout) -> tuple[tuple[TermFactory, ...], ...]:
    """Terms of each process.

    Without shared choices a search of NAS-Bench-201 / CIFAR-10 ends, in one seed of six instead of
    twenty, in a basin that shares all but one choice with the right one, at other parameters.
    Honest proxies say it better: with shared choices besides, a search with proxies lost up to 4
    points of P@100 at 100 labels.
    """
    structure: tuple[TermFactory, ...] = (ParameterTerm,)
    if any(layout.numeric):
        structure = (ParameterTerm.with_relevance,)
    if not layout.n_proxies:
        return ((*structure, SharedChoiceTerm) if layout.n_shared_choices else structure,)
    smooth: tuple[TermFactory, ...] = (SmoothRankTerm,)
    if layout.has_neighbourhood:
        smooth = (SmoothRankTerm.half_of_own, SmoothRankTerm.half_of_neighbours)
    return ((*structure, LinearRankTerm, *smooth), structure)
