"""Small changes to a configuration, and what stands in for one that does not exist.

Notations:
    mutant: a changed copy of a parent. In a pool it may be no configuration; the child is.
"""

from __future__ import annotations

import numpy as np

from harness.samplers.space import Configuration
from harness.samplers.space import Space
from harness.samplers.space import replaced


def one_changed(space: Space, parent: Configuration, rng: np.random.Generator) -> Configuration:
    """One uniformly chosen parameter set to another of its choices."""
    return _changed(space, parent, int(rng.integers(len(parent))), rng)


def each_changed(
    space: Space, parent: Configuration, probability: float, rng: np.random.Generator
) -> Configuration:
    """Each parameter set to another of its choices with a probability, maybe none."""
    mutant = parent
    for position in np.flatnonzero(rng.random(len(parent)) < probability).tolist():
        mutant = _changed(space, mutant, position, rng)
    return mutant


def existing(
    space: Space,
    mutant: Configuration,
    parent: Configuration,
    n_nearest: int,
    rng: np.random.Generator,
) -> Configuration:
    """The mutant, or one of the nearest configurations that exist (paper, Section 4.2).

    A mutant lies next to its parent, so the parent is excluded: else it would nearly always be
    what comes back.

    Args:
        space: The space.
        mutant: A combination of choices.
        parent: The configuration that it comes from.
        n_nearest: Number of nearest configurations among which to draw uniformly.
        rng: Draws.
    """
    if mutant in space:
        return mutant
    nearest = space.projection.nearest(mutant, n_nearest, [space.row(parent)], rng)
    return space.rows[int(rng.choice(nearest))] if len(nearest) else parent


def _changed(
    space: Space, parent: Configuration, position: int, rng: np.random.Generator
) -> Configuration:
    size = space.sizes[position]
    if size == 1:
        return parent
    # One of the other choices: those from the present one on move up by one.
    code = int(rng.integers(size - 1))
    return replaced(parent, position, code + (code >= parent[position]))
