"""Warnings of ours among those that a test recorded."""

from __future__ import annotations

from collections.abc import Iterable
import warnings


def only(record: Iterable[warnings.WarningMessage]) -> warnings.WarningMessage:
    """The one warning of a record.

    From Python 3.13 on, a record may hold warnings of connections that an earlier test left to the
    collector, too.
    """
    (warning,) = (each for each in record if not issubclass(each.category, ResourceWarning))
    return warning
