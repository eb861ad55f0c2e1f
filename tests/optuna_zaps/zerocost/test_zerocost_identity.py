"""Digests of code: two builders that make other networks must never have the same one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from functools import partial
from functools import wraps
import importlib
from pathlib import Path
import re
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pandas as pd
import pytest


torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'optuna-zaps[zerocost]'")

from torch import nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

from optuna_zaps.zerocost._identity import digest  # noqa: E402
from optuna_zaps.zerocost._identity import parts  # noqa: E402


def executed(source: str) -> Any:
    namespace = {"nn": nn, "__name__": "of_a_user"}
    exec(source, namespace)
    return namespace["build"]


def with_closure(width: Any) -> Callable[..., nn.Module]:
    def build(params: dict[str, Any]) -> nn.Module:
        return nn.Linear(width, 3)

    return build


def with_default(params: dict[str, Any], width: int = 1, *, depth: int = 1) -> nn.Module:
    return nn.Linear(width, depth)


def through(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any) -> Any:
        return function(*args)

    return call


class Factory:
    def __init__(self, width: int) -> None:
        self.width = width

    def __call__(self, params: dict[str, Any]) -> nn.Module:
        return nn.Linear(self.width, 3)

    def build(self, params: dict[str, Any]) -> nn.Module:
        return nn.Linear(self.width, 3)


class Slotted:
    __slots__ = ("width",)

    def __init__(self, width: int) -> None:
        self.width = width


@dataclass(frozen=True)
class Settings:
    width: int


EDITS = {
    "constant": "def build(params):\n    return nn.Linear(5, {})",
    "default": "def build(params, width={}):\n    return nn.Linear(width, 3)",
    "keyword default": "def build(params, *, width={}):\n    return nn.Linear(width, 3)",
    "global": "width = {}\ndef build(params):\n    return nn.Linear(width, 3)",
    "helper": "def make():\n    return nn.Linear(5, {})\ndef build(params):\n    return make()",
    "helper's helper": (
        "def width(): return {}\ndef make(): return nn.Linear(5, width())\n"
        "def build(params): return make()"
    ),
    "class": (
        "class Net(nn.Module):\n    def forward(self, x):\n        return x * {}\n"
        "def build(params):\n    return Net()"
    ),
    "base class": (
        "class Base(nn.Module):\n    def forward(self, x):\n        return x * {}\n"
        "class Net(Base):\n    pass\ndef build(params):\n    return Net()"
    ),
    "attribute of a class": (
        "class Net(nn.Module):\n    scale = {}\ndef build(params):\n    return Net()"
    ),
    "local class": (
        "def build(params):\n    class Net(nn.Module):\n        scale = {}\n    return Net()"
    ),
    "comprehension": "def build(params):\n    return [nn.Linear(5, {}) for _ in range(1)][0]",
    "lambda": "build = lambda params: nn.Linear(5, {})",
    "attribute of a function": (
        "def build(params):\n    return nn.Linear(5, build.width)\nbuild.width = {}"
    ),
}


@pytest.mark.parametrize("source", EDITS.values(), ids=EDITS)
def test_an_edit_changes_it_wherever_it_is(source: str) -> None:
    before, same, after = (executed(source.format(width)) for width in (3, 3, 4))
    assert digest(before) == digest(same)
    assert digest(before) != digest(after)


def test_comments_docstrings_names_and_places_change_nothing() -> None:
    first = executed("def build(params):\n    return nn.Linear(5, 3)")
    second = executed(
        "\n\ndef make(params):\n    'Makes it.'\n    # Narrow.\n    return nn.Linear(5, 3)\n"
        "build = make"
    )
    assert digest(first) == digest(second)


@pytest.mark.parametrize(
    "make",
    [
        with_closure,
        lambda width: with_closure({"width": width}),
        lambda width: partial(with_default, width=width),
        lambda width: partial(with_closure(width)),
        Factory,
        lambda width: Factory(width).build,
        Slotted,
        Settings,
        lambda width: torch.no_grad()(with_closure(width)),
        lambda width: through(with_closure(width)),
        lambda width: cache(with_closure(width)),
        lambda width: nn.CrossEntropyLoss(label_smoothing=width / 10),
        lambda width: nn.CrossEntropyLoss(weight=torch.full((3,), float(width))),
        lambda width: partial(F.cross_entropy, label_smoothing=width / 10),
        lambda width: torch.tensor([width], dtype=torch.bfloat16),
        lambda width: np.arange(5000) == width,
        lambda width: pd.DataFrame({"width": np.arange(5000) == width}),
        np.random.default_rng,
        lambda width: re.compile(str(width)),
        lambda width: {"a", "b", width},
        lambda width: [{"width": width, "depth": 1}],
    ],
)
def test_what_code_holds_counts(make: Callable[[int], Any]) -> None:
    assert digest(make(1)) == digest(make(1))
    assert digest(make(1)) != digest(make(2))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (F.cross_entropy, F.mse_loss),
        (torch.relu, torch.tanh),
        (nn.ReLU, nn.GELU),
        (1, True),
        (1, 1.0),
        (1, "1"),
        ([[1], 2], [[1, 2]]),
        ([{"a": 1, "b": 2}], [{"b": 1, "a": 2}]),
        (torch.zeros(6), torch.zeros(6, dtype=torch.int32)),
        (torch.zeros(2, 3), torch.zeros(3, 2)),
        (torch.float32, torch.float64),
    ],
)
def test_other_values_are_told_apart(one: Any, other: Any) -> None:
    assert digest(one) != digest(other)


def test_what_cannot_be_read_or_refers_to_itself_has_a_digest() -> None:
    circle: list[Any] = []
    circle.append(circle)
    for value in (circle, threading.Lock(), sys, (one for one in ()), lambda: missing):  # type: ignore[name-defined] # noqa: F821
        assert digest(value) == digest(value)


MODULES = {
    "as a module": "import {0}\ndef build(params):\n    return {0}.make()",
    "by name": "from {0} import make\ndef build(params):\n    return make()",
    "as it runs": "def build(params):\n    import {0}\n    return {0}.make()",
    "by name as it runs": "def build(params):\n    from {0} import make\n    return make()",
}


@pytest.mark.parametrize("source", MODULES.values(), ids=MODULES)
def test_an_edited_module_of_the_user_changes_it(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    found = []
    for number in (3, 3, 4):
        (tmp_path / "zaps_user_blocks.py").write_text(f"def make():\n    return {number}\n")
        importlib.invalidate_caches()
        monkeypatch.delitem(sys.modules, "zaps_user_blocks", raising=False)
        found.append(digest(executed(source.format("zaps_user_blocks"))))
    assert found[0] == found[1] != found[2]


def sample() -> list[Any]:
    held = with_closure({"width": {"a", "b"}}), Factory(1), nn.CrossEntropyLoss()
    return [*held, with_default, F.max_pool2d, lambda x: x in {"a", "b", "c"}]


def test_it_is_the_same_in_another_process() -> None:
    module = Path(__file__).stem
    done = subprocess.run(
        [sys.executable, "-c", f"import {module} as t; print(t.digest(t.sample()))"],
        cwd=Path(__file__).parent,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == digest(sample())


def test_a_part_is_named_by_its_path() -> None:
    before, after = (parts(with_closure(Settings(width)), "builder") for width in (1, 2))
    assert [name for name in before if before[name] != after[name]] == ["builder.width.width"]
