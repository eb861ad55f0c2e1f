"""Numbers of labels at which something is done again, a constant factor apart."""

from __future__ import annotations

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
