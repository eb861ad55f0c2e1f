from __future__ import annotations

from collections.abc import Callable
from functools import partial
import json
from pathlib import Path
import shutil
from typing import Any
import warnings

import optuna
import pandas as pd
import pytest


torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'optuna-zaps[zerocost]'")

from torch import nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from warned import only  # noqa: E402

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
    only(record)
    assert table["snip"].isna().tolist() == [False, False, True, True, False, False]


def test_one_network_that_cannot_do_what_the_others_do_is_nan_for_itself(tmp_path: Path) -> None:
    class Pair(nn.Module):
        def forward(self, inputs: torch.Tensor) -> Any:
            return inputs, inputs

    def odd(params: dict[str, Any]) -> Any:
        if params == {"width": 4, "depth": 1}:
            raise ValueError("no such architecture")
        others: dict[Any, Any] = {(4, 2): None, (8, 1): Pair(), (8, 2): nn.Linear(5, 2)}
        return others.get((params["width"], params["depth"]), build(params))

    options: dict[str, Any] = {"path": tmp_path, "chunk_size": 2, "progress": False}
    for _ in range(2):
        with pytest.warns(UserWarning, match=r"snip for 4 \(ValueError: no such architecture\)"):
            table = score_space(odd, SPACE, BATCH, proxies=["params", "snip"], **options)
        assert table["snip"].isna().tolist() == [True, True, True, True, False, False]
    assert len(list(tmp_path.glob("chunk-*"))) == 3


def detached(params: dict[str, Any]) -> nn.Module:
    class Detached(nn.Sequential):
        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            return super().forward(inputs).detach()

    return Detached(build(params))


def failing(params: dict[str, Any]) -> nn.Module:
    raise KeyError("wdith")


INPUTS, LABELS = BATCH
MISTAKES: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "device": ({"device": "cuda:99"}, ValueError, "device must be one .* but got 'cuda:99'"),
    "no device": ({"device": "gpu"}, ValueError, "device must be one .* but got 'gpu'"),
    "device without numbers": ({"device": "meta"}, ValueError, "device must be one .* 'meta'"),
    "no builder": ({"builder": None}, TypeError, "builder must be a function .* got None"),
    "network": ({"builder": nn.Linear(5, 3)}, TypeError, "builder must be .* network Linear"),
    "failing": ({"builder": failing}, ValueError, "none of the 6 has.* KeyError: 'wdith'"),
    "returns None": (
        {"builder": lambda _: None},
        ValueError,
        "builder must return a torch.nn.Mod",
    ),
    "detached": ({"builder": detached}, ValueError, "has no gradient: its forward pass detaches"),
    "length": ({"batch": (INPUTS, LABELS[:4])}, ValueError, "6 inputs and 4 targets"),
    "no batch": ({"batch": None}, ValueError, "batch must be a pair of tensors"),
    "one tensor": ({"batch": INPUTS[:2]}, ValueError, "batch must be a pair of tensors"),
    "width": ({"batch": (INPUTS[:, :4], LABELS)}, ValueError, "none of the 6 has.*6x4 and 5x4"),
    "float targets": ({"batch": (INPUTS, LABELS.float())}, ValueError, "none of the 6 .* Float"),
    "range": ({"batch": (INPUTS, LABELS + 1)}, ValueError, "Target 3 is out of bounds"),
    "not a number": ({"batch": (INPUTS / 0, LABELS)}, ValueError, "value is not finite"),
    "no loss": ({"loss": None}, TypeError, "loss must be a function .* got None"),
    "class": ({"loss": nn.CrossEntropyLoss}, ValueError, "none of the 6 has"),
    "float": ({"loss": lambda logits, targets: 1.0}, ValueError, "returned a value of type float"),
    "constant": ({"loss": lambda logits, _: logits.detach().sum()}, ValueError, "without a grad"),
    "per sample": ({"loss": partial(F.cross_entropy, reduction="none")}, ValueError, r"\(6,\)"),
    "seed": ({"seed": "0"}, TypeError, "seed must be an integer, but got '0'"),
    "broken seed": ({"seed": 1.5}, TypeError, "seed must be an integer, but got 1.5"),
    "large seed": ({"seed": 2**70}, ValueError, "seed must lie between"),
    "no process": ({"n_jobs": 0}, ValueError, "n_jobs must be positive"),
    "half a process": ({"n_jobs": 1.5}, TypeError, "n_jobs must be an integer"),
    "no proxies": ({"proxies": []}, ValueError, "at least one proxy"),
    "text": ({"proxies": "snip"}, TypeError, "sequence of names, but got 'snip'"),
    "no chunks": ({"chunk_size": 0}, ValueError, "chunk_size must be at least 1, but got 0"),
    "negative": ({"chunk_size": -1}, ValueError, "chunk_size must be at least 1, but got -1"),
    "broken chunks": ({"chunk_size": 1.5}, TypeError, "chunk_size must be an integer"),
    "true": ({"chunk_size": True}, TypeError, "chunk_size must be an integer, but got True"),
    "text for a size": (
        {"chunk_size": "3"},
        TypeError,
        "chunk_size must be an integer, but got '3'",
    ),
}


