"""Report of a comparison: tables for the terminal and one page for the browser."""

from harness.report.dashboard import write_dashboard
from harness.report.terminal import rich_tables
from harness.report.views import make_views


__all__ = ["make_views", "rich_tables", "write_dashboard"]
