"""Snapshot of a study and of its sampler, from which the figures and the note are made."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Hashable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
import math
from typing import Any

import numpy as np
import numpy.typing as npt
from optuna.study import Study
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial
from optuna.trial import TrialState
import pandas as pd

from optuna_zaps.sampler import ZAPSSampler
from optuna_zaps.study.trials import MEAN_KEY
from optuna_zaps.study.trials import PROXIES_KEY
from optuna_zaps.study.trials import STD_KEY
from optuna_zaps.study.trials import constraints_of


FloatArray = npt.NDArray[np.float64]

N_PREDICTED = 20
"""Number of configurations that are told as predicted best."""

N_RANKED_OF_UNKNOWN_SPACE = 10_000
"""Length of the ranking where the number of candidates is not known."""


@dataclass(frozen=True)
class Forecast:
    """Prediction made before a configuration was evaluated, beside the result.

    Attributes:
        number: Number of the trial.
        mean: Predicted mean, in the unit of the objective.
        std: Predicted standard deviation.
        value: Observed value.
    """

    number: int
    mean: float
    std: float
    value: float


@dataclass(frozen=True)
class Predicted:
    """Configuration that the model predicts to be among the best.

    Attributes:
        params: Its parameters.
        mean: Predicted mean, in the unit of the objective.
        std: Predicted standard deviation.
        row: Its row among the candidates that have proxies, or ``None``.
        trial: Latest trial that evaluated it or is about to, or ``None``.
    """

    params: dict[str, Any]
    mean: float
    std: float
    row: int | None
    trial: FrozenTrial | None


@dataclass(frozen=True)
class Snapshot:
    """State of a study and of its sampler.

    Attributes:
        sampler: Text of the sampler.
        objectives: Name of each objective.
        maximize: Whether each objective is maximized.
        trials: All trials, by number.
        parameters: Names of the parameters that tell candidates apart.
        proxies: Name of each proxy.
        proxy_values: Proxies of every candidate, shape (n_candidates, n_proxies).
        rows: Row among the candidates of each configuration that was tried or is predicted best.
        active: Proxies that the model was given when it chose the latest trial, if it chose any.
        initial: Proxies that seeded the initial design.
        ranking: Frame of :meth:`ZAPSSampler.rank <optuna_zaps.ZAPSSampler.rank>`, or ``None``.
        why_no_ranking: Reason for the lack of a ranking; empty if there is one.
        why_no_proxies: Reason for the lack of proxies; empty if there are some.
    """

    sampler: str
    objectives: tuple[str, ...]
    maximize: tuple[bool, ...]
    trials: tuple[FrozenTrial, ...]
    parameters: tuple[str, ...]
    proxies: tuple[str, ...]
    proxy_values: FloatArray
    rows: Mapping[Hashable, int]
    active: tuple[str, ...]
    initial: tuple[str, ...]
    ranking: pd.DataFrame | None
    why_no_ranking: str
    why_no_proxies: str

    @classmethod
    def of(cls, study: Study, sampler: ZAPSSampler) -> Snapshot:
        """Read a study and ask its sampler for a ranking, which takes a fit on all values."""
        trials = tuple(study.get_trials(deepcopy=False))
        known = _known_candidates(sampler)
        ranking, why_no_ranking = None, ""
        try:
            n = N_RANKED_OF_UNKNOWN_SPACE if known is None else len(known)
            ranking = sampler.rank(study, n=n)
        except ValueError as error:
            why_no_ranking = str(error)
        # A space that cannot be enumerated now has the candidates that the ranking is of.
        known = _known_candidates(sampler)
        why_no_proxies = ""
        if known is None:
            known = pd.DataFrame()
            why_no_proxies = "this sampler object has not chosen a configuration yet"
        parameters = parameters_of(known) if ranking is None else tuple(ranking.columns[:-2])
        columns = [name for name in known if name not in parameters]
        if not columns and not why_no_proxies:
            why_no_proxies = "the sampler has no proxies"
        rows: Mapping[Hashable, int] = {}
        if columns:
            wanted = {key for trial in trials if (key := _tried(trial, parameters)) is not None}
            if ranking is not None:
                wanted.update(configurations(ranking.iloc[:N_PREDICTED], parameters))
            rows = rows_of(known, parameters, wanted)
        return cls(
            sampler=repr(sampler),
            objectives=_objectives(study),
            maximize=tuple(each == StudyDirection.MAXIMIZE for each in study.directions),
            trials=trials,
            parameters=parameters,
            proxies=tuple(proxy_name(name, parameters) for name in columns),
            proxy_values=known[columns].to_numpy(np.float64),
            rows=rows,
            active=next((names for t in reversed(trials) if (names := given_proxies(t))), ()),
            initial=tuple(sampler.initial_proxies_) if columns else (),
            ranking=ranking,
            why_no_ranking=why_no_ranking,
            why_no_proxies=why_no_proxies,
        )

    @property
    def direction(self) -> str:
        """Word for how a single objective is optimized."""
        return "maximized" if self.maximize[0] else "minimized"

    def values(self, trial: FrozenTrial) -> tuple[float, ...] | None:
        """Finite values of a trial that is complete, one for each objective."""
        if trial.state != TrialState.COMPLETE or not all(map(math.isfinite, trial.values)):
            return None
        return tuple(trial.values)

    def forecasts(self, objective: int) -> list[Forecast]:
        """Predictions of an objective whose results are known, in the order of the trials."""
        found = []
        for trial in self.trials:
            values = self.values(trial)
            means = _listed(trial.user_attrs.get(MEAN_KEY))
            stds = _listed(trial.user_attrs.get(STD_KEY))
            if values is not None and objective < min(len(means), len(stds)):
                found.append(
                    Forecast(trial.number, means[objective], stds[objective], values[objective])
                )
        return found

    def best(self) -> FrozenTrial | None:
        """Best feasible trial of a study with one objective, if there is one."""
        scored = [
            (values[0], trial)
            for trial in self.trials
            if is_feasible(trial) and (values := self.values(trial)) is not None
        ]
        if len(self.objectives) > 1 or not scored:
            return None
        best = max if self.maximize[0] else min
        return best(scored, key=lambda pair: pair[0])[1]

    def correlations(self, objective: int) -> dict[str, float]:
        """Spearman correlation of each proxy with an objective, over evaluated configurations."""
        evaluated = [
            (row, values[objective])
            for trial in self.trials
            if (row := self.row(trial)) is not None and (values := self.values(trial)) is not None
        ]
        if len(evaluated) < 3:
            return {}
        labels = pd.Series([value for _, value in evaluated])
        proxies = self.proxy_values[[row for row, _ in evaluated]]
        return {
            name: _spearman(pd.Series(proxies[:, column]), labels)
            for column, name in enumerate(self.proxies)
        }

    def proxy_ranks(self, name: str) -> FloatArray:
        """Ranks of a proxy among the candidates, scaled to (0, 1], shape (n_candidates,).

        A candidate without the proxy ranks in the middle, as it does for the sampler.
        """
        column = pd.Series(self.proxy_values[:, self.proxies.index(name)])
        return np.asarray(column.rank(pct=True).fillna(0.5), dtype=np.float64)

    def row(self, trial: FrozenTrial) -> int | None:
        """Row of a trial's configuration among the candidates, if it is one and has proxies."""
        key = _tried(trial, self.parameters)
        return None if key is None else self.rows.get(key)

    def predicted_best(self) -> list[Predicted]:
        """Configurations predicted best, best first, with the latest trial of each."""
        if self.ranking is None:
            return []
        tried = {_tried(trial, self.parameters): trial for trial in self.trials}
        best = self.ranking.iloc[:N_PREDICTED]
        return [
            Predicted(dict(zip(self.parameters, values, strict=True)), mean, std, row, trial)
            for values, mean, std, row, trial in zip(
                best[list(self.parameters)].itertuples(index=False, name=None),
                best.iloc[:, -2].tolist(),
                best.iloc[:, -1].tolist(),
                map(self.rows.get, configurations(best, self.parameters)),
                map(tried.get, configurations(best, self.parameters)),
                strict=True,
            )
        ]

    @cached_property
    def importances(self) -> dict[str, float]:
        """Share of the variance of the predicted means that each parameter explains alone.

        The first-order effect of a functional analysis of variance (Hutter et al., 2014) over the
        ranked configurations, less what as many groups explain by chance. In [0, 1], the largest
        first; empty without a ranking.
        """
        if self.ranking is None:
            return {}
        means = self.ranking.iloc[:, -2].to_numpy(np.float64)
        shares = {name: _explained(self.ranking[name], means) for name in self.parameters}
        return dict(sorted(shares.items(), key=lambda item: -item[1]))


