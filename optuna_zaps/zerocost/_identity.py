"""Digests of code and values: equal ones decide the same, in another process too.

A function is identified by its instructions and by what they read: constants, defaults, closure,
and global names, each followed in turn. A comment, a docstring, another name or another place in
the file change nothing, an edited helper does. An object is identified by its type and its state,
a tensor by its numbers. What is installed (the standard library, torch) is identified by its name
and the version of its package.

Limits: files and environment variables that the code reads are not seen, nor names that it makes
up as it runs (``getattr(module, name)``), nor the state of objects that cannot be pickled, such as
open files. Instructions differ between versions of Python.

Notations:
    part: Variable, global name or attribute, named by the path that leads to it, such as
        ``builder.Block.forward.WIDTH``. The elements of a list belong to the part of the list.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
import copyreg
import dis
from functools import cache
import hashlib
from importlib import import_module
from importlib.util import resolve_name
from operator import methodcaller
from pathlib import Path
import sys
import sysconfig
from types import BuiltinFunctionType
from types import CodeType
from types import FunctionType
from types import MethodType
from types import ModuleType
from typing import Any
from typing import NamedTuple

import numpy as np
import torch


class _Child(NamedTuple):
    """Part of a value: another value that it consists of or reads.

    Attributes:
        value: What it is.
        name: Name of the part that it is, empty if it belongs to the part of its parent.
    """

    value: Any
    name: str = ""


_ATOMS = (type(None), bool, int, float, complex, str, bytes, range, type(...))
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a class that was not made in C
_NOT_DECISIVE = {
    "__abstractmethods__",
    "__annotate__",
    "__annotate_func__",
    "__annotations__",
    "__annotations_cache__",
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__qualname__",
    "__static_attributes__",
    "__weakref__",
    "_abc_impl",
}
_SEQUENCES = (list, tuple, deque)
_IMMUTABLE = (*_ATOMS, tuple, frozenset, CodeType)
"""Equal ones may be one object in one process and two in another."""
_STANDARD_LIBRARY = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))
_INSTALLED = {"site-packages", "dist-packages"}


def digest(value: Any) -> str:
    """Digest of a value with all that it consists of."""
    return _combined(parts(value, ""))


def parts(value: Any, name: str) -> dict[str, str]:
    """Digest of each part of a value, by its path.

    Args:
        value:
            Function, object or plain value.
        name:
            Where the paths start.
    """
    found: dict[str, Any] = {}
    seen: dict[int, tuple[str, Any]] = {}  # holds the objects, so that no identity is used twice
    # Breadth first, so that an object that is reached twice belongs to the shorter path.
    waiting = deque([(name, "", value, True)])
    while waiting:
        path, label, reached, opens = waiting.popleft()
        children: list[_Child] = []
        if id(reached) in seen:
            text = f"the object at {seen[id(reached)][0]}"
        else:
            text, children = _unfolded(reached)
        if not isinstance(reached, _IMMUTABLE):
            seen.setdefault(id(reached), (path, reached))
        found.setdefault(path, hashlib.sha256()).update(f"{label} {text};".encode())
        opening = opens and not isinstance(reached, _SEQUENCES)
        for child in children:
            if opens and child.name:
                waiting.append((f"{path}.{child.name}", "", child.value, opening))
            else:
                waiting.append((path, child.name, child.value, opening))
    return {path: part.hexdigest()[:16] for path, part in found.items()}


def _combined(found: Mapping[str, str]) -> str:
    return hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()[:16]


def _unfolded(value: Any) -> tuple[str, list[_Child]]:
    """A value's own text, and its children."""
    for kind, unfold in _KINDS.items():
        if isinstance(value, kind):
            return unfold(value)
    return type(value).__qualname__, _state(value)


def _atom(value: Any) -> tuple[str, list[_Child]]:
    return f"{type(value).__qualname__} {value!r}", []


def _sequence(value: Collection[Any]) -> tuple[str, list[_Child]]:
    kind = type(value)
    return f"{kind.__qualname__} {len(value)}", [_Child(kind), *map(_Child, value)]


def _set(value: Collection[Any]) -> tuple[str, list[_Child]]:
    kind = type(value)
    return f"{kind.__qualname__} {sorted(map(digest, value))}", [_Child(kind)]


