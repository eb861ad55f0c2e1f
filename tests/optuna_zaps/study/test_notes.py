from __future__ import annotations

import pickle

import optuna
import pytest

from optuna_zaps.search.search import Proposal
from optuna_zaps.study.notes import OneTimeWarnings
from optuna_zaps.study.notes import annotate


def test_a_topic_is_warned_of_once_by_a_sampler_and_its_copies(
    caplog: pytest.LogCaptureFixture,
) -> None:
    warnings = OneTimeWarnings()
    warnings.once("claims", "A claim is odd.")
    warnings.once("claims", "Another claim is odd.")
    copy = pickle.loads(pickle.dumps(warnings))
    copy.once("claims", "A third claim is odd.")
    copy.once("proxies", "A proxy is constant.")
    assert caplog.messages == ["A claim is odd.", "A proxy is constant."]
    assert "proxies" not in warnings


@pytest.mark.parametrize(
    ("directions", "means", "expected"),
    [
        (["minimize"], (2.0,), {"zaps:mean": -2.0, "zaps:std": 0.5, "zaps:acquisition": -3.0}),
        (
            ["maximize", "minimize"],
            (2.0, 4.0),
            {"zaps:mean": [2.0, -4.0], "zaps:std": [0.5, 0.5], "zaps:acquisition": 3.0},
        ),
    ],
    ids=["one", "several"],
)
def test_predictions_are_noted_in_the_units_of_the_objectives(
    directions: list[str], means: tuple[float, ...], expected: dict[str, object]
) -> None:
    study = optuna.create_study(directions=directions)
    trial = study.ask()
    proposal = Proposal(0, "model", means, (0.5,) * len(means), 3.0, ("flops", "synflow"))
    annotate(study, study.trials[trial.number], proposal)
    assert study.trials[trial.number].user_attrs == {
        "zaps:phase": "model",
        "zaps:proxies": "flops, synflow",
        **expected,
    }


@pytest.mark.parametrize(
    ("mean", "std", "expected_mean", "expected_std"),
    [
        (0.123456789, 0.0987654321, 0.12346, 0.098765),
        (123456.789, 4321.98765, 123460.0, 4322.0),
        # Around a large number the mean keeps a hundredth of its dispersion.
        (123456.789123, 0.0371234, 123456.7891, 0.037123),
        (float("-inf"), 1.0, float("-inf"), 1.0),
        (2.0000001, 0.0, 2.0, 0.0),
    ],
)
def test_numbers_are_short_enough_for_columns(
    mean: float, std: float, expected_mean: float, expected_std: float
) -> None:
    study = optuna.create_study(direction="maximize")
    trial = study.ask()
    annotate(study, study.trials[trial.number], Proposal(0, "model", (mean,), (std,), 1 / 3, ()))
    attributes = study.trials[trial.number].user_attrs
    assert attributes["zaps:mean"] == expected_mean
    assert attributes["zaps:std"] == expected_std
    assert attributes["zaps:acquisition"] == 0.33333
