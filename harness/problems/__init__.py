"""Problems by their texts: tables, functions, trade-offs of several losses, limits on a cost."""

from harness.problems.evaluation import Kind
from harness.problems.own import is_own
from harness.problems.own import short_name
from harness.problems.own import with_options
from harness.problems.own import work
from harness.problems.problem import Problem
from harness.problems.problem import with_top
from harness.problems.registry import FAMILIES
from harness.problems.registry import load
from harness.problems.registry import load_table
from harness.problems.registry import texts
from harness.problems.table import TabularBenchmark


__all__ = [
    "FAMILIES",
    "Kind",
    "Problem",
    "TabularBenchmark",
    "is_own",
    "load",
    "load_table",
    "short_name",
    "texts",
    "with_options",
    "with_top",
    "work",
]