def _mapping(value: Mapping[Any, Any]) -> tuple[str, list[_Child]]:
    return type(value).__qualname__, [_Child(type(value)), *_entries(value)]


def _entries(mapping: Mapping[Any, Any]) -> Iterator[_Child]:
    for key, value in mapping.items():
        if isinstance(key, str):
            yield _Child(value, key)
        else:
            yield from (_Child(key), _Child(value))


def _state(value: Any) -> list[_Child]:
    """Type and state of an object."""
    children = [_Child(type(value))]
    wrapped = getattr(value, "__wrapped__", None)
    if wrapped is not None:  # a cached function
        return [*children, _Child(wrapped, "__wrapped__")]
    reduce = copyreg.dispatch_table.get(type(value), methodcaller("__reduce_ex__", 4))
    try:
        reduced: Any = reduce(value)
    except Exception:  # What cannot be pickled says so in many ways.
        reduced = (None, (), getattr(value, "__dict__", None))
    if isinstance(reduced, str):  # a global object, by its name
        return [*children, _Child(reduced)]
    maker, arguments, state, *iterators = (*reduced, None)[: max(3, min(len(reduced), 5))]
    children += [_Child(maker), *map(_Child, arguments)]
    for items in state if isinstance(state, tuple) else (state,):
        children += _entries(items) if isinstance(items, dict) else [_Child(items)]
    for items in iterators:
        children += [] if items is None else [_Child(list(items))]
    return children


def _module(value: ModuleType) -> tuple[str, list[_Child]]:
    return f"module {_installed_name(value.__name__, '')}", []


def _builtin(value: BuiltinFunctionType) -> tuple[str, list[_Child]]:
    owner = value.__self__
    held = [] if isinstance(owner, ModuleType) else [_Child(owner)]
    return f"function {value.__qualname__}", held


def _wrapper(value: Any) -> tuple[str, list[_Child]]:
    held = ("__func__", "__self__", "fget", "fset", "fdel")
    return type(value).__qualname__, [_Child(getattr(value, name, None)) for name in held]


def _class(value: type) -> tuple[str, list[_Child]]:
    if _is_installed_class(value):
        return f"class {_installed_name(value.__module__, value.__qualname__)}", []
    own = [
        _Child(attribute, name)
        for name, attribute in vars(value).items()
        if name not in _NOT_DECISIVE
    ]
    return f"class {value.__qualname__}", [*map(_Child, value.__bases__), *own]


def _function(function: FunctionType) -> tuple[str, list[_Child]]:
    if not _is_library(function.__code__.co_filename):
        return "function", [*_arguments(function), *_read(function)]
    module = function.__globals__.get("__name__")
    name = f"function {_installed_name(module, function.__code__.co_qualname)}"
    if getattr(sys.modules.get(module or ""), function.__name__, None) is function:
        return name, []
    # A function that a library made, such as a decorator's, holds some of the user's.
    return name, [*_arguments(function), *(_Child(held) for _, held in _closure(function))]


def _arguments(function: FunctionType) -> list[_Child]:
    defaults = [_Child(function.__defaults__), _Child(function.__kwdefaults__)]
    return [*defaults, *_entries(vars(function))]


def _closure(function: FunctionType) -> Iterator[tuple[str, Any]]:
    cells = function.__closure__ or ()
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # a variable that has no value yet
            continue


def _read(function: FunctionType) -> list[_Child]:
    """Instructions of a function, and the values of the names that they read."""
    namespace = function.__globals__
    read = _Read(function.__code__, namespace)
    named = [
        *_closure(function),
        *((name, namespace[name]) for name in sorted(read.globals & namespace.keys())),
        *((module.__name__, module) for module in read.imports),
    ]
    children = [_Child(function.__code__)]
    for name, value in named:
        children += read.followed(name, value)
    return children


_LOADS_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")


