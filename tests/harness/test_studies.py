from __future__ import annotations

from datetime import datetime
from datetime import timedelta
import math
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.distributions import FloatDistribution
from optuna.storages import InMemoryStorage
from optuna.storages import JournalStorage
from optuna.storages import RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial
from optuna.trial import TrialState
from optuna.trial import create_trial
import pytest

from harness import studies
from harness.metrics import Budgets
from harness.metrics import Snapshot
from harness.metrics import summarize
from harness.metrics.seen import with_seen
from harness.problems import Kind
from harness.storages import is_storage
from harness.storages import open_storage


START = datetime(2026, 1, 1)  # as Optuna stores it


def trial(
    value: Any, begin: float, end: float | None = None, state: TrialState = TrialState.COMPLETE
) -> FrozenTrial:
    values = list(value) if isinstance(value, tuple) else [value]
    made = create_trial(
        state=TrialState.COMPLETE,
        values=values,
        params={"x": float(np.sum(values))},
        distributions={"x": FloatDistribution(-100, 100)},
    )
    made.state = state
    if state != TrialState.COMPLETE:
        made.values = None
    made.datetime_start = START + timedelta(seconds=begin)
    made.datetime_complete = None if end is None else START + timedelta(seconds=end)
    return made


def add(storage: Any, name: str, trials: list[FrozenTrial], **options: Any) -> optuna.Study:
    study = optuna.create_study(storage=storage, study_name=name, **options)
    study.add_trials(trials)
    return study


def test_trials_count_in_the_order_in_which_they_ended_by_hand() -> None:
    storage = InMemoryStorage()
    add(storage, "a", [
        trial(5.0, 0, 9), trial(3.0, 1, 4), trial(0.0, 2, 6, TrialState.FAIL),
        trial(1.0, 3, None, TrialState.RUNNING), trial(0.5, 7, 8, TrialState.PRUNED),
        trial(3.0, 20, 30),
    ])  # fmt: skip
    problem, (read,) = studies.read(storage, "somewhere")
    assert read.asked == (0, 1, 2, 3, 0)  # the last repeats the first that ended
    values = list(read.values)
    assert (values[0], values[3]) == (3.0, 5.0)
    assert all(map(math.isnan, values[1:3]))
    # Busy from 0 to 9, and from 20 on.
    assert read.seconds == (4.0, 6.0, 8.0, 9.0, 19.0)
    snapshot = Snapshot(read, 5, by_trials=True)
    assert snapshot.n_ended([0, 4, 8.5, 19]).tolist() == [0, 1, 3, 5]
    assert problem.notes == (
        "1 failed and 1 pruned trials have no value and count as the worst that was seen.",
        "1 trials that have not ended are left out.",
    )
    (seen,) = with_seen([problem], [read])
    assert (seen.optimum, seen.typical) == (3.0, 4.0)
    row = summarize([read], [seen], {seen.text: Budgets((1, 5), by_trials=True)})
    assert row["regret"].tolist() == [0.0, 0.0]
    assert row["repeat_share"].tolist() == pytest.approx([0.0, 20.0])


def two_by_two(storage: Any) -> None:
    for name in ("tpe-0", "tpe-1", "random/seed-0", "random/seed-1"):
        study = add(storage, name, [trial(float(len(name)), 0, 1)])
        study.set_user_attr("sampler", name[:3].upper())


