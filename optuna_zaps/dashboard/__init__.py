"""Figures and a note on a study of :class:`~optuna_zaps.ZAPSSampler`, for optuna-dashboard.

:func:`publish` writes them once, :class:`PublishCallback` every few trials of ``study.optimize``,
and :func:`record_proxies` adds the proxies of a trial to the columns of the dashboard's table::

    study.optimize(objective, n_trials=100, callbacks=[PublishCallback(every=10)])
    publish(study)  # includes the trials since the last tenth

The sampler never writes any of this by itself.
"""

from __future__ import annotations


try:
    import optuna_dashboard  # noqa: F401
    import pandas  # noqa: F401
    import plotly  # noqa: F401
except ImportError as error:
    raise ImportError(
        "optuna_zaps.dashboard needs optuna-dashboard, pandas and Plotly: "
        'pip install "optuna-zaps[dashboard]".'
    ) from error

from optuna_zaps.dashboard.publishing import PublishCallback
from optuna_zaps.dashboard.publishing import publish
from optuna_zaps.dashboard.publishing import record_proxies


__all__ = ["PublishCallback", "publish", "record_proxies"]