class _Read:
    """Names that the code of a function reads, that of the functions in it too.

    Attributes:
        globals: Global names.
        attributes: Names of attributes.
        imports: Modules that are imported as it runs.
    """

    def __init__(self, code: CodeType, namespace: Mapping[str, Any]) -> None:
        self.globals: set[str] = set()
        self.attributes: set[str] = set()
        self.imports: list[ModuleType] = []
        self._package = namespace.get("__package__") or ""
        self._add(code)

    def _add(self, code: CodeType) -> None:
        instructions = [one for one in dis.get_instructions(code) if one.opname != "EXTENDED_ARG"]
        for position, instruction in enumerate(instructions):
            name = instruction.argval
            if instruction.opname in _LOADS_GLOBAL and name != "__name__":
                self.globals.add(name)
            elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"):
                self.attributes.add(name)
            elif instruction.opname == "IMPORT_NAME":
                self._import(name, level=instructions[position - 2].argval)
            elif isinstance(name, CodeType):
                self._add(name)

    def _import(self, name: str, level: int) -> None:
        # The function is about to import it anyway.
        try:
            self.imports.append(import_module(resolve_name("." * level + name, self._package)))
        except Exception:  # A module that is not there is not read.
            return

    def followed(self, name: str, value: Any) -> list[_Child]:
        """A value by its name; for a module of the user's, those of its names that are read."""
        if not isinstance(value, ModuleType) or _is_installed(value.__name__):
            return [_Child(value, name)]
        found, waiting = {value.__name__: value}, [value]
        children = []
        while waiting:
            module = waiting.pop()
            for attribute in sorted(self.attributes & vars(module).keys()):
                held = vars(module)[attribute]
                if not isinstance(held, ModuleType) or _is_installed(held.__name__):
                    children.append(_Child(held, f"{name}.{attribute}"))
                elif held.__name__ not in found:
                    found[held.__name__] = held
                    waiting.append(held)
        return children


def _code(code: CodeType) -> tuple[str, list[_Child]]:
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    children = [_Child(names), _Child(code.co_posonlyargcount), _Child(code.co_flags)]
    children.append(_Child(getattr(code, "co_exceptiontable", b"")))
    # The values rather than their positions: a docstring has a position, but is not read.
    for instruction in dis.get_instructions(code):
        children += [_Child(instruction.opname), _Child(instruction.argval)]
    return "code", children


def _tensor(value: torch.Tensor) -> tuple[str, list[_Child]]:
    numbers = value.detach().to_dense().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    shape = tuple(value.shape)
    return f"tensor {value.dtype} {shape} {hashlib.sha256(numbers.data).hexdigest()}", []


def _array(value: np.ndarray[Any, Any]) -> tuple[str, list[_Child]]:
    kind = f"array {value.dtype.descr} {value.shape}"
    if value.dtype.hasobject:
        return kind, [_Child(value.tolist())]
    return f"{kind} {hashlib.sha256(value.tobytes()).hexdigest()}", []


_KINDS: dict[Any, Callable[[Any], tuple[str, list[_Child]]]] = {
    _ATOMS: _atom,
    _SEQUENCES: _sequence,
    (set, frozenset): _set,
    dict: _mapping,
    torch.Tensor: _tensor,
    np.ndarray: _array,
    CodeType: _code,
    ModuleType: _module,
    type: _class,
    FunctionType: _function,
    BuiltinFunctionType: _builtin,
    (MethodType, property, staticmethod, classmethod): _wrapper,
}


def _is_installed(module: str | None) -> bool:
    """Whether a module is no code of the user's: the libraries' and what is written in C."""
    if module is None or module == "__main__" or module not in sys.modules:
        return False
    file = getattr(sys.modules[module], "__file__", None)
    return file is None or _is_library(file) or not file.endswith((".py", ".pyc", ".ipynb"))


def _is_installed_class(value: type) -> bool:
    if value.__module__ == "builtins":  # where a class without a module says to be from
        return not value.__flags__ & _HEAP_TYPE
    return _is_installed(value.__module__)


@cache
def _is_library(file: str) -> bool:
    path = Path(file)
    if file.startswith("<frozen") or not _INSTALLED.isdisjoint(path.parts):
        return True
    return any(path.is_relative_to(folder) for folder in _STANDARD_LIBRARY)


def _installed_name(module: str | None, name: str) -> str:
    package = sys.modules.get((module or "").partition(".")[0])
    return f"{module}.{name} {getattr(package, '__version__', '')}"
