"""Packages of the OptunaHub registry, as modules: ``optunahub.samplers.hebo``.

OptunaHub downloads a package when it is first loaded, to a folder of its cache. Here only what
lies there is loaded: a comparison downloads nothing, and all of its workers run one version.
"""

from __future__ import annotations

import ast
import hashlib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType


_PREFIXES = ("optunahub.", "optunahub_registry.package.")
_PARTS = 2
_REGISTRY = Path("github.com", "optuna", "optunahub-registry", "main", "package")


def is_package(module: str) -> bool:
    """Whether a module is a package of the registry, or inside one.

    Example:
        >>> is_package("optunahub.samplers.hebo"), is_package("optunahub.samplers")
        (True, False)
    """
    return len(_path(module).parts) == _PARTS


def folder(module: str) -> Path | None:
    """Folder of a package, ``None`` if this machine does not have it."""
    if find_spec("optunahub") is None:
        return None
    cache = import_module("optunahub._conf").cache_home()  # OptunaHub has no public name for it.
    found = Path(cache, _REGISTRY, _path(module))
    return found if found.is_dir() else None


def how_to_have(module: str) -> str:
    """Command that downloads a package."""
    return f"python -c 'import optunahub; optunahub.load_module(\"{_path(module).as_posix()}\")'"


def load(module: str) -> ModuleType:
    """Import a package.

    Raises:
        ImportError: If this machine does not have it.
    """
    found = folder(module)
    if found is None:
        raise ImportError(
            f"it is not downloaded. Run: pip install optunahub && {how_to_have(module)}"
        )
    registry = import_module("optunahub")
    loaded: ModuleType = registry.load_local_module(
        _path(module).as_posix(), registry_root=str(found.parents[1])
    )
    return loaded


def code_of(module: str) -> tuple[str, set[str]]:
    """Hash of the code of a package, and the packages that it imports."""
    root = folder(module)
    files = sorted(root.rglob("*.py")) if root else []
    digest = hashlib.sha256()
    imported: set[str] = set()
    for file in files:
        digest.update(file.read_bytes())
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    return digest.hexdigest()[:16], imported


def _path(module: str) -> Path:
    """Path of a package in the registry, empty for any other module."""
    for prefix in _PREFIXES:
        if module.startswith(prefix):
            return Path(*module.removeprefix(prefix).split(".")[:_PARTS])
    return Path()
