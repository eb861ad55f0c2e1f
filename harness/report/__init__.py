"""Report of a comparison: tables for the terminal and one page for the browser."""

from harness.report.dashboard import write_dashboard
from harness.report.tables import aggregate
from harness.report.tables import leaderboard
from harness.report.tables import rich_tables


__all__ = ["aggregate", "leaderboard", "rich_tables", "write_dashboard"]
