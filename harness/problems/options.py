"""Texts of a user's own problems: a target and its options, ``TARGET?name=value&name=value``.

A text says all that a process needs to find the problem, so that worker processes and clusters
resolve it themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from urllib.parse import parse_qsl
from urllib.parse import quote
from urllib.parse import unquote

from optuna.study import StudyDirection


Options = Mapping[str, Sequence[str]]
"""Values of each option by its name."""

_PLAIN = " ()=:,/<>'\"[]{}"  # Characters of a target and of a value that need no escape.


def compose(target: str, options: Options) -> str:
    """Text of a target with options; those without a value are left out.

    Example:
        >>> compose("runs.csv", {"params": ["lr", "width"], "objective": ["score"], "limit": []})
        'runs.csv?params=lr,width&objective=score'
    """
    parts = [
        f"{name}={','.join(quote(value, safe=_PLAIN.replace(',', '')) for value in values)}"
        for name, values in options.items()
        if values
    ]
    return quote(target, safe=_PLAIN) + ("?" if parts else "") + "&".join(parts)


def decompose(text: str, known: Sequence[str]) -> tuple[str, dict[str, list[str]]]:
    """Target and options of a text.

    Args:
        text: The text.
        known: Names that an option may have.

    Returns:
        The target, and the values of each known option, none where it is not given.

    Raises:
        ValueError: If an option is not known.

    Example:
        >>> decompose("runs.csv?params=lr,width", ["params", "objective"])
        ('runs.csv', {'params': ['lr', 'width'], 'objective': []})
    """
    target, _, written = text.partition("?")
    options: dict[str, list[str]] = {name: [] for name in known}
    # Commas are split before %2C becomes one: a name may hold a comma.
    for name, values in parse_qsl(written.replace("%", "%25").replace("+", "%2B"), True):
        if name not in options:
            raise ValueError(
                f"The options of {text!r} must be of {list(known)}, but got {name!r}."
            )
        options[name] += [unquote(value).strip() for value in values.split(",") if value]
    return unquote(target), options


def directions_of(written: Sequence[str], objectives: Sequence[str]) -> list[StudyDirection]:
    """Direction of each objective: one for all, or one for each.

    Raises:
        ValueError: If a direction is neither, or there is another number of them.
    """
    known = {
        each.name.lower(): each for each in (StudyDirection.MAXIMIZE, StudyDirection.MINIMIZE)
    }
    for each in written:
        if each not in known:
            raise ValueError(f"A direction must be one of {list(known)}, but got {each!r}.")
    if len(written) not in (1, len(objectives)):
        raise ValueError(
            f"There must be one direction, or one for each of {', '.join(objectives)}, but got "
            f"{', '.join(written)}."
        )
    return [known[each] for each in written] * (len(objectives) if len(written) == 1 else 1)