@pytest.mark.parametrize(("mistake", "error", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_of_the_call_is_an_error_and_is_not_kept(
    mistake: dict[str, Any], error: type[Exception], message: str, tmp_path: Path
) -> None:
    right = {"builder": build, "configurations": SPACE, "batch": BATCH, "chunk_size": 2}
    options: dict[str, Any] = {"proxies": ["params", "snip"], "path": tmp_path, "progress": False}
    with pytest.raises(error, match=message):
        score_space(**{**right, **options, **mistake})
    assert not list(tmp_path.iterdir())
    assert score_space(**{**right, **options}).notna().all(axis=None)


def test_a_mistake_is_found_by_processes_too(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"none of the 6 has.* KeyError: 'wdith'"):
        score_space(failing, SPACE, BATCH, path=tmp_path, n_jobs=2, chunk_size=2, progress=False)
    assert not list(tmp_path.iterdir())


def scaled(width: int) -> Callable[[dict[str, Any]], nn.Module]:
    return lambda params: nn.Sequential(nn.Linear(5, width), nn.Linear(width, 3))


OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "builder": ({"builder": build}, "builder"),
    "closure": ({"builder": scaled(4)}, "builder.width"),
    "loss": ({"loss": F.multi_margin_loss}, "loss"),
    "setting of the loss": ({"loss": nn.CrossEntropyLoss(label_smoothing=0.1)}, "loss"),
    "values": ({"batch": (INPUTS + 1, LABELS)}, "batch"),
    "type": ({"batch": (INPUTS.view(torch.int32), LABELS)}, "batch"),
    "shape": ({"batch": (INPUTS[:, None], LABELS)}, "batch"),
    "seed": ({"seed": 1}, "seed"),
    "chunk_size": ({"chunk_size": 2}, "chunk_size"),
    "proxies": ({"proxies": ["params"]}, "proxies"),
    "configurations": ({"configurations": {"depth": [1, 2], "width": [4, 8, 16]}}, "config"),
}


@pytest.mark.parametrize(("other", "name"), OTHERS.values(), ids=OTHERS)
def test_the_key_of_a_directory_holds_all_that_decides(
    other: dict[str, Any], name: str, tmp_path: Path
) -> None:
    call = {"configurations": SPACE, "batch": BATCH, "proxies": ["params", "snip"]}
    options: dict[str, Any] = {**call, "path": tmp_path, "progress": False}
    first = score_space(scaled(2), **options)
    with pytest.raises(ValueError, match=f"must hold chunks of the same .* different are {name}"):
        score_space(**{"builder": scaled(2), **options, **other})
    pd.testing.assert_frame_equal(score_space(scaled(2), **options), first)


def test_the_key_holds_the_device_and_the_data_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"proxies": ["params"], "path": tmp_path, "progress": False}
    score_space(build, SPACE, BATCH, **options)
    torch.set_default_dtype(torch.float64)
    try:
        with pytest.raises(ValueError, match="different are data type"):
            score_space(build, SPACE, BATCH, **options)
    finally:
        torch.set_default_dtype(torch.float32)
    score_space(build, SPACE, BATCH, device="cpu", **options)
    # Another device than the one that is there.
    monkeypatch.setattr(
        "optuna_zaps.zerocost._space.checked_device", lambda _: torch.device("cuda")
    )
    with pytest.raises(ValueError, match="different are device"):
        score_space(build, SPACE, BATCH, **options)


