"""Text without passwords: URLs of storages, and messages that may repeat them."""

from __future__ import annotations

import re
from urllib.parse import quote
from urllib.parse import quote_plus
from urllib.parse import unquote
from urllib.parse import unquote_plus


_MASK = "***"
# The whole of a URL: up to its last @, for a password may hold one that should have been escaped.
_IN_URL = re.compile(
    r"^(?!sqlite:///)(?P<before>(?>(?:[\w.+-]+:/+)?)[^:/]*:)(?P<secret>.*)(?P<after>@)", re.DOTALL
)
_IN_TEXT = re.compile(r"(?P<before>://[^:/\s]*:)(?P<secret>[^\s'\"]*)(?P<after>@)")
_IN_ARGUMENT = re.compile(
    r"(?P<before>[?&;][^=&;\s]*(?:pass|pwd|secret|token|key|odbc_connect)[^=&;\s]*=)"
    r"(?P<secret>[^&;\s'\"]+)(?P<after>)",
    re.IGNORECASE,
)


def hidden(url: str) -> str:
    """A URL with asterisks for its passwords.

    Example:
        >>> hidden("postgresql://user:secret@host/studies")
        'postgresql://user:***@host/studies'
    """
    return _masked(_masked(url, _IN_URL), _IN_ARGUMENT)


def without_passwords(text: str, url: str) -> str:
    """A message with asterisks for passwords: those of a URL, escaped or not, and of any other.

    A password with an @ that is not escaped is cut there by whoever reads the URL, and any part
    of it may be in the message, which is then replaced by what to do.
    """
    in_user = _secrets(url, _IN_URL)
    if any("@" in secret for secret in in_user):
        return "an @ in a password must be written %40, and an @ elsewhere too"
    # An argument may hold a whole escaped list of arguments, as odbc_connect does.
    in_arguments = {*_secrets(url, _IN_ARGUMENT), *_secrets(unquote_plus(url), _IN_ARGUMENT)}
    forms = {
        form(secret)
        for secret in in_user | in_arguments
        for form in (str, quote, quote_plus, unquote, unquote_plus)
    }
    for secret in sorted(filter(None, forms), key=len, reverse=True):
        text = text.replace(secret, _MASK)
    return _masked(_masked(text, _IN_TEXT), _IN_ARGUMENT)


def _secrets(url: str, pattern: re.Pattern[str]) -> set[str]:
    return {match["secret"] for match in pattern.finditer(url)}


def _masked(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(rf"\g<before>{_MASK}\g<after>", text)
