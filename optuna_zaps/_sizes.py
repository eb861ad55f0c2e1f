"""Numbers of labels at which something is done again, a constant factor apart."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator


def growing_sizes(start: int, growth: float, stop: int) -> Iterator[int]:
    """Yield numbers from ``start`` to ``stop``, each larger than the last by a factor.

    Args:
        start: First number.
        growth: Relative growth from one number to the next, which is at least 1.
        stop: Largest possible number.

    Example:
        >>> list(growing_sizes(10, 0.25, 30))
        [10, 12, 15, 18, 22, 27]
    """
    size = start
    while size <= stop:
        yield size
        size += max(1, int(size * growth))


def thinned_sizes(sizes: Iterable[int], growth: float) -> Iterator[int]:
    """Yield the first of increasing numbers, and then each that has grown enough since the last.

    Example:
        >>> list(thinned_sizes(growing_sizes(10, 0.25, 30), 1.0))
        [10, 22]
    """
    last = None
    for size in sizes:
        if last is None or size >= last * (1 + growth):
            yield size
            last = size
