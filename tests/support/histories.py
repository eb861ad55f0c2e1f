"""Histories of studies, read apart from the sampler that ran them."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import optuna

from optuna_zaps.search.observations import History
from optuna_zaps.study import parameters
from optuna_zaps.study.history import HistoryReader


def history_of(study: optuna.Study, space: Mapping[str, Sequence[Any]]) -> History:
    """History of the only objective of a study, over all configurations of a space."""
    candidates = parameters.grid(parameters.normalized(space))
    (history,) = HistoryReader().read(study, candidates, None).objectives
    return history
