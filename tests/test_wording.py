"""Plain English in docstrings: they open with a noun or a verb, in the words of the field."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
import re

import pytest


ROOT = Path(__file__).parents[1]
FILES = sorted(
    path
    for folder in ("optuna_zaps", "harness", "examples", "tests")
    for path in (ROOT / folder).rglob("*.py")
)
PUZZLES = re.compile(r"(What|Which|That|Who|How|Where|Those|These|It|The same|As in)\b")
PRIVATE_WORDS = re.compile(
    r"\b(arena|ladder|rungs?|lifts|feats?|arms?|dear|evidence)\b", re.IGNORECASE
)
"""Words of an earlier vocabulary, which no reader outside the project knew."""

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            yield text


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_docstrings_are_plain(path: Path) -> None:
    for text in docstrings(ast.parse(path.read_text(encoding="utf-8"))):
        assert not PUZZLES.match(text), f"Open it with a noun or a verb: {text[:80]}"
        assert not PRIVATE_WORDS.search(text), f"Say it in words of the field: {text[:80]}"
