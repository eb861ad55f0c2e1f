from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.samplers import BaseSampler
import pytest
from scipy import stats

from harness import benchmarks
from harness import samplers
from harness.experiment import Cell
from harness.runner import Engine
from harness.runner import make_cells
from harness.runner import run
from harness.runner import run_cell
from harness.store import Store


class Stubborn(BaseSampler):
    """Proposes one configuration for ever."""

    def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
        return {}

    def sample_relative(self, study: Any, trial: Any, search_space: Any) -> dict[str, Any]:
        return {}

    def sample_independent(self, study: Any, trial: Any, name: str, distribution: Any) -> Any:
        return distribution.choices[0]


class RanksSomethingElse(Stubborn):
    def rank(self, candidates: Any) -> Any:
        raise AssertionError("this is no ranking of a study")


class Broken(Stubborn):
    def sample_independent(self, study: Any, trial: Any, name: str, distribution: Any) -> Any:
        raise RuntimeError("no idea")


class Dies(Stubborn):
    """Takes its process with it, as a crash in native code does."""

    def sample_independent(self, study: Any, trial: Any, name: str, distribution: Any) -> Any:
        os._exit(9)


class Talkative(Stubborn):
    """Sets attributes that JSON does not know."""

    def before_trial(self, study: Any, trial: Any) -> None:
        storage = study._storage
        for name, value in (("array", np.arange(3)), ("number", np.int64(7)), ("set", {1})):
            storage.set_trial_user_attr(trial._trial_id, name, value)


TABLE = benchmarks.load("nasbench201", "cifar10", "package")


def cells(*texts: str, seeds: int = 1, budgets: tuple[int, ...] = (12,)) -> list[Cell]:
    return make_cells([TABLE], [samplers.make_spec(t) for t in texts], range(seeds), budgets)


def test_a_cell_is_a_study_of_distinct_configurations() -> None:
    result = run_cell(cells("tpe", budgets=(60,))[0])
    assert len(result.evaluated) == 60
    assert len(result.asked) == len(result.ask_seconds) == len(result.tell_seconds)
    assert result.asked[-1] not in result.asked[:-1]
    assert all(second >= 0 for second in (*result.ask_seconds, *result.tell_seconds))
    assert result.provenance["optuna"] == optuna.__version__


def test_a_cell_is_the_study_that_a_user_would_run() -> None:
    (cell,) = cells("zaps", budgets=(30,))
    study = optuna.create_study(
        direction="maximize", sampler=samplers.build(cell.sampler, TABLE, budget=30, seed=0)
    )
    study.optimize(TABLE, n_trials=30)
    result = run_cell(cell)
    assert list(result.asked) == [TABLE.row(trial.params) for trial in study.trials]
    assert result.repeat_share == 0
    assert [a["zaps:phase"] for a in result.user_attrs] == [
        trial.user_attrs["zaps:phase"] for trial in study.trials
    ]


def test_a_sampler_that_repeats_itself_is_stopped_and_reported() -> None:
    result = run_cell(cells(f"{__name__}:Stubborn")[0])
    assert len(result.asked) == 20 * 12
    assert result.capped
    assert result.evaluated == (result.asked[0],)


def test_the_ranking_of_a_sampler_that_has_one_is_judged_over_the_whole_table() -> None:
    (cell,) = cells("zaps", budgets=(30,))
    result = run_cell(cell)
    sampler = samplers.build(cell.sampler, TABLE, budget=30, seed=0)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(TABLE, n_trials=30)
    ranking = sampler.rank(study, n=15_625)  # type: ignore[attr-defined]
    merged = TABLE.parameters.assign(truth=TABLE.values).merge(ranking)
    assert len(merged) == 15_625
    expected = merged["truth"].corr(merged["mean"], method="spearman")
    assert result.spearman == pytest.approx(expected)
    assert run_cell(cells("random")[0]).spearman is None
    assert run_cell(cells(f"{__name__}:RanksSomethingElse")[0]).spearman is None
    assert run_cell(cells("zaps", budgets=(1,))[0]).spearman is None


def test_seeds_make_studies_and_equal_seeds_equal_ones() -> None:
    first, second = (run_cell(cell).asked for cell in cells("random", seeds=2))
    assert first != second
    assert run_cell(cells("random")[0]).asked == first


def test_random_search_finds_what_the_hypergeometric_distribution_says() -> None:
    n_seeds, budget = 40, 200
    top = set(TABLE.top(100).tolist())
    found = [len(top.intersection(run_cell(cell).evaluated))
             for cell in cells("random", seeds=n_seeds, budgets=(budget,))]  # fmt: skip
    expected = stats.hypergeom(15_625, 100, budget)
    assert expected.mean() == pytest.approx(1.28)
    assert abs(np.mean(found) - expected.mean()) < 3 * expected.std() / n_seeds**0.5


def test_only_what_plans_for_its_budget_has_a_study_for_each() -> None:
    made = cells("zaps", "zaps-paper", seeds=2, budgets=(10, 20, 30))
    planned = [(c.sampler.label, c.budget) for c in made if c.seed == 1]
    assert planned == [("zaps", 30)] + [("zaps-paper", budget) for budget in (10, 20, 30)]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_failure_is_reported_and_the_others_are_saved(tmp_path: Path) -> None:
    store = Store(tmp_path)
    made = cells("random", f"{__name__}:Broken", seeds=2)
    outcomes = list(run(made, store, n_jobs=1))
    failed = {o.cell.sampler.label for o in outcomes if o.error}
    assert failed == {"Broken"}
    assert all("no idea" in o.error for o in outcomes if o.error)
    assert len(store.load_all()) == 2
    assert store.missing(made) == [c for c in made if c.sampler.label == "Broken"]


def test_a_process_that_dies_takes_no_other_study_with_it(tmp_path: Path) -> None:
    store = Store(tmp_path)
    made = cells("random", f"{__name__}:Dies", seeds=2)
    outcomes = {o.cell.key: o for o in run(made, store, n_jobs=2)}
    assert len(outcomes) == len(made)
    for cell in made:
        error = outcomes[cell.key].error
        if cell.sampler.label == "Dies":
            assert error is not None
            assert "process died" in error
        else:
            assert error is None
            assert store.load(cell) is not None


def test_what_json_does_not_know_is_saved_as_what_it_does(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (cell,) = cells(f"{__name__}:Talkative")
    assert [o.error for o in run([cell], store, n_jobs=1)] == [None]
    loaded = store.load(cell)
    assert loaded is not None
    assert loaded.user_attrs[0] == {"array": [0, 1, 2], "number": 7, "set": "{1}"}
    assert loaded.provenance["threads per study"] == "1"


def test_another_table_than_the_cells_is_refused() -> None:
    (cell,) = cells("random")
    other = Cell(**{**cell.__dict__, "benchmark_fingerprint": "0"})
    with pytest.raises(ValueError, match="must have the fingerprint 0"):
        run_cell(other)


def test_the_same_cells_run_on_dask(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    made = cells("random", seeds=2)
    store = Store(tmp_path)
    assert all(o.error is None for o in run(made, store, n_jobs=2, engine=Engine("dask")))
    assert [store.load(cell).asked for cell in made] == [run_cell(cell).asked for cell in made]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("slurm",), r"must be one of \('joblib', 'dask'\)"),
     (("joblib", "tcp://x:1"), "Only the engine 'dask' has a scheduler")],
)  # fmt: skip
def test_an_engine_that_does_not_exist(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Engine(*arguments)
