"""Names of the 13 zero-cost proxies of NAS-Bench-Suite-Zero, in the order of every table here."""

from __future__ import annotations


COUNTED = ("params", "flops")
"""Exact numbers of an architecture."""

SCORED = (
    "l2_norm",
    "synflow",
    "nwot",
    "jacov",
    "epe_nas",
    "zen",
    "plain",
    "fisher",
    "snip",
    "grad_norm",
    "grasp",
)
"""Scores of an untrained network."""

PROXIES = (*COUNTED, *SCORED)
"""All 13."""
