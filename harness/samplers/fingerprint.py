"""What identifies the code behind a sampler, so that results of other code are not reused."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
import hashlib
from importlib.metadata import PackageNotFoundError
from importlib.metadata import packages_distributions
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path


_DECISIVE = ("sklearn", "xgboost")
"""Libraries with models in them: another version may decide otherwise."""


def fingerprint(module: str) -> str:
    """Identify the code of a sampler.

    Args:
        module: Name of the module that defines the sampler's class.

    Returns:
        For ``optuna_zaps`` a hash of its sources and the versions of what their decisions depend
        on; for the harness's samplers a hash of the module and of what it imports of this
        project, directly or not, so that a change to one baseline leaves the results of the
        others; for others the version of the distribution, or, for a module of no distribution (a
        user's own file), a hash of its source; and always Optuna's version.
    """
    package = module.partition(".")[0]
    if package == "optuna_zaps":
        parts = [f"optuna_zaps {_hash_sources(package)}", *map(_release, ("xgboost",))]
    elif package == "harness":
        sources, libraries = _behind(module)
        parts = [f"{module} {_hash(sources)}", *map(_release, libraries)]
    elif package == "optuna":
        parts = []
    else:
        parts = [_release(package)]
    return ", ".join([*parts, _release("optuna")])


@lru_cache
def _release(package: str) -> str:
    """Distribution and version that an import name comes from, or a hash of the sources."""
    # An import name can be of several distributions: xgboost is also in xgboost-cpu.
    for distribution in sorted({package, *packages_distributions().get(package, ())}):
        try:
            return f"{distribution} {version(distribution)}"
        except PackageNotFoundError:
            continue
    return f"{package} {_hash_sources(package)}"


@lru_cache
def _hash_sources(package: str) -> str:
    """Hash of the sources of a package or of a module that is one file."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        return "unknown"
    root = Path(spec.origin)
    paths = sorted(root.parent.rglob("*.py")) if spec.submodule_search_locations else [root]
    return _hash({path.relative_to(root.parent).as_posix(): path.read_bytes() for path in paths})


def _hash(sources: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, source in sources.items():
        digest.update(name.encode())
        digest.update(source)
    return digest.hexdigest()[:16]


@lru_cache
def _behind(module: str) -> tuple[dict[str, bytes], list[str]]:
    """Sources by name of a module of ours and what it imports, and the decisive libraries."""
    sources: dict[str, bytes] = {}
    imported: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        spec = find_spec(name)
        if name in sources or spec is None or spec.origin is None:
            continue
        sources[name] = Path(spec.origin).read_bytes()
        names = set(_imports(sources[name]))
        imported |= {other.partition(".")[0] for other in names}
        waiting += [other for other in names if other.startswith(("harness.", "optuna_zaps."))]
    return dict(sorted(sources.items())), [name for name in _DECISIVE if name in imported]


def _imports(source: bytes) -> Iterator[str]:
    """Names of the modules that a source imports, inside functions too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
