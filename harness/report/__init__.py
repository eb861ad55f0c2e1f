"""What a comparison shows: tables for the terminal and one page for the browser."""

from harness.report.dashboard import write_dashboard
from harness.report.tables import aggregate
from harness.report.tables import leaderboard
from harness.report.tables import rich_table


__all__ = ["aggregate", "leaderboard", "rich_table", "write_dashboard"]