def is_feasible(trial: FrozenTrial) -> bool:
    """Whether a trial violates no constraint."""
    return all(value <= 0 for value in constraints_of(trial).values())


def given_proxies(trial: FrozenTrial) -> tuple[str, ...]:
    """Proxies that the model was given when it chose a trial, the most voted first."""
    text = trial.user_attrs.get(PROXIES_KEY, "")
    return tuple(text.split(", ")) if text else ()


def proxy_name(column: Any, parameters: Sequence[str]) -> str:
    """Name of a proxy by its column in ``ZAPSSampler.proxies_``.

    There a proxy that is called like a parameter has a prefix.
    """
    name = str(column)
    bare = name.removeprefix("proxy:")
    return bare if bare in parameters else name


def configuration(values: Sequence[Any]) -> Hashable:
    """Key of a configuration, by the values of its parameters."""
    return tuple(map(_distinct, values))


def parameters_of(candidates: pd.DataFrame) -> tuple[str, ...]:
    """Names of the parameters among the columns of ``ZAPSSampler.proxies_``.

    They hold Python's objects, proxies are numbers.
    """
    return tuple(str(name) for name in candidates if candidates[name].dtype == object)


def configurations(frame: pd.DataFrame, parameters: Sequence[str]) -> Iterator[Hashable]:
    """Keys of the rows of a frame."""
    if not parameters:
        return iter([()] * len(frame))
    return zip(*([*map(_distinct, frame[name].tolist())] for name in parameters), strict=True)


