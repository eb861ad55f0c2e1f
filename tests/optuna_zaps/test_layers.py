"""Layers of the package: Optuna is known to few of them, and imports run one way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import optuna_zaps


PACKAGE = Path(optuna_zaps.__file__).parent

BASE = "base"
"""Layer of the private modules beside the folders."""

BELOW = {
    "dashboard": {"sampler", "study", BASE},
    "sampler": {"study", "search", "surrogates", BASE},
    "study": {"search", "surrogates", BASE},
    "search": {"surrogates", BASE},
    "surrogates": {BASE},
    "zerocost": {"search", BASE},
    BASE: set[str](),
}
"""Layers that each layer may import, besides itself."""


def layer_of(module: str) -> str:
    """Layer of a module, by its name after that of the package."""
    top = module.partition(".")[0]
    return BASE if top.startswith("_") else top


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Name after that of the package, and syntax tree, of each module."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts != ("__init__",):  # what is public, from all layers
            yield ".".join(parts), ast.parse(path.read_text())


def imports_of(module: str, tree: ast.Module) -> Iterator[str]:
    """Full names of the modules and objects that a module imports, inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports by a relative name"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def breaches(module: str, tree: ast.Module) -> list[str]:
    """Imports of a module that its layer must not have."""
    layer = layer_of(module)
    wrong = []
    for name in imports_of(module, tree):
        package, _, rest = name.partition(".")
        if package == "optuna" and layer not in ("dashboard", "sampler", "study"):
            wrong.append(name)
        elif package == "harness":
            wrong.append(name)
        elif package == "optuna_zaps" and layer_of(rest) not in BELOW[layer] | {layer}:
            wrong.append(name)
    return wrong


def test_no_layer_knows_those_above() -> None:
    found = {module: breaches(module, tree) for module, tree in modules()}
    assert {layer_of(module) for module in found} == BELOW.keys()
    assert {module: wrong for module, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("search.pool", "import optuna"),
        ("search.pool", "from optuna.distributions import FloatDistribution"),
        ("search.pool", "def f():\n    import optuna.trial as t"),
        ("search.search", "from optuna_zaps.study import parameters"),
        ("search.search", "from optuna_zaps.study.parameters import grid"),
        ("surrogates.kernel", "from optuna_zaps.search.schedule import Schedule"),
        ("surrogates.kernel", "from optuna_zaps import search"),
        ("study.spaces", "from optuna_zaps.sampler import ZAPSSampler"),
        ("study.spaces", "from optuna_zaps import ZAPSSampler"),
        ("study.spaces", "import harness.problems"),
        ("zerocost._space", "import optuna"),
        ("_checks", "from optuna_zaps.search.choices import Choices"),
    ],
)
def test_an_import_of_a_layer_above_is_found(module: str, source: str) -> None:
    assert len(breaches(module, ast.parse(source))) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("sampler", "import optuna\nfrom optuna_zaps.study import parameters"),
        (
            "study.spaces",
            "from optuna.study import Study\nfrom optuna_zaps.search.pool import Pool",
        ),
        ("search.model", "from optuna_zaps.surrogates import Surrogate"),
        ("search.model", "import numpy\nfrom optuna_zaps._randomness import stream"),
        ("search.model", "from optuna_zaps import _checks"),
    ],
)
def test_an_import_of_a_layer_below_is_allowed(module: str, source: str) -> None:
    assert breaches(module, ast.parse(source)) == []
