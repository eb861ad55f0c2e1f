"""Fingerprint of the code behind a sampler, so that results of other code are not reused.

A stored result stays valid until the code that decided its trials changes. Such code is the module
of the sampler and every module of source that it imports, directly or not. A module is hashed by
its syntax tree without docstrings, comments and formatting, and stands in its importers by its
hash, not by its name: results survive a moved file and a corrected comment.

Modules may import each other, so the hashes are refined in rounds, like colours in the test of
Weisfeiler and Leman for graphs:

    h_0(m) = hash of the tree of m, in which each module of source is a hole,
    h_k+1(m) = hash of h_0(m) and of h_k of the modules in its holes.

After as many rounds as there are modules, a change of any of them has reached all that import it.

Notations:
    source: a module whose file is followed: of this project, or a user's own of no distribution.
    library: any other module; its imports count as text.
    hole: use of a module of source in a tree, wherever that module lies.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from functools import lru_cache
import hashlib
from importlib.metadata import PackageNotFoundError
from importlib.metadata import packages_distributions
from importlib.metadata import version
from importlib.util import find_spec
from importlib.util import resolve_name
from pathlib import Path
import sys
from typing import TypeGuard

from harness import hub


_OWN = ("harness", "optuna_zaps")
_COMMON = frozenset({"numpy", "optuna", "optunahub", "pandas", "scipy"})
_DECISIVE = ("sklearn", "xgboost")
"""Libraries with models in them: another version may decide otherwise."""


@lru_cache
def fingerprint(module: str) -> str:
    """Identify the code of a sampler.

    Args:
        module: Name of the module that defines the sampler's class.

    Returns:
        For a module of this project or a user's own file, the hash of its code and of the code
        that it imports, and the versions of the libraries that their decisions depend on; for a
        module of an installed distribution, the version of that; and always Optuna's version.
    """
    package = module.partition(".")[0]
    if package == "optuna":
        parts = []
    elif hub.is_package(module):
        code, imported = hub.code_of(module)
        decisive = {name for name in imported if _distribution(name)} - _COMMON
        parts = [code, *(_release(name) for name in sorted(decisive))]
    elif _is_source(package):
        trees = _trees_behind(module)
        libraries = {name for tree in trees.values() for name in tree.libraries}
        parts = [_refined(trees)[module].hex()[:16]]
        parts += [_release(name) for name in _DECISIVE if name in libraries]
    else:
        parts = [_release(package)]
    return ", ".join([*parts, _release("optuna")])


@dataclass(frozen=True)
class _Tree:
    """Code of one module, apart from the modules of source that it uses.

    Attributes:
        digest: Hash of the syntax tree with its holes, and of the imports of libraries.
        holes: Module in each hole, in order.
        imports: Imported modules of source, each with the names that it gives and that the tree
            knows them by.
        libraries: Import names of libraries.
    """

    digest: bytes
    holes: tuple[str, ...] = ()
    imports: frozenset[tuple[str, str]] = frozenset()
    libraries: frozenset[str] = frozenset()

    @property
    def modules(self) -> set[str]:
        return {*self.holes, *(module for module, _ in self.imports)}


def _trees_behind(module: str) -> dict[str, _Tree]:
    """Trees of a module and of all that it imports, by name."""
    trees: dict[str, _Tree] = {}
    waiting = {module}
    while waiting:
        name = waiting.pop()
        trees[name] = _tree(name)
        waiting |= trees[name].modules - trees.keys()
    return trees


def _refined(trees: dict[str, _Tree]) -> dict[str, bytes]:
    """Hash of each module and of all that it imports; see the notes of this module."""
    hashes = {name: tree.digest for name, tree in trees.items()}
    for _ in trees:
        hashes = {
            name: _digest(
                tree.digest,
                *(hashes[module] for module in tree.holes),
                # Sorted, for a module that is renamed is imported on another line.
                *sorted(hashes[module] + names.encode() for module, names in tree.imports),
            )
            for name, tree in trees.items()
        }
    return hashes


def _tree(module: str) -> _Tree:
    path = _path(module)
    if path is None:  # Made while the process runs, as in a notebook.
        return _Tree(_digest(b"unknown"))
    return _read(module, path.name == "__init__.py", path.read_bytes())


@cache
def _read(module: str, is_package: bool, content: bytes) -> _Tree:
    try:
        return _Reader(module if is_package else module.rpartition(".")[0], content).read()
    except (SyntaxError, ValueError, ImportError, RecursionError):  # Compiled, or not readable.
        return _Tree(_digest(content))


class _Reader:
    """Reads the tree of one module.

    Args:
        package: Name of the package that it is in, or is.
        content: Content of its file.

    Raises:
        SyntaxError: If that is no Python.
        ValueError: If it is no text.
    """

    def __init__(self, package: str, content: bytes) -> None:
        self._package = package
        self._tree = tree = ast.parse(content)
        # A name that is also a variable's is no hole: it stands for both.
        self._variables = {
            node.arg if isinstance(node, ast.arg) else node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.arg)
            or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        }
        self._module_of: dict[str, str] = {}
        self._holes: list[str] = []
        self._imports: set[tuple[str, str]] = set()
        self._libraries: set[str] = set()

    def read(self) -> _Tree:
        """Digest the tree.

        Raises:
            ImportError: If a relative import leaves the package.
            RecursionError: If the tree is nested too deeply.
        """
        tokens = [*self._tokens(self._tree), *sorted(self._libraries)]
        return _Tree(
            _digest(*map(str.encode, tokens)),
            tuple(self._holes),
            frozenset(self._imports),
            frozenset(text.split()[1].partition(".")[0] for text in self._libraries),
        )

    def _tokens(self, value: object) -> Iterator[str]:
        """Text of a part of the tree, the same for every version of Python and formatting."""
        if isinstance(value, list):
            yield "["
            for item in value:
                yield from self._tokens(item)
            yield "]"
        elif isinstance(value, ast.Import):
            self._import(value)
        elif isinstance(value, ast.ImportFrom):
            self._import_from(value)
        elif _is_typing_only(value):
            yield from self._tokens(value.orelse)
        elif not isinstance(value, ast.AST):
            yield repr(value)
        elif not _is_idle(value):
            yield from self._hole(value) or self._node(value)

    def _node(self, node: ast.AST) -> Iterator[str]:
        yield f"({type(node).__name__}"
        for name, value in ast.iter_fields(node):
            # Later versions of Python add fields, which are empty where nothing uses them.
            if value is not None and value != [] and name not in ("kind", "type_comment"):
                yield name
                yield from self._tokens(value)
        yield ")"

    def _hole(self, node: ast.AST) -> list[str]:
        """Text of ``module.name``, where that is or begins with a module of source."""
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.insert(0, node.attr)
            node = node.value
        if not (isinstance(node, ast.Name) and node.id in self._module_of):
            return []
        module = self._module_of[node.id]
        while names and _path(f"{module}.{names[0]}"):
            module = f"{module}.{names.pop(0)}"
        if not _path(module):  # A package without code, of which nothing else is used.
            return []
        self._holes.append(module)
        return ["hole", *names]

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            if not _path(alias.name):
                self._libraries.add(f"import {alias.name} as {alias.asname}")
            elif alias.asname:
                self._bind(alias.asname, alias.name, alias.name)
            else:
                package = alias.name.partition(".")[0]
                self._bind(package, package, alias.name)

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = resolve_name("." * node.level + (node.module or ""), self._package)
        for alias in node.names:
            if _path(f"{module}.{alias.name}"):
                part = f"{module}.{alias.name}"
                self._bind(alias.asname or alias.name, part, part)
            elif _path(module):
                self._imports.add((module, f"{alias.name} as {alias.asname}"))
            else:
                self._libraries.add(f"from {module} import {alias.name} as {alias.asname}")

    def _bind(self, name: str, module: str, imported: str) -> None:
        """Let a name of the tree stand for a module, if it stands for nothing else."""
        if name in self._variables or self._module_of.get(name, module) != module:
            self._imports.add((imported, name))
        else:
            self._imports.add((imported, ""))
            self._module_of[name] = module


def _is_idle(node: ast.AST) -> bool:
    """Whether a statement does nothing: a docstring, ``...`` or ``pass``."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Pass)