def rows_of(
    candidates: pd.DataFrame, parameters: Sequence[str], wanted: Collection[Hashable]
) -> dict[Hashable, int]:
    """Rows of some configurations among the candidates, by their keys."""
    return {
        key: row for row, key in enumerate(configurations(candidates, parameters)) if key in wanted
    }


_N_BINS = 10


def _explained(values: pd.Series[Any], means: FloatArray) -> float:
    """Epsilon squared of a one-way analysis of variance."""
    kind = pd.api.types.infer_dtype(values, skipna=False)
    if kind in {"floating", "integer", "mixed-integer-float"} and values.nunique() > _N_BINS:
        numbers = values.astype(np.float64)
        groups = pd.qcut(numbers, _N_BINS, labels=False, duplicates="drop").to_numpy(np.intp)
    else:
        groups = pd.factorize(values, use_na_sentinel=False)[0]
    sizes = np.bincount(groups)
    sizes, n_groups = sizes[sizes > 0], len(set(groups.tolist()))
    total = float(np.square(means - means.mean()).sum())
    if total <= 0 or not 1 < n_groups < len(means):
        return 0.0
    # SSB = sum_g n_g (m_g - m)^2
    averages = pd.Series(means).groupby(groups).mean().to_numpy(np.float64)
    between = float(sizes @ np.square(averages - means.mean()))
    # Kelley (1935): eps^2 = (SSB - (k - 1) MSW) / SST, MSW = (SST - SSB) / (n - k)
    within = (total - between) / (len(means) - n_groups)
    return max(0.0, (between - (n_groups - 1) * within) / total)


def _objectives(study: Study) -> tuple[str, ...]:
    """Names of the objectives: those of the study, else as optuna-dashboard counts them."""
    if study.metric_names is not None:
        return tuple(study.metric_names)
    if len(study.directions) == 1:
        return ("objective value",)
    return tuple(f"objective {i}" for i in range(len(study.directions)))


def _tried(trial: FrozenTrial, parameters: Sequence[str]) -> Hashable | None:
    """Key of a trial's configuration, ``None`` if the trial lacks a parameter."""
    if not all(name in trial.params for name in parameters):
        return None
    return configuration([trial.params[name] for name in parameters])


def _known_candidates(sampler: ZAPSSampler) -> pd.DataFrame | None:
    try:
        return sampler.proxies_
    except AttributeError:  # The search space is not known yet.
        return None


def _spearman(proxy: pd.Series[Any], labels: pd.Series[Any]) -> float:
    known = proxy.notna()
    ranks, other = proxy[known].rank().to_numpy(), labels[known].rank().to_numpy()
    if len(ranks) < 3 or np.ptp(ranks) == 0 or np.ptp(other) == 0:
        return 0.0
    return float(np.corrcoef(ranks, other)[0, 1])


def _listed(attribute: Any) -> list[float]:
    """Numbers of an attribute that has one for each objective, or one alone."""
    numbers = attribute if isinstance(attribute, list) else [attribute]
    return [] if None in numbers else [float(number) for number in numbers]


def _distinct(value: Any) -> Hashable:
    """Value that equals no other: ``True`` is not 1, and NaN equals itself."""
    if isinstance(value, bool | np.bool_):
        return (bool(value),)
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    key: Hashable = value
    return key
