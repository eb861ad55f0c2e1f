"""Numbers of labels at which something is done again, a constant factor apart."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator


def rungs(start: int, growth: float, stop: int) -> Iterator[int]:
    """Numbers from ``start`` to ``stop``, each larger than the last by ``growth``, at least by 1.

    Example:
        >>> list(rungs(10, 0.25, 30))
        [10, 12, 15, 18, 22, 27]
    """
    size = start
    while size <= stop:
        yield size
        size += max(1, int(size * growth))


def coarser(sizes: Iterable[int], growth: float) -> Iterator[int]:
    """The first of increasing numbers, and then each that is larger than the last by ``growth``.

    Example:
        >>> list(coarser(rungs(10, 0.25, 30), 1.0))
        [10, 22]
    """
    last = None
    for size in sizes:
        if last is None or size >= last * (1 + growth):
            yield size
            last = size