def test_what_a_builder_changes_itself_is_not_part_of_the_key(tmp_path: Path) -> None:
    class Counting:
        def __init__(self, bias: bool) -> None:
            self.calls, self.bias = 0, bias

        def __call__(self, params: dict[str, Any]) -> nn.Module:
            self.calls += 1
            return nn.Linear(5, 3, bias=self.bias)

    options: dict[str, Any] = {"proxies": ["params"], "path": tmp_path, "progress": False}
    counting = Counting(bias=True)
    score_space(counting, SPACE, BATCH, **options)
    score_space(counting, SPACE, BATCH, **options)
    assert counting.calls == 6
    counting.bias = False
    with pytest.raises(ValueError, match=r"different are builder\.bias\."):
        score_space(counting, SPACE, BATCH, **options)


def damaged_frame(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[Path], None]:
    return lambda file: change(pd.read_parquet(file)).to_parquet(file)


CHUNK, NOTE = "chunk-000000002.parquet", "fingerprint.json"
DAMAGES: dict[str, tuple[str, Callable[[Path], Any], int]] = {
    "truncated": (CHUNK, lambda file: file.write_bytes(file.read_bytes()[:-100]), 2),
    "empty": (CHUNK, lambda file: file.write_bytes(b""), 2),
    "garbage": (CHUNK, lambda file: file.write_bytes(b"PAR1" + bytes(500) + b"PAR1"), 2),
    "column left out": (CHUNK, damaged_frame(lambda frame: frame.drop(columns="snip")), 2),
    "other column": (CHUNK, damaged_frame(lambda frame: frame.assign(zen=1.0)), 2),
    "row left out": (CHUNK, damaged_frame(lambda frame: frame.head(1)), 2),
    "other value": (CHUNK, damaged_frame(lambda frame: frame.assign(snip=1.0)), 2),
    "text": (CHUNK, damaged_frame(lambda frame: frame.assign(snip="1")), 2),
    "other rows": (
        CHUNK,
        lambda file: shutil.copy(file.with_name("chunk-000000004.parquet"), file),
        2,
    ),
    "no JSON": (NOTE, lambda file: file.write_text("{"), 6),
    "no text": (NOTE, lambda file: file.write_bytes(b"\xff\xfe\x00"), 6),
    "empty note": (NOTE, lambda file: file.write_text(""), 6),
    "no mapping": (NOTE, lambda file: file.write_text(json.dumps("0" * 64)), 6),
    "list": (NOTE, lambda file: file.write_text("[1]"), 6),
    "empty mapping": (NOTE, lambda file: file.write_text("{}"), 6),
    "other digest": (
        NOTE,
        lambda file: file.write_text(file.read_text().replace('"seed": "', '"seed": "0')),
        6,
    ),
    "missing": (NOTE, lambda file: file.unlink(), 6),
}


