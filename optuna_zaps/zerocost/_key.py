"""The key of a scored space: what decides its values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from functools import cached_property
from pathlib import Path
import platform
from typing import Any

import torch

from optuna_zaps.zerocost._identity import digest
from optuna_zaps.zerocost._identity import parts


class Key:
    """Digests of all that decides the values, by name.

    Args:
        values:
            Values by name, of which a digest is computed once.
        code:
            Functions by name, whose parts are read at every call.
    """

    def __init__(self, values: Mapping[str, Any], code: Mapping[str, Any]) -> None:
        self._values = values
        self._code = code

    def __call__(self) -> dict[str, str]:
        found = dict(self._digests)
        for name, function in self._code.items():
            found |= parts(function, name)
        return found

    @cached_property
    def _digests(self) -> dict[str, str]:
        digests = {name: digest(value) for name, value in self._values.items()}
        return digests | {"data type": digest(torch.get_default_dtype()), "versions": _versions()}


@cache
def _versions() -> str:
    """Digest of the versions of Python and torch, and of this package's code."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    # Level 2 leaves out docstrings.
    code = [compile(file.read_bytes(), file.name, "exec", optimize=2) for file in files]
    return digest([platform.python_version_tuple()[:2], str(torch.__version__), *code])
