from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
import json
import math
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.storages import BaseStorage
from optuna.storages import InMemoryStorage
from optuna.storages import RDBStorage
from optuna.study import Study
from optuna.trial import TrialState
from optuna.trial import create_trial
import pytest

from harness import problems
from harness.experiment import make_cells
from harness.report.bulk import write
from harness.report.export import export
from harness.run.runner import run_cell
from harness.samplers import make_spec
from harness.storages import WholeJournal
from harness.storages import to_write


@pytest.fixture(params=["studies.db", "studies.log", "memory"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseStorage]:
    if request.param == "memory":  # A kind of its own, which is written trial by trial.
        yield InMemoryStorage()
        return
    opened, _ = to_write(str(tmp_path / request.param))
    yield opened
    if isinstance(opened, RDBStorage):
        opened.engine.dispose()


def trial(values: list[float] | None, **options: Any) -> optuna.trial.FrozenTrial:
    made = create_trial(
        state=options.pop("state", TrialState.COMPLETE),
        values=values,
        params={"rate": 0.25, "act": "relu"},
        distributions={
            "rate": FloatDistribution(0.1, 1.0, log=True),
            "act": CategoricalDistribution(["tanh", "relu", None]),
        },
        **options,
    )
    made.datetime_start = datetime(2026, 1, 2, 3, 4, 5, 678901)
    made.datetime_complete = datetime(2026, 1, 2, 3, 4, 6)
    return made


def source(name: str = "a · b · seed 3") -> Study:
    study = optuna.create_study(study_name=name, directions=["minimize", "maximize"])
    study.set_user_attr("notes", {"über": [1, 2.5, None]})
    study._storage.set_study_system_attr(study._study_id, "study:metric_names", ["loss", "x"])
    study.add_trials(
        [
            trial([0.5, math.inf], user_attrs={"zaps:phase": "initial", "zaps:mean": 0.125}),
            trial([-math.inf, 1e-300], system_attrs={"constraints": [1.0, -2.0]}),
            trial(None, state=TrialState.FAIL, intermediate_values={0: 0.5, 7: math.nan}),
            trial([1.0, 2.0]),
        ]
    )
    return study


def loaded(storage: BaseStorage, name: str) -> Any:
    """All of a study but its numbers in the database."""
    study = optuna.load_study(storage=storage, study_name=name)
    trials = study.get_trials()
    for each in trials:
        each._trial_id = 0
    (frozen,) = (each for each in storage.get_all_studies() if each.study_name == name)
    return study.directions, study.user_attrs, frozen.system_attrs, json.dumps(
        [{**each.__dict__, "_distributions": str(each.distributions)} for each in trials],
        default=str,
        sort_keys=True,
    )  # fmt: skip


def test_a_study_is_what_optuna_itself_copies(storage: BaseStorage) -> None:
    study = source()
    optuna.copy_study(
        from_study_name=study.study_name,
        from_storage=study._storage,
        to_storage=storage,
        to_study_name="copy of optuna",
    )
    write(study, storage)
    assert loaded(storage, study.study_name) == loaded(storage, "copy of optuna")
    numbers = [each.number for each in storage.get_all_trials(1)]
    assert numbers == [0, 1, 2, 3]


def test_a_study_that_is_there_in_part_is_completed(storage: BaseStorage) -> None:
    study = source()
    part = optuna.create_study(
        storage=storage, study_name=study.study_name, directions=study.directions
    )
    part.set_user_attr("notes", study.user_attrs["notes"])
    part.add_trials(study.trials[:2])
    write(study, storage)
    assert loaded(storage, study.study_name) == loaded(study._storage, study.study_name)
    write(study, storage)  # Nothing is missing now.
    assert len(optuna.load_study(storage=storage, study_name=study.study_name).trials) == 4


def test_a_study_that_cannot_be_written_whole_leaves_nothing(storage: BaseStorage) -> None:
    if isinstance(storage, InMemoryStorage):
        pytest.skip("is written trial by trial")
    write(source("before"), storage)
    bad = source("bad")
    bad._storage.set_study_user_attr(bad._study_id, "unwritable", object())
    with pytest.raises(TypeError, match="JSON"):
        write(bad, storage)
    fresh = storage
    if isinstance(storage, WholeJournal):  # What this process remembers is not the file.
        fresh = WholeJournal(storage._file._file_path)
    assert optuna.get_all_study_names(fresh) == ["before"]
    write(source("after"), fresh)
    assert loaded(fresh, "after")[-1] == loaded(fresh, "before")[-1]


def test_failed_trials_are_exported_as_such(storage: BaseStorage) -> None:
    problem = problems.load("own_objects:Fails")
    (cell,) = make_cells([problem], [make_spec("random")], [0], [12], by_trials=True)
    (name,) = export([run_cell(cell)], [problem], storage)
    assert name == "own_objects:Fails · random · 12 trials · seed 0"
    trials = optuna.load_study(study_name=name, storage=storage).trials
    for trial_ in trials:
        failed = trial_.params["x0"] < 0
        assert trial_.state == (TrialState.FAIL if failed else TrialState.COMPLETE)
        assert trial_.values == (None if failed else [trial_.params["x0"]])
    assert {trial_.state for trial_ in trials} == {TrialState.FAIL, TrialState.COMPLETE}


def test_journal_that_others_write_to_meanwhile(tmp_path: Path) -> None:
    path = str(tmp_path / "studies.log")
    mine, other = WholeJournal(path), WholeJournal(path)
    optuna.create_study(storage=mine, study_name="first")
    optuna.create_study(storage=other, study_name="of the other")
    write(source(), mine)
    theirs = optuna.load_study(storage=other, study_name="of the other")
    theirs.add_trial(create_trial(value=1.0))
    write(source("second"), mine)
    whole = WholeJournal(path)
    counts = {
        name: len(optuna.load_study(storage=whole, study_name=name).trials)
        for name in optuna.get_all_study_names(whole)
    }
    assert counts == {"first": 0, "of the other": 1, "a · b · seed 3": 4, "second": 4}


def test_a_name_that_tells_no_storage(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no file that ends in \.db"):
        to_write(str(tmp_path / "studies"))
    opened, address = to_write(str(tmp_path / "new.sqlite3"))
    assert address == f"sqlite:///{tmp_path / 'new.sqlite3'}"
    optuna.create_study(storage=opened, study_name="a")
    again, address = to_write(str(tmp_path / "new.sqlite3"))
    assert optuna.get_all_study_names(again) == ["a"]
    for each in (opened, again):
        assert isinstance(each, RDBStorage)
        each.engine.dispose()
