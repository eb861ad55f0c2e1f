"""Text of a sampler or an object on the command line: ``[label=]target[(name=value, ...)]``."""

from __future__ import annotations

import ast
from dataclasses import dataclass
import json
import re
from typing import Any


_FORM = re.compile(
    r"""\s*(?:(?P<label>[^=():]+)=)?        # my-name=
        \s*(?P<target>[\w-]+|\w+(?:\.\w+)*:\w+)  # zaps, or optuna.samplers:TPESampler
        \s*(?:\((?P<arguments>.*)\))?\s*     # (multivariate=False)""",
    re.VERBOSE | re.DOTALL,
)
_EXAMPLES = "zaps, optuna.samplers:GPSampler, plain=optuna.samplers:TPESampler(multivariate=False)"


@dataclass(frozen=True)
class ParsedText:
    """Parts of a text.

    Attributes:
        label: Name in tables; by default the text itself, without the module.
        target: Name of a built-in sampler, or ``"module:Object"``.
        arguments: Keyword arguments.
    """

    label: str
    target: str
    arguments: dict[str, Any]


def parse(text: str) -> ParsedText:
    """Parse a text. Values are Python literals; nothing is evaluated.

    Args:
        text: ``[label=]target[(name=value, ...)]``.

    Returns:
        The parts.

    Raises:
        ValueError: If the text has another form.

    Example:
        >>> parse("plain=optuna.samplers:TPESampler(multivariate=False)")
        ParsedText(label='plain', target='optuna.samplers:TPESampler', \
arguments={'multivariate': False})
        >>> parse("optuna.samplers:GPSampler").label
        'GPSampler'
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(
            f"A sampler must be written [label=]target[(name=value, ...)], but got {text!r}. "
            f"Examples: {_EXAMPLES}."
        )
    written, target = match["label"], match["target"]
    arguments = _parse_arguments(match["arguments"] or "", text)
    return ParsedText((written or _label(target, arguments)).strip(), target, arguments)


def _label(target: str, arguments: dict[str, Any]) -> str:
    name = target.rpartition(":")[2]
    listed = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    return f"{name}({listed})" if listed else name


def _parse_arguments(arguments: str, text: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"_({arguments})", mode="eval").body
    except (
        SyntaxError,
        ValueError,
        RecursionError,
        MemoryError,
    ):  # All of ast.parse.
        raise ValueError(f"The arguments of {text!r} must be Python, but they are not.") from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ValueError(f"The arguments of {text!r} must be one list of name=value.")
    if call.args or any(keyword.arg is None for keyword in call.keywords):
        raise ValueError(f"The arguments of {text!r} must all have the form name=value.")
    names = [str(keyword.arg) for keyword in call.keywords]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"The arguments of {text!r} must each be given once, but {name!r} is given "
                f"{names.count(name)} times."
            )
    return {str(keyword.arg): _literal(keyword, text) for keyword in call.keywords}


def _literal(keyword: ast.keyword, text: str) -> Any:
    try:
        value = ast.literal_eval(keyword.value)
        json.dumps(value, allow_nan=False)  # It becomes part of the cell's content hash.
    except (ValueError, TypeError, RecursionError, MemoryError):
        raise ValueError(
            f"The argument {keyword.arg!r} of {text!r} must be a number, a string, a boolean, "
            f"None, or a list or dictionary of them, but got {ast.unparse(keyword.value)}."
        ) from None
    return value
