"""Notes for people: attributes that a dashboard shows, and warnings, each logged once."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any

import optuna
from optuna.study import Study
from optuna.trial import FrozenTrial

from optuna_zaps._rounding import estimate
from optuna_zaps._rounding import significant
from optuna_zaps.search.search import Proposal
from optuna_zaps.study.cache import Lock
from optuna_zaps.study.trials import ACQUISITION_KEY
from optuna_zaps.study.trials import MEAN_KEY
from optuna_zaps.study.trials import PHASE_KEY
from optuna_zaps.study.trials import PROXIES_KEY
from optuna_zaps.study.trials import STD_KEY
from optuna_zaps.study.trials import direction_signs


# A child of Optuna's logger, so that ``optuna.logging.set_verbosity`` reaches it.
logger = optuna.logging.get_logger("optuna.samplers.zaps")

_AGREEING = "Every configuration that agrees with the parameters that are fixed"


def annotate(study: Study, trial: FrozenTrial, proposal: Proposal) -> None:
    """Write to a trial's user attributes why its configuration was chosen.

    Numbers have five significant digits; a mean has more where its dispersion needs them.
    """
    attributes: dict[str, Any] = {PHASE_KEY: proposal.phase}
    if proposal.acquisition is not None:
        signs = direction_signs(study)
        means = [
            estimate(sign * mean, std)
            for sign, mean, std in zip(signs, proposal.means, proposal.stds, strict=True)
        ]
        stds = [significant(std) for std in proposal.stds]
        acquisition = significant(proposal.acquisition)
        if len(signs) == 1:
            attributes[MEAN_KEY], attributes[STD_KEY] = means[0], stds[0]
            attributes[ACQUISITION_KEY] = signs[0] * acquisition
        else:
            attributes[MEAN_KEY], attributes[STD_KEY] = means, stds
            attributes[ACQUISITION_KEY] = acquisition
    if proposal.proxies:
        attributes[PROXIES_KEY] = ", ".join(proposal.proxies)
    for key, value in attributes.items():
        study._storage.set_trial_user_attr(trial._trial_id, key, value)


class OneTimeWarnings:
    """Warnings that are logged once for each topic.

    Args:
        topics: Topics of which was warned before.
    """

    def __init__(self, topics: Iterable[str] = ()) -> None:
        self._topics = set(topics)
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return (OneTimeWarnings, (sorted(self._topics),))

    def __contains__(self, topic: str) -> bool:
        """Whether a warning of the topic was logged."""
        return topic in self._topics

    def once(self, topic: str, message: str) -> None:
        """Log a warning unless there was one of the same topic."""
        with self._lock:
            if topic not in self._topics:
                self._topics.add(topic)
                logger.warning(message)


class Notes:
    """Warnings of a sampler about the parameters of its studies.

    Args:
        sampler: Name of the sampler's class.
        independent_sampler: Name of the class that samples what the sampler leaves to it.
        warn_independent: Whether to warn where a parameter goes to that sampler.
        group: Whether nothing is to be said of inferred spaces.
        warnings: Logs the warnings.
    """

    def __init__(
        self,
        sampler: str,
        independent_sampler: str,
        *,
        warn_independent: bool,
        group: bool,
        warnings: OneTimeWarnings,
    ) -> None:
        self._sampler, self._independent_sampler = sampler, independent_sampler
        self._warn_independent, self._group = warn_independent, group
        self._warnings = warnings

    def warn_of_independent(self, trial: FrozenTrial, param_name: str) -> None:
        """Warn of a parameter outside a given space."""
        if self._warn_independent:
            self._warnings.once(
                f"parameter {param_name}",
                f"The parameter `{param_name}` in Trial#{trial.number} is sampled independently "
                f"using `{self._independent_sampler}` instead of `{self._sampler}`, because it is "
                "not part of the search space that the candidates span. You can suppress this "
                "warning by setting `warn_independent_sampling` to `False`.",
            )

    def warn_of_unused(self, trial: FrozenTrial, names: Sequence[str]) -> None:
        """Warn of parameters of the space that a finished trial did not suggest."""
        unused = [name for name in names if name not in trial.params]
        if unused:
            self._warnings.once(
                f"unused {unused}",
                f"Trial#{trial.number} finished without suggesting {unused}, which the search "
                f"space of `{self._sampler}` has: trials that differ in nothing else evaluate the "
                "same. Suggest such parameters, by the same name, or leave them out of the space.",
            )

    def warn_of_repetition(self, study: Study, repeated: str, *, is_whole: bool) -> None:
        """Warn that a given space is exhausted.

        Args:
            study: The study.
            repeated: Configurations that further trials repeat.
            is_whole: Whether all of it is, rather than the part that agrees with fixed values.
        """
        if is_whole:
            exhausted, topic = "Every configuration of the search space", "exhausted"
        else:
            exhausted, topic = _AGREEING, "exhausted in part"
        self._warnings.once(
            f"{topic} {study._study_id}",
            f"{exhausted} was evaluated or is being evaluated; further trials repeat {repeated}.",
        )

    def has_to_say_of_inferred(self, study: Study) -> bool:
        """Whether the one warning about an inferred space is still to be logged."""
        return (
            self._warn_independent
            and not self._group
            and f"inferred {study._study_id}" not in self._warnings
        )

    def warn_of_left_out(self, study: Study, param_name: str) -> None:
        """Warn of a parameter that an inferred space lacks because its distributions differ."""
        if self.has_to_say_of_inferred(study):
            self._warn_of_inferred(
                study,
                f"Parameters whose choices, type or scale change, such as `{param_name}`, are "
                f"sampled independently using `{self._independent_sampler}` instead of "
                f"`{self._sampler}`. Set `warn_independent_sampling` to `False` to suppress this "
                "warning.",
            )

    def warn_of_exhaustion(self, study: Study, *, is_whole: bool, is_latest_range: bool) -> None:
        """Warn that an inferred space is exhausted.

        Args:
            study: The study.
            is_whole: As for :meth:`warn_of_repetition`.
            is_latest_range: Whether trials had other ranges before.
        """
        exhausted, trials = "Every configuration of the search space", "further trials"
        if not is_whole:
            exhausted, trials = _AGREEING, "such trials"
        elif is_latest_range:
            exhausted = "Every configuration within the latest ranges of the parameters"
        self._warn_of_inferred(
            study,
            f"{exhausted} was evaluated or is being evaluated; `{self._independent_sampler}` "
            f"samples {trials}.",
        )

    def _warn_of_inferred(self, study: Study, message: str) -> None:
        self._warnings.once(f"inferred {study._study_id}", message)
