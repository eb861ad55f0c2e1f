"""Metrics of finished studies: one row per study and budget, one unit for each name."""

from harness.metrics.gap import geometric_mean
from harness.metrics.snapshot import Budgets
from harness.metrics.snapshot import Snapshot
from harness.metrics.snapshot import snapshots
from harness.metrics.summary import GROUP
from harness.metrics.summary import QUANTITIES
from harness.metrics.summary import STUDY
from harness.metrics.summary import metric_of
from harness.metrics.summary import quantity_of
from harness.metrics.summary import quantity_on
from harness.metrics.summary import summarize


__all__ = [
    "GROUP",
    "QUANTITIES",
    "STUDY",
    "Budgets",
    "Snapshot",
    "geometric_mean",
    "metric_of",
    "quantity_of",
    "quantity_on",
    "snapshots",
    "summarize",
]
