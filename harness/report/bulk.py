"""Whole studies written to a storage at once.

Optuna writes each trial of :meth:`optuna.study.Study.add_trials` by dozens of statements and one
commit. Here a study is one commit, or one piece of a journal, so that it is whole or not there.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import nullcontext
import json
from typing import Any

import optuna
from optuna.distributions import distribution_to_json
from optuna.storages import BaseStorage
from optuna.storages import RDBStorage
from optuna.storages._rdb import models  # Optuna has no public way to write many rows.
from optuna.study import Study
from optuna.trial import FrozenTrial
from sqlalchemy import insert
from sqlalchemy.orm import Session

from harness.storages import WholeJournal


def write(study: Study, storage: BaseStorage) -> None:
    """Copy a study to a storage; of one that is there in part, add what is missing.

    Args:
        study: The study, of an in-memory storage.
        storage: Where to. One of a kind that is not known is written trial by trial.
    """
    if isinstance(storage, RDBStorage):
        _write_rows(study, storage)
        return
    with storage.at_once() if isinstance(storage, WholeJournal) else nullcontext():
        copy = optuna.create_study(
            storage=storage,
            study_name=study.study_name,
            directions=study.directions,
            load_if_exists=True,
        )
        for key, value in _system_attributes(study).items():
            storage.set_study_system_attr(copy._study_id, key, value)
        for key, value in study.user_attrs.items():
            copy.set_user_attr(key, value)
        copy.add_trials(study.get_trials(deepcopy=False)[len(copy.get_trials(deepcopy=False)) :])


def _system_attributes(study: Study) -> Mapping[str, Any]:
    return study._storage.get_study_system_attrs(study._study_id)


def _write_rows(study: Study, storage: RDBStorage) -> None:
    """Write the rows of a study in one transaction."""
    with Session(storage.engine) as session, session.begin():
        row = models.StudyModel.find_by_name(study.study_name, session)
        if row is None:
            row = models.StudyModel(study_name=study.study_name)
            row.directions = [
                models.StudyDirectionModel(objective=objective, direction=direction)
                for objective, direction in enumerate(study.directions)
            ]
            session.add(row)
        for present, model, attributes in (
            (row.user_attributes, models.StudyUserAttributeModel, study.user_attrs),
            (row.system_attributes, models.StudySystemAttributeModel, _system_attributes(study)),
        ):
            known = {attribute.key for attribute in present}
            for key, value in attributes.items():
                if key not in known:
                    present.append(model(key=key, value_json=json.dumps(value)))
        session.flush()  # Gives the study its number.
        n_there = models.TrialModel.count(session, row)
        _add_trials(row, study.get_trials(deepcopy=False)[n_there:], n_there, session)


def _add_trials(
    study: models.StudyModel, trials: Sequence[FrozenTrial], first_number: int, session: Session
) -> None:
    rows = [
        models.TrialModel(
            study_id=study.study_id,
            number=number,
            state=trial.state,
            datetime_start=trial.datetime_start,
            datetime_complete=trial.datetime_complete,
        )
        for number, trial in enumerate(trials, first_number)
    ]
    session.add_all(rows)
    session.flush()  # Gives each trial its number in the database.
    ids = [row.trial_id for row in rows]
    for model, of_trial in (
        (models.TrialValueModel, _values),
        (models.TrialIntermediateValueModel, _intermediate_values),
        (models.TrialParamModel, _params),
        (models.TrialUserAttributeModel, _user_attributes),
        (models.TrialSystemAttributeModel, _trial_system_attributes),
    ):
        content = [
            {"trial_id": trial_id, **columns}
            for trial_id, trial in zip(ids, trials, strict=True)
            for columns in of_trial(trial)
        ]
        if content:
            session.execute(insert(model), content)


def _values(trial: FrozenTrial) -> Iterable[dict[str, Any]]:
    for objective, value in enumerate(trial.values or ()):
        stored, value_type = models.TrialValueModel.value_to_stored_repr(value)
        yield {"objective": objective, "value": stored, "value_type": value_type}


def _intermediate_values(trial: FrozenTrial) -> Iterable[dict[str, Any]]:
    encoded = models.TrialIntermediateValueModel.intermediate_value_to_stored_repr
    for step, value in trial.intermediate_values.items():
        stored, value_type = encoded(value)
        yield {
            "step": step,
            "intermediate_value": stored,
            "intermediate_value_type": value_type,
        }


def _params(trial: FrozenTrial) -> Iterable[dict[str, Any]]:
    for name, value in trial.params.items():
        distribution = trial.distributions[name]
        yield {
            "param_name": name,
            "param_value": distribution.to_internal_repr(value),
            "distribution_json": distribution_to_json(distribution),
        }


def _user_attributes(trial: FrozenTrial) -> Iterable[dict[str, Any]]:
    return _attributes(trial.user_attrs)


def _trial_system_attributes(trial: FrozenTrial) -> Iterable[dict[str, Any]]:
    return _attributes(trial.system_attrs)


def _attributes(attributes: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    for key, value in attributes.items():
        yield {"key": key, "value_json": json.dumps(value)}
