"""Samplers by name, or by ``module:Class``."""

from harness.samplers.entry import Entry
from harness.samplers.registry import available
from harness.samplers.registry import build
from harness.samplers.registry import check
from harness.samplers.registry import how_to_have
from harness.samplers.registry import make_spec
from harness.samplers.registry import make_specs
from harness.samplers.registry import paper_initial_proxies
from harness.samplers.registry import takes_seed


__all__ = [
    "Entry",
    "available",
    "build",
    "check",
    "how_to_have",
    "make_spec",
    "make_specs",
    "paper_initial_proxies",
    "takes_seed",
]
