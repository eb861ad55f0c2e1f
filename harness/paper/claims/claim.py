"""A claim with its check and its cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.paper.measured import MeasuredResults
from harness.paper.measured import NotMeasured


HOLDS = "holds"
FAILS = "does not hold"
UNTESTED = "not testable here"


@dataclass(frozen=True)
class Finding:
    """Outcome of a check.

    Attributes:
        holds: Whether the claim holds.
        figures: The numbers that decide it.
    """

    holds: bool
    figures: str


Check = Callable[[MeasuredResults], Finding]
"""Raises :class:`~harness.paper.measured.NotMeasured` if the results do not suffice."""


@dataclass(frozen=True)
class Cause:
    """Reason why our number may differ from the paper's.

    Attributes:
        measured: Explanation by a measurement.
        supposed: Explanation without a measurement.
    """

    measured: str = ""
    supposed: str = ""

    def __str__(self) -> str:
        parts = {"Measured": self.measured, "Supposed": self.supposed}
        return " ".join(f"{name}: {text}" for name, text in parts.items() if text)


UNKNOWN = Cause()


@dataclass(frozen=True)
class Claim:
    """Numerical claim of the paper.

    Attributes:
        section: Section of the paper that makes it.
        sentence: The claim in other words, with the bound that it is held to.
        check: Function of the measured results that decides it.
        cause: Reason for a difference, as far as it is known.
    """

    section: str
    sentence: str
    check: Check
    cause: Cause = UNKNOWN


@dataclass(frozen=True)
class Verdict:
    """Claim and whether it holds.

    Attributes:
        claim: The claim.
        status: ``HOLDS``, ``FAILS`` or ``UNTESTED``.
        figures: The numbers that decide it, or why it cannot be tested.
    """

    claim: Claim
    status: str
    figures: str


def verdict(claim: Claim, results: MeasuredResults) -> Verdict:
    """Check one claim."""
    try:
        finding = claim.check(results)
    except NotMeasured as reason:
        return Verdict(claim, UNTESTED, f"{reason}.")
    return Verdict(claim, HOLDS if finding.holds else FAILS, finding.figures)
