"""What identifies the code behind a sampler, so that results of other code are not reused."""

from __future__ import annotations

from functools import lru_cache
import hashlib
from importlib.metadata import PackageNotFoundError
from importlib.metadata import packages_distributions
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path


def fingerprint(module: str) -> str:
    """Identify the code of a sampler.

    Args:
        module: Name of the module that defines the sampler's class.

    Returns:
        For this project's samplers a hash of ``optuna_zaps/**/*.py`` and the versions of what
        their decisions depend on; for others the version of the distribution, or, for a module of
        no distribution (a user's own file), a hash of its source; and always Optuna's version.
    """
    package = module.partition(".")[0]
    if package == "optuna_zaps":
        parts = [f"optuna_zaps {_hash_sources(package)}", *map(_release, ("xgboost",))]
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
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.relative_to(root.parent).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
