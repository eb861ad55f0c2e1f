from __future__ import annotations

from pathlib import Path
from typing import Any

import optuna
import pandas as pd
import pytest


torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'optuna-zaps[zerocost]'")

from torch import nn  # noqa: E402

from optuna_zaps import ZAPSSampler  # noqa: E402
from optuna_zaps.zerocost import score  # noqa: E402
from optuna_zaps.zerocost import score_space  # noqa: E402


SPACE = {"width": [4, 8, 16], "depth": [1, 2]}
BATCH = torch.randn(6, 5, generator=torch.Generator().manual_seed(0)), torch.arange(6) % 3


def build(params: dict[str, Any]) -> nn.Module:
    layers: list[nn.Module] = [nn.Linear(5, params["width"])]
    for _ in range(params["depth"] - 1):
        layers += [nn.ReLU(), nn.Linear(params["width"], params["width"])]
    return nn.Sequential(*layers, nn.ReLU(), nn.Linear(params["width"], 3))


def test_the_table_has_the_scores_of_each_configuration_and_feeds_the_sampler() -> None:
    table = score_space(build, SPACE, BATCH, seed=5, progress=False)
    assert list(table.index.names) == ["width", "depth"]
    one = score(lambda: build({"width": 8, "depth": 2}), BATCH, seed=5)
    assert table.loc[(8, 2)].to_dict() == one

    def objective(trial: optuna.Trial) -> float:
        params = {name: trial.suggest_categorical(name, values) for name, values in SPACE.items()}
        return float(params["width"] * params["depth"])

    study = optuna.create_study(direction="maximize", sampler=ZAPSSampler(table, seed=0))
    study.optimize(objective, n_trials=6)
    assert len({tuple(trial.params.values()) for trial in study.trials}) == 6


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    built = []

    def counting(params: dict[str, Any]) -> nn.Module:
        built.append(params)
        if len(built) == 4:
            raise KeyboardInterrupt
        return build(params)

    options: dict[str, Any] = {"path": tmp_path, "chunk_size": 2, "progress": False}
    with pytest.raises(KeyboardInterrupt):
        score_space(counting, SPACE, BATCH, **options)
    # The first chunk of two was whole, the second was not.
    resumed = score_space(counting, SPACE, BATCH, **options)
    assert len(built) == 4 + 4
    pd.testing.assert_frame_equal(resumed, score_space(build, SPACE, BATCH, progress=False))
    assert len(score_space(counting, SPACE, BATCH, **options)) == 6
    assert len(built) == 8
    assert not list(tmp_path.glob("*.part"))


def test_a_directory_of_another_space_is_refused(tmp_path: Path) -> None:
    options: dict[str, Any] = {"path": tmp_path, "progress": False, "proxies": ["params"]}
    score_space(build, SPACE, BATCH, **options)
    for other in ({"width": [4]}, SPACE | {"depth": [1, 3]}):
        with pytest.raises(ValueError, match="must hold chunks of the same configurations"):
            score_space(build, other, BATCH, **options)
    with pytest.raises(ValueError, match="same configurations, proxies, seed"):
        score_space(build, SPACE, BATCH, seed=1, **options)


def test_processes_give_the_same_table(tmp_path: Path) -> None:
    options: dict[str, Any] = {"proxies": ["params", "snip", "nwot"], "progress": False}
    alone = score_space(build, SPACE, BATCH, **options)
    together = score_space(build, SPACE, BATCH, n_jobs=2, chunk_size=2, **options)
    pd.testing.assert_frame_equal(alone, together)


def test_a_network_that_does_not_run_is_nan_and_said_once() -> None:
    def broken(params: dict[str, Any]) -> nn.Module:
        return nn.Linear(7, 3) if params["width"] == 8 else build(params)

    with pytest.warns(UserWarning, match=r"Of 6 .* snip for 2 \(RuntimeError") as record:
        table = score_space(broken, SPACE, BATCH, proxies=["params", "snip"], progress=False)
    assert len(record) == 1
    assert table["snip"].isna().tolist() == [False, False, True, True, False, False]


@pytest.mark.parametrize(
    ("configurations", "message"),
    [
        ([], "at least one configuration"),
        ([{"width": 4, "depth": 1}, {"width": 4}], r"must have the parameters \['width', 'depth'"),
    ],
)
def test_odd_configurations_are_refused(configurations: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score_space(build, configurations, BATCH)
