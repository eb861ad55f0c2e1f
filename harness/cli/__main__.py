"""``python -m harness.cli``."""

from harness.cli import app


app()