@pytest.mark.parametrize(("name", "damage", "n_anew"), DAMAGES.values(), ids=DAMAGES)
def test_what_is_damaged_is_named_and_computed_anew(
    name: str, damage: Callable[[Path], Any], n_anew: int, tmp_path: Path
) -> None:
    built = []

    def counting(params: dict[str, Any]) -> nn.Module:
        built.append(params)
        return build(params)

    call: dict[str, Any] = {"proxies": ["params", "snip"], "path": tmp_path, "progress": False}
    first = score_space(counting, SPACE, BATCH, chunk_size=2, **call)
    damage(tmp_path / name)
    with pytest.warns(UserWarning, match=rf"Damaged files are not used .*{name} \(") as record:
        again = score_space(counting, SPACE, BATCH, chunk_size=2, **call)
    only(record)
    pd.testing.assert_frame_equal(again, first)
    assert len(built) == 6 + n_anew
    pd.testing.assert_frame_equal(score_space(counting, SPACE, BATCH, chunk_size=2, **call), first)
    assert len(built) == 6 + n_anew


def test_no_flipped_bit_changes_a_table(tmp_path: Path) -> None:
    call: dict[str, Any] = {"proxies": ["params"], "path": tmp_path, "progress": False}
    first = score_space(build, SPACE, BATCH, **call)
    file = tmp_path / "chunk-000000000.parquet"
    content = file.read_bytes()
    for position in range(0, len(content), len(content) // 20):
        file.write_bytes(
            content[:position] + bytes([content[position] ^ 4]) + content[position + 1 :]
        )
        with warnings.catch_warnings():
            # A bit that carries no value, such as one of a version, damages nothing.
            warnings.filterwarnings("ignore", "Damaged files")
            table = score_space(build, SPACE, BATCH, **call)
        pd.testing.assert_frame_equal(table, first)


def test_a_chunk_of_another_directory_is_not_taken(tmp_path: Path) -> None:
    call: dict[str, Any] = {"proxies": ["params"], "progress": False}
    score_space(scaled(2), SPACE, BATCH, path=tmp_path / "narrow", **call)
    wide = score_space(scaled(4), SPACE, BATCH, path=tmp_path / "wide", **call)
    chunk = "chunk-000000000.parquet"
    shutil.copy(tmp_path / "narrow" / chunk, tmp_path / "wide" / chunk)
    with pytest.warns(UserWarning, match="belongs to another run"):
        again = score_space(scaled(4), SPACE, BATCH, path=tmp_path / "wide", **call)
    pd.testing.assert_frame_equal(again, wide)


def test_a_failed_save_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: pd.DataFrame, part: Path) -> None:
        part.write_bytes(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", full)
    with pytest.raises(OSError, match="no space left"):
        score_space(build, SPACE, BATCH, proxies=["params"], path=tmp_path, progress=False)
    assert [file.name for file in tmp_path.iterdir()] == ["fingerprint.json"]


@pytest.mark.parametrize(
    ("configurations", "error", "message"),
    [
        ([], ValueError, "at least one configuration"),
        ({}, ValueError, "at least one configuration"),
        ([{}], ValueError, "at least one configuration"),
        (pd.DataFrame(), ValueError, "at least one configuration"),
        ({"width": []}, ValueError, "must have a choice, but 'width' has none"),
        ({"width": 4}, TypeError, "sequence of choices, but got 4 for 'width'"),
        ({"width": "ab"}, TypeError, "sequence of choices, but got 'ab' for 'width'"),
        ({"width": {4, 8}}, TypeError, "sequence of choices, but got {8, 4} for 'width'"),
        (None, TypeError, "must be a mapping of choices .* but got None"),
        (5, TypeError, "must be a mapping of choices .* but got 5"),
        ([1, 2], TypeError, "must be a mapping of choices .* but got 1"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, r"but got \['a'\] twice"),
        (
            [{"width": 4, "depth": 1}, {"width": 4}],
            ValueError,
            r"must have the parameters \['width', 'depth'",
        ),
    ],
)
def test_odd_configurations_are_refused(
    configurations: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        score_space(build, configurations, BATCH)