def _is_typing_only(node: object) -> TypeGuard[ast.If]:
    """Whether a statement is ``if TYPE_CHECKING:``, whose body never runs."""
    if not isinstance(node, ast.If):
        return False
    test = node.test.attr if isinstance(node.test, ast.Attribute) else node.test
    return (test.id if isinstance(test, ast.Name) else test) == "TYPE_CHECKING"


def _digest(*parts: bytes) -> bytes:
    """Hash of parts and of where each ends."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8))
        digest.update(part)
    return digest.digest()


def _path(module: str) -> Path | None:
    """File of a module of source, None for a library and for what is no module."""
    package, *names = module.split(".")
    spec = find_spec(package) if _is_source(package) else None
    if spec is None:
        return None
    if spec.submodule_search_locations is None:
        return Path(spec.origin) if spec.origin and not names else None
    for location in spec.submodule_search_locations:
        base = Path(location, *names)
        paths = [base / "__init__.py", *([base.with_name(f"{names[-1]}.py")] if names else [])]
        for path in paths:
            if path.is_file():
                return path
    return None


@lru_cache
def _is_source(package: str) -> bool:
    known = package in sys.stdlib_module_names or _distribution(package) is not None
    return package in _OWN or (bool(package) and not known)


def _release(package: str) -> str:
    """Distribution and version that an import name comes from."""
    distribution = _distribution(package)
    return f"{distribution} {version(distribution)}" if distribution else f"{package} unknown"


@lru_cache
def _distribution(package: str) -> str | None:
    # An import name can be of several distributions: xgboost is also in xgboost-cpu.
    for name in sorted({package, *_distributions().get(package, [])}):
        try:
            version(name)
        except PackageNotFoundError:
            continue
        return name
    return None


@lru_cache
def _distributions() -> dict[str, list[str]]:
    return dict(packages_distributions())
