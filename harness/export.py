"""Finished cells as studies in a storage, for optuna-dashboard."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from datetime import datetime
from datetime import timedelta
from itertools import islice
import warnings

import optuna
from optuna.exceptions import ExperimentalWarning
from optuna.storages import BaseStorage
from optuna.trial import FrozenTrial
from optuna.trial import TrialState

from harness.experiment import Cell
from harness.experiment import CellResult
from harness.problems import TabularBenchmark
from harness.readings import BenchmarkKey
from harness.readings import benchmark_key


def study_name(cell: Cell) -> str:
    """Name of a cell's study, e.g. ``nasbench201/cifar10/package/zaps/200/seed-0``.

    More than one trial in flight stands before the seed: ``.../200/4-in-flight/seed-0``.
    """
    setting = [] if cell.in_flight == 1 else [f"{cell.in_flight}-in-flight"]
    return "/".join(
        (
            cell.benchmark,
            cell.dataset,
            cell.source,
            cell.sampler.label,
            str(cell.budget),
            *setting,
            f"seed-{cell.seed}",
        )
    )


def export(
    results: Sequence[CellResult],
    benchmarks: Mapping[BenchmarkKey, TabularBenchmark],
    storage: BaseStorage,
) -> Iterator[str | None]:
    """Write each cell as a study with its trials, values and user attributes.

    Args:
        results: What to write.
        benchmarks: Tables by (name, data set, source).
        storage: Where to. A study that it has already is left as it is, except one that an
            earlier export was stopped in: that is completed.

    Yields:
        For each cell the name of the study written, ``None`` if it was there.
    """
    present = set(optuna.get_all_study_names(storage))
    for result in results:
        name = study_name(result.cell)
        if name in present and not _is_cut_off(name, result, storage):
            yield None
            continue
        benchmark = benchmarks[benchmark_key(result)]
        study = optuna.create_study(
            storage=storage,
            study_name=name,
            directions=benchmark.directions,
            load_if_exists=True,
        )
        with warnings.catch_warnings():
            # Experimental since Optuna 3.2, and what optuna-dashboard labels its axes by.
            warnings.simplefilter("ignore", ExperimentalWarning)
            study.set_metric_names([benchmark.metric])
        cell = result.cell
        attributes = {
            "cell": cell.key,
            "benchmark": cell.benchmark,
            "dataset": cell.dataset,
            "sampler": cell.sampler.label,
            "arguments": dict(cell.sampler.arguments),
            "seed": cell.seed,
            "budget": cell.budget,
            "in_flight": cell.in_flight,
            "source": cell.source,
            "notes": " ".join(benchmark.notes),
        }
        for key, value in attributes.items():
            study.set_user_attr(key, value)
        n_there = len(study.get_trials(deepcopy=False))
        study.add_trials(islice(_trials(result, benchmark), n_there, None))
        yield name


def _is_cut_off(name: str, result: CellResult, storage: BaseStorage) -> bool:
    """Whether the study is this cell's, with only the first of its trials."""
    study = optuna.load_study(study_name=name, storage=storage)
    n_there = len(study.get_trials(deepcopy=False))
    same = study.user_attrs.get("cell") == result.cell.key
    return n_there == 0 or (same and n_there < len(result.asked))


def _trials(result: CellResult, benchmark: TabularBenchmark) -> Iterator[FrozenTrial]:
    """Trials one after the other in time, as far apart as the sampler took."""
    names = list(benchmark.parameters.columns)
    rows = benchmark.parameters.to_numpy(dtype=object)
    finished = datetime.fromisoformat(str(result.provenance["finished"])).replace(tzinfo=None)
    seconds = [a + b for a, b in zip(result.ask_seconds, result.tell_seconds, strict=True)]
    clock = finished - timedelta(seconds=sum(seconds))
    for row, duration, attributes in zip(result.asked, seconds, result.user_attrs, strict=True):
        trial = optuna.trial.create_trial(
            state=TrialState.COMPLETE,
            value=float(benchmark.values[row]),
            params=dict(zip(names, rows[row], strict=True)),
            distributions=benchmark.search_space,
            user_attrs=dict(attributes),
        )
        trial.datetime_start = clock
        clock += timedelta(seconds=duration)
        trial.datetime_complete = clock
        yield trial
