"""Publication of figures, a note and the proxies of a trial in a study's storage."""

from __future__ import annotations

from collections.abc import Sequence
import warnings

import numpy as np
import optuna
from optuna.exceptions import ExperimentalWarning
from optuna.study import Study
from optuna.trial import FrozenTrial
from optuna.trial import Trial
from optuna_dashboard import get_note
from optuna_dashboard import save_note
from optuna_dashboard import save_plotly_graph_object

from optuna_zaps import _checks
from optuna_zaps._rounding import significant
from optuna_zaps.dashboard.figures import make_figures
from optuna_zaps.dashboard.figures import placeholder
from optuna_zaps.dashboard.note import make_note
from optuna_zaps.dashboard.note import with_note
from optuna_zaps.dashboard.snapshot import Snapshot
from optuna_zaps.dashboard.snapshot import configuration
from optuna_zaps.dashboard.snapshot import parameters_of
from optuna_zaps.dashboard.snapshot import proxy_name
from optuna_zaps.dashboard.snapshot import rows_of
from optuna_zaps.sampler import ZAPSSampler
from optuna_zaps.study.cache import Lock


_logger = optuna.logging.get_logger("optuna.zaps.dashboard")


def publish(
    study: Study,
    sampler: ZAPSSampler | None = None,
    *,
    metric_names: Sequence[str] | None = None,
) -> None:
    """Write figures and a note on a study for optuna-dashboard, over those of before.

    At most six figures, each below 100 KB: predicted against observed values, acquisition and
    phase, active proxies, a map of the space, the importance of parameters, and the best value.
    Those that make no sense for a study are left out, and the note tells why. A note that a user
    wrote stays above ours.

    Takes a fit on all values, as :meth:`ZAPSSampler.rank <optuna_zaps.ZAPSSampler.rank>` does. It
    changes no later decision of the sampler.

    Args:
        study: Any study; one by other samplers has fewer figures.
        sampler: Sampler whose beliefs are told, by default that of the study.
        metric_names: Names of the objectives, for
            :meth:`study.set_metric_names <optuna.study.Study.set_metric_names>`. By default the
            study keeps its own.

    Raises:
        TypeError: If the sampler is no :class:`~optuna_zaps.ZAPSSampler`.
    """
    sampler = _checked(study.sampler if sampler is None else sampler)
    if metric_names is not None:
        with warnings.catch_warnings():
            # Experimental since Optuna 3.2.
            warnings.simplefilter("ignore", ExperimentalWarning)
            study.set_metric_names(list(metric_names))
    snapshot = Snapshot.of(study, sampler)
    figures, left_out = make_figures(snapshot)
    attributes = study._storage.get_study_system_attrs(study._study_id)
    for identity, reason in left_out.items():
        # Otherwise the page would go on showing the figure of an earlier time.
        if any(key.startswith(f"dashboard:plot_data:{identity}:") for key in attributes):
            figures[identity] = placeholder(identity, reason)
    for identity, figure in figures.items():
        save_plotly_graph_object(study, figure, graph_object_id=identity)
    save_note(study, with_note(get_note(study), make_note(snapshot, left_out)))


class PublishCallback:
    """Callback of ``study.optimize`` that publishes after every few trials.

    Of several workers on one study, the one publishes that ends such a trial. A failure to
    publish is logged, once, and does not end the study. Call :func:`publish` at the end of a study
    to include its last trials.

    Args:
        every: Publish after the trials ``every - 1``, ``2 * every - 1``, and so on.
        sampler: As for :func:`publish`. Needed where the study's sampler wraps a
            :class:`~optuna_zaps.ZAPSSampler`.

    Raises:
        ValueError: If ``every`` is no positive integer.
        TypeError: If ``sampler`` is no :class:`~optuna_zaps.ZAPSSampler`.
    """

    def __init__(self, every: int = 10, *, sampler: ZAPSSampler | None = None) -> None:
        self._every = _checks.integer("every", every, least=1)
        self._sampler = None if sampler is None else _checked(sampler)
        self._has_warned = False
        self._lock = Lock()

    def __call__(self, study: Study, trial: FrozenTrial) -> None:
        """Publish if the trial's turn has come."""
        if (trial.number + 1) % self._every != 0:
            return
        with self._lock:
            try:
                publish(study, self._sampler)
            except Exception as error:
                if not self._has_warned:
                    self._has_warned = True
                    _logger.warning(
                        f"Figures and note for optuna-dashboard were not published after trial "
                        f"{trial.number}: {type(error).__name__}: {error} The study goes on; "
                        "further failures are not told."
                    )


def record_proxies(trial: Trial, sampler: ZAPSSampler | None = None) -> None:
    """Write the proxies of a trial's configuration to its user attributes.

    Call it in the objective, after the parameters were suggested: Optuna lets nobody add
    attributes to a finished trial. The attributes, ``zaps:proxy:`` and the name of the proxy, are
    columns of the dashboard's table of trials; values have five significant digits. A
    configuration without proxies gets none.

    Args:
        trial: Trial that is running.
        sampler: As for :func:`publish`.

    Raises:
        TypeError: If the sampler is no :class:`~optuna_zaps.ZAPSSampler`.
    """
    sampler = _checked(trial.study.sampler if sampler is None else sampler)
    try:
        candidates = sampler.proxies_
    except AttributeError:  # The search space is not known yet.
        return
    params = trial.params
    parameters = parameters_of(candidates)
    if not all(name in params for name in parameters):
        return
    # Equality tells True from 1 no better than NumPy does, but leaves few candidates.
    for name in parameters:
        candidates = candidates[(candidates[name] == params[name]).to_numpy()]
    key = configuration([params[name] for name in parameters])
    row = rows_of(candidates, parameters, {key}).get(key)
    if row is None:
        return
    for name in candidates.columns.drop(list(parameters)):
        value = float(candidates[name].iloc[row])
        if np.isfinite(value):
            trial.set_user_attr(f"zaps:proxy:{proxy_name(name, parameters)}", significant(value))


def _checked(sampler: object) -> ZAPSSampler:
    if not isinstance(sampler, ZAPSSampler):
        raise TypeError(
            "sampler must be a ZAPSSampler, the one that searches the study, but got "
            f"{type(sampler).__name__}. Pass it by sampler= where the study has another sampler."
        )
    return sampler