@pytest.mark.parametrize(
    ("names", "group_by", "labels"),
    [
        ((), None, ["random/seed-0", "random/seed-1", "tpe-0", "tpe-1"]),
        ((), "name", ["random", "random", "tpe", "tpe"]),
        ((), "sampler", ["RAN", "RAN", "TPE", "TPE"]),
        (("tpe-*", "random/*"), None, ["tpe-*", "tpe-*", "random/*", "random/*"]),
        (("tpe-1", "random/seed-0"), None, ["tpe-1", "random/seed-0"]),
    ],
)
def test_several_studies_of_a_group_are_seeds(
    names: tuple[str, ...], group_by: str | None, labels: list[str]
) -> None:
    storage = InMemoryStorage()
    two_by_two(storage)
    _, read = studies.read(storage, "s", names=names, group_by=group_by)
    cells = [each.cell for each in read]
    assert [cell.sampler.label for cell in cells] == labels
    expected = [labels[:n].count(label) for n, label in enumerate(labels)]
    assert [cell.seed for cell in cells] == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"names": ["tp"]}, "no study 'tp'; the storage has random/seed-0, random/seed-1, tpe-0"),
        ({"group_by": "who"}, "has no user attribute 'who' .* it has sampler"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(arguments: dict[str, Any], message: str) -> None:
    storage = InMemoryStorage()
    with pytest.raises(ValueError, match="There is no study in the storage"):
        studies.read(storage, "s")
    two_by_two(storage)
    with pytest.raises(ValueError, match=message):
        studies.read(storage, "s", **arguments)
    optuna.create_study(storage=storage, study_name="new")
    with pytest.raises(ValueError, match="a trial that ended, but none of these has one: new"):
        studies.read(storage, "s", names=["new"])
    add(storage, "up", [trial(1.0, 0, 1)], direction="maximize")
    with pytest.raises(ValueError, match=r"same directions, but have .*: minimize; up: maximize"):
        studies.read(storage, "s")


def test_studies_of_several_objectives_are_measured_by_their_common_front() -> None:
    storage = InMemoryStorage()
    directions = ["minimize", "maximize"]
    add(storage, "a", [trial((0.0, 0.0), 0, 1), trial((1.0, 1.0), 1, 2)], directions=directions)
    add(storage, "b", [trial((0.5, 0.5), 0, 1), trial((1.0, 0.0), 1, 2)], directions=directions)
    problem, results = studies.read(storage, "s")
    (seen,) = with_seen([problem], results)
    assert seen.kind == Kind.TRADEOFF
    summary = summarize(results, [seen]).set_index("sampler")
    # Scaled, the front is (0, 1), (0.5, 0.5), (1, 0) under (1.1, 1.1): 0.46 in all.
    assert summary["hypervolume"]["b"] == pytest.approx(100 * 0.36 / 0.46)
    assert summary["hypervolume"]["a"] == pytest.approx(100 * (1.1 * 0.1 + 0.1 * 1.0) / 0.46)
    assert summary["on_front"].to_dict() == {"a": 2, "b": 1}


@pytest.mark.skipif(not hasattr(optuna.Trial, "set_constraint"), reason="came with Optuna 5")
def test_constraints_of_a_study_count() -> None:
    study = optuna.create_study()
    for value, limit in ((1.0, 1.0), (3.0, -1.0), (2.0, None)):
        asked = study.ask({"x": FloatDistribution(0, 1)})
        if limit is not None:
            asked.set_constraint("c", limit)
        study.tell(asked, value)
    problem, (read,) = studies.read(study._storage, "s")
    (seen,) = with_seen([problem], [read])
    row = summarize([read], [seen]).iloc[0]
    assert (seen.kind, row["best_value"]) == (Kind.LIMIT, 3.0)
    assert row["feasible_share"] == pytest.approx(100 / 3)


def test_a_known_optimum_counts() -> None:
    storage = InMemoryStorage()
    add(storage, "a", [trial(3.0, 0, 1), trial(5.0, 1, 2)])
    problem, (read,) = studies.read(storage, "s", optimum=1.0)
    (seen,) = with_seen([problem], [read])
    assert summarize([read], [seen])["regret"].item() == pytest.approx(100 * 2 / 3)


def test_storages_of_every_form_are_opened_and_none_is_made(tmp_path: Path) -> None:
    database, journal = tmp_path / "mine.db", tmp_path / "journal.log"
    made = RDBStorage(f"sqlite:///{database}")
    add(made, "a", [trial(1.0, 0, 1)])
    made.engine.dispose()
    add(JournalStorage(JournalFileBackend(str(journal))), "a", [trial(2.0, 0, 1)])
    for text, value in ((database, 1.0), (f"sqlite:///{database}", 1.0), (journal, 2.0)):
        assert is_storage(str(text))
        storage = open_storage(str(text))
        assert studies.read(storage, "s")[1][0].values == (value,)
        if isinstance(storage, RDBStorage):
            storage.engine.dispose()
    assert not is_storage(str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match="there is no such file"):
        open_storage(f"sqlite:///{tmp_path / 'nowhere.db'}")
    assert not (tmp_path / "nowhere.db").exists()
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(ValueError, match="neither a database of SQLite nor a journal"):
        open_storage(str(tmp_path / "a.csv"))
