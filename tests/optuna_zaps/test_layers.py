"""Layers of the package: only `sampler.py` and `study/` know Optuna, and imports run one way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import optuna_zaps


PACKAGE = Path(optuna_zaps.__file__).parent


def imported(folder: str) -> Iterator[tuple[str, str]]:
    """Module that imports and name that it imports, for all modules of a folder."""
    for path in sorted((PACKAGE / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in names:
                yield str(path.relative_to(PACKAGE)), name


@pytest.mark.parametrize(
    ("folder", "forbidden"),
    [
        ("search", ("optuna", "optuna_zaps.sampler", "optuna_zaps.study")),
        ("surrogates", ("optuna", "optuna_zaps.sampler", "optuna_zaps.study")),
        ("zerocost", ("optuna", "optuna_zaps.sampler", "optuna_zaps.study")),
        ("study", ("optuna_zaps.sampler", "harness")),
    ],
)
def test_nothing_is_imported_from_a_layer_above(folder: str, forbidden: tuple[str, ...]) -> None:
    all_imported = list(imported(folder))
    assert all_imported
    wrong = [
        (module, name)
        for module, name in all_imported
        if any(f"{name}.".startswith(f"{each}.") for each in forbidden)
    ]
    assert wrong == []
